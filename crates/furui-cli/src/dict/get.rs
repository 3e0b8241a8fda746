//! `furui dict get`.

use std::process::ExitCode;

use super::{found_or_none, open_to_read, push_entry};
use crate::cli::DictFiles;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::output::{Output, Sink};

/// Runs the command.
pub fn run(options: &DictFiles) -> Result<ExitCode, Error> {
    let dict = open_to_read(&options.dict.store)?;
    let interrupt = Interrupt::ignore();
    let separator = options.input.separator();
    let mut blocks = options.input.blocks(&interrupt);
    let mut output = Output::new(false)?;
    let (mut values, mut out) = (vec![], vec![]);
    let mut found = false;
    while let Some(block) = blocks.next()? {
        let keys: Vec<&[u8]> = block.lines().collect();
        dict.get_all(&keys, &mut values)?;
        out.clear();
        for (key, value) in keys.iter().zip(&values) {
            if let Some(value) = value {
                push_entry(&mut out, key, *value, separator);
            }
        }
        found |= !out.is_empty();
        if output.print(&out)? == Sink::Closed {
            break;
        }
    }
    Ok(found_or_none(found))
}
