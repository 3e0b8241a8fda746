use std::path::Path;

use super::Found;
use super::merge::Union;
use super::trie::CheckedTrie;
use crate::error::{Error, Result};
use crate::filter::{AnyFilter, CheckedFilter};
use crate::format::{Align, Bytes, DiskFile, Envelope, EnvelopeWriter, FormatError, Kind, Problem, ReadAt, Tag};
use crate::hash::{HashSpec, KeyHash};
use crate::store::{RunEntry, Storage, StoreKind};

/// The trie's file, whole.
const TRIE: Tag = Tag::new(*b"TRIE");
/// The filter's file, whole.
const FILTER: Tag = Tag::new(*b"FILT");

/// A trie and the filter that says which keys it cannot have: one file of a [`Dict`](super::Dict).
///
/// The filter, a blocked one, which costs a miss one cache line, is sized for the trie's keys (or for up to a fifteenth
/// more, if of the keys of merged tries a few were the same), and hashed as the dictionary's keys are, so that a key is
/// hashed once for all of them.
#[derive(Debug)]
pub struct FilteredTrie {
    entry: RunEntry,
    /// Whole, and readable when its name is gone.
    file: Bytes,
    trie: CheckedTrie,
    filter: CheckedFilter,
}

impl FilteredTrie {
    /// Writes a file of this number, and opens it.
    pub(super) fn publish<S: Storage>(storage: &S, number: u64, merged: Union, hash: HashSpec) -> Result<Self> {
        let name = StoreKind::Dict.file_name(number);
        let Union { trie, filter } = merged;
        let seal = storage.publish(&name, |out| {
            let write = || {
                let mut out = EnvelopeWriter::new(out, Kind::FilteredTrie, hash)?;
                out.section(TRIE, Align::Page)?;
                trie.write_to(&mut out)?;
                out.section(FILTER, Align::Line)?;
                AnyFilter::Blocked(filter).write_to(&mut out)?;
                out.finish()
            };
            write().map_err(|source| Error::io("cannot write", storage.path(&name), source))
        })?;
        let entry = RunEntry { number, keys: trie.keys(), seal };
        Self::open(storage, &entry, &entry.open(storage, StoreKind::Dict)?, hash)
    }

    /// Opens the file that a manifest names. Nothing is read of it but the envelope, the trie's numbers and the filter's:
    /// the time does not depend on its size. The rest is checked when it is read.
    pub(super) fn open<S: Storage>(storage: &S, entry: &RunEntry, file: &S::File, hash: HashSpec) -> Result<Self> {
        let name = storage.path(&StoreKind::Dict.file_name(entry.number));
        let file = file.bytes(0, file.len()).map_err(|source| Error::io("cannot read", &name, source))?;
        let (envelope, opened) = Self::read(file, &name)?;
        envelope.expect_hash(hash)?;
        if opened.entry.seal != entry.seal || opened.entry.keys != entry.keys {
            return Err(envelope.error(0, Problem::OtherFile).into());
        }
        Ok(Self { entry: *entry, ..opened })
    }

    /// Reads what `file` says of itself; its number is not there.
    fn read(file: Bytes, name: &str) -> Result<(Envelope, Self)> {
        let envelope = Envelope::open(&file, name)?;
        envelope.expect_kind(Kind::FilteredTrie)?;
        if !envelope.sections().iter().map(|section| section.tag).eq([TRIE, FILTER]) {
            return Err(envelope
                .error(0, Problem::Invalid("its sections are not those of a dictionary's trie"))
                .into());
        }
        let (bytes, part_name) = part(&file, &envelope, TRIE)?;
        let trie = CheckedTrie::open(&bytes, &part_name)?;
        let (bytes, part_name) = part(&file, &envelope, FILTER)?;
        let filter = CheckedFilter::from_shared(&bytes, &part_name)?;
        if filter.hash_spec() != envelope.hash() {
            let problem = Problem::OtherHash { found: filter.hash_spec(), expected: envelope.hash() };
            return Err(FormatError { file: part_name, offset: 0, problem }.into());
        }
        let entry = RunEntry { number: 0, keys: trie.keys(), seal: envelope.seal() };
        Ok((envelope, Self { entry, file, trie, filter }))
    }

