//! The experiments behind the published numbers, and the rival libraries that are measured in them.

mod clock;
mod dict;
mod filters;
mod keys;
mod levels;
#[cfg(feature = "network")]
mod network;
mod pages;
mod papers;
mod quotient;
mod recent;
mod search;
mod stable;
mod store;
mod table;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("all") => papers::run(std::iter::once("all".to_owned()).chain(args))?,
        Some("dict") => dict::run(args)?,
        Some("filters") => filters::run(args.next().as_deref(), args.next().as_deref())?,
        Some("levels") => levels::run()?,
        #[cfg(feature = "network")]
        Some("network") => network::run(args)?,
        Some("pages") => pages::run(args.next().as_deref())?,
        Some("paper") => papers::run(args)?,
        Some("quotient") => quotient::run(args.next().as_deref())?,
        Some("recent") => recent::run(args.next().as_deref()),
        Some("stable") => stable::run(args.next().as_deref()),
        Some("store") => store::run(args.next().as_deref(), args.next())?,
        _ => eprintln!(
            "usage: furui-papers all --out DIR [--data DIR] [--seed N] [--quick] \
             | paper (NAME | SEED)... [--out DIR] [--data DIR] [--seed N] [--quick] \
             | dict (bits | buffer [FILE] | list FILE [KEYS] \
             | merge FILE [KEYS] | trie FILE [KEYS]) \
             | filters ([KEYS] [blocked | bloom | ringed | growing | split-block | kinds | threads] | huge) \
             | levels | network (kill | relay | hot | flood | people) [--furui PROGRAM] [--texts FILE] [--nodes N] [--documents N] \
             | pages [page | merge | lookup] | quotient [LOG2_SLOTS] | recent FILE \
             | stable [insert] \
             | store (small | large) [DIR]"
        ),
    }
    Ok(())
}
