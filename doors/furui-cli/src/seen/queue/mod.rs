//! The flights (blocks on their way from the input to the output), and what is done next.

mod choice;

use std::collections::VecDeque;
use std::time::Instant;

use furui::store::Storage;
use furui::store::cascade::{Part, Share};

use super::decider::Decider;
use super::ending::Ending;
use super::flight::Flight;
use super::shares::Shares;
use super::writer::Writer;
use crate::error::Error;
use crate::input::blocks::Blocks;
use crate::input::large_blocks::LargeBlocks;
use crate::keys::Keys;
use crate::remote::Batch;

/// The flights, which are blocks on their way from the input to the output, in the order of the input. The reader, the
/// set and the writer are each used by one worker at a time, which takes them out of the queue.
///
/// If the set is split, each of its shares is used by one worker at a time, too, and the set itself only admits flights
/// and, when the shares have inserted the keys, says which lines are new.
pub struct Queue<S: Storage> {
    pub reader: Option<Box<Blocks<'static>>>,
    pub decider: Option<Box<Decider<S>>>,
    pub writer: Option<Box<Writer>>,
    shares: Shares<S::File>,
    /// The number of shares if the set is split, otherwise 0.
    split: usize,
    limits: Limits,
    /// True if blocks must end where no more lines may be wanted.
    is_limited: bool,
    places: VecDeque<Place>,
    /// How many flights (blocks on their way to the output) have left the queue.
    left: u64,
    /// How many flights of the queue, counted from the first, were given to the shares of the set, if it is split.
    admitted: usize,
    /// How many flights of the queue, counted from the first, were given to the set, so that it decides which lines are
    /// new.
    decided: usize,
    free: Vec<Flight>,
    /// How new flights (blocks on their way to the output) make keys from lines.
    keys: Keys,
    /// An empty batch for each new flight (a block on its way to the output), if a server is asked.
    asked: Option<Batch>,
    /// False when there is nothing more to read.
    reads: bool,
    /// True if the last read brought so much that there is probably more.
    pub is_plenty: bool,
    /// True if a thread decodes the input.
    pub is_decoded: bool,
    /// How many keys the recent cache of a worker has, if workers have one.
    pub recent_keys: Option<usize>,
    /// The mean length of lines if blocks are to be large.
    mean_line: Option<usize>,
    /// The number of keys of the set that were not durable when the set was last in the queue.
    pub unsynced: usize,
    pub ending: Option<Ending>,
}

/// The limits of the workers.
#[derive(Clone, Copy)]
pub struct Limits {
    /// How many workers there may be.
    pub workers: usize,
    /// The maximum number of [`Flight`]s at a time.
    pub flights: usize,
    /// The sizes of blocks once the set has runs on storage. `None` if blocks then keep their size.
    pub large: Option<LargeBlocks>,
    /// True if lines are recorded. Then lines are printed before they become durable.
    pub records: bool,
}

/// The maximum number of [`Flight`]s of large blocks at a time.
pub const LARGE_FLIGHTS: usize = 2;

struct Place {
    /// A block on its way to the output; `None` while a worker has it.
    flight: Option<Box<Flight>>,
    next: Step,
    bytes: usize,
    /// How many new keys of the flight are in the set, but not known to the recorder yet.
    new: usize,
}

#[derive(PartialEq, Eq)]
enum Step {
    Decide,
    Write,
}

/// A piece of work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// To record the lines that have arrived.
    Sync,
    Write,
    Decide,
    /// To write keys to storage, so that the shares of the set have room for the next flight (block of lines).
    MakeRoom,
    /// To let the share with this number insert the keys of its next flight (block of lines).
    Observe(usize),
    Read,
}

