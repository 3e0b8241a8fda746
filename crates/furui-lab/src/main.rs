//! The experiments behind the numbers, and the rivals they are measured against.

mod clock;
mod pages;
mod quotient;
mod recent;
mod stable;

fn main() -> furui::Result<()> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("pages") => pages::run(args.next().as_deref())?,
        Some("quotient") => quotient::run(args.next().as_deref())?,
        Some("recent") => recent::run(args.next().as_deref()),
        Some("stable") => stable::run(),
        _ => eprintln!("usage: furui-lab pages [page | merge | lookup] | quotient [LOG2_SLOTS] | recent FILE | stable"),
    }
    Ok(())
}
