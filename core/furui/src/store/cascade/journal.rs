use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::format::field::{array_at, put, u32_at, u64_at};
use crate::format::{FormatError, Header, Kind, Problem, ReadAt};
use crate::hash::HashSpec;
use crate::store::{Fingerprints, Manifest};

/// The maximum number of keys of a record. It bounds the memory that reading an invalid journal takes.
pub const MAX_RECORD_KEYS: usize = 1 << 20;

pub(super) const HEAD_LEN: usize = 88;
const HEAD_GENERATION: usize = 64;
const HEAD_MARK: usize = 72;
const HEAD_RESERVED: usize = 76;
const HEAD_CHECKSUM: usize = 80;

/// The number of bytes in front of the keys of a record: its frame (number of keys and check) and a checksum.
pub(super) const RECORD_HEAD: usize = 16;
/// The number of bytes after the keys of a record: a copy of its frame (number of keys and check).
pub(super) const RECORD_TAIL: usize = FRAME;
/// The length in bytes of a frame: the number of keys of a record, and a check that also depends on the record's
/// offset.
const FRAME: usize = 8;
const FRAME_CHECK: usize = 4;
pub(super) const KEY_LEN: usize = size_of::<u64>();
/// The number that marks a tick in a journal: the number after it is the tick of the keys that follow. It is not a
/// fingerprint.
pub(super) const TICK: u64 = 0;

/// The size in bytes of the unit that a device writes either completely or not at all.
const SECTOR: u64 = 512;

/// The number of keys that the reader of a journal passes to its caller at a time.
const KEYS_AT_ONCE: usize = 8192;

/// The number of bytes that are searched at a time for a frame after an invalid record.
const SEARCH_BYTES: u64 = 256 << 10;

/// A reader of a store's journal: the keys that were recorded since the last run was published.
///
/// The journal may grow while it is read; the reader sees the records that the journal had when it was opened. Memory:
/// at most 9 MiB.
///
/// ```
/// use furui::KeyHash;
/// use furui::store::cascade::{Cascade, CascadeOptions, Journal};
/// use furui::store::{JOURNAL, Memory, Storage};
///
/// let storage = Memory::new();
/// let options = CascadeOptions { journal: true, ..CascadeOptions::default() };
/// let mut set = Cascade::open(storage.clone(), options)?;
/// set.insert_all(&[5, 7].map(KeyHash::new), &mut vec![])?;
/// set.sync()?;
/// assert_eq!(Journal::open(storage.open(JOURNAL)?, JOURNAL)?.check()?, 2);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Journal<F> {
    file: F,
    name: String,
    hash: HashSpec,
    /// The greatest fingerprint that a key can have.
    last: u64,
    /// True if the store has a window, so that each key in the journal comes after its tick; `None` if this is not
    /// known.
    has_ticks: Option<bool>,
    generation: u64,
    mark: u32,
    /// The number of bytes that were durable when the store's manifest was written. A journal that ends before is
    /// damaged.
    durable: u64,
    /// The checksum of the journal's head, which is mixed into the checksums of all records.
    salt: u64,
}

impl<F: ReadAt> Journal<F> {
    /// Opens the journal in `file`, which is called `name` in errors. [`of`](Self::of) also finds out whether it
    /// belongs to a certain store.
    ///
    /// # Errors
    /// [`Error::Format`] if the file does not begin with the head of a journal; [`Error::Io`].
    pub fn open(file: F, name: &str) -> Result<Self> {
        let mut head = [0; HEAD_LEN];
        let found = HEAD_LEN.min(usize::try_from(file.len()).unwrap_or(HEAD_LEN));
        file.read_at(0, &mut head[..found]).map_err(|source| Error::io("cannot read", name, source))?;
        let error = |offset: usize, problem| FormatError { file: name.to_owned(), offset: offset as u64, problem };
        let header = Header::decode(&head[..found.min(Header::LEN)], file.len(), HEAD_LEN as u64, name)?;
        if header.kind != Kind::Journal {
            return Err(error(0, Problem::WrongKind { found: header.kind, expected: Kind::Journal }).into());
        }
        let salt = u64_at(&head, HEAD_CHECKSUM);
        if xxh3_64(&head[..HEAD_CHECKSUM]) != salt {
            return Err(error(0, Problem::Checksum).into());
        }
        if u32_at(&head, HEAD_RESERVED) != 0 {
            return Err(error(HEAD_RESERVED, Problem::Invalid("a reserved byte is not zero")).into());
        }
        Ok(Self {
            file,
            name: name.to_owned(),
            hash: header.hash,
            last: Fingerprints::EXACT.last(),
            has_ticks: None,
            generation: u64_at(&head, HEAD_GENERATION),
            mark: u32_at(&head, HEAD_MARK),
            durable: 0,
            salt,
        })
    }

    /// The spec by which the journal's keys were hashed.
    pub fn hash(&self) -> HashSpec {
        self.hash
    }

