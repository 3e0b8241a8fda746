//! The queue of batches between the input and the output.

mod choice;

use std::collections::VecDeque;
use std::time::Instant;

use furui::store::cascade::{Part, Share};

use super::batch::Batch;
use super::decider::Decider;
use super::ending::Ending;
use super::shares::Shares;
use super::writer::Writer;
use crate::error::Error;
use crate::files::AnyFile;
use crate::input::blocks::Blocks;
use crate::input::large_blocks::LargeBlocks;
use crate::keys::Keys;
use crate::remote::RemoteKeys;

/// The batches, which are blocks on their way from the input to the output, in the order of the input. The reader, the
/// set and the writer are each used by one worker at a time, which takes them out of the queue.
///
/// If the set is split, each of its shares is used by one worker at a time, too, and the set itself only admits batches
/// and, when the shares have inserted the keys, says which lines are new.
pub struct Queue {
    pub reader: Option<Box<Blocks<'static>>>,
    pub decider: Option<Box<Decider>>,
    pub writer: Option<Box<Writer>>,
    shares: Shares,
    /// The number of shares if the set is split, otherwise 0.
    split: usize,
    limits: Limits,
    /// True if a block may not have more lines than `--limit` still allows, so that a block is read only after the one
    /// before it was decided.
    is_limited: bool,
    places: VecDeque<Place>,
    /// The number of batches that have left the queue, because they were written.
    left: u64,
    /// The number of batches, counted from the first in the queue, that were given to the shares of a split set.
    admitted: usize,
    /// The number of batches, counted from the first in the queue, that were given to the set, which decides which
    /// lines are new.
    decided: usize,
    free: Vec<Batch>,
    /// The finder of keys from which each new batch gets its own.
    keys: Keys,
    /// An empty list of keys for each new batch if the set is in a server.
    asked: Option<RemoteKeys>,
    /// True until the end of the input is reached.
    reads: bool,
    /// True if the last read returned so many bytes that there is probably more input.
    pub is_plenty: bool,
    /// True if the current input is compressed, so that a thread decodes it.
    pub is_decoded: bool,
    /// The number of keys in the recent cache of each worker. `None` if workers have no recent cache.
    pub recent_keys: Option<usize>,
    /// The mean length of lines in bytes if blocks are to become large; `None` before.
    mean_line: Option<usize>,
    /// The number of keys of the set that were not durable when the set was last in the queue.
    pub unsynced: usize,
    pub ending: Option<Ending>,
}

/// The limits of the workers, their batches and their blocks.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The maximum number of workers that process batches.
    pub workers: usize,
    /// The maximum number of [`Batch`]es at a time.
    pub batches: usize,
    /// The sizes of blocks once the set has runs on storage. `None` if blocks then keep their size.
    pub large: Option<LargeBlocks>,
    /// True if lines are recorded for later runs. Then lines are printed before they become durable.
    pub records: bool,
}

/// The maximum number of [`Batch`]es at a time once their blocks are large.
pub const LARGE_BATCHES: usize = 2;

struct Place {
    /// A block on its way to the output; `None` while a worker uses it.
    batch: Option<Box<Batch>>,
    next: Step,
    bytes: usize,
    /// The number of new keys of the batch that are in the set, but of which the recorder does not know yet.
    new: usize,
}

#[derive(PartialEq, Eq)]
enum Step {
    Decide,
    Write,
}

/// A piece of work for a worker, such as reading, deciding, writing or recording lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Records the lines that have reached the output file or the reader of the pipe.
    Sync,
    Write,
    Decide,
    /// Writes keys to storage, so that the shares of the set have room for the next batch.
    MakeRoom,
    /// Lets the share with this number insert the keys of its next batch.
    Observe(usize),
    Read,
}

impl Queue {
    pub fn new(reader: Blocks<'static>, mut decider: Decider, writer: Writer, keys: Keys, limits: Limits) -> Self {
        let shares = decider.split(limits.workers);
        Self {
            split: shares.len(),
            shares: Shares::new(shares),
            unsynced: decider.judge.unsynced(),
            is_limited: decider.room().is_some(),
            limits,
            places: VecDeque::new(),
            left: 0,
            admitted: 0,
            decided: 0,
            free: vec![],
            keys,
            asked: decider.judge.remote_keys(),
            reads: true,
            is_plenty: false,
            is_decoded: false,
            recent_keys: decider.recent_keys(limits.workers),
            mean_line: None,
            ending: None,
            reader: Some(reader.into()),
            decider: Some(decider.into()),
            writer: Some(writer.into()),
        }
    }

