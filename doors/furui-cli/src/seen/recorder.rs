//! Records the lines that were printed, and no others.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use furui::seen::Verdict;

use super::batch::Batch;
use super::judge::Judge;
use super::pace::Pace;
use super::printing::Printing;
use crate::error::Error;
use crate::output::{Output, Sink};

/// Prints lines, and records those that have reached the output file or the reader of the pipe.
pub struct Recorder {
    output: Output,
    /// Decides when lines are recorded. `None` if nothing is recorded.
    pace: Option<Pace>,
    printing: Printing,
    /// True if lines in an output file count as arrived only after the file was synced.
    forces: bool,
    /// For each new line that is not recorded, and perhaps not read from the pipe yet: the byte offset in the output at
    /// which the line ends.
    unread: VecDeque<u64>,
}

impl Recorder {
    /// Creates a recorder that prints what `printing` says. It records lines within the time `within`, or never if
    /// `within` is `None`. If `forces` is true, an output file is synced before its lines are recorded.
    pub fn new(output: Output, printing: Printing, within: Option<Duration>, forces: bool) -> Self {
        let output = if within.is_some() { output.without_waiting() } else { output };
        Self { output, pace: within.map(Pace::new), printing, forces, unread: VecDeque::new() }
    }

    /// The time at which [`sync`](Self::sync) should be called if `unsynced` keys of the set are not recorded. `None`
    /// if there is nothing to record.
    pub fn deadline(&self, unsynced: usize) -> Option<Instant> {
        self.pace.as_ref().and_then(|pace| pace.deadline(unsynced))
    }

    /// Records where the lines of new keys will end in the output. It must be called before the text of a batch is
    /// printed. Without memory for that, returns an error and records nothing.
    pub fn begin(&mut self, batch: &Batch) -> Result<(), Error> {
        if self.pace.is_none() || !batch.verdicts.contains(&Verdict::New) && !batch.has_old_repeats {
            return Ok(());
        }
        if self.tells_unread() {
            let lines = batch.new_lines();
            if self.unread.try_reserve(lines).is_err() {
                let bytes = lines * size_of::<u64>();
                return Err(furui::Error::NoMemory { what: "the list of lines in a pipe", bytes }.into());
            }
            self.unread.extend(self.printing.ends(&batch.block, &batch.fates, self.output.printed()));
        }
        if let Some(pace) = &mut self.pace {
            pace.came(Instant::now());
        }
        Ok(())
    }

    /// True if the recorder knows which printed lines the reader has not read. The lines of a batch count as unread
    /// once [`begin`](Self::begin) was called for it.
    pub fn tells_unread(&self) -> bool {
        self.pace.is_some() && self.output.is_pipe() && self.printing.tells_new()
    }

    /// Prints a text, and stops at `until` if the reader of a pipe reads nothing. Afterwards `left` is the text that
    /// was not printed.
    pub fn print(&mut self, left: &mut &[u8], until: Option<Instant>) -> Result<Sink, Error> {
        self.output.print_until(left, until)
    }

    /// Records the lines that have reached the output file or the reader of the pipe. The last `unprinted` keys of the
    /// set belong to lines that are not printed yet.
    pub fn sync(&mut self, judge: &mut Judge, unprinted: usize) -> Result<Sink, Error> {
        let arrived = match self.forces || self.output.is_pipe() {
            true => self.output.arrived()?,
            false => Some(self.output.printed()),
        };
        let Some(arrived) = arrived else { return Ok(Sink::Closed) };
        let unread = self.unread.partition_point(|&end| end <= arrived);
        self.unread.drain(..unread);
        let keys = judge.unsynced();
        judge.record_first(keys.saturating_sub(self.unread.len() + unprinted))?;
        if let Some(pace) = &mut self.pace {
            pace.synced(Instant::now(), keys, judge.unsynced());
        }
        Ok(Sink::Open)
    }

    /// Waits until all printed lines have reached the output file or the reader, or the reader has closed the pipe.
    /// Records lines meanwhile. The last `unprinted` keys of the set belong to lines that are not printed.
    pub fn settle(&mut self, judge: &mut Judge, unprinted: usize) -> Result<Sink, Error> {
        loop {
            match self.output.settle(self.deadline(judge.unsynced()))? {
                Sink::Busy if self.sync(judge, unprinted)? == Sink::Closed => return Ok(Sink::Closed),
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
