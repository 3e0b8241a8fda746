use std::io::{self, Write};
use std::path::Path;

use super::any_trie::AnyTrie;
use super::checked::CheckedTrie;
use super::making::Making;
use super::trie_filter::{Asked, NewFilter};
use super::values::ValueFile;
use super::{Found, TrieFilter};
use crate::error::{Error, Result};
use crate::format::{Align, Bytes, DiskFile, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, Tag};
use crate::hash::KeyHash;
use crate::store::{RunEntry, Storage, StoreKind, Taken};

/// A new trie with the filter of its keys, the result of merging several parts of a dictionary.
pub(super) struct Union {
    pub(super) trie: AnyTrie,
    /// The filter of the trie's keys, which is to be written into the same file.
    pub(super) filter: NewFilter,
}

/// The tag of the section that holds the complete file of a trie.
const TRIE: Tag = Tag::new(*b"TRIE");
/// The tag of the section that holds the complete file of a filter.
const FILTER: Tag = Tag::new(*b"FILT");
/// The tag of the section that holds the complete file of values, if the dictionary's values are byte strings.
const VALUES: Tag = Tag::new(*b"VALS");

/// A trie with a filter of its keys, in one file of a [`Dict`](super::Dict). If the dictionary's values are byte
/// strings, they are in the file, too, and the trie has their ids.
///
/// The trie has the dictionary's [`Layout`](super::Layout). The filter is sized for the trie's keys.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// let mut dict = Dict::open_with(Memory::new(), DictOptions::default())?;
/// dict.put("see", 1)?;
/// dict.put("seen", 2)?;
/// dict.sync()?;
/// let trie = dict.tries().next().expect("what was synced is in a trie");
/// assert_eq!((trie.keys(), trie.nodes(), trie.filter().capacity()), (2, 2, 2));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct FilteredTrie {
    entry: RunEntry,
    /// The bytes of the whole file. They can still be read after the file was removed.
    file: Bytes,
    trie: CheckedTrie,
    filter: TrieFilter,
    /// The values of the trie's keys, if they are byte strings; `None` if they are numbers, which the trie itself
    /// holds.
    values: Option<ValueFile>,
}

