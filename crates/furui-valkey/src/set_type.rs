//! The type of the values of `FURUI.SEEN`, as the server stores, copies and frees them.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{c_int, c_void};
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use furui::store::Window;
use furui::{HashAlgorithm, HashSpec};
use valkey_module::native_types::ValkeyType;
use valkey_module::raw;

use crate::call::{Refusal, Typed};
use crate::io::{Commands, In, Out, PIECE};
use crate::set::Set;

/// The version of the bytes in RDB files.
const VERSION: i32 = 1;

/// The type of sets.
pub static SETS: ValkeyType = ValkeyType::new(
    "furui-set",
    VERSION,
    raw::RedisModuleTypeMethods {
        version: raw::REDISMODULE_TYPE_METHOD_VERSION as u64,
        rdb_load: Some(rdb_load),
        rdb_save: Some(rdb_save),
        aof_rewrite: Some(aof_rewrite),
        free: Some(free),
        digest: Some(digest),
        mem_usage: Some(mem_usage),
        aux_load: None,
        aux_save: None,
        aux_save2: None,
        aux_save_triggers: 0,
        free_effort: None,
        unlink: None,
        copy: Some(copy),
        defrag: None,
        copy2: None,
        free_effort2: None,
        mem_usage2: None,
        unlink2: None,
    },
);

impl Typed for Set {
    const TYPE: &'static ValkeyType = &SETS;
}

unsafe extern "C" fn rdb_save(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: values of the type are boxes of `Set`.
    let set = unsafe { &*value.cast::<Set>() };
    let save = || -> Result<(), Refusal> {
        let mut out = Out::new(io);
        out.number(set.hash().algorithm.code().into());
        out.number(set.hash().seed);
        out.number(set.window().map_or(0, Window::ticks));
        out.number(matches!(set.window(), Some(Window::Milliseconds(_))).into());
        out.number(set.time());
        out.number(set.slices().len() as u64);
        for (number, keys) in set.slices() {
            let mut run = vec![];
            keys.write_run(&mut run, "RDB", set.hash())?;
            out.number(number);
            out.bytes(&run);
        }
        Ok(())
    };
    // A panic that left the callback would end the server.
    let _saved = catch_unwind(AssertUnwindSafe(save));
}

unsafe extern "C" fn rdb_load(io: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    let load = || -> Result<Set, Refusal> {
        if version != VERSION {
            return Err(Refusal::because("written by another version of furui"));
        }
        let mut from = In::new(io);
        let code = from.number()?;
        let algorithm = [HashAlgorithm::Xxh3, HashAlgorithm::SipHash13, HashAlgorithm::Xxh64]
            .into_iter()
            .find(|algorithm| u64::from(algorithm.code()) == code)
            .ok_or_else(|| Refusal::because("the hash is unknown"))?;
        let hash = HashSpec { algorithm, seed: from.number()? };
        let (ticks, is_time, time) = (from.number()?, from.number()?, from.number()?);
        let window = NonZeroU64::new(ticks)
            .map(|ticks| if is_time == 0 { Window::Keys(ticks) } else { Window::Milliseconds(ticks) });
        let mut set = Set::new(hash, window);
        set.move_on(time);
        let slices = from.number()?;
        if slices > Window::SLICES + 1 {
            return Err(Refusal::because("more slices than a window has"));
        }
        for _ in 0..slices {
            let number = from.number()?;
            set.restore_slice(number, &from.bytes()?)?;
        }
        set.settle();
        Ok(set)
    };
    match catch_unwind(AssertUnwindSafe(load)) {
        Ok(Ok(set)) => Box::into_raw(Box::new(set)).cast(),
        // The server reports that the value cannot be read.
        Ok(Err(_)) | Err(_) => ptr::null_mut(),
    }
}

unsafe extern "C" fn aof_rewrite(io: *mut raw::RedisModuleIO, key: *mut raw::RedisModuleString, value: *mut c_void) {
    // SAFETY: values of the type are boxes of `Set`.
    let set = unsafe { &*value.cast::<Set>() };
    let write = || -> Result<(), Refusal> {
        let mut out = Commands::new(io, key);
        let seed = format!("{:016x}", set.hash().seed);
        match set.window().map(crate::set_commands::window_text) {
            Some(window) => {
                out.command(c"FURUI.SEEN.RESERVE", &[b"SEED", seed.as_bytes(), b"WINDOW", window.as_bytes()]);
            }
            None => out.command(c"FURUI.SEEN.RESERVE", &[b"SEED", seed.as_bytes()]),
        }
        for (number, keys) in set.slices() {
            let mut run = vec![];
            keys.write_run(&mut run, "AOF", set.hash())?;
            let (number, time) = (number.to_string(), set.time().to_string());
            let pieces = run.len().div_ceil(PIECE);
            for (i, piece) in run.chunks(PIECE).enumerate() {
                let place = format!("{}/{pieces}", i + 1);
                out.command(c"FURUI.SEEN.RESTORE", &[number.as_bytes(), time.as_bytes(), place.as_bytes(), piece]);
            }
        }
        Ok(())
    };
    let _written = catch_unwind(AssertUnwindSafe(write));
}

unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: values of the type are boxes of `Set`, and the server frees each once.
    let set = unsafe { Box::from_raw(value.cast::<Set>()) };
    let _freed = catch_unwind(AssertUnwindSafe(|| drop(set)));
}

unsafe extern "C" fn mem_usage(value: *const c_void) -> usize {
    // SAFETY: values of the type are boxes of `Set`.
    unsafe { &*value.cast::<Set>() }.bytes()
}

unsafe extern "C" fn copy(
    _from: *mut raw::RedisModuleString,
    _to: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: values of the type are boxes of `Set`.
    let set = unsafe { &*value.cast::<Set>() };
    match catch_unwind(AssertUnwindSafe(|| set.copy())) {
        Ok(Ok(copy)) => Box::into_raw(Box::new(copy)).cast(),
        Ok(Err(_)) | Err(_) => ptr::null_mut(),
    }
}

unsafe extern "C" fn digest(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    // SAFETY: values of the type are boxes of `Set`.
    let set = unsafe { &*value.cast::<Set>() };
    let mut digest = valkey_module::digest::Digest::new(digest);
    for (number, keys) in set.slices() {
        // Members in order, so that equal sets have equal digests whatever the order in which they came.
        let hasher = HashSpec::default();
        let sum = keys
            .iter()
            .fold(number, |sum, key| hasher.hash(&[sum.to_le_bytes(), key.get().to_le_bytes()].concat()).get());
        digest.add_long_long(sum.cast_signed());
    }
    digest.add_long_long(set.hash().seed.cast_signed());
    digest.end_sequence();
}
