use std::io::{self, Write};

use super::merge::Merged;
use super::{Found, Skeleton, Trie, TrieNode};
use crate::error::{Error, Result};
use crate::filter::{AnyFilter, Bloom, Filter, FilterMut};
use crate::format::{Align, Bytes, Envelope, EnvelopeWriter, FormatError, Kind, Problem, ReadAt, Tag};
use crate::hash::{HashSpec, KeyHash};
use crate::store::{RunEntry, Storage, StoreKind};

/// The filter's file, whole.
const FILTER: Tag = Tag::new(*b"FILT");

/// The most bytes of a key's hash are read before the filter is sized for them.
const KEYS: Tag = Tag::new(*b"KEYS");

/// A trie and the filter that says which keys it cannot have: one file of a [`Dict`](super::Dict).
///
/// The filter is sized for the trie's keys, and hashed as the dictionary's keys are, so that a key is hashed once for all
/// of them.
#[derive(Debug)]
pub struct Frozen {
    entry: RunEntry,
    trie: Trie<Bytes>,
    filter: AnyFilter<Bytes>,
}

impl Frozen {
    /// Writes a file of this number, and opens it.
    pub(super) fn publish<S: Storage>(
        storage: &S,
        number: u64,
        merged: &Merged,
        hash: HashSpec,
        rate: f64,
    ) -> Result<Self> {
        let name = StoreKind::Dict.file_name(number);
        let trie = Trie::encode(&merged.skeleton).map_err(|error| Error::Config(error.to_string()))?;
        let mut filter = Bloom::with_rate(merged.hashes.len() as u64, rate)?.hashed_by(hash);
        filter.insert_all(&merged.hashes)?;
        let seal = storage.publish(&name, |out| {
            let write = || {
                let mut out = EnvelopeWriter::new(out, Kind::Trie, hash)?;
                trie.write_to(&mut out)?;
                out.section(FILTER, Align::Line)?;
                AnyFilter::Bloom(filter).write_to(&mut out)?;
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
        envelope.expect_kind(Kind::Trie)?;
        envelope.expect_hash(hash)?;
        let trie = Trie::read(&file, &envelope)?;
        if envelope.seal() != entry.seal || trie.keys() != entry.keys {
            return Err(envelope.error(0, Problem::OtherFile).into());
        }
        let filter = envelope.section(FILTER)?;
        let bytes =
            file.bytes(filter.offset, filter.length).map_err(|source| Error::io("cannot read", &name, source))?;
        let filter_name = format!("{name}: the filter at byte {}", filter.offset);
        let filter = AnyFilter::from_shared(&bytes, &filter_name)?;
        if filter.hash_spec() != hash {
            let problem = Problem::OtherHash { found: filter.hash_spec(), expected: hash };
            return Err(FormatError { file: filter_name, offset: 0, problem }.into());
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

    pub(super) fn get(&self, key: &[u8], hash: KeyHash) -> Option<Found> {
        if self.filter.contains(hash) { self.trie.get(key) } else { None }
    }

    /// What it knows of `keys[i]`, which has the hash beside it, for each `i` of `open`.
    pub(super) fn get_all(&self, open: &[usize], hashes: &[KeyHash], keys: &[&[u8]]) -> Vec<Option<Found>> {
        let mut passed = vec![];
        self.filter.contains_all(hashes, &mut passed);
        let asked = open.iter().zip(&passed).filter(|&(_, &passed)| passed).map(|(&i, _)| keys[i]);
        let mut answers = vec![];
        self.trie.get_all(&asked.collect::<Vec<_>>(), &mut answers);
        let mut answers = answers.into_iter();
        passed.into_iter().map(|passed| if passed { answers.next().flatten() } else { None }).collect()
    }

    /// Tells of every key that `text` begins with, the shortest first: its length, and what it holds.
    pub(super) fn prefixes(&self, text: &[u8], mut each: impl FnMut(usize, Found)) {
        let mut node = self.trie.root();
        let mut path = vec![];
        loop {
            if let Some(found) = self.trie.terminal(node) {
                each(path.len(), found);
            }
            let Some(child) = text.get(path.len()).and_then(|&byte| self.child(node, byte)) else { return };
            self.trie.push_label(child, &mut path);
            if !text.starts_with(&path) {
                return;
            }
            node = child;
        }
    }

    fn child(&self, node: TrieNode, byte: u8) -> Option<TrieNode> {
        let mut child = self.trie.first_child(node)?;
        while self.trie.first_byte(child) < byte {
            child = self.trie.sibling(child)?;
        }
        (self.trie.first_byte(child) == byte).then_some(child)
    }

    /// Reads every byte, and checks all there is to check: checksums, that keys ascend and are found, and that the filter
    /// says so.
    pub(super) fn verify<S: Storage>(&self, storage: &S, hash: HashSpec) -> Result<()> {
        let name = storage.path(&StoreKind::Dict.file_name(self.entry.number));
        let file = self.entry.open(storage, StoreKind::Dict)?;
        let envelope = Envelope::open(&file, &name)?;
        envelope.verify(&file)?;
        let invalid = |what| Error::from(envelope.error(0, Problem::Invalid(what)));
        let mut entries = super::trie_entries::TrieEntries::new(&self.trie, b"");
        let (mut keys, mut last) = (0, None);
        while let Some((key, found)) = entries.current() {
            if last.as_deref().is_some_and(|last| last >= key) {
                return Err(invalid("the keys of the trie are not in order"));
            }
            if self.get(key, hash.hash(key)) != Some(found) {
                return Err(invalid("a key of the trie is not found in it"));
            }
            keys += 1;
            last = Some(key.to_vec());
            entries.advance();
        }
        if keys != self.entry.keys {
            return Err(invalid("the trie has another number of keys"));
        }
        Ok(())
    }
}

/// A stand-in for the file of a trie.
impl Trie {
    fn write_to(&self, out: &mut EnvelopeWriter<&mut dyn Write>) -> io::Result<()> {
        out.section(KEYS, Align::Line)?;
        let mut entries = super::trie_entries::TrieEntries::new(self, b"");
        while let Some((key, found)) = entries.current() {
            out.write_all(&(key.len() as u32).to_le_bytes())?;
            out.write_all(&found.value().unwrap_or(0).to_le_bytes())?;
            out.write_all(&[u8::from(found == Found::Deleted)])?;
            out.write_all(key)?;
            entries.advance();
        }
        Ok(())
    }
}

impl Trie<Bytes> {
    fn read(file: &impl ReadAt, envelope: &Envelope) -> Result<Self> {
        let bytes = envelope.read_section(file, KEYS, usize::MAX)?;
        let mut keys = vec![];
        let mut rest = &bytes[..];
        while let Some((header, after)) = rest.split_at_checked(9) {
            let length = crate::format::field::u32_at(header, 0) as usize;
            let value = crate::format::field::u32_at(header, 4);
            let (key, after) = after.split_at(length);
            keys.push((key, (header[8] == 0).then_some(value)));
            rest = after;
        }
        let skeleton = Skeleton::from_sorted(keys).map_err(|error| Error::Config(error.to_string()))?;
        Ok(Trie::encode(&skeleton).map_err(|error| Error::Config(error.to_string()))?.shared())
    }
}
