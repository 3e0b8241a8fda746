use super::journal::{self, HEAD_LEN, KEY_LEN, MAX_RECORD_KEYS, RECORD_HEAD, RECORD_TAIL};
use super::room::reserve;
use crate::error::Result;
use crate::format::field::put;
use crate::store::{JOURNAL, Log, Manifest, Storage};

/// The journal that a set writes, and the keys that wait for it, which were inserted since the last
/// [`sync`](Self::sync).
pub(super) struct JournalWriter {
    /// [`ROOM`] bytes, and after them the fingerprints of the keys in the order in which they came.
    waiting: Vec<u8>,
    /// In a set with a window, the fingerprints of the keys that occurred again. They are written before the waiting
    /// keys.
    repeated: Vec<u8>,
    /// The maximum number of bytes that may wait to be written to the journal.
    most: usize,
    begun: Option<Begun>,
}

/// A journal that has a file.
struct Begun {
    log: Box<dyn Log>,
    length: u64,
    salt: u64,
}

/// The room before the waiting keys: for the head of the file, which is written with the first record, and for the head
/// of a record.
const ROOM: usize = HEAD_LEN + RECORD_HEAD;
/// Waiting keys take at most 1 / `SHARE` of a set's memory.
const SHARE: u64 = 8;
/// The maximum number of bytes that waiting keys take, however large the memory is.
const MOST_BYTES: u64 = 16 << 20;

impl JournalWriter {
    /// A journal without keys and without a file, for a set with this much memory.
    pub(super) fn new(memory: u64) -> Result<Self> {
        let most = (memory / SHARE).min(MOST_BYTES) as usize;
        let mut waiting = vec![];
        reserve(&mut waiting, most + RECORD_TAIL)?;
        waiting.resize(ROOM, 0);
        Ok(Self { waiting, repeated: vec![], most, begun: None })
    }

    /// The memory that the waiting keys take, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.waiting.capacity() + self.repeated.capacity()) as u64
    }

    /// The number of waiting keys, not counting keys that occurred again.
    pub(super) fn len(&self) -> usize {
        (self.waiting.len() - ROOM) / KEY_LEN
    }

    /// The number of waiting keys that occurred again.
    pub(super) fn repeats(&self) -> usize {
        self.repeated.len() / KEY_LEN
    }

    /// True if `keys` more keys may wait. If no key is waiting, any number of keys may.
    pub(super) fn has_room(&self, keys: usize) -> bool {
        self.waiting.len() + self.repeated.len() == ROOM || self.fits(keys)
    }

    /// True if `keys` more keys may wait in the memory that is meant for waiting keys.
    pub(super) fn fits(&self, keys: usize) -> bool {
        let waiting = self.waiting.len() + self.repeated.len();
        waiting.saturating_add(keys.saturating_mul(KEY_LEN)) <= self.most
    }

    pub(super) fn push(&mut self, key: u64) {
        self.waiting.extend_from_slice(&key.to_le_bytes());
    }

    /// Notes a key that occurred again in a later slice of the window.
    pub(super) fn push_repeat(&mut self, key: u64) {
        self.repeated.extend_from_slice(&key.to_le_bytes());
    }

    /// Makes the first `count` of the waiting keys durable, and also all keys that occurred again. Returns the number
    /// of bytes that were written. The manifest is saved when the journal is begun, and whenever it has doubled, so that
    /// a reader knows how long it must be.
    pub(super) fn sync<S: Storage>(&mut self, storage: &S, manifest: &mut Manifest, count: usize) -> Result<u64> {
        let mut left = count.min(self.len());
        if !self.repeated.is_empty() {
            left += self.repeats();
            reserve(&mut self.waiting, self.repeated.len())?;
            self.waiting.splice(ROOM..ROOM, self.repeated.drain(..));
        }
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
            left -= keys;
        }
        Ok(written)
    }

    /// Ends the journal when all its keys are in runs: drops the keys that wait to be written, and closes the file.
    /// Returns whether there was a file.
    pub(super) fn end(&mut self) -> bool {
        self.waiting.truncate(ROOM);
        self.repeated.clear();
        self.begun.take().is_some()
    }
}
