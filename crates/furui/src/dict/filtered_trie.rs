use super::merge::Union;
use super::{Found, Trie};
use crate::error::{Error, Result};
use crate::filter::{AnyFilter, Filter};
use crate::format::{Align, Bytes, Envelope, EnvelopeWriter, FormatError, Kind, Problem, ReadAt, Tag};
use crate::hash::{HashSpec, KeyHash, KeyHasher};
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
    trie: Trie<Bytes>,
    filter: AnyFilter<Bytes>,
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
        Self::open(storage, &RunEntry { number, keys: trie.keys(), seal }, hash)
    }

    /// Opens the file that a manifest names. Nothing is read of it but the envelope, the trie's numbers and the filter's:
    /// the time does not depend on its size.
    pub(super) fn open<S: Storage>(storage: &S, entry: &RunEntry, hash: HashSpec) -> Result<Self> {
        let name = storage.path(&StoreKind::Dict.file_name(entry.number));
        let file = entry.open(storage, StoreKind::Dict)?;
        let envelope = Envelope::open(&file, &name)?;
        envelope.expect_kind(Kind::FilteredTrie)?;
        envelope.expect_hash(hash)?;
        if !envelope.sections().iter().map(|section| section.tag).eq([TRIE, FILTER]) {
            return Err(envelope
                .error(0, Problem::Invalid("its sections are not those of a dictionary's trie"))
                .into());
        }
        let (bytes, part_name) = part(&file, &envelope, TRIE)?;
        let trie = Trie::from_shared(&bytes, &part_name)?;
        let (bytes, part_name) = part(&file, &envelope, FILTER)?;
        let filter = AnyFilter::from_shared(&bytes, &part_name)?;
        if envelope.seal() != entry.seal || trie.keys() != entry.keys {
            return Err(envelope.error(0, Problem::OtherFile).into());
        }
        if filter.hash_spec() != hash {
            let problem = Problem::OtherHash { found: filter.hash_spec(), expected: hash };
            return Err(FormatError { file: part_name, offset: 0, problem }.into());
        }
        Ok(Self { entry: *entry, trie, filter })
    }

    /// As the manifest names it.
    pub fn entry(&self) -> &RunEntry {
        &self.entry
    }

    /// How many keys it has, deleted ones too.
    pub fn keys(&self) -> u64 {
        self.entry.keys
    }

    /// The trie.
    pub fn trie(&self) -> &Trie<Bytes> {
        &self.trie
    }

    /// The filter of its keys.
    pub fn filter(&self) -> &AnyFilter<Bytes> {
        &self.filter
    }

    #[inline(always)]
    pub(super) fn get(&self, key: &[u8], hash: KeyHash) -> Option<Found> {
        let maybe = match &self.filter {
            // What is written today, without a detour: where there are several tries, a processor is at the filters of all of
            // them at once, and sees the further ahead the fewer instructions they take.
            AnyFilter::Blocked(filter) => filter.contains(hash),
            filter => filter.contains(hash),
        };
        if maybe { self.trie.get(key) } else { None }
    }

    /// Which of the keys it knows that are still open: their places among those, which ascend, and what it knows. `open` are
    /// indices of `keys`, and `hashes` the hashes of the keys there.
    pub(super) fn get_all(&self, open: &[usize], hashes: &[KeyHash], keys: &[&[u8]]) -> Vec<(usize, Found)> {
        let mut passed = vec![];
        self.filter.contains_all(hashes, &mut passed);
        let asked: Vec<usize> = passed.iter().zip(0..).filter(|&(&passed, _)| passed).map(|(_, place)| place).collect();
        let mut answers = vec![];
        self.trie.get_all(&asked.iter().map(|&place| keys[open[place]]).collect::<Vec<_>>(), &mut answers);
        asked.into_iter().zip(answers).filter_map(|(place, found)| Some((place, found?))).collect()
    }

    /// Reads every byte, and checks all there is to check: checksums, that keys ascend and are found, and that the filter
    /// says so.
    pub(super) fn verify<S: Storage>(&self, storage: &S, hasher: &KeyHasher) -> Result<()> {
        let name = storage.path(&StoreKind::Dict.file_name(self.entry.number));
        let file = self.entry.open(storage, StoreKind::Dict)?;
        let envelope = Envelope::open(&file, &name)?;
        envelope.verify(&file)?;
        let invalid = |what| Error::from(envelope.error(0, Problem::Invalid(what)));
        self.trie.check().map_err(|(_, what)| invalid(what))?;
        let mut entries = self.trie.iter();
        let (mut keys, mut last) = (0, None);
        while let Some((key, found)) = entries.next_entry() {
            if last.as_deref().is_some_and(|last| last >= key) {
                return Err(invalid("the keys of the trie are not in order"));
            }
            if self.get(key, hasher.hash(key)) != Some(found) {
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
