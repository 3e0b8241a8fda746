//! What was printed is recorded, and nothing else.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use furui::seen::{Seen, Verdict};
use furui::store::Storage;

use super::pace::Pace;
use crate::blocks::Block;
use crate::error::Error;
use crate::output::{Output, Sink, keep};

/// Prints lines, and records those that have arrived where they were printed to.
pub struct Recorder {
    output: Output,
    /// When to record; none if nothing is.
    pace: Option<Pace>,
    wanted: Verdict,
    /// Of the new lines that are not recorded and may still be in a pipe: where each ends in what was printed. Lines of
    /// which nothing is known are not among them.
    unread: VecDeque<u64>,
}

impl Recorder {
    /// Prints the lines with the verdict `wanted`, and records them within that time, or not at all.
    pub fn new(output: Output, wanted: Verdict, within: Option<Duration>) -> Self {
        let output = if within.is_some() { output.without_waiting() } else { output };
        Self { output, pace: within.map(Pace::new), wanted, unread: VecDeque::new() }
    }

    /// When [`sync`](Self::sync) should be called; none if there is nothing to record.
    pub fn deadline<S: Storage>(&self, seen: &Seen<S>) -> Option<Instant> {
        self.pace.as_ref().and_then(|pace| pace.deadline(seen.unsynced()))
    }

    /// Prints the wanted lines of a block, whose verdicts these are. While the reader takes nothing, what it has taken
    /// before is recorded.
    pub fn print<S: Storage>(
        &mut self,
        seen: &mut Seen<S>,
        block: &mut Block<'_>,
        verdicts: &[Verdict],
    ) -> Result<Sink, Error> {
        if let Some(pace) = &mut self.pace
            && verdicts.contains(&Verdict::New)
        {
            pace.came(Instant::now());
            if self.output.is_pipe() && self.wanted == Verdict::New {
                self.unread.extend(ends(block, verdicts, self.output.printed()));
            }
        }
        let mut left = keep(block, verdicts.iter().map(|&verdict| verdict == self.wanted));
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

    /// Records what has arrived.
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

    /// Waits until all has arrived, or nobody reads any more. What arrives meanwhile is recorded.
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

/// Where the new lines of a block will end in what is printed, if so many bytes were printed before.
fn ends(block: &Block<'_>, verdicts: &[Verdict], printed: u64) -> impl Iterator<Item = u64> {
    let (mut printed, mut start) = (printed, 0);
    verdicts.iter().enumerate().filter_map(move |(index, &verdict)| {
        let end = block.next_line(index);
        let length = end - std::mem::replace(&mut start, end);
        (verdict == Verdict::New).then(|| {
            printed += length as u64;
            printed
        })
    })
}
