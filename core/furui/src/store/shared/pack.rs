use std::io::Write;

use xxhash_rust::xxh3::xxh3_64;

use super::{Id, PackEntry, SharedManifest};
use crate::error::{Error, Result};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, EnvelopeWriter, FormatError, Kind, Problem, Seal, Tag};
use crate::store::cascade::{Merge, NewKeys, RunWriter};

const RUNS: Tag = Tag::new(*b"RUNS");
const TABLE: Tag = Tag::new(*b"TABL");

/// The length of an entry of a pack's table in bytes.
const ENTRY_LEN: usize = 40;
const ENTRY_RESERVED: usize = 4;
const ENTRY_OFFSET: usize = 8;
const ENTRY_LENGTH: usize = 16;
const ENTRY_KEYS: usize = 24;
const ENTRY_CHECKSUM: usize = 32;

/// The multiple of bytes at which each run of a pack begins.
const ALIGN: u64 = 64;

/// The description of a pack that was written, for the manifest that names it.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
/// use furui::store::shared::{PackTable, WrittenPack};
///
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
/// seen.extend(["a", "b", "c"])?;
/// let mut bytes = vec![];
/// let pack = WrittenPack::write(&mut bytes, "example", 4, seen.set().new_keys()?, None)?.entry([1; 16]);
/// assert_eq!((pack.keys, pack.length), (3, bytes.len() as u64));
/// let table = &bytes[pack.table as usize..][..pack.table_length as usize];
/// let table = PackTable::read(table, &pack, "example")?;
/// assert_eq!(table.runs().iter().map(|run| run.keys).sum::<u64>(), 3);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenPack {
    seal: Seal,
    keys: u64,
    table: u64,
    table_length: u64,
    table_checksum: u64,
}

/// The entry of a run in the table of a pack. The bytes of the run, which are a whole file of docs/format.md, are
/// fetched by their range.
///
/// ```
/// use furui::format::Seal;
/// use furui::store::shared::PackRun;
///
/// let run = PackRun { shard: 3, offset: 64, keys: 500, seal: Seal { length: 8192, checksum: 9 } };
/// assert_eq!(run.offset + run.seal.length, 8256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackRun {
    /// The shard to which the keys belong; the number of shards for keys that are no keys of the set, but those of the
    /// sources that were read.
    pub shard: u32,
    /// The offset of the run in the pack, in bytes.
    pub offset: u64,
    /// The number of keys in the run, which its file states, too.
    pub keys: u64,
    /// The length and the checksum that identify the file of the run.
    pub seal: Seal,
}

/// The table of a pack: its runs, in the order of their shards. A shard without keys has no run.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
/// use furui::store::shared::{PackTable, WrittenPack};
///
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
/// seen.insert("a")?;
/// let mut bytes = vec![];
/// let pack = WrittenPack::write(&mut bytes, "example", 1, seen.set().new_keys()?, None)?.entry([1; 16]);
/// // A bucket returns these bytes to a request for a range.
/// let table = PackTable::read(&bytes[pack.table as usize..][..pack.table_length as usize], &pack, "example")?;
/// assert_eq!(table.runs()[0].keys, 1);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackTable(Vec<PackRun>);

/// The shard of a hash, among `shards` shards, a power of two: the number that its first bits are.
pub fn shard_of(hash: u64, shards: u32) -> u32 {
    ((u128::from(hash) * u128::from(shards)) >> 64) as u32
}

impl WrittenPack {
    /// Writes a pack, which is called `name` in errors, with a run for each of `shards` shards that has keys, and a run
    /// of keys that stand for sources that were read, if there are any.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Format`] if a file of the keys is damaged.
    pub fn write(
        out: impl Write,
        name: &str,
        shards: u32,
        keys: NewKeys<'_>,
        sources: Option<NewKeys<'_>>,
    ) -> Result<Self> {
        let failed = |source| Error::io("cannot write", name, source);
        let hash = keys.hash();
        let mut out = EnvelopeWriter::new(out, Kind::Pack, hash).map_err(failed)?;
        out.section(RUNS, Align::Line).map_err(failed)?;
        let mut table = Table { bytes: vec![], end: ALIGN, keys: 0 };
        let expected = keys.len().div_ceil(u64::from(shards));
        table.write(&mut out, name, keys, expected, |key| shard_of(key, shards))?;
        let count = table.keys;
        if let Some(sources) = sources {
            let expected = sources.len();
            table.write(&mut out, name, sources, expected, |_| shards)?;
        }
        // The section with the table begins at the next multiple of the alignment.
        let start = table.end.next_multiple_of(ALIGN);
        let written = out.section(TABLE, Align::Line).and_then(|()| out.write_all(&table.bytes));
        let seal = written.and_then(|()| out.finish()).map_err(failed)?;
        let (table_length, table_checksum) = (table.bytes.len() as u64, xxh3_64(&table.bytes));
        Ok(Self { seal, keys: count, table: start, table_length, table_checksum })
    }