    /// As the manifest names it.
    pub fn entry(&self) -> &RunEntry {
        &self.entry
    }

    /// How many keys it has, deleted ones too.
    pub fn keys(&self) -> u64 {
        self.entry.keys
    }

    /// How many nodes the trie has, the root not counted.
    pub fn nodes(&self) -> u64 {
        self.trie.nodes()
    }

    /// How many bytes the trie takes, without its filter.
    pub fn trie_bytes(&self) -> usize {
        self.trie.bytes()
    }

    /// The filter of its keys.
    pub fn filter(&self) -> &CheckedFilter {
        &self.filter
    }

    pub(super) fn trie(&self) -> &CheckedTrie {
        &self.trie
    }

    #[inline(always)]
    pub(super) fn get(&self, key: &[u8], hash: KeyHash) -> Result<Option<Found>> {
        if self.filter.contains_hash(hash)? { Ok(self.trie.get(key)?) } else { Ok(None) }
    }

    /// Which of the keys it knows that are still open: their places among those, which ascend, and what it knows. `open` are
    /// indices of `keys`, and `hashes` the hashes of the keys there.
    pub(super) fn get_all(&self, open: &[usize], hashes: &[KeyHash], keys: &[&[u8]]) -> Result<Vec<(usize, Found)>> {
        let mut passed = vec![];
        self.filter.contains_all(hashes, &mut passed)?;
        let asked: Vec<usize> = passed.iter().zip(0..).filter(|&(&passed, _)| passed).map(|(_, place)| place).collect();
        let mut answers = vec![];
        self.trie.get_all(&asked.iter().map(|&place| keys[open[place]]).collect::<Vec<_>>(), &mut answers)?;
        Ok(asked.into_iter().zip(answers).filter_map(|(place, found)| Some((place, found?))).collect())
    }

    /// Reads every byte of a file by itself, and checks all that [`Dict::verify`](super::Dict::verify) checks of it.
    ///
    /// # Errors
    /// [`Error::Format`] with the file and the offset of the first damage; [`Error::Io`].
    pub fn verify_file(path: impl AsRef<Path>) -> Result<()> {
        let name = path.as_ref().display().to_string();
        let file = DiskFile::bytes_of(path.as_ref()).map_err(|source| Error::io("cannot open", &name, source))?;
        let (envelope, trie) = Self::read(file, &name)?;
        trie.check(&envelope)
    }

    /// Reads every byte, and checks all there is to check: checksums, that keys ascend and are found, and that the filter
    /// says so.
    pub(super) fn verify<S: Storage>(&self, storage: &S) -> Result<()> {
        let name = storage.path(&StoreKind::Dict.file_name(self.entry.number));
        self.check(&Envelope::open(&self.file, &name)?)
    }

    fn check(&self, envelope: &Envelope) -> Result<()> {
        envelope.verify(&self.file)?;
        let hasher = envelope.hash().hasher();
        let invalid = |what| Error::from(envelope.error(0, Problem::Invalid(what)));
        let (trie, filter) = (self.trie.whole()?, self.filter.whole()?);
        trie.check().map_err(|(_, what)| invalid(what))?;
        let mut entries = trie.iter();
        let (mut keys, mut last) = (0, None);
        while let Some((key, found)) = entries.next_entry() {
            if last.as_deref().is_some_and(|last| last >= key) {
                return Err(invalid("the keys of the trie are not in order"));
            }
            if !filter.contains_hash(hasher.hash(key)) || trie.get(key) != Some(found) {
                return Err(invalid("a key of the trie is not found in it"));
            }
            keys += 1;
            last = Some(key.to_vec());
        }
        if keys != self.entry.keys {
            return Err(invalid("the trie has another number of keys"));
        }
        Ok(())
    }
}

/// A file that is a section of another, and what errors call it.
fn part(file: &impl ReadAt, envelope: &Envelope, tag: Tag) -> Result<(Bytes, String)> {
    let section = envelope.section(tag)?;
    let bytes = file.bytes(section.offset, section.length);
    let bytes = bytes.map_err(|source| Error::io("cannot read", envelope.name(), source))?;
    Ok((bytes, format!("{}, in section {tag} at byte {}", envelope.name(), section.offset)))
}
