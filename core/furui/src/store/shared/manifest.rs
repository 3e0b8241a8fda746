use std::collections::BTreeSet;
use std::io::{self, Write};

use super::Id;
use crate::format::field::{array_at, put, u32_at, u64_at};
use crate::format::{Align, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Seal, Tag};
use crate::hash::{HashSpec, KeyForm};
use crate::store::Note;

const META: Tag = Tag::new(*b"META");
const META_LEN: usize = 64;
const META_GENERATION: usize = 16;
const META_EPOCH: usize = 24;
const META_SHARDS: usize = 32;

const PACKS: Tag = Tag::new(*b"PACK");
const PACK_LEN: usize = 64;
const PACK_BYTES: usize = 16;
const PACK_KEYS: usize = 24;
const PACK_TABLE: usize = 32;
const PACK_TABLE_LEN: usize = 40;
const PACK_CHECKSUM: usize = 48;

const DROPPED: Tag = Tag::new(*b"DROP");
const DROPPED_LEN: usize = 24;

const COMMITS: Tag = Tag::new(*b"CMIT");
const COMMIT_LEN: usize = 16;

const NOTE: Tag = Tag::new(*b"NOTE");

/// The manifest of a set in a bucket: the packs that hold its keys, the note of the last commit, and what writers need
/// to find out whether their commits came to pass.
///
/// The manifest is replaced by a request that fails if another writer was first. A client may repeat a request whose
/// answer was lost, and then report that it failed; so a writer looks for the id of its commit in
/// [`commits`](Self::commits).
///
/// ```
/// use furui::store::shared::SharedManifest;
///
/// let mut manifest = SharedManifest::new([7; 16], 1);
/// manifest.note = Some("snapshot 8171".to_owned());
/// let mut bytes = vec![];
/// manifest.encode(&mut bytes)?;
/// assert_eq!(SharedManifest::decode(&bytes[..], "example")?, manifest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedManifest {
    /// The spec by which the keys were hashed.
    pub hash: HashSpec,
    /// The form in which the keys were made from records.
    pub form: KeyForm,
    /// The id of the set, which tells it from another set that was made later under the same URL.
    pub store: Id,
    /// The number of times that the manifest was replaced.
    pub generation: u64,
    /// The number of sweeps so far. A writer whose packs were put before the last sweep began puts them again.
    pub epoch: u64,
    /// The number of shards: a power of two. A key belongs to the shard that the first bits of its hash name.
    pub shards: u32,
    /// The packs that hold the keys, in the order of their commits.
    pub packs: Vec<PackEntry>,
    /// The packs that were replaced by merges, with the times at which they were, in seconds since 1970. Readers of
    /// earlier generations may still need them.
    pub dropped: Vec<(Id, u64)>,
    /// The ids of the last commits, the latest last.
    pub commits: Vec<Id>,
    /// The note of the last commit that had one.
    pub note: Option<String>,
}

/// An entry for a pack in the manifest of a shared set.
///
/// ```
/// use furui::store::shared::{PackEntry, SharedManifest};
///
/// let pack = PackEntry { id: [1; 16], length: 8192, keys: 500, table: 8000, table_length: 40, table_checksum: 9 };
/// let mut manifest = SharedManifest::new([7; 16], 1);
/// manifest.packs.push(pack);
/// assert_eq!(manifest.packs[0].keys, 500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackEntry {
    /// The random id in the name of the pack.
    pub id: Id,
    /// The length of the pack in bytes.
    pub length: u64,
    /// The number of keys in all runs of the pack together.
    pub keys: u64,
    /// The offset in the pack of its table, in bytes.
    pub table: u64,
    /// The length of the table in bytes.
    pub table_length: u64,
    /// The checksum (XXH3-64) of the table.
    pub table_checksum: u64,
}

impl SharedManifest {
    /// The maximum number of packs, and of dropped packs. It bounds the memory that an invalid manifest takes.
    pub const MAX_PACKS: usize = 1 << 16;
    /// The maximum number of shards.
    pub const MAX_SHARDS: u32 = 1 << 16;
    /// The maximum number of ids of commits that are kept.
    pub const MAX_COMMITS: usize = 64;

    /// The manifest of a new set with this id and this many shards, with the default hash and no keys.
    pub fn new(store: Id, shards: u32) -> Self {
        Self {
            hash: HashSpec::default(),
            form: KeyForm::default(),
            store,
            generation: 0,
            epoch: 0,
            shards,
            packs: vec![],
            dropped: vec![],
            commits: vec![],
            note: None,
        }
    }

