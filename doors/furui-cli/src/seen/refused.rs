//! The options of `furui seen` that do nothing in one of its modes, beyond those that the command line itself refuses.

use crate::cli::SeenOptions;
use crate::error::Error;
use crate::schemes::is_url;

/// An option of the command: its name, true if the user gives it, and the reason why it is refused.
type Refused = (&'static str, bool, &'static str);

/// Returns an error that names the first option that has no meaning in the mode that the other options choose.
pub fn check(options: &SeenOptions) -> Result<(), Error> {
    let wait = options.wait.wait.is_some();
    let is_remote = options.store.as_deref().is_some_and(is_url);
    let modes: [(bool, &str, &[Refused]); 5] = [
        (is_remote, "for a set in a server", &of_a_server(options)),
        (
            options.remove.is_some(),
            "for --remove",
            &[("--threads", options.threads.is_some(), "it works in one thread")],
        ),
        (
            options.store.is_none() && options.filter.is_none(),
            "for a set that is not kept (see --store)",
            &[
                ("--wait", wait, "no other process uses it"),
                ("--as-is", options.lines.as_is, "it was not made with other key options"),
            ],
        ),
        (
            options.pending.is_some(),
            "for --pending",
            &[("--wait", wait, "no other process keeps it from reading the store; give it to `furui commit`")],
        ),
        (
            options.dry_run,
            "for a dry run",
            &[
                ("--sync", options.sync.is_some(), "nothing is recorded"),
                ("--wait", wait, "it reads the store even while another process writes to it"),
            ],
        ),
    ];
    for (is_chosen, mode, refused) in modes {
        if let Some((name, _, why)) = refused.iter().find(|&&(_, is_given, _)| is_chosen && is_given) {
            return Err(Error::Message(format!("{name} is not {mode}: {why}")));
        }
    }
    Ok(())
}

fn of_a_server(options: &SeenOptions) -> [Refused; 16] {
    let tiers = &options.tiers;
    let has_tiers = tiers.lru.is_some()
        || tiers.replacement.is_some()
        || tiers.counters.is_some()
        || tiers.probes.is_some()
        || tiers.decrements.is_some()
        || tiers.paper;
    [
        ("--remove", options.remove.is_some(), "SEEN.FORGET or furui.valkey.Seen.discard_many removes lines"),
        ("--pending", options.pending.is_some(), "the server records a line when it is asked"),
        ("--sync", options.sync.is_some(), "the server records a line when it is asked"),
        ("--wait", options.wait.wait.is_some(), "several processes may use the set at once"),
        ("--memory", options.memory.is_some(), "the set takes the memory of the server: see furui.max-memory"),
        ("--no-mmap", options.no_mmap, "the set has no files here"),
        ("--threads", options.threads.is_some(), "the server decides"),
        ("--cache", options.cache.is_some(), "the server answers for every line"),
        ("--fpr", options.fpr.is_some(), "the server answers for every line"),
        ("--protect", options.protect.is_some(), "no line is dropped by mistake"),
        (
            "the size of a cache (--lru, --replacement, --counters, --probes, --decrements, --paper)",
            has_tiers,
            "the server answers for every line",
        ),
        ("--reset-clock", options.reset_clock, "the server has a clock of its own"),
        ("--hash", options.hash.is_some(), "the server hashes, with a seed of its own"),
        ("--hash-seed", options.hash_seed.is_some(), "the server hashes, with a seed of its own"),
        ("--like", options.like.is_some(), "the server hashes, with a seed of its own"),
        ("--as-is", options.lines.as_is, "a set in a server does not remember how keys were made"),
    ]
}