    /// The entry of the pack in a manifest, under this id.
    pub fn entry(&self, id: Id) -> PackEntry {
        let Self { seal, keys, table, table_length, table_checksum } = *self;
        PackEntry { id, length: seal.length, keys, table, table_length, table_checksum }
    }
}

/// The table of a pack that is being written.
struct Table {
    bytes: Vec<u8>,
    /// The number of bytes of the pack so far.
    end: u64,
    /// The number of keys so far.
    keys: u64,
}

impl Table {
    /// Writes a run for each shard that has keys, of about `expected` keys each.
    fn write<W: Write>(
        &mut self,
        out: &mut EnvelopeWriter<W>,
        name: &str,
        keys: NewKeys<'_>,
        expected: u64,
        shard_of: impl Fn(u64) -> u32,
    ) -> Result<()> {
        let hash = keys.hash();
        let mut merge = Merge::new(keys.into_sources());
        let mut piece = merge.next_keys()?.to_vec();
        while let Some(&first) = piece.first() {
            let shard = shard_of(first);
            let offset = self.end.next_multiple_of(ALIGN);
            let padding = [0; ALIGN as usize];
            out.write_all(&padding[..(offset - self.end) as usize])
                .map_err(|source| Error::io("cannot write", name, source))?;
            let mut run = RunWriter::new(&mut *out, name, hash, expected)?;
            loop {
                let end = piece.partition_point(|&key| shard_of(key) == shard);
                run.push(&piece[..end])?;
                if end < piece.len() {
                    piece.drain(..end);
                    break;
                }
                piece.clear();
                piece.extend_from_slice(merge.next_keys()?);
                if piece.is_empty() {
                    break;
                }
            }
            let written = run.finish()?;
            let mut entry = [0; ENTRY_LEN];
            put(&mut entry, 0, shard.to_le_bytes());
            put(&mut entry, ENTRY_OFFSET, offset.to_le_bytes());
            put(&mut entry, ENTRY_LENGTH, written.seal.length.to_le_bytes());
            put(&mut entry, ENTRY_KEYS, written.keys.to_le_bytes());
            put(&mut entry, ENTRY_CHECKSUM, written.seal.checksum.to_le_bytes());
            self.bytes.extend_from_slice(&entry);
            self.keys += written.keys;
            self.end = offset + written.seal.length;
        }
        Ok(())
    }
}

impl PackTable {
    /// Reads the bytes of a table, which were fetched by the range that the manifest names. `name` is that of the pack.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are not those that the manifest names, or contradict themselves.
    pub fn read(bytes: &[u8], pack: &PackEntry, name: &str) -> Result<Self> {
        let error = |problem| Error::from(FormatError { file: name.to_owned(), offset: pack.table, problem });
        if bytes.len() as u64 != pack.table_length {
            let (expected, found) = (pack.table_length, bytes.len() as u64);
            return Err(error(Problem::Truncated { expected, found }));
        }
        if xxh3_64(bytes) != pack.table_checksum {
            return Err(error(Problem::Checksum));
        }
        let is_whole = bytes.len().is_multiple_of(ENTRY_LEN);
        if !is_whole || bytes.chunks_exact(ENTRY_LEN).any(|entry| u32_at(entry, ENTRY_RESERVED) != 0) {
            return Err(error(Problem::Invalid(
                "the table of a pack ends within an entry, or a reserved byte is not zero",
            )));
        }
        let runs = bytes.chunks_exact(ENTRY_LEN).map(|entry| PackRun {
            shard: u32_at(entry, 0),
            offset: u64_at(entry, ENTRY_OFFSET),
            keys: u64_at(entry, ENTRY_KEYS),
            seal: Seal { length: u64_at(entry, ENTRY_LENGTH), checksum: u64_at(entry, ENTRY_CHECKSUM) },
        });
        let runs: Vec<PackRun> = runs.collect();
        let is_within = |run: &PackRun| {
            let end = run.offset.checked_add(run.seal.length);
            run.shard <= SharedManifest::MAX_SHARDS && end.is_some_and(|end| end <= pack.table)
        };
        if !runs.iter().all(is_within) || !runs.is_sorted_by(|a, b| a.shard < b.shard) {
            return Err(error(Problem::Invalid("the runs of a pack are out of order, or beyond its table")));
        }
        Ok(Self(runs))
    }

    /// The runs, in the order of their shards. A shard has one run at most.
    pub fn runs(&self) -> &[PackRun] {
        &self.0
    }
}
