//! furui as a module of Valkey (7.2 and later) and Redis (7.0 and later): commands in, calls of `furui`, replies out.
//!
//! ```text
//!   set/      SEEN.*, exact sets                       call.rs, command.rs: commands, their arguments and replies
//!   filter/   SIEVE.*, filters of all kinds            usage.rs: their documentation; context.rs: who sends them
//!   dict/     DICT.*, dictionaries                     rdb.rs: RDB, AOF, COPY of any value; fact.rs: INFO of it
//!   dialect/  BF.* and CF.*, which RedisBloom has too  files.rs, io.rs: values as files; dump_load.rs: in pieces
//!                                                      limits.rs: memory; refusal.rs: errors
//! ```
//!
//! No panic leaves a command or a callback, and memory is counted before it is taken: neither ends the server.
#![expect(missing_docs, reason = "a macro of the crate valkey-module makes public functions that have none")]

mod call;
mod command;
mod context;
mod cron;
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
mod usage;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use valkey_module::alloc::ValkeyAlloc;
use valkey_module::configuration::ConfigurationFlags;
use valkey_module::{Context, Status, ValkeyString, raw, valkey_module};

use dict::DICTS;
use dump_load::ARRIVING;
use filter::FILTERS;
use filter::settings::Dialect;
use limits::Holder;
use set::SETS;

/// Registers all commands, and the section that `INFO furui` prints.
fn register(context: &Context, arguments: &[ValkeyString]) -> Status {
    io::declare(context.ctx);
    raw::register_info_function(context.ctx, Some(tell_info));
    command::add_category(context.ctx, command::CATEGORY);
    let mut commands = set::seen::COMMANDS
        .iter()
        .chain(&filter::commands::COMMANDS)
        .chain(&dict::writes::COMMANDS)
        .chain(&dict::reads::COMMANDS)
        .chain(&dump_load::COMMANDS)
        .chain(&info::COMMANDS);
    let is_registered = commands.all(|command| command.register(context.ctx, command::CATEGORY))
        && register_dialects(context, arguments);
    cron::start(context.ctx);
    if is_registered { Status::Ok } else { Status::Err }
}

/// The version of the module as servers show it: 10203 for the version 1.2.3 of the crate.
const VERSION: i32 = {
    let [mut version, mut part] = [0, 0];
    let text = env!("CARGO_PKG_VERSION").as_bytes();
    let mut at = 0;
    while at < text.len() && text[at] != b'-' {
        if text[at] == b'.' {
            (version, part) = (100 * version + part, 0);
        } else {
            part = 10 * part + (text[at] - b'0') as i32;
        }
        at += 1;
    }
    100 * version + part
};

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
        command::add_category(context.ctx, dialect.category());
        if let Some(command) = commands.iter().find(|command| !command.register(context.ctx, dialect.category())) {
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
    let [sets, filters, dicts, arriving, dumps] = Holder::ALL.map(Holder::sums);
    let counter = |number: &AtomicU64| number.load(Relaxed);
    let fields = [
        ("keys", [sets, filters, dicts, arriving].iter().map(|(number, _)| *number as u64).sum()),
        ("sets", sets.0 as u64),
        ("filters", filters.0 as u64),
        ("dictionaries", dicts.0 as u64),
        ("arriving", arriving.0 as u64),
        ("members", sets.1.members as u64),
        ("fields", dicts.1.members as u64),
        ("window_slices", (sets.1.slices + filters.1.slices) as u64),
        ("answers_new", counter(&set::seen::ANSWERS[1])),
        ("answers_seen", counter(&set::seen::ANSWERS[0])),
        ("refused_by_max_key_memory", counter(&limits::REFUSED[0])),
        ("refused_by_max_memory", counter(&limits::REFUSED[1])),
        ("threads", dict::STARTED_THREADS.load(Relaxed) as u64),
        ("dumps", dumps.0 as u64),
        ("dump_memory", dumps.1.bytes as u64),
        ("memory", [sets, filters, dicts, arriving].iter().map(|(_, held)| held.bytes as u64).sum()),
    ];
    raw::add_info_section(context, None);
    for (name, number) in fields {
        raw::add_info_field_unsigned_long_long(context, name, number);
    }
}

valkey_module! {
    name: "furui",
    version: VERSION,
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