    /// The time at which printed lines are to be recorded, if the writer is in the queue; otherwise `None`.
    pub fn deadline(&self) -> Option<Instant> {
        self.writer.as_ref()?.recorder.deadline(self.unsynced)
    }

    /// The number of keys that the set has inserted and whose lines are not printed yet.
    pub fn unprinted(&self) -> usize {
        self.places.iter().map(|place| place.new).sum()
    }

    /// Takes the reader out of the queue, and a batch into which it reads.
    pub fn take_reader(&mut self) -> Option<(Box<Blocks<'static>>, Box<Batch>)> {
        let mut reader = self.reader.take()?;
        if self.is_limited {
            reader.at_most(self.decider.as_ref().and_then(|decider| decider.room()));
        }
        if let Some((large, line)) = self.limits.large.zip(self.mean_line) {
            reader.enlarge(large, line);
            // There are fewer large blocks at a time than small ones.
            self.free.truncate(LARGE_BATCHES);
        }
        let batch = self.free.pop().unwrap_or_else(|| Batch::new(&self.keys, self.split, self.asked.clone()));
        Some((reader, batch.into()))
    }

    /// Puts back a reader that has read nothing, and the batch that it was to fill.
    pub fn put_reader(&mut self, reader: Box<Blocks<'static>>, batch: Box<Batch>) {
        self.reader = Some(reader);
        self.free.push(*batch);
    }

    /// Puts back a reader that has read a batch, and returns the number of the batch. Returns `None` if an earlier
    /// batch had an error.
    pub fn put_read(&mut self, reader: Box<Blocks<'static>>, batch: &Batch) -> Option<u64> {
        self.is_decoded = reader.is_decoded();
        self.reader = Some(reader);
        if !self.reads {
            return None;
        }
        self.is_plenty = batch.block.is_plenty();
        self.reads &= !batch.is_void;
        self.places.push_back(Place { batch: None, next: Step::Decide, bytes: batch.block.buffer.len(), new: 0 });
        Some(self.left + self.places.len() as u64 - 1)
    }

    /// Marks the end of the input: nothing more is read.
    pub fn end_reading(&mut self) {
        self.reads = false;
        self.end_if_empty();
    }

    /// Puts back a batch whose lines have been hashed, or whose text to print has been made.
    pub fn put(&mut self, number: u64, batch: Box<Batch>) {
        if let Some(place) = self.places.get_mut((number - self.left) as usize) {
            place.batch = Some(batch);
        }
    }

    /// Takes the set out of the queue, and the next batch. Returns the number of the batch, the set, and the batch. A
    /// set in a server gets the keys of later batches, too, that are ready.
    pub fn take_decider(&mut self) -> Option<(u64, Box<Decider>, Box<Batch>)> {
        let place = self.places.get_mut(self.decided)?;
        let (mut decider, mut batch) = (self.decider.take()?, place.batch.take()?);
        place.next = Step::Write;
        let number = self.left + self.decided as u64;
        self.decided += 1;
        if decider.judge.lend(&mut batch) {
            let mut later = self.places.range_mut(self.decided..).map_while(|place| place.batch.as_mut());
            while later.next().is_some_and(|batch| decider.judge.lend(batch)) {}
        }
        Some((number, decider, batch))
    }

    /// Puts the set back into the queue, after the set has decided which lines of a batch are new.
    pub fn put_decider(&mut self, number: u64, decider: Box<Decider>, batch: &Batch) {
        self.unsynced = decider.judge.unsynced();
        if decider.is_on_storage() {
            self.mean_line = Some(batch.block.mean_line());
            self.recent_keys = decider.recent_keys(self.limits.workers);
        }
        self.decider = Some(decider);
        if let Some(place) = self.places.get_mut((number - self.left) as usize) {
            place.new = batch.new_lines();
        }
        if batch.failure.is_some() || batch.is_last {
            self.end_after(self.decided);
        }
    }

