//! Records the lines that were printed, and no others.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use furui::seen::{Seen, Verdict};
use furui::store::Storage;

use super::pace::Pace;
use crate::blocks::Block;
use crate::error::Error;
use crate::keys::Fate;
use crate::output::{Output, Sink, keep};

/// Prints lines, and records those that have reached the file or the reader.
pub struct Recorder {
    output: Output,
    /// When to record. `None` if nothing is recorded.
    pace: Option<Pace>,
    wanted: Verdict,
    /// The positions in the output at which lines end that are new, not recorded, and not known to have been read from
    /// the pipe.
    unread: VecDeque<u64>,
}

impl Recorder {
    /// Creates a recorder that prints the lines with the verdict `wanted`, and records them within `within`, or never if it is `None`.
    pub fn new(output: Output, wanted: Verdict, within: Option<Duration>) -> Self {
        let output = if within.is_some() { output.without_waiting() } else { output };
        Self { output, pace: within.map(Pace::new), wanted, unread: VecDeque::new() }
    }

    /// The time at which [`sync`](Self::sync) should be called. `None` if there is nothing to record.
    pub fn deadline<S: Storage>(&self, seen: &Seen<S>) -> Option<Instant> {
        self.pace.as_ref().and_then(|pace| pace.deadline(seen.unsynced()))
    }

    /// Prints the header of the input.
    pub fn print_header(&mut self, header: &[u8]) -> Result<Sink, Error> {
        self.output.print(header)
    }

    /// Prints those lines of a block that have the wanted verdict. While the reader of a pipe reads nothing, the lines that it has read
    /// are recorded.
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
            if self.output.is_pipe() && self.wanted == Verdict::New {
                self.unread.extend(ends(block, fates, self.output.printed()));
            }
        }
        let mut left = keep(block, fates.iter().map(|&fate| is_printed(fate, self.wanted)));
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

/// True if a line is printed where the lines with this verdict are. A line without a key is printed as a new one is.
fn is_printed(fate: Fate, wanted: Verdict) -> bool {
    fate == Fate::Observed(wanted) || wanted == Verdict::New && fate == Fate::Kept
}

/// The positions in the output at which the new lines of a block end, if `printed` bytes precede the block.
fn ends(block: &Block<'_>, fates: &[Fate], printed: u64) -> impl Iterator<Item = u64> {
    let (mut printed, mut start) = (printed, 0);
    fates.iter().enumerate().filter_map(move |(index, &fate)| {
        let end = block.next_line(index);
        let length = end - std::mem::replace(&mut start, end);
        if is_printed(fate, Verdict::New) {
            printed += length as u64;
        }
        (fate == Fate::Observed(Verdict::New)).then_some(printed)
    })
}
