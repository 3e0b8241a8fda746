//! Records the lines that were printed, and no others.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use furui::seen::{Seen, Verdict};
use furui::store::Storage;

use super::pace::Pace;
use super::printing::Printing;
use crate::blocks::Block;
use crate::error::Error;
use crate::keys::Fate;
use crate::output::{Output, Sink};

/// Prints lines, and records those that have reached the file or the reader.
pub struct Recorder {
    output: Output,
    /// When to record. `None` if nothing is recorded.
    pace: Option<Pace>,
    printing: Printing,
    /// A buffer for the text to print.
    marked: Vec<u8>,
    /// The positions in the output at which lines end that are new, not recorded, and not known to have been read from
    /// the pipe.
    unread: VecDeque<u64>,
}

impl Recorder {
    /// Creates a recorder that prints what `printing` says, and records the lines within `within`, or never if it is `None`.
    pub fn new(output: Output, printing: Printing, within: Option<Duration>) -> Self {
        let output = if within.is_some() { output.without_waiting() } else { output };
        Self { output, pace: within.map(Pace::new), printing, marked: vec![], unread: VecDeque::new() }
    }

    /// The time at which [`sync`](Self::sync) should be called. `None` if there is nothing to record.
    pub fn deadline<S: Storage>(&self, seen: &Seen<S>) -> Option<Instant> {
        self.pace.as_ref().and_then(|pace| pace.deadline(seen.unsynced()))
    }

    /// Prints the header of an input, if it is to be printed.
    pub fn print_header(&mut self, header: &[u8], is_first: bool) -> Result<Sink, Error> {
        self.output.print(self.printing.header(header, is_first, &mut self.marked))
    }

    /// Prints the text for the lines of a block. While the reader of a pipe reads nothing, the lines that it has read
    /// before are recorded.
    pub fn print<S: Storage>(
        &mut self,
        seen: &mut Seen<S>,
        block: &mut Block<'_>,
        fates: &[Fate],
    ) -> Result<Sink, Error> {
        if let Some(pace) = &mut self.pace
            && (fates.contains(&Fate::Observed(Verdict::New)) || seen.unsynced_repeats() > 0)
        {
            pace.came(Instant::now());
            if self.output.is_pipe() && self.printing.tells_new() {
                self.unread.extend(self.printing.ends(block, fates, self.output.printed()));
            }
        }
        let mut marked = std::mem::take(&mut self.marked);
        let sink = self.deliver(seen, self.printing.text(block, fates, &mut marked));
        self.marked = marked;
        sink
    }

    /// Prints a text. If this takes long, records the lines that have arrived meanwhile.
    fn deliver<S: Storage>(&mut self, seen: &mut Seen<S>, mut left: &[u8]) -> Result<Sink, Error> {
        loop {
            if self.output.print_until(&mut left, self.deadline(seen))? == Sink::Closed {
                return Ok(Sink::Closed);
            }
            let due = self.deadline(seen).is_some_and(|due| due <= Instant::now());
            if due && self.sync(seen)? == Sink::Closed {
                return Ok(Sink::Closed);
            }
            if left.is_empty() {
                return Ok(Sink::Open);
            }
        }
    }

    /// Records the lines that have arrived.
    pub fn sync<S: Storage>(&mut self, seen: &mut Seen<S>) -> Result<Sink, Error> {
        let Some(arrived) = self.output.arrived()? else { return Ok(Sink::Closed) };
        let unread = self.unread.partition_point(|&end| end <= arrived);
        self.unread.drain(..unread);
        let keys = seen.unsynced();
        seen.sync_first(keys - self.unread.len().min(keys))?;
        if let Some(pace) = &mut self.pace {
            pace.synced(Instant::now(), keys, seen.unsynced());
        }
        Ok(Sink::Open)
    }

    /// Waits until all lines have arrived, or the reader has closed the pipe. Records lines as they arrive.
    pub fn settle<S: Storage>(&mut self, seen: &mut Seen<S>) -> Result<Sink, Error> {
        loop {
            match self.output.settle(self.deadline(seen))? {
                Sink::Busy if self.sync(seen)? == Sink::Closed => return Ok(Sink::Closed),
                Sink::Busy => {}
                Sink::Open => {
                    self.unread.clear();
                    return Ok(Sink::Open);
                }
                Sink::Closed => return Ok(Sink::Closed),
            }
        }
    }
}
