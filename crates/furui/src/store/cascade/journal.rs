use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{FormatError, Header, Kind, Problem, ReadAt};
use crate::hash::HashSpec;
use crate::store::Manifest;

/// The most keys in a record: what bounds the memory that reading takes, whatever a journal says.
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

/// What a device writes whole or not at all.
const SECTOR: u64 = 512;

/// How many keys are handed out at a time.
const KEYS_AT_ONCE: usize = 8192;

/// How many bytes are looked through at a time for a good record behind a bad one.
const SEARCH_BYTES: u64 = 256 << 10;

/// A store's journal, to be read: the keys it has taken since its last run was published.
///
/// It may grow while it is read: what is seen of it is what it had when it was opened. Memory: 8 MiB at most.
#[derive(Debug)]
pub struct Journal<F> {
    file: F,
    name: String,
    hash: HashSpec,
    generation: u64,
    mark: u32,
    /// The checksum of the head, which goes into the checksums of all records.
    salt: u64,
}

/// What stands at a place of a journal.
enum Scanned {
    /// A good record, and how many bytes it has. Its keys are in the buffer.
    Record(u64),
    /// The end of the file, or what a crash leaves there.
    End,
}

impl<F: ReadAt> Journal<F> {
    /// Opens the journal in `file`, which errors call `name`. Whether it is that of a certain store, [`of`](Self::of) finds
    /// out.
    ///
    /// # Errors
    /// [`Error::Format`] if this is not the head of a journal; [`Error::Io`].
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
            generation: u64_at(&head, HEAD_GENERATION),
            mark: u32_at(&head, HEAD_MARK),
            salt,
        })
    }

    /// How its keys were hashed.
    pub fn hash(&self) -> HashSpec {
        self.hash
    }

    /// Reads all of it and hands out its keys, some thousand at a time, in the order in which they came.
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
                if keys.contains(&0) {
                    return Err(self.error(at, Problem::Invalid("a key that is 0")));
                }
                take(&keys)?;
            }
            at += length;
        }
        Ok(())
    }

    /// Reads all of it; how many keys it has.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    pub fn check(&self) -> Result<u64> {
        let mut count = 0;
        self.for_each(|keys| {
            count += keys.len() as u64;
            Ok(())
        })?;
        Ok(count)
    }

    /// What stands at offset `at`. The keys of a good record are left in `keys`.
    fn find(&self, at: u64, keys: &mut Vec<u8>) -> Result<Scanned> {
        let length = self.file.len();
        let end = match self.record_end(at)? {
            Some(end) if end <= length && self.read_keys(at, end, keys)? => return Ok(Scanned::Record(end - at)),
            Some(end) => end,
            // Where it ends cannot be known.
            None => length,
        };
        let cut_off = end > length || at + RECORD_HEAD as u64 > length;
        if !cut_off && !self.has_empty_sector(at, end)? {
            return Err(self.error(at, Problem::Checksum));
        }
        if self.is_record_behind(at, keys)? {
            return Err(self.error(at, Problem::Invalid("a record that is incomplete, with a good one behind it")));
        }
        Ok(Scanned::End)
    }

    /// Where the record at this place ends, if its head is there and good. It may be beyond the file's end.
    fn record_end(&self, at: u64) -> Result<Option<u64>> {
        if at + RECORD_HEAD as u64 > self.file.len() {
            return Ok(None);
        }
        let mut head = [0; RECORD_HEAD];
        self.read(at, &mut head)?;
        Ok(end_of(self.salt, at, &head))
    }

    /// Reads the keys of the record from `at` to `end`, the head of which is good: whether they are, too.
    fn read_keys(&self, at: u64, end: u64, keys: &mut Vec<u8>) -> Result<bool> {
        let mut head = [0; RECORD_HEAD];
        self.read(at, &mut head)?;
        // Not more than MAX_RECORD_KEYS keys, nor than the file has.
        keys.resize((end - at) as usize - RECORD_HEAD, 0);
        self.read(at + RECORD_HEAD as u64, keys)?;
        Ok(xxh3_64(keys) == u64_at(&head, RECORD_CHECKSUM))
    }

    /// Whether in some sector all bytes are zero that it has of those from `at` to `end`.
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

    /// Whether there is a good record behind the bad one at `at`.
    fn is_record_behind(&self, at: u64, keys: &mut Vec<u8>) -> Result<bool> {
        let length = self.file.len();
        let mut window = Vec::new();
        let mut start = at + KEY_LEN as u64;
        while start + RECORD_HEAD as u64 <= length {
            // Windows overlap by what is a head less than its first key.
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
    /// The journal in `file` if it belongs to the state of the store that this manifest describes, and not to an earlier one.
    ///
    /// # Errors
    /// [`Error::Format`] if the journal is damaged, or that of another store or of a later state; [`Error::Io`].
    pub fn of(file: F, name: &str, manifest: &Manifest) -> Result<Option<Self>> {
        let journal = Self::open(file, name)?;
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

/// The head of a journal of the store that has this manifest.
pub(super) fn head(manifest: &Manifest) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    put(&mut head, 0, Header { kind: Kind::Journal, hash: manifest.hash }.encode());
    put(&mut head, HEAD_GENERATION, manifest.generation().to_le_bytes());
    put(&mut head, HEAD_MARK, manifest.journal.to_le_bytes());
    let checksum = xxh3_64(&head[..HEAD_CHECKSUM]);
    put(&mut head, HEAD_CHECKSUM, checksum.to_le_bytes());
    head
}

/// What makes the checksum of a head that of its records.
pub(super) fn salt(head: &[u8; HEAD_LEN]) -> u64 {
    u64_at(head, HEAD_CHECKSUM)
}

/// Fills in the head of a record, whose keys are behind it, for its place in the file.
pub(super) fn seal_record(salt: u64, at: u64, record: &mut [u8]) {
    let (head, keys) = record.split_at_mut(RECORD_HEAD);
    put(head, 0, ((keys.len() / KEY_LEN) as u32).to_le_bytes());
    put(head, RECORD_CHECKSUM, xxh3_64(keys).to_le_bytes());
    let check = head_check(salt, at, head);
    put(head, RECORD_CHECK, check.to_le_bytes());
}

/// Where the record ends that begins with this head at this place, if it is a good head.
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
