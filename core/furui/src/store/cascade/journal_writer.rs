use std::collections::VecDeque;

use super::journal::{self, HEAD_LEN, KEY_LEN, MAX_RECORD_KEYS, RECORD_HEAD, RECORD_TAIL};
use super::room::reserve;
use crate::error::Result;
use crate::format::field::put;
use crate::store::{JOURNAL, Log, Manifest, Storage};

/// The writer of a set's journal, with the keys that were inserted since the last [`sync`](Self::sync) and are not
/// written yet.
pub(super) struct JournalWriter {
    /// [`ROOM`] bytes for the heads, followed by the numbers to be written: the fingerprints of new keys, in order of
    /// arrival. In a set with a window, there are also the keys that occurred again, and ticks, each of which takes two
    /// numbers.
    waiting: Vec<u8>,
    /// The kinds of the numbers in `waiting` (new key, repeated key or tick), run-length encoded from the first number
    /// on.
    stretches: VecDeque<Stretch>,
    /// The number of new keys in `waiting`.
    new: usize,
    /// The number of keys in `waiting` that were in the set already, and occurred again in a later slice of its window.
    repeats: usize,
    /// The slice of the window in which the next keys occur; `None` before the first one is set.
    slice: Option<u64>,
    /// The tick that must be written before the next key; `None` if it is among the waiting numbers already.
    tick: Option<u64>,
    /// The maximum size of the numbers that wait to be written, in bytes.
    most: usize,
    begun: Option<Begun>,
}

/// A run of adjacent numbers of the same kind among those that wait to be written.
struct Stretch {
    numbers: usize,
    kind: Waiting,
}

/// The kind of a number that waits to be written to the journal: a new key, a key that occurred again, or a part of a
/// tick.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    New,
    Repeat,
    Tick,
}

/// A journal whose file was created, to which records are appended.
struct Begun {
    log: Box<dyn Log>,
    length: u64,
    salt: u64,
}

/// The number of bytes that are kept free in front of the keys that wait for the journal: for the head of the file,
/// which is written together with the first record, and for the head of a record.
const ROOM: usize = HEAD_LEN + RECORD_HEAD;
/// The keys that wait to be written to the journal take at most 1 / `SHARE` of the set's memory.
const SHARE: u64 = 8;
/// The maximum number of bytes that keys waiting for the journal take, however large the memory of the set is.
const MOST_BYTES: u64 = 16 << 20;

impl JournalWriter {
    /// A journal without keys and without a file, for a set with `memory` bytes.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory) if the list of waiting keys cannot be allocated.
    pub(super) fn new(memory: u64) -> Result<Self> {
        let most = (memory / SHARE).min(MOST_BYTES) as usize;
        let mut waiting = vec![];
        reserve(&mut waiting, most + RECORD_TAIL)?;
        waiting.resize(ROOM, 0);
        let (stretches, slice, tick) = (VecDeque::new(), None, None);
        Ok(Self { waiting, stretches, new: 0, repeats: 0, slice, tick, most, begun: None })
    }

