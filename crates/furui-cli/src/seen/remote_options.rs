//! The options of `furui seen` that a set in a server does not have.

use crate::cli::SeenOptions;
use crate::error::Error;

/// Returns an error that names the first option that has no meaning for a set in a server.
pub fn check(options: &SeenOptions) -> Result<(), Error> {
    let tiers = &options.tiers;
    let has_tiers = tiers.lru.is_some()
        || tiers.replacement.is_some()
        || tiers.counters.is_some()
        || tiers.probes.is_some()
        || tiers.decrements.is_some()
        || tiers.paper;
    let refused = [
        ("--remove", options.remove.is_some(), "FURUI.FORGET or furui.valkey.Seen.discard_many removes lines"),
        ("--sync", options.sync.is_some(), "the server records a line when it is asked"),
        ("--wait", options.wait.wait.is_some(), "several processes may use the set at once"),
        ("--memory", options.memory.is_some(), "the set takes the memory of the server: see furui.max-memory"),
        ("--no-mmap", options.no_mmap, "the set has no files here"),
        ("--threads", options.threads.is_some(), "the server decides"),
        ("--cache", options.cache.is_some(), "the server answers for every line"),
        ("--fpr", options.fpr.is_some(), "the server answers for every line"),
        ("--protect", options.protect.is_some(), "no line is dropped by mistake"),
        (
            "the size of a cache (--lru, --counters, --probes, --paper, ...)",
            has_tiers,
            "the server answers for every line",
        ),
        ("--reset-clock", options.reset_clock, "the server has a clock of its own"),
        ("--hash", options.hash.is_some(), "the server hashes, with a seed of its own"),
        ("--hash-seed", options.hash_seed.is_some(), "the server hashes, with a seed of its own"),
        ("--like", options.like.is_some(), "the server hashes, with a seed of its own"),
        ("--as-is", options.lines.as_is, "a set in a server does not remember how keys were made"),
    ];
    match refused.into_iter().find(|&(_, is_given, _)| is_given) {
        Some((name, _, why)) => Err(Error::Message(format!("{name} is not for a set in a server: {why}"))),
        None => Ok(()),
    }
}
