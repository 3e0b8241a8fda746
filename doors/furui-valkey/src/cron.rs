//! A timer of the server, which frees each second what no command can reach any more.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Mutex;

use valkey_module::raw;

use crate::call::{Key, WRITE};
use crate::dump_load::forget_abandoned;
use crate::filter::Filter;
use crate::limits::Holder;
use crate::rdb::Value;
use crate::set::Set;

/// The time between two calls of [`tick`], in milliseconds.
const INTERVAL: i64 = 1000;
/// The maximum number of steps through the keys of the databases in a call. A step visits some keys, in microseconds.
const STEPS: usize = 200;

/// The place at which the next call goes on through the keys: a database, and a cursor of the server.
struct Place {
    database: c_int,
    cursor: *mut raw::RedisModuleScanCursor,
}

// SAFETY: the cursor is used by the main thread alone.
unsafe impl Send for Place {}

static PLACE: Mutex<Place> = Mutex::new(Place { database: 0, cursor: ptr::null_mut() });

/// Begins to call [`tick`] each second.
pub fn start(context: *mut raw::RedisModuleCtx) {
    // SAFETY: the context is that of the module's start, or of a timer.
    unsafe { raw::RedisModule_CreateTimer.expect("Redis 7")(context, INTERVAL, Some(tick), ptr::null_mut()) };
}

/// Ends the dumps whose clients have gone. On a master, also drops what has faded from windows of time into which
/// nobody writes, and replicates that, so that the values of replicas stay equal.
extern "C" fn tick(context: *mut raw::RedisModuleCtx, _data: *mut c_void) {
    // SAFETY: the function has no preconditions, and the context is that of the timer.
    let (now, flags) = unsafe {
        let now = raw::RedisModule_Milliseconds.expect("Redis 7")();
        (u64::try_from(now).unwrap_or(0), raw::RedisModule_GetContextFlags.expect("Redis 7")(context).cast_unsigned())
    };
    forget_abandoned(now);
    let has_windows = [Holder::Set, Holder::Filter].iter().any(|holder| holder.sums().1.slices > 0);
    // While a failover has stopped the writes, a replica would lose what is replicated now.
    // SAFETY: the function has no preconditions.
    let is_stopped = unsafe { raw::RedisModule_AvoidReplicaTraffic.expect("Redis 7")() } != 0;
    if has_windows
        && !is_stopped
        && flags & raw::REDISMODULE_CTX_FLAGS_MASTER != 0
        && let Ok(mut place) = PLACE.try_lock()
    {
        place.fade(context, now);
    }
    start(context);
}

/// What a step through the keys looks for, and has found.
struct Search {
    now: u64,
    /// The names of keys with windows from which something has faded, and the commands that drop it in replicas.
    found: Vec<(*mut raw::RedisModuleString, &'static CStr)>,
}

impl Place {
    /// Visits some keys, and drops what has faded from their windows.
    fn fade(&mut self, context: *mut raw::RedisModuleCtx, now: u64) {
        let mut search = Search { now, found: vec![] };
        // SAFETY: the context is that of the timer, the cursor one of this server, and `visit` takes what is given
        // here.
        unsafe {
            if self.cursor.is_null() {
                self.cursor = raw::RedisModule_ScanCursorCreate.expect("Redis 7")();
            }
            raw::RedisModule_SelectDb.expect("Redis 7")(context, self.database);
            for _ in 0..STEPS {
                let scan = raw::RedisModule_Scan.expect("Redis 7");
                let has_more = scan(context, self.cursor, Some(visit), (&raw mut search).cast()) != 0;
                for (name, command) in search.found.drain(..) {
                    drop_faded(context, name, command, now);
                    raw::RedisModule_FreeString.expect("Redis 7")(context, name);
                }
                if has_more {
                    continue;
                }
                raw::RedisModule_ScanCursorRestart.expect("Redis 7")(self.cursor);
                // A database that does not exist is the one after the last.
                self.database += 1;
                if raw::RedisModule_SelectDb.expect("Redis 7")(context, self.database) == raw::Status::Err as c_int {
                    self.database = 0;
                    break;
                }
            }
        }
    }
}

/// Drops what has faded from the window of a key, here and in replicas.
fn drop_faded(context: *mut raw::RedisModuleCtx, name: *mut raw::RedisModuleString, command: &CStr, now: u64) {
    let mut key = Key::open(context, name, WRITE);
    if let Ok(Some(set)) = key.value_mut::<Set>() {
        set.tell_time(now);
        set.settle();
    } else if let Ok(Some(filter)) = key.value_mut::<Filter>() {
        filter.tell_time(now);
        filter.settle();
    } else {
        return;
    }
    // SAFETY: the format announces a string of the server and a number.
    unsafe {
        let replicate = raw::RedisModule_Replicate.expect("Redis 7");
        replicate(context, command.as_ptr(), c"sl".as_ptr(), name, now.cast_signed());
    }
}

/// Looks at a key of the server.
unsafe extern "C" fn visit(
    context: *mut raw::RedisModuleCtx,
    name: *mut raw::RedisModuleString,
    key: *mut raw::RedisModuleKey,
    search: *mut c_void,
) {
    // SAFETY: the search is the one that `fade` gives. A key that the server has opened for the visit has a value of
    // the type that it says.
    unsafe {
        let search = &mut *search.cast::<Search>();
        if key.is_null() {
            return;
        }
        let kind = raw::RedisModule_ModuleTypeGetType.expect("Redis 7")(key);
        let value = || raw::RedisModule_ModuleTypeGetValue.expect("Redis 7")(key);
        let command = if kind == *Set::TYPE.raw_type.borrow() {
            (*value().cast::<Set>()).has_faded(search.now).then_some(c"SEEN.AT")
        } else if kind == *Filter::TYPE.raw_type.borrow() {
            (*value().cast::<Filter>()).has_faded(search.now).then_some(c"SIEVE.AT")
        } else {
            None
        };
        if let Some(command) = command {
            let copy = raw::RedisModule_CreateStringFromString.expect("Redis 7")(context, name);
            search.found.push((copy, command));
        }
    }
}
