//! The experiments behind the numbers, and the rivals they are measured against.

mod clock;
mod recent;
mod stable;

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("recent") => recent::run(args.next().as_deref()),
        Some("stable") => stable::run(),
        _ => eprintln!("usage: furui-lab recent FILE | stable"),
    }
}