impl FilteredTrie {
    /// Writes the file with this number, and opens it. If the dictionary's values are byte strings, `values` is called
    /// to write the section with the values whose ids the trie has.
    ///
    /// # Errors
    /// Those of the storage and of `values`, and those of [`open`](Self::open).
    pub(super) fn publish<S: Storage>(
        storage: &S,
        number: u64,
        merged: Union,
        making: &Making,
        values: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Self> {
        let name = making.kind.file_name(number);
        let Union { trie, filter } = merged;
        let seal = storage.publish(&name, |out| {
            let failed = |source| Error::io("cannot write", storage.path(&name), source);
            let begin = || {
                let mut out = EnvelopeWriter::new(out, Kind::FilteredTrie, making.hasher.spec())?;
                out.section(TRIE, Align::Page)?;
                trie.write_to(&mut out)?;
                out.section(FILTER, Align::Line)?;
                filter.write_to(&mut out)?;
                Ok::<_, io::Error>(out)
            };
            let mut out = begin().map_err(failed)?;
            if making.has_bytes() {
                out.section(VALUES, Align::Page).map_err(failed)?;
                values(&mut out)?;
            }
            out.finish().map_err(failed)
        })?;
        let entry = RunEntry { number, keys: trie.keys(), seal, slice: 0 };
        Self::open(storage, &entry, &entry.open(storage, making.kind)?, making)
    }

    /// Opens the file of a manifest's `entry`, in a dictionary whose tries are made as `making` says. This reads only
    /// the envelope and the sizes of the parts, so the time does not depend on the size of the file. The rest is
    /// checked when it is read.
    ///
    /// # Errors
    /// [`Error::Format`] if the envelope is damaged, or if this is not the file that `entry` and `making` describe;
    /// [`Error::Io`].
    pub(super) fn open<S: Storage>(storage: &S, entry: &RunEntry, file: &S::File, making: &Making) -> Result<Self> {
        let name = storage.path(&making.kind.file_name(entry.number));
        let file = file.bytes(0, file.len()).map_err(|source| Error::io("cannot read", &name, source))?;
        let (envelope, opened) = Self::read(file, &name)?;
        envelope.expect_hash(making.hasher.spec())?;
        if opened.entry.seal != entry.seal || opened.entry.keys != entry.keys {
            return Err(envelope.error(0, Problem::OtherFile).into());
        }
        if opened.values.is_some() != (making.has_bytes()) {
            return Err(envelope
                .error(0, Problem::Invalid("either it or its store is of a dictionary of bytes, and the other is not"))
                .into());
        }
        if (opened.trie.layout(), opened.filter.hash()) != (making.layout, making.filter_hash) {
            return Err(envelope
                .error(0, Problem::Invalid("its trie or filter has another layout than its manifest states"))
                .into());
        }
        Ok(Self { entry: *entry, ..opened })
    }

    /// Opens `file`. The `entry` of the result has the number 0, because the file does not hold its number.
    fn read(file: Bytes, name: &str) -> Result<(Envelope, Self)> {
        let envelope = Envelope::open(&file, name)?;
        envelope.expect_kind(Kind::FilteredTrie)?;
        envelope.expect_sections(&[TRIE, FILTER], &[VALUES])?;
        let (bytes, part_name) = part(&file, &envelope, TRIE)?;
        let trie = CheckedTrie::open(&bytes, &part_name)?;
        let (bytes, part_name) = part(&file, &envelope, FILTER)?;
        let filter = TrieFilter::open(&bytes, &part_name, envelope.hash())?;
        let values = if envelope.section(VALUES).is_ok() {
            let (bytes, part_name) = part(&file, &envelope, VALUES)?;
            Some(ValueFile::open(&bytes, &part_name)?)
        } else {
            None
        };
        let entry = RunEntry { number: 0, keys: trie.keys(), seal: envelope.seal(), slice: 0 };
        Ok((envelope, Self { entry, file, trie, filter, values }))
    }

    /// The manifest's entry for this file: its number, its number of keys, its length and its checksum.
    pub fn entry(&self) -> &RunEntry {
        &self.entry
    }

    /// The number of keys, deletions included.
    pub fn keys(&self) -> u64 {
        self.entry.keys
    }

    /// The number of nodes of the trie, without the root.
    pub fn nodes(&self) -> u64 {
        self.trie.nodes()
    }

    /// The size of the trie in bytes, without its filter.
    pub fn trie_bytes(&self) -> usize {
        self.trie.bytes()
    }

    /// The size in bytes of the values, if they are byte strings, and of the heads (id and length) in front of them;
    /// `None` if the values are numbers.
    pub fn value_bytes(&self) -> Option<u64> {
        self.values.as_ref().map(ValueFile::bytes)
    }

    /// The filter of the trie's keys.
    pub fn filter(&self) -> &TrieFilter {
        &self.filter
    }

    pub(super) fn trie(&self) -> &CheckedTrie {
        &self.trie
    }

    pub(super) fn values(&self) -> Option<&ValueFile> {
        self.values.as_ref()
    }

    /// The value or the deletion of a key; `None` if the trie does not have the key, which the filter usually says
    /// without a search.
    ///
    /// # Errors
    /// [`Error::Format`] if bytes that the look-up reads are damaged.
    #[inline(always)]
    pub(super) fn get(&self, asked: &Asked<'_>) -> Result<Option<Found>> {
        if self.filter.contains(asked)? { Ok(self.trie.get(asked.key)?) } else { Ok(None) }
    }

    /// Looks up the keys `keys[i]` for the indices i in `open`; `hashes` has the hashes of these keys in the same
    /// order. Returns a pair for each key that the trie has: its index in `open`, ascending, and its value or deletion.
    ///
    /// # Errors
    /// [`Error::Format`] if bytes that the look-ups read are damaged.
    pub(super) fn get_all(
        &self,
        open: &[usize],
        hashes: &[KeyHash],
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Vec<(usize, Found)>> {
        let mut passed = vec![];
        self.filter.contains_all(open.iter().map(|&index| keys[index].as_ref()), hashes, &mut passed)?;
        let asked: Vec<usize> = passed.iter().zip(0..).filter(|&(&passed, _)| passed).map(|(_, place)| place).collect();
        let mut answers = vec![];
        self.trie.get_all(&asked.iter().map(|&place| keys[open[place]].as_ref()).collect::<Vec<_>>(), &mut answers)?;
        Ok(asked.into_iter().zip(answers).filter_map(|(place, found)| Some((place, found?))).collect())
    }

    /// Reads every byte of a file outside a store, and makes all checks that [`Dict::verify`](super::Dict::verify)
    /// makes.
    ///
    /// # Errors
    /// [`Error::Format`] with the file and the offset of the first damage; [`Error::Io`].
    pub fn verify_file(path: impl AsRef<Path>) -> Result<()> {
        let name = path.as_ref().display().to_string();
        let file = DiskFile::bytes_of(path.as_ref()).map_err(|source| Error::io("cannot open", &name, source))?;
        let (envelope, trie) = Self::read(file, &name)?;
        trie.check(&envelope, None)
    }

    /// Reads every byte, and checks the checksums, that keys ascend and are found, that the filter has them, and that
    /// each key has its value. If `taken` is given, the values must be among these numbers.
    ///
    /// # Errors
    /// [`Error::Format`] at the first thing that is not as it should be; [`Error::Io`].
    pub(super) fn verify<S: Storage>(&self, storage: &S, kind: StoreKind, taken: Option<&Taken>) -> Result<()> {
        let name = storage.path(&kind.file_name(self.entry.number));
        self.check(&Envelope::open(&self.file, &name)?, taken)
    }

    fn check(&self, envelope: &Envelope, taken: Option<&Taken>) -> Result<()> {
        envelope.verify(&self.file)?;
        let hasher = envelope.hash().hasher();
        let invalid = |what| Error::from(envelope.error(0, Problem::Invalid(what)));
        let trie = self.trie.whole()?;
        trie.check().map_err(invalid)?;
        let mut entries = trie.borrowed().entries_from(b"");
        let (mut keys, mut last) = (0, None);
        while let Some((key, found)) = entries.next_entry() {
            if last.as_deref().is_some_and(|last| last >= key) {
                return Err(invalid("the keys of the trie are not in order"));
            }
            if !self.filter.contains(&Asked::new(key, hasher.hash(key)))? || trie.get(key) != Some(found) {
                return Err(invalid("a look-up does not find a key of the trie"));
            }
            if let (Some(taken), Some(number)) = (taken, found.value())
                && !taken.contains(number)
            {
                return Err(invalid("a key has a number that the manifest does not list as assigned"));
            }
            keys += 1;
            last = Some(key.to_vec());
        }
        if keys != self.entry.keys {
            return Err(invalid("the trie has another number of keys than is stated"));
        }
        if let Some(values) = &self.values {
            values.check(&trie.value_ids()?)?;
        }
        Ok(())
    }
}

/// Returns a file that is embedded as a section in another one, and the name of the embedded file in errors.
fn part(file: &impl ReadAt, envelope: &Envelope, tag: Tag) -> Result<(Bytes, String)> {
    let section = envelope.section(tag)?;
    let bytes = file.bytes(section.offset, section.length);
    let bytes = bytes.map_err(|source| Error::io("cannot read", envelope.name(), source))?;
    Ok((bytes, format!("{}, in section {tag} at byte {}", envelope.name(), section.offset)))
}
