//! `furui dict get`: looks up the keys of lines in a dictionary, and prints their values.

use std::process::ExitCode;

use super::records::{Key, Records};
use super::values::Values;
use super::{found_or_none, has_bytes, open_to_read};
use crate::cli::{GetOptions, LineOptions};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::{self, Fate};
use crate::output::{Output, Sink};

/// Prints the value of each key that the dictionary has.
pub fn run(options: &GetOptions) -> Result<ExitCode, Error> {
    match has_bytes(&options.lines.files.dict.store, options.lines.form.values)? {
        true => get::<[u8]>(options),
        false => get::<u32>(options),
    }
}

fn get<V: Values + ?Sized>(GetOptions { lines: options, invert, print }: &GetOptions) -> Result<ExitCode, Error> {
    let store = &options.files.dict.store;
    let dict = open_to_read::<V>(store, options.form.values)?;
    let records: &LineOptions = &options.files.lines;
    keys::check(store.display(), dict.manifest().form, records)?;
    let interrupt = Interrupt::ignore();
    let mut output = Output::open(print.output.as_deref(), false, &options.files.input.inputs())?;
    let mut blocks = records.blocks(&options.files.input, &interrupt);
    let mut records = Records::new(&options.files.input, records, options.form.escape)?.printed_to(&output);
    let lines = records.lines;
    let (mut values, mut out) = (vec![], vec![]);
    let mut found = false;
    while let Some(block) = blocks.next()? {
        out.clear();
        if let Some(is_first) = records.header(block)? {
            if is_first && *invert && output.print(block.bytes())? == Sink::Closed {
                break;
            }
            continue;
        }
        let keys = block.lines().enumerate().map(|(index, line)| records.key(line, block, index));
        let keys: Vec<Key<'_>> = keys.collect::<Result<_, _>>()?;
        let asked: Vec<&[u8]> = keys.iter().filter_map(Key::as_bytes).collect();
        dict.get_all(&asked, &mut values)?;
        let mut answers = values.iter().copied();
        for (index, key) in keys.iter().enumerate() {
            let is_printed = match key {
                Key::Is(key) => match answers.next().flatten() {
                    Some(value) if !invert => {
                        V::push_line(&mut out, key, value, lines)?;
                        false
                    }
                    value => value.is_none() && *invert,
                },
                Key::Lacking(fate) => *fate == Fate::Kept && *invert,
            };
            if is_printed {
                out.extend_from_slice(block.line(index));
                out.push(lines.separator);
            }
        }
        found |= !out.is_empty();
        if output.print(&out)? == Sink::Closed {
            break;
        }
    }
    records.report("not in the dictionary");
    Ok(found_or_none(found))
}