    /// Keeps the first `batches` batches, the last of which has an error, drops all later ones, and ends the reading.
    fn end_after(&mut self, batches: usize) {
        self.reads = false;
        self.places.truncate(batches);
        self.admitted = self.admitted.min(batches);
    }

    /// Takes the share with this number out of the queue, and its part of the next batch. Returns the number of the
    /// batch, the share, and the part.
    pub fn take_share(&mut self, share: usize) -> Option<(u64, Share<AnyFile>, Part)> {
        let (number, taken) = self.shares.take(share)?;
        let batch = self.places.get_mut((number - self.left) as usize)?.batch.as_mut()?;
        Some((number, taken, batch.split.take(share)))
    }

    /// Puts back a share that has inserted its part of batch `number`, or has failed to insert it.
    pub fn put_share(&mut self, index: usize, share: Share<AnyFile>, number: u64, part: Part, failure: Option<Error>) {
        self.shares.put(index, share);
        let place = (number - self.left) as usize;
        // If an earlier batch has failed, this batch has been dropped.
        let Some(batch) = self.places.get_mut(place).and_then(|place| place.batch.as_mut()) else { return };
        batch.split.put(index, part);
        if let Some(error) = failure {
            batch.fail(error);
            self.end_after(place + 1);
        }
    }

    /// Takes out of the queue the set, all its shares, and the batch for which they have no room. Returns the number of
    /// the batch, the set, the shares, and the batch.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    pub fn take_all(&mut self) -> Option<(u64, Box<Decider>, Vec<Share<AnyFile>>, Box<Batch>)> {
        let batch = self.places.get_mut(self.admitted)?.batch.take()?;
        Some((self.left + self.admitted as u64, self.decider.take()?, self.shares.take_all(), batch))
    }

    /// Puts back the set, its shares and the batch, after room was made, so that the batch can be admitted.
    pub fn put_all(&mut self, number: u64, decider: Box<Decider>, shares: Vec<Share<AnyFile>>, batch: Box<Batch>) {
        self.unsynced = decider.judge.unsynced();
        self.decider = Some(decider);
        self.shares.put_all(shares);
        self.put(number, batch);
    }

    /// Takes all shares out of the queue at the end of the run. `None` if a worker still uses one.
    pub fn take_shares(&mut self) -> Option<Vec<Share<AnyFile>>> {
        self.shares.are_home().then(|| self.shares.take_all())
    }

    /// Returns the ending of the run after the recording has failed. If the set failed before, its error is returned,
    /// because it explains more.
    pub fn explain(&mut self, ending: Ending) -> Ending {
        let batches = self.places.iter_mut().filter_map(|place| place.batch.as_mut()).filter(|batch| batch.is_void);
        let first = batches.filter_map(|batch| batch.failure.take()).next();
        match (ending, first) {
            (Ending::Broken(_), Some(first)) => Ending::Broken(first),
            (ending, _) => ending,
        }
    }

    /// Takes the writer and the first batch out of the queue.
    pub fn take_writer(&mut self) -> Option<(Box<Writer>, Box<Batch>)> {
        let batch = self.places.front_mut()?.batch.take()?;
        Some((self.writer.take()?, batch))
    }

    /// Puts back the first batch after a part of its text was written.
    pub fn put_first(&mut self, batch: Box<Batch>) {
        let tells_unread = self.writer.as_ref().is_some_and(|writer| writer.recorder.tells_unread());
        if let Some(first) = self.places.front_mut() {
            if tells_unread {
                first.new = 0;
            }
            first.batch = Some(batch);
        }
    }

    /// Removes the first batch from the queue after all of it was written, and keeps its memory for a later batch.
    pub fn leave(&mut self, batch: Box<Batch>) {
        self.places.pop_front();
        (self.left, self.decided, self.admitted) = (self.left + 1, self.decided - 1, self.admitted.saturating_sub(1));
        self.free.push(*batch);
        self.end_if_empty();
    }

    fn end_if_empty(&mut self) {
        if !self.reads && self.places.is_empty() {
            self.ending.get_or_insert(Ending::Done);
        }
    }
}
