//! Experiments on the dictionary and its tries.

mod list;
mod merge;
mod trie;

/// Runs the experiment that the arguments of `dict` on the command line name.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let experiment = args.next();
    match experiment.as_deref() {
        Some("list") => list::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        Some("merge") => merge::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        Some("trie") => trie::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        _ => return Err("which experiment? list, merge or trie".into()),
    }
    Ok(())
}
