//! The commands of the module, with the descriptions that `COMMAND DOCS` and `COMMAND INFO` return.
#![allow(unsafe_code, reason = "the server's interface passes pointers")]

use std::ffi::{CStr, CString, c_int};
use std::ptr;

use valkey_module::raw;

use crate::usage;

/// A function that the server calls to execute a command.
pub type Entry = extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

pub struct Command {
    pub name: &'static CStr,
    access: Access,
    usage: &'static str,
    summary: &'static CStr,
    complexity: &'static CStr,
    arity: c_int,
    is_fast: bool,
    is_dangerous: bool,
    entry: Entry,
}

/// What a command does with its first key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// It adds to the value, for which it needs memory.
    Add,
    /// It removes from the value, or rebuilds it smaller.
    Remove,
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

/// The category of the access control lists that has all commands of the module.
pub const CATEGORY: &CStr = c"furui";

/// The version of the structure of the command descriptions below, as the server's header defines it.
static INFO_VERSION: raw::RedisModuleCommandInfoVersion = raw::RedisModuleCommandInfoVersion {
    version: 1,
    sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
    sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
    sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
};

impl Command {
    /// A command that reads its key. `usage` are its arguments, as [`usage::arguments`] reads them. `arity` is the
    /// number of arguments including the command's name; a negative number is the minimum. The server refuses other
    /// numbers of arguments.
    pub const fn read(name: &'static CStr, usage: &'static str, arity: c_int, entry: Entry) -> Self {
        Self::new(name, Access::Read, usage, arity, entry)
    }

    /// A command that adds to its key, and is refused when the server has no memory left.
    pub const fn add(name: &'static CStr, usage: &'static str, arity: c_int, entry: Entry) -> Self {
        Self::new(name, Access::Add, usage, arity, entry)
    }

    /// A command that removes from its key. It is executed even when the server has no memory left.
    pub const fn remove(name: &'static CStr, usage: &'static str, arity: c_int, entry: Entry) -> Self {
        Self::new(name, Access::Remove, usage, arity, entry)
    }

    const fn new(name: &'static CStr, access: Access, usage: &'static str, arity: c_int, entry: Entry) -> Self {
        let (summary, complexity) = (c"", c"");
        Self { name, access, usage, summary, complexity, arity, is_fast: false, is_dangerous: false, entry }
    }

    #[must_use]
    pub const fn summary(self, summary: &'static CStr) -> Self {
        Self { summary, ..self }
    }

    #[must_use]
    pub const fn complexity(self, complexity: &'static CStr) -> Self {
        Self { complexity, ..self }
    }

    /// Says that the time of the command does not depend on the size of its key.
    #[must_use]
    pub const fn fast(self) -> Self {
        Self { is_fast: true, ..self }
    }

    /// Puts the command into the category `@dangerous`: it is for servers and operators.
    #[must_use]
    pub const fn dangerous(self) -> Self {
        Self { is_dangerous: true, ..self }
    }

    /// The flags of the command, as the server reads them.
    fn flags(&self) -> CString {
        let access = match self.access {
            Access::Read => "readonly",
            Access::Add => "write deny-oom",
            Access::Remove => "write",
        };
        CString::new(format!("{access}{}", if self.is_fast { " fast" } else { "" })).unwrap_or_default()
    }

    /// The categories of the command in access control lists, of which `group` is one.
    fn categories(&self, group: &CStr) -> CString {
        let access = if self.access == Access::Read { "read" } else { "write" };
        let speed = if self.is_fast { "fast" } else { "slow" };
        let danger = if self.is_dangerous { " dangerous" } else { "" };
        CString::new(format!("{access} {speed}{danger} {}", group.to_string_lossy())).unwrap_or_default()
    }

    /// The descriptions of the command's keys, which live as long as the process: of the first, and of the others if
    /// there are any, which are only read.
    fn keys(&self) -> *mut raw::RedisModuleCommandKeySpec {
        let flags = match self.access {
            Access::Read => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
            // A reply says what was there before, so a user must be allowed to read, too.
            Access::Add => {
                raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_INSERT
            }
            Access::Remove => {
                raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_DELETE
            }
        };
        let others = raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS;
        let mut specs = vec![key_spec(flags.into(), FIRST_KEY, 0)];
        if self.has_sources() {
            specs.push(key_spec(others.into(), FIRST_KEY + 1, -1));
        }
        // SAFETY: the structure is one of integers, and all its bits may be 0. Such an entry ends the list.
        specs.push(unsafe { std::mem::zeroed() });
        Box::leak(specs.into_boxed_slice()).as_mut_ptr()
    }

    /// True if all arguments of the command are keys.
    fn has_sources(&self) -> bool {
        self.usage.contains("source")
    }

    /// Registers the command with the server. `group` is the category of the access control lists that has it and its
    /// like. Returns false if the server refuses it, for example because another module has a command with this name.
    pub fn register(&self, context: *mut raw::RedisModuleCtx, group: &CStr) -> bool {
        // SAFETY: all texts end with a zero. Those that the server keeps live for ever; it copies the others.
        unsafe {
            let created = raw::RedisModule_CreateCommand.expect("Redis 7")(
                context,
                self.name.as_ptr(),
                Some(self.entry),
                self.flags().as_ptr(),
                FIRST_KEY,
                if self.has_sources() { -1 } else { FIRST_KEY },
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
                key_specs: self.keys(),
                args: usage::arguments(self.usage),
            };
            if let Some(set_categories) = raw::RedisModule_SetCommandACLCategories {
                // Later servers have this function. In Redis 7.0, commands of modules are in no category.
                if set_categories(command, self.categories(group).as_ptr()) == raw::Status::Err as c_int {
                    return false;
                }
            }
            !command.is_null()
                && raw::RedisModule_SetCommandInfo.expect("Redis 7")(command, &mut info) == raw::Status::Ok as c_int
        }
    }
}

/// The description of the keys from the argument `first` on: of one key if `last` is 0, of all if it is -1.
fn key_spec(flags: u64, first: c_int, last: c_int) -> raw::RedisModuleCommandKeySpec {
    // SAFETY: the structure is one of integers and pointers, and all its bits may be 0.
    let mut spec: raw::RedisModuleCommandKeySpec = unsafe { std::mem::zeroed() };
    spec.flags = flags;
    spec.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
    spec.bs.index.pos = first;
    spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
    spec.fk.range.lastkey = last;
    spec.fk.range.keystep = 1;
    spec
}

/// Adds a category to those of access control lists, in servers that know categories of modules. It may be there, from
/// another module.
pub fn add_category(context: *mut raw::RedisModuleCtx, name: &CStr) {
    // SAFETY: the context is that of the module's beginning, and the name ends with a zero.
    unsafe {
        if let Some(add) = raw::RedisModule_AddACLCategory {
            add(context, name.as_ptr());
        }
    }
}
