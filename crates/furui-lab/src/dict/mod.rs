//! The dictionary: its parts, each against its rivals, the paper's experiments, and the bits below.

mod application;
mod bits;
mod buffer;
mod dynamic;
mod list;
mod merge;
mod paper;
mod path_hash;
mod trie;
mod words;

/// What `dict` on the command line asks for.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let experiment = args.next();
    let mut words = |default| match (args.next(), args.next()) {
        (Some(kind), Some(file)) => words::read(&kind, &file, args.next().map_or(Ok(default), |count| count.parse())?),
        _ => Err("which words? lines FILE or phrases FILE, and how many".into()),
    };
    match experiment.as_deref() {
        Some("bits") => bits::run(),
        Some("paper") => paper::run(&words(2_000_000)?)?,
        Some("application") => application::run(&words(150_000)?),
        Some("buffer") => buffer::run(args.next().as_deref())?,
        Some("list") => list::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        Some("merge") => merge::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        Some("trie") => trie::run(&args.next().ok_or("which FILE?")?, args.next().as_deref())?,
        _ => return Err("which experiment? bits, paper, application, buffer, list, merge or trie".into()),
    }
    Ok(())
}
