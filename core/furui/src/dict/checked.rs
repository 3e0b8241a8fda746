use std::sync::OnceLock;

use super::any_trie::{AnyEntries, AnyTrie};
use super::trie::Checked;
use super::{Found, LoudsTrie, Trie};
use crate::format::{Bytes, Envelope, FormatError, Kind, ReadError, Regions};
use crate::store::Layout;

/// A trie of any layout over the bytes of its file. Each region of the file is checked when this process first reads
/// it. A look-up in a damaged region is an error.
///
/// ```text
///   not all regions checked:   search with a guard, which checks what is read ──► whole? ──► the answer, or an error
///   all regions checked:       search without one                             ──────────────► the answer
/// ```
///
/// Cost: opening reads the ends of the file and the sizes of the trie. The first touch of each region reads its 4 KiB,
/// and the first search of a compact trie reads the tables of labels, which are of bounded size.
#[derive(Debug)]
pub(super) struct CheckedTrie {
    trie: AnyTrie<Bytes>,
    regions: Regions,
    /// The offset in the file of the trie's first byte. The guard, which checks bytes before they are read, is given
    /// offsets from there.
    base: usize,
    /// A mark that is set once the tables of labels of a compact trie were checked. The guard does not check them.
    labels: OnceLock<()>,
}

impl CheckedTrie {
    /// Opens the trie in a file with these bytes, which is called `name` in errors.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the envelope or the sizes in it are damaged, or if the file is no trie. The rest is
    /// checked when it is read.
    pub(super) fn open(bytes: &Bytes, name: &str) -> Result<Self, ReadError> {
        let (trie, regions, base) = match Envelope::open(&**bytes, name)?.kind() {
            Kind::LoudsTrie => {
                let (trie, regions) = LoudsTrie::unchecked(bytes, name)?;
                (AnyTrie::Louds(trie), regions, 0)
            }
            _ => {
                let (trie, regions, base) = Trie::unchecked(bytes, name)?;
                (AnyTrie::Compact(trie), regions, base)
            }
        };
        Ok(Self { trie, regions, base, labels: OnceLock::new() })
    }

    /// The layout of the trie, which its file states.
    pub(super) fn layout(&self) -> Layout {
        self.trie.layout()
    }

    /// The number of keys, deletions included.
    pub(super) fn keys(&self) -> u64 {
        self.trie.keys()
    }

    /// The number of nodes, without the root.
    pub(super) fn nodes(&self) -> u64 {
        self.trie.nodes()
    }

    /// The size of the trie, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.trie.bytes()
    }

    /// The value or deletion of `key`; `None` if the trie does not have the key.
    ///
    /// # Errors
    /// [`FormatError`] if bytes that the search reads are damaged.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Found>, FormatError> {
        if self.regions.all_checked() {
            return Ok(self.trie.get(key));
        }
        let found = self.guarded().get(key);
        self.regions.result()?;
        Ok(found)
    }

    /// Looks up each of `keys`. `out` is cleared first, and gets one result for each key; `None` stands for a key that
    /// the trie does not have.
    ///
    /// # Errors
    /// [`FormatError`] if bytes that a search reads are damaged; `out` must not be used then.
    pub(super) fn get_all(&self, keys: &[&[u8]], out: &mut Vec<Option<Found>>) -> Result<(), FormatError> {
        if self.regions.all_checked() {
            self.trie.get_all(keys, out);
            return Ok(());
        }
        self.guarded().get_all(keys, out);
        self.regions.result()
    }

    /// An iterator over the keys from `from` on, in byte order, and their values.
    pub(super) fn entries_from(&self, from: &[u8]) -> CheckedEntries<'_> {
        CheckedEntries { entries: self.guarded().entries_from(from), regions: &self.regions }
    }

    /// The number of keys that begin with `prefix`, deletions included; `None` if only a walk could tell.
    ///
    /// # Errors
    /// [`FormatError`] if bytes that the two searches read are damaged.
    pub(super) fn keys_with(&self, prefix: &[u8]) -> Result<Option<u64>, FormatError> {
        let count = self.guarded().keys_with(prefix);
        self.regions.result()?;
        Ok(count)
    }

    /// For each key that is a prefix of `text`, the shortest first: the key's length in bytes, and its value or its
    /// deletion.
    ///
    /// # Errors
    /// [`FormatError`] if bytes that the search reads are damaged.
    pub(super) fn prefixes(&self, text: &[u8]) -> Result<Vec<(usize, Found)>, FormatError> {
        let found = self.guarded().prefixes(text);
        self.regions.result()?;
        Ok(found)
    }

    /// Checks every region, and returns the trie without a guard that checks bytes before they are read, for readers of
    /// the whole trie such as a merge.
    ///
    /// # Errors
    /// [`FormatError`] for the first region that is damaged.
    pub(super) fn whole(&self) -> Result<AnyTrie<&[u8]>, FormatError> {
        self.regions.check_all()?;
        Ok(self.trie.borrowed())
    }

    fn guarded(&self) -> AnyTrie<&[u8], Checked<'_>> {
        let guard = Checked { regions: &self.regions, base: self.base };
        match &self.trie {
            AnyTrie::Compact(trie) => {
                let trie = trie.guarded(guard);
                self.labels.get_or_init(|| trie.touch_labels());
                AnyTrie::Compact(trie)
            }
            AnyTrie::Louds(trie) => AnyTrie::Louds(trie.guarded(guard)),
        }
    }
}

/// An iterator over the keys of a [`CheckedTrie`] in byte order, and their values.
#[derive(Debug)]
pub(super) struct CheckedEntries<'t> {
    entries: AnyEntries<'t, Checked<'t>>,
    regions: &'t Regions,
}

impl CheckedEntries<'_> {
    /// Returns the next key, in a buffer of this iterator, and its value; `None` at the end.
    ///
    /// # Errors
    /// [`FormatError`] if bytes on the way to the next key are damaged.
    pub(super) fn next_entry(&mut self) -> Result<Option<(&[u8], Found)>, FormatError> {
        let entry = self.entries.next_entry();
        self.regions.result()?;
        Ok(entry)
    }
}
