//! The commands of the module, with the descriptions that `COMMAND DOCS` and `COMMAND INFO` return.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{CStr, c_int};
use std::ptr;

use valkey_module::raw;

/// A function that the server calls to execute a command.
pub type Entry = extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

pub struct Command {
    pub name: &'static CStr,
    flags: &'static CStr,
    summary: &'static CStr,
    complexity: &'static CStr,
    arity: c_int,
    last_key: c_int,
    entry: Entry,
}

/// Makes the function that the server calls for a command with this handler.
macro_rules! entry {
    ($handler:expr) => {{
        extern "C" fn call(
            context: *mut valkey_module::raw::RedisModuleCtx,
            arguments: *mut *mut valkey_module::raw::RedisModuleString,
            count: std::ffi::c_int,
        ) -> std::ffi::c_int {
            $crate::call::run(context, arguments, count, $handler)
        }
        call
    }};
}
pub(crate) use entry;

/// The index of the first argument that is a key, in all commands.
const FIRST_KEY: c_int = 1;

/// The version of the structure of the command descriptions below, as the server's header defines it.
static INFO_VERSION: raw::RedisModuleCommandInfoVersion = raw::RedisModuleCommandInfoVersion {
    version: 1,
    sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
    sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
    sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
};

impl Command {
    /// A command whose only key is the first argument. `flags` are those of the server: `write` or `readonly`,
    /// `deny-oom`, `fast`. `arity` is the number of arguments including the command's name; a negative number is the
    /// minimum. The server refuses other numbers of arguments.
    pub const fn new(name: &'static CStr, flags: &'static CStr, arity: c_int, entry: Entry) -> Self {
        Self { name, flags, summary: c"", complexity: c"", arity, last_key: FIRST_KEY, entry }
    }

    #[must_use]
    pub const fn summary(self, summary: &'static CStr) -> Self {
        Self { summary, ..self }
    }

    #[must_use]
    pub const fn complexity(self, complexity: &'static CStr) -> Self {
        Self { complexity, ..self }
    }

    /// Makes all arguments of the command keys.
    #[must_use]
    pub const fn with_keys_only(self) -> Self {
        Self { last_key: -1, ..self }
    }

    /// Registers the command with the server. Returns false if the server refuses it, for example because another
    /// module has a command with this name.
    pub fn register(&self, context: *mut raw::RedisModuleCtx) -> bool {
        // SAFETY: all texts end with a zero and live for ever.
        unsafe {
            let created = raw::RedisModule_CreateCommand.expect("Redis 7")(
                context,
                self.name.as_ptr(),
                Some(self.entry),
                self.flags.as_ptr(),
                FIRST_KEY,
                self.last_key,
                1,
            );
            if created == raw::Status::Err as c_int {
                return false;
            }
            let command = raw::RedisModule_GetCommand.expect("Redis 7")(context, self.name.as_ptr());
            let mut info = raw::RedisModuleCommandInfo {
                version: &INFO_VERSION,
                summary: self.summary.as_ptr(),
                complexity: self.complexity.as_ptr(),
                since: c"0.1.0".as_ptr(),
                history: ptr::null_mut(),
                tips: ptr::null(),
                arity: self.arity,
                key_specs: ptr::null_mut(),
                args: ptr::null_mut(),
            };
            if let Some(set_categories) = raw::RedisModule_SetCommandACLCategories {
                // Later servers have this function. In Redis 7.0, commands of modules are in no category.
                let is_write = self.flags.to_bytes().starts_with(b"write");
                let categories = if is_write { c"write" } else { c"read" };
                if set_categories(command, categories.as_ptr()) == raw::Status::Err as c_int {
                    return false;
                }
            }
            !command.is_null()
                && raw::RedisModule_SetCommandInfo.expect("Redis 7")(command, &mut info) == raw::Status::Ok as c_int
        }
    }
}
