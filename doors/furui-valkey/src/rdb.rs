//! The interface of the types of values, and the functions by which the server stores, copies and frees values.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use valkey_module::digest::Digest;
use valkey_module::native_types::ValkeyType;
use valkey_module::raw;

use crate::files::Files;
use crate::io::{Commands, In, Out};
use crate::refusal::Refusal;

/// The version of the encoding in RDB files, for all types.
pub const VERSION: i32 = 1;

/// A type of values that keys of the server may have.
pub trait Value: Sized + 'static {
    /// The value's type as it is registered with the server.
    const TYPE: &'static ValkeyType;

    /// The files of the value. When the server saves, a child process calls this function, so it must not wait for a
    /// lock that a thread of the parent process may hold.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn files(&self) -> Result<Files, Refusal>;

    /// Reads a value from its files, of which every byte is checked.
    ///
    /// # Errors
    /// If a file is damaged or missing, or belongs to a value of another type.
    fn open(files: Files) -> Result<Self, Refusal>;

    /// The memory that the value takes, in bytes.
    fn bytes(&self) -> usize;

    /// Adds the content of the value to a digest. Values that give equal answers have equal digests.
    fn digest(&self, digest: &mut Digest);

    /// A copy of the value.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn copy(&self) -> Result<Self, Refusal> {
        Self::open(self.files()?)
    }

    /// Writes the value to an RDB file.
    fn save(&self, out: &mut Out) -> Result<(), Refusal> {
        self.files()?.save(out);
        Ok(())
    }

    /// Reads from an RDB file what [`save`](Self::save) has written.
    fn load(from: &mut In) -> Result<Self, Refusal> {
        Self::open(Files::load(from)?)
    }

    /// Writes the value to an AOF file, as the commands that create it.
    fn rewrite(&self, out: &mut Commands) -> Result<(), Refusal> {
        let files = self.files()?;
        let pieces = files.pieces().count();
        for (i, (name, piece)) in files.pieces().enumerate() {
            let place = format!("{}/{pieces}", i + 1);
            out.command(c"FURUI.LOAD", &[place.as_bytes(), name.as_bytes(), piece]);
        }
        Ok(())
    }
}

/// The functions that the server calls for values of type `V`.
pub const fn methods<V: Value>() -> raw::RedisModuleTypeMethods {
    raw::RedisModuleTypeMethods {
        version: raw::REDISMODULE_TYPE_METHOD_VERSION as u64,
        rdb_load: Some(rdb_load::<V>),
        rdb_save: Some(rdb_save::<V>),
        aof_rewrite: Some(aof_rewrite::<V>),
        free: Some(free::<V>),
        digest: Some(digest::<V>),
        mem_usage: Some(mem_usage::<V>),
        aux_load: None,
        aux_save: None,
        aux_save2: None,
        aux_save_triggers: 0,
        free_effort: None,
        unlink: None,
        copy: Some(copy::<V>),
        defrag: Some(defrag),
        copy2: None,
        free_effort2: None,
        mem_usage2: None,
        unlink2: None,
    }
}

/// Runs a callback of the server. Returns `None` if it fails or panics, because a panic must not reach the server.
fn guard<T>(callback: impl FnOnce() -> Result<T, Refusal>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(callback)).ok()?.ok()
}

/// Converts a value that a callback has made to a pointer; null if the callback has failed.
fn boxed<V>(value: Option<V>) -> *mut c_void {
    value.map_or(ptr::null_mut(), |value| Box::into_raw(Box::new(value)).cast())
}

unsafe extern "C" fn rdb_save<V: Value>(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: values of the type are boxes of `V`.
    let value = unsafe { &*value.cast::<V>() };
    let _saved = guard(|| value.save(&mut Out(io)));
}

unsafe extern "C" fn rdb_load<V: Value>(io: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    // If the value is null, the server reports that the file cannot be read.
    boxed(guard(|| match version {
        VERSION => V::load(&mut In(io)),
        _ => Err(Refusal::because("the value was written by another version of furui")),
    }))
}

unsafe extern "C" fn aof_rewrite<V: Value>(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    // SAFETY: values of the type are boxes of `V`.
    let value = unsafe { &*value.cast::<V>() };
    let _written = guard(|| value.rewrite(&mut Commands { io, key }));
}

unsafe extern "C" fn free<V: Value>(value: *mut c_void) {
    // SAFETY: values of the type are boxes of `V`, and the server frees each once.
    let value = unsafe { Box::from_raw(value.cast::<V>()) };
    let _freed = guard(|| {
        drop(value);
        Ok(())
    });
}

unsafe extern "C" fn mem_usage<V: Value>(value: *const c_void) -> usize {
    // SAFETY: values of the type are boxes of `V`.
    let value = unsafe { &*value.cast::<V>() };
    guard(|| Ok(value.bytes())).unwrap_or(0)
}

unsafe extern "C" fn copy<V: Value>(
    _from: *mut raw::RedisModuleString,
    _to: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: values of the type are boxes of `V`.
    let value = unsafe { &*value.cast::<V>() };
    boxed(guard(|| value.copy()))
}

unsafe extern "C" fn digest<V: Value>(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    // SAFETY: values of the type are boxes of `V`.
    let value = unsafe { &*value.cast::<V>() };
    let mut digest = Digest::new(digest);
    let _added = guard(|| {
        value.digest(&mut digest);
        Ok(())
    });
    digest.end_sequence();
}

/// Moves the value to the place that the server's allocator chooses. The tables of values are large allocations, which
/// do not fragment memory, so only the head of the value is moved.
unsafe extern "C" fn defrag(
    context: *mut raw::RedisModuleDefragCtx,
    _key: *mut raw::RedisModuleString,
    value: *mut *mut c_void,
) -> c_int {
    // SAFETY: the server passes the place of the pointer. If the allocation moves, its bytes were copied and the old
    // one is freed, which for a box of any type is a move.
    unsafe {
        if let Some(alloc) = raw::RedisModule_DefragAlloc {
            let moved = alloc(context, *value);
            if !moved.is_null() {
                *value = moved;
            }
        }
    }
    0
}
