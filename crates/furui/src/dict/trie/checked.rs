use std::ops::Bound;
use std::sync::OnceLock;

use super::guard::Checked;
use super::{Found, Part, Trie, TrieEntries, Trusted};
use crate::format::{Bytes, FormatError, ReadError, Regions};

/// A trie over the bytes of its file, each region of which is checked when this process first reads it. A look-up in a
/// damaged region is an error.
///
/// ```text
///   not all regions checked:   search with a guard, which checks what is read ──► whole? ──► the answer, or an error
///   all regions checked:       search without one                             ──────────────► the answer
/// ```
///
/// Cost: opening reads the ends of the file and the sizes of the trie. The first search reads the tables of labels,
/// which are of bounded size, and the first touch of each region reads its 4 KiB.
#[derive(Debug)]
pub(in crate::dict) struct CheckedTrie {
    trie: Trie<Bytes>,
    regions: Regions,
    /// The offset of the trie's bytes in the file.
    base: usize,
    /// True once the tables of labels were checked. The guard does not check them.
    labels: OnceLock<()>,
}

impl CheckedTrie {
    /// Opens the trie in a file with these bytes, which is called `name` in errors.
    pub(in crate::dict) fn open(bytes: &Bytes, name: &str) -> Result<Self, ReadError> {
        let (trie, regions, base) = Trie::unchecked(bytes, name)?;
        Ok(Self { trie, regions, base, labels: OnceLock::new() })
    }

    /// The number of keys, deletions included.
    pub(in crate::dict) fn keys(&self) -> u64 {
        self.trie.keys()
    }

    /// The number of nodes, without the root.
    pub(in crate::dict) fn nodes(&self) -> u64 {
        self.trie.nodes()
    }

    /// The number of bytes of the trie.
    pub(in crate::dict) fn bytes(&self) -> usize {
        self.trie.bytes()
    }

    /// The value of `key`; `None` if the trie does not know it.
    #[inline]
    pub(in crate::dict) fn get(&self, key: &[u8]) -> Result<Option<Found>, FormatError> {
        if self.regions.all_checked() {
            return Ok(self.trie.get(key));
        }
        let found = self.guarded().get(key);
        self.regions.result()?;
        Ok(found)
    }

    /// Looks up each of `keys`. `out` is cleared first.
    pub(in crate::dict) fn get_all(&self, keys: &[&[u8]], out: &mut Vec<Option<Found>>) -> Result<(), FormatError> {
        if self.regions.all_checked() {
            self.trie.get_all(keys, out);
            return Ok(());
        }
        self.guarded().get_all(keys, out);
        self.regions.result()
    }

    /// The keys from `from` on, and their values, in byte order.
    pub(in crate::dict) fn entries_from(&self, from: &[u8]) -> CheckedEntries<'_> {
        let entries = TrieEntries::between(self.guarded(), Bound::Included(from), Bound::Unbounded);
        CheckedEntries { entries, regions: &self.regions }
    }

    /// The lengths and values of all keys that `text` begins with, the shortest first.
    pub(in crate::dict) fn prefixes(&self, text: &[u8]) -> Result<Vec<(usize, Found)>, FormatError> {
        let found = self.guarded().prefixes(text).collect();
        self.regions.result()?;
        Ok(found)
    }

    /// Checks every region, and returns the trie without a guard, for readers of the whole trie such as a merge.
    pub(in crate::dict) fn whole(&self) -> Result<Trie<&[u8], Trusted>, FormatError> {
        self.regions.check_all()?;
        Ok(self.trie.borrowed())
    }

    fn guarded(&self) -> Trie<&[u8], Checked<'_>> {
        self.labels.get_or_init(|| {
            for part in [Part::Places, Part::Texts, Part::Tokens] {
                let range = self.trie.shape.parts.range(part);
                self.regions.touch(self.base + range.start, range.len());
            }
        });
        self.trie.guarded(Checked { regions: &self.regions, base: self.base })
    }
}

/// The keys of a [`CheckedTrie`] in byte order, and their values.
#[derive(Debug)]
pub(in crate::dict) struct CheckedEntries<'t> {
    entries: TrieEntries<'t, Checked<'t>>,
    regions: &'t Regions,
}

impl CheckedEntries<'_> {
    /// The next key, in a buffer of this iterator, and its value.
    pub(in crate::dict) fn next_entry(&mut self) -> Result<Option<(&[u8], Found)>, FormatError> {
        let entry = self.entries.next_entry();
        self.regions.result()?;
        Ok(entry)
    }
}
