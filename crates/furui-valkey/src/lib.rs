//! furui as a module of Valkey (7.2 and later) and Redis (7.0 and later): commands in, calls of `furui`, replies out.
//!
//! ```text
//!   call.rs: arguments, keys, replies ──> set_commands.rs ──> set.rs: an exact set     value.rs: RDB, AOF, COPY of any value
//!   command.rs: what the server is told of commands          limits.rs: memory         files.rs, io.rs: values as files
//!                                         transfer.rs: values as files, in pieces
//!     dict_commands.rs, dict_reads.rs ──> dict.rs: a dictionary of dict_content.rs     dict_work.rs: its threads
//! ```
//!
//! No panic leaves a command or a callback, and memory is counted before it is taken: neither ends the server.
#![expect(missing_docs, reason = "a macro of the crate valkey-module makes public functions that have none")]

mod call;
mod command;
mod dict;
mod dict_commands;
mod dict_content;
mod dict_reads;
mod dict_work;
mod files;
mod io;
mod limits;
mod set;
mod set_commands;
mod transfer;
mod value;

use valkey_module::alloc::ValkeyAlloc;
use valkey_module::configuration::ConfigurationFlags;
use valkey_module::{Context, Status, ValkeyString, raw, valkey_module};

use dict::DICTS;
use set::SETS;
use transfer::ARRIVING;

/// Registers all commands, and what `INFO furui` tells.
fn register(context: &Context, _arguments: &[ValkeyString]) -> Status {
    raw::register_info_function(context.ctx, Some(tell_info));
    let mut commands = set_commands::COMMANDS.iter().chain(&transfer::COMMANDS);
    let dicts = dict_commands::COMMANDS.iter().chain(&dict_reads::COMMANDS);
    let is_registered = commands.by_ref().chain(dicts).all(|command| command.register(context.ctx));
    if is_registered { Status::Ok } else { Status::Err }
}

/// Tells what `INFO furui` prints.
extern "C" fn tell_info(context: *mut raw::RedisModuleInfoCtx, _is_crash: i32) {
    let (bytes, values) = limits::totals();
    raw::add_info_section(context, None);
    raw::add_info_field_unsigned_long_long(context, "keys", values as u64);
    raw::add_info_field_unsigned_long_long(context, "memory", bytes as u64);
}

valkey_module! {
    name: "furui",
    version: 1,
    allocator: (ValkeyAlloc, ValkeyAlloc),
    data_types: [SETS, ARRIVING, DICTS],
    init: register,
    commands: [],
    configurations: [
        i64: [
            ["max-key-memory", &*limits::MAX_KEY, limits::DEFAULT_MAX_KEY, 1 << 16, i64::MAX, ConfigurationFlags::MEMORY, None],
            ["dict-window", &*limits::DICT_WINDOW, limits::DEFAULT_DICT_WINDOW, 1 << 12, 1 << 30, ConfigurationFlags::MEMORY, None],
            ["max-memory", &*limits::MAX_ALL, limits::DEFAULT_MAX_ALL, 0, i64::MAX, ConfigurationFlags::MEMORY, None],
        ],
        string: [],
        bool: [],
        enum: [],
        module_args_as_configuration: false,
    ]
}
