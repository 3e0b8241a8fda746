//! `furui dict number`: gives each key a number, and prints it.

use std::process::ExitCode;

use furui::dict::{Dict, Purpose};

use super::records::{Key, Records};
use super::{SIGNALLED, made};
use crate::cli::{DictChange, NumberOptions};
use crate::error::Error;
use crate::files::Files;
use crate::input::block::Block;
use crate::interrupt::Interrupt;
use crate::keys::Fate;
use crate::opening::open_to_write;
use crate::output::{Output, Sink};

/// The approximate number of bytes of output that are held back. Output is printed after the new numbers in it have
/// become durable.
const HELD_BACK: usize = 16 << 20;

/// Runs `furui dict number`: prints the number of each key; a new key gets the next number.
pub fn run(options: &NumberOptions) -> Result<ExitCode, Error> {
    let NumberOptions { change: DictChange { lines, wait }, print, with_key, escape, making } = options;
    let path = &lines.dict.store;
    let storage = open_to_write(path, wait)?;
    let made = made(path, &storage, Purpose::Numbers, &lines.lines, making)?;
    let mut dict = Dict::open_with(Files::Store(storage), made)?;
    let records = Records::new(&lines.input, &lines.lines, *escape)?;
    // This makes the directory a dictionary before any line is read.
    dict.sync()?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut output = Output::open(print.output.as_deref(), false, &lines.input.inputs())?;
    output.mend(records.lines.separator)?;
    let mut numbers = Numbers { records, with_key: *with_key, output, held: vec![], durable: dict.next_id() };
    let mut blocks = lines.lines.blocks(&lines.input, &interrupt);
    let mut failure = None;
    let mut sink = Sink::Open;
    while sink == Sink::Open && failure.is_none() {
        match blocks.next() {
            Ok(Some(block)) => failure = numbers.give(&mut dict, block).err(),
            Ok(None) => break,
            Err(error) => failure = Some(error),
        }
        let may_wait = numbers.held.len() < HELD_BACK && failure.is_none() && !blocks.would_wait();
        if dict.next_id() == numbers.durable || !may_wait {
            match numbers.print(&mut dict) {
                Ok(now) => sink = now,
                // The first error explains more than those that follow from it.
                Err(error) => return Err(failure.unwrap_or(error)),
            }
        }
    }
    if sink == Sink::Open {
        numbers.print(&mut dict)?;
    }
    numbers.records.report("not numbered");
    match failure {
        Some(error) => Err(error),
        None => Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal))),
    }
}

struct Numbers {
    records: Records,
    /// True if keys are printed after their numbers.
    with_key: bool,
    output: Output,
    /// Output that is held back until the new numbers in it are durable.
    held: Vec<u8>,
    /// The next free number at the time when all given numbers were last made durable. It differs from the dictionary's
    /// next number if a number was given since.
    durable: u32,
}

impl Numbers {
    /// Gives numbers to the keys of a block's lines, and appends what is printed to the output that is held back. If
    /// there is an error, the lines before it have their numbers.
    fn give(&mut self, dict: &mut Dict<Files>, block: &Block) -> Result<(), Error> {
        if self.records.header(block)?.is_some() {
            return Ok(());
        }
        let lines = self.records.lines;
        for (index, line) in block.lines().enumerate() {
            match self.records.key(line, block, index)? {
                Key::Is(key) => {
                    let id = dict.number(&key)?;
                    let whole = self.held.len();
                    if self.with_key {
                        lines.push_after(&mut self.held, id, &key).inspect_err(|_| self.held.truncate(whole))?;
                    } else {
                        self.held.extend_from_slice(id.to_string().as_bytes());
                        self.held.push(lines.separator);
                    }
                }
                Key::Lacking(Fate::Kept) => self.held.push(lines.separator),
                Key::Lacking(_) => {}
            }
        }
        Ok(())
    }

    /// Makes the numbers durable, then prints the output that is held back. So a number that was printed is never given
    /// to another line, even after a crash.
    fn print(&mut self, dict: &mut Dict<Files>) -> Result<Sink, Error> {
        if dict.next_id() != self.durable {
            dict.sync()?;
            self.durable = dict.next_id();
        }
        let sink = self.output.print(&self.held)?;
        self.held.clear();
        Ok(sink)
    }
}
