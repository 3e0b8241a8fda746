//! The dictionary: its parts, and the rivals of each.

mod buffer;

use std::error::Error;

pub(crate) fn run(what: Option<&str>, file: Option<String>) -> Result<(), Box<dyn Error>> {
    match what {
        Some("buffer") => buffer::run(file.as_deref()),
        _ => {
            eprintln!("usage: furui-lab dict buffer [FILE] (its lines are the keys; random ones if there is none)");
            Ok(())
        }
    }
}
