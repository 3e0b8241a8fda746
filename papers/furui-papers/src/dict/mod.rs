//! Experiments on the dictionary, its parts, and the bit structures that its tries consist of. Each is compared with
//! rivals.

mod bits;
mod buffer;
mod list;
mod merge;
mod trie;

/// Runs the experiment that the arguments of `dict` on the command line name.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let experiment = args.next();
    match experiment.as_deref() {
        Some("bits") => bits::run(),
        Some("buffer") => buffer::run(args.next().as_deref())?,
        Some("list") => list::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        Some("merge") => merge::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        Some("trie") => trie::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        _ => return Err("which experiment? bits, buffer, list, merge or trie".into()),
    }
    Ok(())
}