    /// Reads the whole journal and passes the fingerprints of its keys to `take`, some thousands at a time, in the
    /// order in which the keys came. In the journal of a set with a [window](crate::store::Window), `take` also gets
    /// the tick at which the keys occurred, or an earlier one in the same slice.
    ///
    /// # Errors
    /// Those of `take`; [`Error::Format`] with the offset of the first record that is damaged; [`Error::Io`].
    pub fn for_each(&self, mut take: impl FnMut(Option<u64>, &[u64]) -> Result<()>) -> Result<()> {
        let (mut record, mut keys) = (Vec::new(), Vec::new());
        let (mut tick, mut is_tick) = (None, false);
        let mut at = HEAD_LEN as u64;
        while let Some(end) = self.find(at, &mut record)? {
            for chunk in record[RECORD_HEAD..record.len() - RECORD_TAIL].as_chunks().0.chunks(KEYS_AT_ONCE) {
                keys.clear();
                for number in chunk.iter().map(|number| u64::from_le_bytes(*number)) {
                    if std::mem::take(&mut is_tick) {
                        if !keys.is_empty() {
                            take(tick, &keys)?;
                            keys.clear();
                        }
                        if tick.is_some_and(|before| number < before) {
                            return Err(self.error(at, Problem::Invalid("a tick is before the last one")));
                        }
                        tick = Some(number);
                    } else if number == TICK && self.has_ticks != Some(false) {
                        is_tick = true;
                    } else if number == TICK || number > self.last {
                        return Err(self.error(at, Problem::Invalid("a key is no fingerprint of this store")));
                    } else if tick.is_none() && self.has_ticks == Some(true) {
                        return Err(self.error(at, Problem::Invalid("a key has no tick")));
                    } else {
                        keys.push(number);
                    }
                }
                if !keys.is_empty() {
                    take(tick, &keys)?;
                }
            }
            at = end;
        }
        if at < self.durable {
            return Err(self.error(at, Problem::Truncated { expected: self.durable, found: at }));
        }
        Ok(())
    }

    /// Reads the whole journal and returns the number of its keys.
    ///
    /// # Errors
    /// Those of [`for_each`](Self::for_each).
    pub fn check(&self) -> Result<u64> {
        let mut count = 0;
        self.for_each(|_, keys| {
            count += keys.len() as u64;
            Ok(())
        })?;
        Ok(count)
    }

    /// Reads the record at offset `at` into `record`, and returns the offset of its end. `None` at the end of the
    /// journal: the end of the file, or a last record that a crash may have left incomplete.
    fn find(&self, at: u64, record: &mut Vec<u8>) -> Result<Option<u64>> {
        let length = self.file.len();
        let Some(end) = self.end_of_record(at)? else {
            let is_missing = at + FRAME as u64 > length || self.is_empty_sector(at, length)?;
            return match is_missing && !self.is_frame_behind(at)? {
                true => Ok(None),
                false => Err(self.error(at, Problem::Checksum)),
            };
        };
        if end > length {
            return Ok(None);
        }
        // There are at most MAX_RECORD_KEYS keys, and no more than the file has.
        record.resize((end - at) as usize, 0);
        self.read(at, record)?;
        let (head, rest) = record.split_at(RECORD_HEAD);
        let (keys, tail) = rest.split_at(rest.len() - RECORD_TAIL);
        if *tail == head[..FRAME] && u64_at(head, FRAME) == sum_of(self.salt, at, keys) {
            return Ok(Some(end));
        }
        // Before a later record was begun, this one was durable.
        match end == length && self.has_empty_sector(at, end)? {
            true => Ok(None),
            false => Err(self.error(at, Problem::Checksum)),
        }
    }

    /// The offset of the end of the record at offset `at`; `None` if there is no valid frame. The end may lie beyond
    /// the end of the file.
    fn end_of_record(&self, at: u64) -> Result<Option<u64>> {
        if at + FRAME as u64 > self.file.len() {
            return Ok(None);
        }
        let mut frame = [0; FRAME];
        self.read(at, &mut frame)?;
        Ok(length_of(frame).filter(|_| frame == frame_of(self.salt, at, frame)).map(|length| at + length))
    }

    /// True if all bytes from `at` to the end of its sector, or to `end` if that comes first, are zero.
    fn is_empty_sector(&self, at: u64, end: u64) -> Result<bool> {
        let mut bytes = [0; SECTOR as usize];
        let part = &mut bytes[..(next_sector(at).min(end) - at) as usize];
        self.read(at, part)?;
        Ok(part.iter().all(|&byte| byte == 0))
    }

    /// True if there is a sector whose bytes between `at` and `end` are all zero.
    fn has_empty_sector(&self, at: u64, end: u64) -> Result<bool> {
        let mut start = at;
        while start < end {
            if self.is_empty_sector(start, end)? {
                return Ok(true);
            }
            start = next_sector(start);
        }
        Ok(false)
    }