    /// Writes the manifest's file.
    ///
    /// # Errors
    /// Those of `out`; [`InvalidInput`](io::ErrorKind::InvalidInput) if the manifest breaks a rule that every manifest
    /// obeys, such as a limit.
    pub fn encode(&self, out: impl Write) -> io::Result<Seal> {
        self.check().map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))?;
        let mut out = EnvelopeWriter::new(out, Kind::SharedManifest, self.hash)?;
        let mut meta = [0; META_LEN];
        meta[..META_GENERATION].copy_from_slice(&self.store);
        put(&mut meta, META_GENERATION, self.generation.to_le_bytes());
        put(&mut meta, META_EPOCH, self.epoch.to_le_bytes());
        put(&mut meta, META_SHARDS, self.shards.to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(PACKS, Align::Line)?;
        for pack in &self.packs {
            let mut entry = [0; PACK_LEN];
            entry[..PACK_BYTES].copy_from_slice(&pack.id);
            put(&mut entry, PACK_BYTES, pack.length.to_le_bytes());
            put(&mut entry, PACK_KEYS, pack.keys.to_le_bytes());
            put(&mut entry, PACK_TABLE, pack.table.to_le_bytes());
            put(&mut entry, PACK_TABLE_LEN, pack.table_length.to_le_bytes());
            put(&mut entry, PACK_CHECKSUM, pack.table_checksum.to_le_bytes());
            out.write_all(&entry)?;
        }
        out.section(DROPPED, Align::Line)?;
        for (id, time) in &self.dropped {
            out.write_all(id)?;
            out.write_all(&time.to_le_bytes())?;
        }
        out.section(COMMITS, Align::Line)?;
        self.commits.iter().try_for_each(|id| out.write_all(id))?;
        if let Some(note) = &self.note {
            out.section(NOTE, Align::Line)?;
            out.write_all(note.as_bytes())?;
        }
        out.key_form(&self.form)?;
        out.finish()
    }

    /// Reads every byte of a manifest's file, which is called `name` in errors. Takes at most
    /// [`MAX_PACKS`](Self::MAX_PACKS) × 88 bytes of memory, twice.
    ///
    /// # Errors
    /// [`ReadError::Format`] for all bytes that [`encode`](Self::encode) cannot have written.
    pub fn decode(file: &(impl ReadAt + ?Sized), name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(file, name)?;
        envelope.expect_kind(Kind::SharedManifest)?;
        envelope.expect_sections(&[META, PACKS, DROPPED, COMMITS], &[NOTE])?;
        let invalid = |tag, what| match envelope.section(tag) {
            Ok(section) => envelope.error(section.offset, Problem::Invalid(what)),
            Err(error) => error,
        };
        // The entries of a section, each of `length` bytes.
        let entries = |tag, length: usize, most: usize| {
            let bytes = envelope.read_section(file, tag, length * most)?;
            match bytes.len() % length {
                0 => Ok::<_, ReadError>(bytes),
                _ => Err(invalid(tag, "a section ends within an entry").into()),
            }
        };
        let meta = entries(META, META_LEN, 1)?;
        if meta.len() != META_LEN || meta[META_SHARDS + 4..].iter().any(|&byte| byte != 0) {
            return Err(invalid(META, "the section META is too short, or a reserved byte is not zero").into());
        }
        let packs = entries(PACKS, PACK_LEN, Self::MAX_PACKS)?;
        if packs.chunks_exact(PACK_LEN).any(|entry| u64_at(entry, PACK_CHECKSUM + 8) != 0) {
            return Err(invalid(PACKS, "a reserved byte is not zero").into());
        }
        let packs = packs.chunks_exact(PACK_LEN).map(|entry| PackEntry {
            id: array_at(entry, 0),
            length: u64_at(entry, PACK_BYTES),
            keys: u64_at(entry, PACK_KEYS),
            table: u64_at(entry, PACK_TABLE),
            table_length: u64_at(entry, PACK_TABLE_LEN),
            table_checksum: u64_at(entry, PACK_CHECKSUM),
        });
        let dropped = entries(DROPPED, DROPPED_LEN, Self::MAX_PACKS)?;
        let dropped = dropped.chunks_exact(DROPPED_LEN).map(|entry| (array_at(entry, 0), u64_at(entry, COMMIT_LEN)));
        let commits = entries(COMMITS, COMMIT_LEN, Self::MAX_COMMITS)?;
        let commits = commits.chunks_exact(COMMIT_LEN).map(|id| array_at(id, 0));
        let note = match envelope.section(NOTE) {
            Ok(_) => {
                let text = String::from_utf8(envelope.read_section(file, NOTE, Note::MAX_BYTES)?);
                Some(text.map_err(|_| invalid(NOTE, "the note is not UTF-8"))?)
            }
            Err(_) => None,
        };
        let manifest = Self {
            hash: envelope.hash(),
            form: envelope.key_form(file)?,
            store: array_at(&meta, 0),
            generation: u64_at(&meta, META_GENERATION),
            epoch: u64_at(&meta, META_EPOCH),
            shards: u32_at(&meta, META_SHARDS),
            packs: packs.collect(),
            dropped: dropped.collect(),
            commits: commits.collect(),
            note,
        };
        envelope.verify(file)?;
        manifest.check().map_err(|problem| invalid(META, problem))?;
        Ok(manifest)
    }

    /// Checks rules that every manifest obeys, before it is written and after it was read.
    fn check(&self) -> Result<(), &'static str> {
        if !self.shards.is_power_of_two() || self.shards > Self::MAX_SHARDS {
            return Err("the number of shards is not a power of two up to 65,536");
        }
        if self.packs.len() > Self::MAX_PACKS || self.dropped.len() > Self::MAX_PACKS {
            return Err("more than 65,536 packs: merge the set, and sweep it");
        }
        if self.commits.len() > Self::MAX_COMMITS {
            return Err("more than 64 ids of commits");
        }
        if self.note.as_ref().is_some_and(|note| note.len() > Note::MAX_BYTES) {
            return Err("a note of more than 4,096 bytes");
        }
        let mut ids = BTreeSet::new();
        let mut keys: u64 = 0;
        for pack in &self.packs {
            if !ids.insert(pack.id) {
                return Err("two packs have the same id");
            }
            let end = pack.table.checked_add(pack.table_length);
            if end.is_none_or(|end| end > pack.length) {
                return Err("the table of a pack is beyond its end");
            }
            keys = keys.checked_add(pack.keys).ok_or("more than 2^64 keys")?;
        }
        Ok(())
    }
}
