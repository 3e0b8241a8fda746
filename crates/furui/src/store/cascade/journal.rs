use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::format::field::{put, u32_at, u64_at};
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

pub(super) const RECORD_HEAD: usize = 16;
const RECORD_CHECK: usize = 4;
const RECORD_CHECKSUM: usize = 8;
pub(super) const KEY_LEN: usize = size_of::<u64>();

/// The size in bytes of the unit that a device writes either completely or not at all.
const SECTOR: u64 = 512;

/// The number of keys that are passed to the caller at a time.
const KEYS_AT_ONCE: usize = 8192;

/// The number of bytes that are searched at a time for a valid record after an invalid one.
const SEARCH_BYTES: u64 = 256 << 10;

/// A reader of a store's journal: the keys that were recorded since the last run was published.
///
/// The journal may grow while it is read; the reader sees the records that the journal had when it was opened. Memory:
/// at most 8 MiB.
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
    generation: u64,
    mark: u32,
    /// The checksum of the head, which is mixed into the checksums of all records.
    salt: u64,
}

/// What a journal has at an offset.
enum Scanned {
    /// A valid record with this many bytes. Its keys are in the buffer.
    Record(u64),
    /// The end of the file, or bytes that a crash may have left there.
    End,
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
            generation: u64_at(&head, HEAD_GENERATION),
            mark: u32_at(&head, HEAD_MARK),
            salt,
        })
    }

    /// The spec by which the journal's keys were hashed.
    pub fn hash(&self) -> HashSpec {
        self.hash
    }

    /// Reads the whole journal and passes the fingerprints of its keys to `take`, some thousands at a time, in the
    /// order in which the keys came.
    ///
    /// # Errors
    /// Those of `take`; [`Error::Format`] with the offset of the first record that is damaged; [`Error::Io`].
    pub fn for_each(&self, mut take: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let (mut bytes, mut keys) = (Vec::new(), Vec::new());
        let mut at = HEAD_LEN as u64;
        while let Scanned::Record(length) = self.find(at, &mut bytes)? {
            for chunk in bytes.as_chunks().0.chunks(KEYS_AT_ONCE) {
                keys.clear();
                keys.extend(chunk.iter().map(|key| u64::from_le_bytes(*key)));
                if keys.iter().any(|&key| key == 0 || key > self.last) {
                    return Err(self.error(at, Problem::Invalid("a key is no fingerprint of this store")));
                }
                take(&keys)?;
            }
            at += length;
        }
        Ok(())
    }

    /// Reads the whole journal and returns the number of its keys.
    ///
    /// # Errors
    /// Those of [`for_each`](Self::for_each).
    pub fn check(&self) -> Result<u64> {
        let mut count = 0;
        self.for_each(|keys| {
            count += keys.len() as u64;
            Ok(())
        })?;
        Ok(count)
    }

    /// Reads the record at offset `at`. The keys of a valid record are left in `keys`.
    fn find(&self, at: u64, keys: &mut Vec<u8>) -> Result<Scanned> {
        let length = self.file.len();
        let end = match self.record_end(at)? {
            Some(end) if end <= length && self.read_keys(at, end, keys)? => return Ok(Scanned::Record(end - at)),
            Some(end) => end,
            // The end of this record cannot be known.
            None => length,
        };
        let cut_off = end > length || at + RECORD_HEAD as u64 > length;
        if !cut_off && !self.has_empty_sector(at, end)? {
            return Err(self.error(at, Problem::Checksum));
        }
        if self.is_record_behind(at, keys)? {
            return Err(self.error(at, Problem::Invalid("an incomplete record has a valid one after it")));
        }
        Ok(Scanned::End)
    }

    /// The end of the record at this offset, if its head is there and valid. It may be after the end of the file.
    fn record_end(&self, at: u64) -> Result<Option<u64>> {
        if at + RECORD_HEAD as u64 > self.file.len() {
            return Ok(None);
        }
        let mut head = [0; RECORD_HEAD];
        self.read(at, &mut head)?;
        Ok(end_of(self.salt, at, &head))
    }

    /// Reads the keys of the record from `at` to `end`, whose head is valid. True if the keys are valid too.
    fn read_keys(&self, at: u64, end: u64, keys: &mut Vec<u8>) -> Result<bool> {
        let mut head = [0; RECORD_HEAD];
        self.read(at, &mut head)?;
        // There are at most MAX_RECORD_KEYS keys, and no more than the file has.
        keys.resize((end - at) as usize - RECORD_HEAD, 0);
        self.read(at + RECORD_HEAD as u64, keys)?;
        Ok(xxh3_64(keys) == u64_at(&head, RECORD_CHECKSUM))
    }

    /// True if in some sector all bytes that lie between `at` and `end` are zero.
    fn has_empty_sector(&self, at: u64, end: u64) -> Result<bool> {
        let mut bytes = [0; SECTOR as usize];
        let mut start = at;
        while start < end {
            let next = (start / SECTOR + 1) * SECTOR;
            let part = &mut bytes[..(next.min(end) - start) as usize];
            self.read(start, part)?;
            if part.iter().all(|&byte| byte == 0) {
                return Ok(true);
            }
            start = next;
        }
        Ok(false)
    }

    /// True if there is a valid record after the invalid one at `at`.
    fn is_record_behind(&self, at: u64, keys: &mut Vec<u8>) -> Result<bool> {
        let length = self.file.len();
        let mut window = Vec::new();
        let mut start = at + KEY_LEN as u64;
        while start + RECORD_HEAD as u64 <= length {
            // Windows overlap by half a head, so that the head of a record is whole in some window.
            window.resize((length - start).min(SEARCH_BYTES) as usize, 0);
            self.read(start, &mut window)?;
            for (head, place) in window.windows(RECORD_HEAD).zip(start..).step_by(KEY_LEN) {
                if let Some(end) = end_of(self.salt, place, head)
                    && end <= length
                    && self.read_keys(place, end, keys)?
                {
                    return Ok(true);
                }
            }
            start += (window.len() - window.len() % KEY_LEN - KEY_LEN) as u64;
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
    /// [`Error::Format`] if the journal is damaged, or belongs to another store or to a later state; [`Error::Io`].
    pub fn of(file: F, name: &str, manifest: &Manifest) -> Result<Option<Self>> {
        let journal = Self { last: manifest.fingerprints.last(), ..Self::open(file, name)? };
        if journal.hash != manifest.hash {
            let problem = Problem::OtherHash { found: journal.hash, expected: manifest.hash };
            return Err(journal.error(0, problem));
        }
        match journal.mark == manifest.journal {
            true => Ok(Some(journal)),
            false if journal.generation < manifest.generation() => Ok(None),
            false => Err(journal.error(HEAD_GENERATION as u64, Problem::OtherFile)),
        }
    }
}

/// The head of a journal of the store with this manifest.
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

/// Writes the head of a record that will be at byte `at` of the file. Its keys are in `record` already.
pub(super) fn seal_record(salt: u64, at: u64, record: &mut [u8]) {
    let (head, keys) = record.split_at_mut(RECORD_HEAD);
    put(head, 0, ((keys.len() / KEY_LEN) as u32).to_le_bytes());
    put(head, RECORD_CHECKSUM, xxh3_64(keys).to_le_bytes());
    let check = head_check(salt, at, head);
    put(head, RECORD_CHECK, check.to_le_bytes());
}

/// The end of the record that begins with this head at byte `at`; `None` if the head is not valid.
fn end_of(salt: u64, at: u64, head: &[u8]) -> Option<u64> {
    let keys = u32_at(head, 0) as usize;
    let good = (1..=MAX_RECORD_KEYS).contains(&keys) && head_check(salt, at, head) == u32_at(head, RECORD_CHECK);
    good.then(|| at + (RECORD_HEAD + keys * KEY_LEN) as u64)
}

fn head_check(salt: u64, at: u64, head: &[u8]) -> u32 {
    let mut bytes = [0; 28];
    put(&mut bytes, 0, salt.to_le_bytes());
    put(&mut bytes, 8, at.to_le_bytes());
    put(&mut bytes, 16, u32_at(head, 0).to_le_bytes());
    put(&mut bytes, 20, u64_at(head, RECORD_CHECKSUM).to_le_bytes());
    xxh3_64(&bytes) as u32
}
