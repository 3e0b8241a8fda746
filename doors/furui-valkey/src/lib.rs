//! furui as a module of Valkey (7.2 and later) and Redis (7.0 and later): commands in, calls of `furui`, replies out.
//!
//! ```text
//!   set/      FURUI.SEEN, an exact set                   call.rs, command.rs: commands, their arguments and replies
//!   filter/   FURUI.FILTER, filters of all kinds         rdb.rs: RDB, AOF, COPY of any value; fact.rs: INFO of it
//!   dict/     FURUI.DICT, dictionaries                   files.rs, io.rs: values as files; dump_load.rs: in pieces
//!   dialect/  BF.* and CF.*, which RedisBloom has too    limits.rs: memory; refusal.rs: errors
//! ```
//!
//! No panic leaves a command or a callback, and memory is counted before it is taken: neither ends the server.
#![expect(missing_docs, reason = "a macro of the crate valkey-module makes public functions that have none")]

mod call;
mod command;
mod dialect;
mod dict;
mod dump_load;
mod fact;
mod files;
mod filter;
mod info;
mod io;
mod limits;
mod rdb;
mod refusal;
mod ring;
mod set;
mod text;

use valkey_module::alloc::ValkeyAlloc;
use valkey_module::configuration::ConfigurationFlags;
use valkey_module::{Context, Status, ValkeyString, raw, valkey_module};

use dict::DICTS;
use dump_load::ARRIVING;
use filter::FILTERS;
use filter::settings::Dialect;
use set::SETS;

/// Registers all commands, and the section that `INFO furui` prints.
fn register(context: &Context, arguments: &[ValkeyString]) -> Status {
    io::handle_errors(context.ctx);
    raw::register_info_function(context.ctx, Some(tell_info));
    let mut commands = set::seen::COMMANDS
        .iter()
        .chain(&filter::commands::COMMANDS)
        .chain(&dict::writes::COMMANDS)
        .chain(&dict::reads::COMMANDS)
        .chain(&dump_load::COMMANDS)
        .chain(&info::COMMANDS);
    let is_registered = commands.all(|command| command.register(context.ctx)) && register_dialects(context, arguments);
    if is_registered { Status::Ok } else { Status::Err }
}

/// Registers the commands that the arguments of the module switch on. Returns false if that fails; the reason is in the
/// log.
fn register_dialects(context: &Context, arguments: &[ValkeyString]) -> bool {
    let dialects = match dialect::switched_on(arguments) {
        Ok(dialects) => dialects,
        Err(reason) => {
            context.log_warning(&reason);
            return false;
        }
    };
    for dialect in dialects {
        let commands = match dialect {
            Dialect::Bf => &dialect::bf::COMMANDS[..],
            Dialect::Cf => &dialect::cf::COMMANDS[..],
        };
        if let Some(command) = commands.iter().find(|command| !command.register(context.ctx)) {
            let (name, dialect) = (command.name.to_string_lossy(), dialect.name());
            context.log_warning(&format!(
                "the command {name} cannot be registered, probably because another module has it: load furui without \
                 the argument {dialect}, or do not load the other module"
            ));
            return false;
        }
    }
    true
}

/// Writes the section that `INFO furui` prints.
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
    data_types: [SETS, FILTERS, DICTS, ARRIVING],
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
