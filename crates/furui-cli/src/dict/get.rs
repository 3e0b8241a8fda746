//! `furui dict get`.

use std::borrow::Cow;
use std::process::ExitCode;

use super::values::{Lines, Values, chosen};
use super::{found_or_none, kind_of, open_to_read};
use crate::cli::{GetOptions, ValuesName};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::output::{Output, Sink};

/// Runs the command.
pub fn run(options: &GetOptions) -> Result<ExitCode, Error> {
    match chosen(&options.lines.form, Some(kind_of(&options.lines.files.dict.store)?)) {
        ValuesName::Numbers => get::<u32>(options),
        ValuesName::Bytes => get::<[u8]>(options),
    }
}

fn get<V: Values + ?Sized>(GetOptions { lines: options, invert, print }: &GetOptions) -> Result<ExitCode, Error> {
    let dict = open_to_read::<V>(&options.files.dict.store)?;
    let interrupt = Interrupt::ignore();
    let lines = Lines { separator: options.files.input.separator(), escape: options.form.escape };
    let mut blocks = options.files.input.blocks(&interrupt);
    let mut output = Output::open(print, false, &options.files.input.inputs())?;
    let (mut values, mut out) = (vec![], vec![]);
    let mut found = false;
    while let Some(block) = blocks.next()? {
        let keys = block.lines().enumerate().map(|(index, line)| lines.read(line, block, index));
        let keys: Vec<Cow<'_, [u8]>> = keys.collect::<Result<_, _>>()?;
        dict.get_all(&keys, &mut values)?;
        out.clear();
        for (index, (key, value)) in keys.iter().zip(&values).enumerate() {
            match value {
                Some(value) if !invert => lines.push::<V>(&mut out, key, *value)?,
                None if *invert => {
                    out.extend_from_slice(block.line(index));
                    out.push(lines.separator);
                }
                _ => {}
            }
        }
        found |= !out.is_empty();
        if output.print(&out)? == Sink::Closed {
            break;
        }
    }
    Ok(found_or_none(found))
}
