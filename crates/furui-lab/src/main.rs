//! The experiments behind the numbers, and the rivals they are measured against.

mod clock;
mod pages;

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("pages") => pages::run(),
        _ => eprintln!("usage: furui-lab pages"),
    }
}
