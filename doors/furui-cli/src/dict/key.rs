//! `furui dict key`: finds the keys that have given numbers as values.

use std::process::ExitCode;

use furui::dict::Dict;

use super::lines::Lines;
use super::{GATHERED, found_or_none, open_to_read};
use crate::cli::KeyOptions;
use crate::error::Error;
use crate::files::Files;
use crate::input::block::Block;
use crate::input::blocks::Blocks;
use crate::input::reading::{Looks, Reading};
use crate::input::split::Split;
use crate::interrupt::Interrupt;
use crate::output::{Output, Sink};

/// The maximum number of values, which are numbers read from standard input, whose keys are looked up in one pass over
/// the entries of the dictionary. The numbers and their keys are kept in memory.
const BATCH: usize = 1 << 20;
/// The maximum length of a line of standard input, in bytes.
const MAX_LINE: usize = 64 << 20;

/// Runs `furui dict key`: prints the keys that have the given numbers as values.
pub fn run(options: &KeyOptions) -> Result<ExitCode, Error> {
    let separator = if options.null { 0 } else { b'\n' };
    let mut keys = KeysOf {
        dict: open_to_read::<u32>(&options.dict.store, None)?,
        lines: Lines { separator, escape: options.escape },
        output: Output::open(options.print.output.as_deref(), false, &[])?,
        found: false,
    };
    if options.ids.is_empty() {
        keys.answer_input(separator)?;
    } else {
        keys.answer(&options.ids)?;
    }
    Ok(found_or_none(keys.found))
}

/// A dictionary whose keys are looked up by their values.
struct KeysOf {
    dict: Dict<Files>,
    lines: Lines,
    output: Output,
    /// True if a key was found and printed.
    found: bool,
}

impl KeysOf {
    /// For each number on standard input, prints the keys that have it as value. If a line is not a number, the keys of
    /// the numbers before it are printed first.
    fn answer_input(&mut self, separator: u8) -> Result<(), Error> {
        let interrupt = Interrupt::ignore();
        let (split, looks) = (Split::Lines(separator), Some(Looks::USUAL));
        let reading = Reading { split, header: false, max_line: MAX_LINE, looks, keeps_going: false };
        let mut blocks = Blocks::new(&[], reading, &interrupt);
        let mut ids = Vec::with_capacity(BATCH);
        let mut failure = None;
        while failure.is_none() {
            match blocks.next() {
                Ok(Some(block)) => {
                    for (index, line) in block.lines().enumerate() {
                        match id(line, block, index) {
                            Ok(id) => ids.push(id),
                            Err(error) => {
                                failure = Some(error);
                                break;
                            }
                        }
                    }
                }
                Ok(None) => break,
                Err(error) => failure = Some(error),
            }
            if ids.len() >= BATCH {
                if self.answer(&ids)? == Sink::Closed {
                    return Ok(());
                }
                ids.clear();
            }
        }
        self.answer(&ids)?;
        failure.map_or(Ok(()), Err)
    }

    /// Prints the keys that have these numbers, in the order of the numbers. Reads all entries.
    fn answer(&mut self, ids: &[u32]) -> Result<Sink, Error> {
        if ids.is_empty() {
            return Ok(Sink::Open);
        }
        let mut wanted = ids.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        // The numbers that were found, with the places of their keys in `keys`.
        let (mut found, mut keys) = (vec![], vec![]);
        let mut entries = self.dict.iter();
        while let Some((key, id)) = entries.next_entry()? {
            if wanted.binary_search(&id).is_ok() {
                let start = keys.len();
                keys.extend_from_slice(key);
                found.push((id, start..keys.len()));
            }
        }
        // The sort is stable, so keys with equal numbers remain in the order of keys.
        found.sort_by_key(|&(id, _)| id);
        let mut out = vec![];
        for &id in ids {
            let first = found.partition_point(|&(other, _)| other < id);
            for (_, place) in found[first..].iter().take_while(|&&(other, _)| other == id) {
                self.lines.push_after(&mut out, id, &keys[place.clone()])?;
            }
            if out.len() >= GATHERED {
                if self.output.print(&out)? == Sink::Closed {
                    return Ok(Sink::Closed);
                }
                out.clear();
            }
        }
        self.found |= !found.is_empty();
        self.output.print(&out)
    }
}

/// Parses the number on the line with the index `index` in `block`. If the line is not a number, the error names it.
fn id(line: &[u8], block: &Block, index: usize) -> Result<u32, Error> {
    let digits = str::from_utf8(line).ok().filter(|line| line.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        let place = block.place(index);
        Error::Message(format!("{place}: \"{}\" is not a number below 2^32", line.escape_ascii()))
    })
}