    /// True if a valid frame, the first or the last one of a later record, follows the invalid record at `at`.
    fn is_frame_behind(&self, at: u64) -> Result<bool> {
        let length = self.file.len();
        let mut window = Vec::new();
        let mut start = at;
        while start + FRAME as u64 <= length {
            window.resize((length - start).min(SEARCH_BYTES) as usize, 0);
            self.read(start, &mut window)?;
            for (place, &frame) in (start..).step_by(FRAME).zip(window.as_chunks().0) {
                let Some(length) = length_of(frame) else { continue };
                let begins = Some(place);
                let ends = (place + FRAME as u64).checked_sub(length).filter(|&begin| begin > at);
                if [begins, ends].into_iter().flatten().any(|begin| frame == frame_of(self.salt, begin, frame)) {
                    return Ok(true);
                }
            }
            start += SEARCH_BYTES;
        }
        Ok(false)
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_at(offset, buf).map_err(|source| Error::io("cannot read", &*self.name, source))
    }

    fn error(&self, offset: u64, problem: Problem) -> Error {
        FormatError { file: self.name.clone(), offset, problem }.into()
    }
}

impl<F: ReadAt> Journal<F> {
    /// The journal in `file`, if it belongs to the state of the store that this manifest describes; `None` if it
    /// belongs to an earlier state.
    ///
    /// # Errors
    /// [`Error::Format`] if the journal is damaged, belongs to another store or to a later state, or is not the one
    /// that the manifest says was begun; [`Error::Io`].
    pub fn of(file: F, name: &str, manifest: &Manifest) -> Result<Option<Self>> {
        let (last, durable) = (manifest.fingerprints.last(), manifest.journal_bytes);
        let has_ticks = Some(manifest.window.is_some());
        let journal = Self { last, has_ticks, durable, ..Self::open(file, name)? };
        if journal.hash != manifest.hash {
            let problem = Problem::OtherHash { found: journal.hash, expected: manifest.hash };
            return Err(journal.error(0, problem));
        }
        match journal.mark == manifest.journal {
            true => Ok(Some(journal)),
            false if durable == 0 && journal.generation < manifest.generation() => Ok(None),
            false => Err(journal.error(HEAD_GENERATION as u64, Problem::OtherFile)),
        }
    }
}

/// Encodes the head of a journal of the store with this manifest.
pub(super) fn head(manifest: &Manifest) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    put(&mut head, 0, Header::new(Kind::Journal, manifest.hash).encode());
    put(&mut head, HEAD_GENERATION, manifest.generation().to_le_bytes());
    put(&mut head, HEAD_MARK, manifest.journal.to_le_bytes());
    let checksum = xxh3_64(&head[..HEAD_CHECKSUM]);
    put(&mut head, HEAD_CHECKSUM, checksum.to_le_bytes());
    head
}

/// The checksum of a head, which is mixed into the checksums of the journal's records.
pub(super) fn salt(head: &[u8; HEAD_LEN]) -> u64 {
    u64_at(head, HEAD_CHECKSUM)
}

/// Completes a record that is to be written at offset `at` of the file. `record` has the keys already, between room for
/// its head and for its tail.
pub(super) fn seal_record(salt: u64, at: u64, record: &mut [u8]) {
    let (head, rest) = record.split_at_mut(RECORD_HEAD);
    let (keys, tail) = rest.split_at_mut(rest.len() - RECORD_TAIL);
    put(head, 0, ((keys.len() / KEY_LEN) as u32).to_le_bytes());
    let frame = frame_of(salt, at, array_at(head, 0));
    put(head, 0, frame);
    put(head, FRAME, sum_of(salt, at, keys).to_le_bytes());
    put(tail, 0, frame);
}

/// The length in bytes of a record with this frame; `None` if the frame states more keys than a record can have.
fn length_of(frame: [u8; FRAME]) -> Option<u64> {
    let keys = u32_at(&frame, 0) as usize;
    (1..=MAX_RECORD_KEYS).contains(&keys).then_some((RECORD_HEAD + keys * KEY_LEN + RECORD_TAIL) as u64)
}

/// Computes the frame of a record at offset `at`, with the number of keys that `frame` states.
fn frame_of(salt: u64, at: u64, mut frame: [u8; FRAME]) -> [u8; FRAME] {
    let mut bytes = [0; 20];
    put(&mut bytes, 0, salt.to_le_bytes());
    put(&mut bytes, 8, at.to_le_bytes());
    put(&mut bytes, 16, u32_at(&frame, 0).to_le_bytes());
    put(&mut frame, FRAME_CHECK, (xxh3_64(&bytes) as u32).to_le_bytes());
    frame
}

/// The checksum of the keys of a record at offset `at` of the file.
fn sum_of(salt: u64, at: u64, keys: &[u8]) -> u64 {
    let mut bytes = [0; 24];
    put(&mut bytes, 0, salt.to_le_bytes());
    put(&mut bytes, 8, at.to_le_bytes());
    put(&mut bytes, 16, xxh3_64(keys).to_le_bytes());
    xxh3_64(&bytes)
}

fn next_sector(at: u64) -> u64 {
    (at / SECTOR + 1) * SECTOR
}
