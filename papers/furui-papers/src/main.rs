//! The experiments behind the published numbers, and the rival libraries that are measured in them.

mod bloom_filters_explained;
mod clock;
mod duplicate_urls;
mod experiments;
mod keys;
mod louds_tries;
mod ours;
mod quotient_filters;
mod report;
mod ringed_bloom_filters;
mod side_by_side;
mod store;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("all") => experiments::run(std::iter::once("all".to_owned()).chain(args))?,
        Some("dict") => ours::dict::run(args)?,
        Some("filters") => ours::filters::run(args.next().as_deref(), args.next().as_deref())?,
        Some("paper") => experiments::run(args)?,
        Some("store") => ours::store::run(args.next().as_deref(), args.next())?,
        _ => eprintln!(
            "usage: furui-papers all --out DIR [--data DIR] [--seed N] [--quick] \
             | paper (NAME | PAPER)... [--out DIR] [--data DIR] [--seed N] [--quick] \
             | dict (list FILE [KEYS] | merge FILE [KEYS] | trie (FILE | made-up) [KEYS]) \
             | filters ([KEYS] [blocked | bloom | ringed | growing | split-block | kinds | threads | fuse] | huge) \
             | store (small | large) [DIR]"
        ),
    }
    Ok(())
}
