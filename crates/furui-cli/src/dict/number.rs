//! `furui dict number`.

use std::process::ExitCode;

use furui::dict::Dict;
use furui::store::Directory;

use super::values::check_key;
use super::{SIGNALLED, options, options_to_write};
use crate::cli::{DictChange, NumberOptions};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::output::{Output, Sink};
use crate::wait::open_to_write;

/// Output is held back until it has about this many bytes. It is printed after its new numbers have become durable.
const HELD_BACK: usize = 16 << 20;

/// Runs the command.
pub fn run(NumberOptions { change, print, with_key, making }: &NumberOptions) -> Result<ExitCode, Error> {
    let DictChange { lines, wait } = change;
    let mut dict = Dict::open_with(open_to_write(&lines.dict.store, wait)?, options_to_write(options(making)))?;
    // This makes the directory a dictionary before any line is read.
    dict.sync()?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let separator = lines.input.separator();
    let mut output = Output::open(print, false, &lines.input.inputs())?;
    output.mend(separator)?;
    let mut numbers = Numbers { output, held: vec![], durable: dict.next_id() };
    let mut blocks = lines.input.blocks(&interrupt);
    let mut failure = None;
    let mut sink = Sink::Open;
    while sink == Sink::Open && failure.is_none() {
        match blocks.next() {
            Ok(Some(block)) => {
                for (index, line) in block.lines().enumerate() {
                    match check_key(line, block, index).and_then(|()| Ok(dict.number(line)?)) {
                        Ok(id) => {
                            numbers.held.extend_from_slice(id.to_string().as_bytes());
                            if *with_key {
                                numbers.held.push(b'\t');
                                numbers.held.extend_from_slice(line);
                            }
                            numbers.held.push(separator);
                        }
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
    match failure {
        Some(error) => Err(error),
        None => Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal))),
    }
}

struct Numbers {
    output: Output,
    /// Output that is not printed yet.
    held: Vec<u8>,
    /// All numbers below this one are durable.
    durable: u32,
}

impl Numbers {
    /// Makes the numbers durable, then prints the output that is held back. So a number that was printed is never given to another
    /// line, even after a crash.
    fn print(&mut self, dict: &mut Dict<Directory>) -> Result<Sink, Error> {
        if dict.next_id() != self.durable {
            dict.sync()?;
            self.durable = dict.next_id();
        }
        let sink = self.output.print(&self.held)?;
        self.held.clear();
        Ok(sink)
    }
}
