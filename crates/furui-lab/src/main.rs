//! The experiments behind the numbers, and the rivals they are measured against.

mod clock;
mod quotient;

fn main() -> furui::Result<()> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("quotient") => quotient::run(args.next().as_deref())?,
        _ => eprintln!("usage: furui-lab quotient [LOG2_SLOTS]"),
    }
    Ok(())
}