    /// The memory that the keys waiting for the journal take, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.waiting.capacity() + self.stretches.capacity() * size_of::<Stretch>()) as u64
    }

    /// The number of new keys that wait to be written to the journal. Keys that occurred again are not counted.
    pub(super) fn len(&self) -> usize {
        self.new
    }

    /// The number of keys that occurred again in the window and wait to be written to the journal.
    pub(super) fn repeats(&self) -> usize {
        self.repeats
    }

    /// The length of the journal's file, in bytes; 0 if there is none.
    pub(super) fn length(&self) -> u64 {
        self.begun.as_ref().map_or(0, |begun| begun.length)
    }

    /// True if no keys wait to be written, and the journal has no file.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_none() && self.waiting.len() == ROOM
    }

    /// True if there is room for `numbers` more numbers (keys or parts of ticks) before the next sync. If none is
    /// waiting, there is always room.
    pub(super) fn has_room(&self, numbers: usize) -> bool {
        self.waiting.len() == ROOM || self.fits(numbers)
    }

    /// True if `numbers` more numbers (keys or parts of ticks) fit into the memory for those that wait to be written.
    pub(super) fn fits(&self, numbers: usize) -> bool {
        let stretches = self.stretches.len() * size_of::<Stretch>();
        (self.waiting.len() + stretches).saturating_add(numbers.saturating_mul(KEY_LEN)) <= self.most
    }

    /// Sets the tick (the time, or the number of keys so far) and the slice of the window at which the next keys occur.
    pub(super) fn enter(&mut self, slice: u64, tick: u64) {
        if self.slice != Some(slice) {
            (self.slice, self.tick) = (Some(slice), Some(tick));
        }
    }

    pub(super) fn push(&mut self, key: u64) {
        self.push_tick();
        self.push_number(key, Waiting::New);
        self.new += 1;
    }

    /// Adds a key that occurred again in a later slice of the window, so that the next sync writes it.
    pub(super) fn push_repeat(&mut self, key: u64) {
        self.push_tick();
        self.push_number(key, Waiting::Repeat);
        self.repeats += 1;
    }

    fn push_tick(&mut self) {
        if let Some(tick) = self.tick.take() {
            self.push_number(journal::TICK, Waiting::Tick);
            self.push_number(tick, Waiting::Tick);
        }
    }

    fn push_number(&mut self, number: u64, kind: Waiting) {
        self.waiting.extend_from_slice(&number.to_le_bytes());
        match self.stretches.back_mut() {
            Some(last) if last.kind == kind => last.numbers += 1,
            _ => self.stretches.push_back(Stretch { numbers: 1, kind }),
        }
    }

    /// The number of waiting numbers that must be written so that the first `count` new keys are durable, with all
    /// numbers between them and the next new key.
    fn numbers_of(&self, count: usize) -> usize {
        let (mut numbers, mut left) = (0, count);
        for stretch in &self.stretches {
            let is_new = stretch.kind == Waiting::New;
            let taken = if is_new { stretch.numbers.min(left) } else { stretch.numbers };
            numbers += taken;
            if taken < stretch.numbers {
                break;
            }
            left -= if is_new { taken } else { 0 };
        }
        numbers
    }

    /// Removes the first `numbers` waiting numbers, which were written.
    fn forget(&mut self, mut numbers: usize) {
        while let Some(first) = self.stretches.front_mut().filter(|_| numbers > 0) {
            let taken = first.numbers.min(numbers);
            (first.numbers, numbers) = (first.numbers - taken, numbers - taken);
            match first.kind {
                Waiting::New => self.new -= taken,
                Waiting::Repeat => self.repeats -= taken,
                Waiting::Tick => {}
            }
            if first.numbers == 0 {
                self.stretches.pop_front();
            }
        }
    }

    /// Makes the first `count` of the new waiting keys durable, and also all keys that occurred again before the next
    /// new one. So no key counts as one that occurred again before it is durable as a new one. Returns the number of
    /// bytes that were written. The manifest is saved when the journal is begun, and whenever it has doubled, so that a
    /// reader knows how long it must be.
    ///
    /// # Errors
    /// Those of the storage, and [`Error::NoMemory`](crate::Error::NoMemory). It is unknown then what reached the
    /// journal, so this writer must not be used any more.
    pub(super) fn sync<S: Storage>(&mut self, storage: &S, manifest: &mut Manifest, count: usize) -> Result<u64> {
        let mut left = self.numbers_of(count);
        let mut written = 0;
        while left > 0 {
            // Records are written one by one, because a reader expects all records but the last to be whole.
            let keys = left.min(MAX_RECORD_KEYS);
            let end = ROOM + keys * KEY_LEN;
            reserve(&mut self.waiting, RECORD_TAIL)?;
            self.waiting.splice(end..end, [0; RECORD_TAIL]);
            let end = end + RECORD_TAIL;
            let length = match &mut self.begun {
                Some(begun) => {
                    let record = &mut self.waiting[HEAD_LEN..end];
                    journal::seal_record(begun.salt, begun.length, record);
                    begun.log.append(record)?;
                    begun.length += record.len() as u64;
                    written += record.len() as u64;
                    begun.length
                }
                None => {
                    let (file, length) = (&mut self.waiting[..end], end as u64);
                    let head = journal::head(manifest);
                    let salt = journal::salt(&head);
                    put(file, 0, head);
                    journal::seal_record(salt, HEAD_LEN as u64, &mut file[HEAD_LEN..]);
                    self.begun = Some(Begun { log: storage.log(JOURNAL, file)?, length, salt });
                    written += length;
                    length
                }
            };
            if length >= manifest.journal_bytes.saturating_mul(2) {
                manifest.journal_bytes = length;
                manifest.save(storage)?;
            }
            self.waiting.drain(ROOM..end);
            self.forget(keys);
            left -= keys;
        }
        Ok(written)
    }

    /// Ends the journal when all its keys are in runs: drops the keys that wait to be written, and closes the file.
    /// Returns true if there was a file.
    pub(super) fn end(&mut self) -> bool {
        self.waiting.truncate(ROOM);
        self.stretches.clear();
        (self.new, self.repeats, self.slice, self.tick) = (0, 0, None, None);
        self.begun.take().is_some()
    }
}