impl<S: Storage> Queue<S> {
    pub fn new(reader: Blocks<'static>, mut decider: Decider<S>, writer: Writer, keys: Keys, limits: Limits) -> Self {
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
            asked: decider.judge.batch(),
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

    /// The time at which lines are to be recorded, if the writer is in the queue.
    pub fn deadline(&self) -> Option<Instant> {
        self.writer.as_ref()?.recorder.deadline(self.unsynced)
    }

    /// The number of keys in the set whose lines are not printed yet.
    pub fn unprinted(&self) -> usize {
        self.places.iter().map(|place| place.new).sum()
    }

    /// Takes the reader, and a flight to read into.
    pub fn take_reader(&mut self) -> Option<(Box<Blocks<'static>>, Box<Flight>)> {
        let mut reader = self.reader.take()?;
        if self.is_limited {
            reader.at_most(self.decider.as_ref().and_then(|decider| decider.room()));
        }
        if let Some((large, line)) = self.limits.large.zip(self.mean_line) {
            reader.enlarge(large, line);
            // There are fewer large blocks at a time than small ones.
            self.free.truncate(LARGE_FLIGHTS);
        }
        let flight = self.free.pop().unwrap_or_else(|| Flight::new(&self.keys, self.split, self.asked.clone()));
        Some((reader, flight.into()))
    }

    /// Puts back a reader that has read nothing, and the flight that it was to fill.
    pub fn put_reader(&mut self, reader: Box<Blocks<'static>>, flight: Box<Flight>) {
        self.reader = Some(reader);
        self.free.push(*flight);
    }

    /// Puts back a reader that has read a flight, and returns the number of the flight. Returns `None` if an earlier
    /// flight had an error.
    pub fn admit(&mut self, reader: Box<Blocks<'static>>, flight: &Flight) -> Option<u64> {
        self.is_decoded = reader.is_decoded();
        self.reader = Some(reader);
        if !self.reads {
            return None;
        }
        self.is_plenty = flight.block.is_plenty();
        self.reads &= !flight.is_void;
        self.places.push_back(Place { flight: None, next: Step::Decide, bytes: flight.block.buffer.len(), new: 0 });
        Some(self.left + self.places.len() as u64 - 1)
    }

    /// Notes the end of the input.
    pub fn end_reading(&mut self) {
        self.reads = false;
        self.end_if_empty();
    }

    /// Puts back a flight whose lines have been hashed, or whose text to print has been made.
    pub fn put(&mut self, number: u64, flight: Box<Flight>) {
        if let Some(place) = self.places.get_mut((number - self.left) as usize) {
            place.flight = Some(flight);
        }
    }

    /// Takes the set, and the next flight (a block between input and output) with its number.
    pub fn take_decider(&mut self) -> Option<(u64, Box<Decider<S>>, Box<Flight>)> {
        let place = self.places.get_mut(self.decided)?;
        let taken = (self.left + self.decided as u64, self.decider.take()?, place.flight.take()?);
        place.next = Step::Write;
        self.decided += 1;
        Some(taken)
    }

    /// Puts the set back into the queue, after the set has decided which lines of a flight (a block) are new.
    pub fn put_decider(&mut self, number: u64, decider: Box<Decider<S>>, flight: &Flight) {
        self.unsynced = decider.judge.unsynced();
        if decider.is_on_storage() {
            self.mean_line = Some(flight.block.mean_line());
            self.recent_keys = decider.recent_keys(self.limits.workers);
        }
        self.decider = Some(decider);
        if let Some(place) = self.places.get_mut((number - self.left) as usize) {
            place.new = flight.new_lines();
        }
        if flight.failure.is_some() || flight.is_last {
            self.end_after(self.decided);
        }
    }

    /// Drops what was read after an error, which is in the last of the first `flights` flights (blocks of lines).
    fn end_after(&mut self, flights: usize) {
        self.reads = false;
        self.places.truncate(flights);
        self.admitted = self.admitted.min(flights);
    }

    /// Takes the share with this number, and the part of its next flight (block of lines), which has the returned number.
    pub fn take_share(&mut self, share: usize) -> Option<(u64, Share<S::File>, Part)> {
        let (number, taken) = self.shares.take(share)?;
        let flight = self.places.get_mut((number - self.left) as usize)?.flight.as_mut()?;
        Some((number, taken, flight.batch.take(share)))
    }

    /// Puts back a share that has inserted a part of a flight (block of lines), or has failed to.
    pub fn put_share(&mut self, index: usize, share: Share<S::File>, number: u64, part: Part, failure: Option<Error>) {
        self.shares.put(index, share);
        let place = (number - self.left) as usize;
        // If an earlier flight has failed, this one is gone.
        let Some(flight) = self.places.get_mut(place).and_then(|place| place.flight.as_mut()) else { return };
        flight.batch.put(index, part);
        if let Some(error) = failure {
            flight.fail(error);
            self.end_after(place + 1);
        }
    }

    /// Takes the set, all its shares, and the flight (block of lines) for which they have no room, with its number.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    pub fn take_all(&mut self) -> Option<(u64, Box<Decider<S>>, Vec<Share<S::File>>, Box<Flight>)> {
        let flight = self.places.get_mut(self.admitted)?.flight.take()?;
        Some((self.left + self.admitted as u64, self.decider.take()?, self.shares.take_all(), flight))
    }

    /// Puts back what was taken to make room, so that the flight (block of lines) can be admitted.
    pub fn put_all(&mut self, number: u64, decider: Box<Decider<S>>, shares: Vec<Share<S::File>>, flight: Box<Flight>) {
        self.unsynced = decider.judge.unsynced();
        self.decider = Some(decider);
        self.shares.put_all(shares);
        self.put(number, flight);
    }

    /// Takes all shares for the end of the run. `None` if a worker has one.
    pub fn take_shares(&mut self) -> Option<Vec<Share<S::File>>> {
        self.shares.are_home().then(|| self.shares.take_all())
    }

    /// The ending of the run after recording has failed. If the set has failed before, that error explains more.
    pub fn explain(&mut self, ending: Ending) -> Ending {
        let flights = self.places.iter_mut().filter_map(|place| place.flight.as_mut()).filter(|flight| flight.is_void);
        let first = flights.filter_map(|flight| flight.failure.take()).next();
        match (ending, first) {
            (Ending::Broken(_), Some(first)) => Ending::Broken(first),
            (ending, _) => ending,
        }
    }

    /// Takes the writer and the first flight.
    pub fn take_writer(&mut self) -> Option<(Box<Writer>, Box<Flight>)> {
        let flight = self.places.front_mut()?.flight.take()?;
        Some((self.writer.take()?, flight))
    }

    /// Puts back the first flight (block on its way to the output), a part of which has been written.
    pub fn put_first(&mut self, flight: Box<Flight>) {
        let tells_unread = self.writer.as_ref().is_some_and(|writer| writer.recorder.tells_unread());
        if let Some(first) = self.places.front_mut() {
            if tells_unread {
                first.new = 0;
            }
            first.flight = Some(flight);
        }
    }

    /// Removes the first flight (block of lines), which has been written, from the queue, and keeps its memory for a
    /// later one.
    pub fn leave(&mut self, flight: Box<Flight>) {
        self.places.pop_front();
        (self.left, self.decided, self.admitted) = (self.left + 1, self.decided - 1, self.admitted.saturating_sub(1));
        self.free.push(*flight);
        self.end_if_empty();
    }

    fn end_if_empty(&mut self) {
        if !self.reads && self.places.is_empty() {
            self.ending.get_or_insert(Ending::Done);
        }
    }
}
