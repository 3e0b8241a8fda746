//! Dictionaries: one frozen trie against its rivals.

mod trie;

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    match (args.next().as_deref(), args.next()) {
        (Some("trie"), Some(file)) => trie::run(&file, args.next().as_deref())?,
        _ => eprintln!("usage: furui-lab dict trie FILE [KEYS]"),
    }
    Ok(())
}
