//! The experiments behind the numbers, and the rivals they are measured against.

mod clock;
mod pages;

fn main() -> furui::Result<()> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("pages") => pages::run(args.next().as_deref()),
        _ => {
            eprintln!("usage: furui-lab pages [page | merge | lookup]");
            Ok(())
        }
    }
}
