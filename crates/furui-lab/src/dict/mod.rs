//! Dictionaries: their parts, each against its rivals.

mod buffer;
mod list;
mod merge;
mod trie;

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    match (args.next().as_deref(), args.next()) {
        (Some("buffer"), file) => buffer::run(file.as_deref())?,
        (Some("list"), Some(file)) => list::run(&file, args.next().as_deref())?,
        (Some("merge"), Some(file)) => merge::run(&file, args.next().as_deref())?,
        (Some("trie"), Some(file)) => trie::run(&file, args.next().as_deref())?,
        _ => eprintln!("usage: furui-lab dict buffer [FILE] | list FILE [KEYS] | merge FILE [KEYS] | trie FILE [KEYS]"),
    }
    Ok(())
}
