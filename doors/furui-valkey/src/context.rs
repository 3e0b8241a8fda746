//! The command that the server executes now, and whether it may be refused.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use valkey_module::raw;

/// The context of the command that the server executes; null between commands. The server executes one at a time.
static CONTEXT: AtomicPtr<raw::RedisModuleCtx> = AtomicPtr::new(ptr::null_mut());

/// Calls `work` as the execution of a command with this context.
pub fn within<T>(context: *mut raw::RedisModuleCtx, work: impl FnOnce() -> T) -> T {
    let outer = CONTEXT.swap(context, Relaxed);
    let result = work();
    CONTEXT.store(outer, Relaxed);
    result
}

/// True if the command was accepted before, so that no limit of this server may refuse it: it comes from the master,
/// from an AOF file, or from a node from which slots are moved here. True, too, while the server loads a value.
pub fn is_repeated() -> bool {
    let context = CONTEXT.load(Relaxed);
    if context.is_null() {
        return true;
    }
    // SAFETY: the context is that of the command that is executed.
    unsafe {
        if let Some(must_obey) = must_obey_client() {
            return must_obey(context) != 0;
        }
        let flags = raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING;
        raw::RedisModule_GetContextFlags.expect("Redis 7")(context).cast_unsigned() & flags != 0
    }
}

/// The function of Valkey 8.1 and later that knows all clients that must be obeyed.
type MustObey = unsafe extern "C" fn(*mut raw::RedisModuleCtx) -> c_int;

fn must_obey_client() -> Option<MustObey> {
    static FOUND: OnceLock<Option<MustObey>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut function: *mut c_void = ptr::null_mut();
        let name = c"ValkeyModule_MustObeyClient";
        // SAFETY: the server writes a pointer to a function of this type, or nothing.
        unsafe {
            let get = raw::RedisModule_GetApi?;
            get(name.as_ptr().cast::<c_char>(), (&raw mut function).cast());
            (!function.is_null()).then(|| std::mem::transmute::<*mut c_void, MustObey>(function))
        }
    })
}
