use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use super::entries::Entries;
use super::layer::Layer;
use super::trie_filter::Asked;
use super::value::Layers;
use super::{DictValue, FilteredTrie, Found, WriteBuffer};
use crate::error::Result;
use crate::hash::{HashSpec, KeyHash, KeyHasher};

/// A dictionary as it was at one moment. Any thread can read it, and it never changes, even while the dictionary does.
///
/// ```text
///   newest                                                         oldest
///   window  window   <trie, filter>   <trie, filter>   <trie, filter>
///     │                    │
///     └ asked first        └ looked into only if its filter does not say no
/// ```
///
/// The parts are searched from the newest to the oldest. The first part that knows the key decides: it has the value of
/// the key, or its deletion. Source: Koyanagi et al. (2011), section 3.4.
///
/// A [`Dict`](super::Dict) dereferences to its newest snapshot, so it has all these methods, too.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// let mut dict = Dict::open_with(Memory::new(), DictOptions::default())?;
/// dict.put("a", 1)?;
/// let snapshot = dict.snapshot();
/// let reader = std::thread::spawn(move || snapshot.get("a"));
/// dict.put("a", 2)?;
/// assert_eq!(reader.join().expect("no panic")?, Some(1));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Snapshot<V: ?Sized = u32> {
    pub(super) hasher: KeyHasher,
    /// The parts of the dictionary, oldest first: tries, then windows (write buffers).
    pub(super) layers: Vec<Layer>,
    pub(super) values: PhantomData<V>,
}

impl<V: ?Sized> Clone for Snapshot<V> {
    fn clone(&self) -> Self {
        Self { hasher: self.hasher.clone(), layers: self.layers.clone(), values: PhantomData }
    }
}

impl<V: DictValue + ?Sized> Snapshot<V> {
    /// The spec (algorithm and seed) by which keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.hasher.spec()
    }

    /// An upper bound of the number of keys. A key that was put again or deleted counts once for each part that knows
    /// it, until these parts are merged. With one part, the bound is the number of keys. [`count`](Self::count) gives
    /// the exact number.
    pub fn len_at_most(&self) -> u64 {
        self.layers.iter().map(Layer::keys).sum()
    }

    /// The number of keys. Cost: a walk over all of them.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn count(&self) -> Result<u64> {
        let mut entries = self.iter();
        let mut count = 0;
        while entries.next_entry()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// The number of keys that begin with `prefix`, if the dictionary has `len` keys in all; `None` if only a walk over
    /// them could tell. The cost does not depend on the number of keys.
    ///
    /// It can be told if no key is deleted, and none is in two parts: if the parts have `len` keys together. Tries of
    /// the LOUDS layout must be walked.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn keys_with(&self, prefix: &[u8], len: u64) -> Result<Option<u64>> {
        if self.buffered() as u64 + self.tries().map(FilteredTrie::keys).sum::<u64>() != len {
            return Ok(None);
        }
        let end = after_prefix(prefix);
        let of_window =
            |window: &WriteBuffer| end.as_deref().map_or(window.len(), |end| window.rank(end)) - window.rank(prefix);
        let mut count = self.windows().map(of_window).sum::<usize>() as u64;
        for trie in self.tries() {
            match trie.trie().keys_with(prefix)? {
                Some(keys) => count += keys,
                None => return Ok(None),
            }
        }
        Ok(Some(count))
    }

    /// The tries, oldest first.
    pub fn tries(&self) -> impl DoubleEndedIterator<Item = &FilteredTrie> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Trie(trie) => Some(&**trie),
            Layer::Buffer(_) => None,
        })
    }

    /// The number of keys, deletions included, that are in write buffers and not in a trie yet.
    pub fn buffered(&self) -> usize {
        self.windows().map(WriteBuffer::len).sum()
    }

    pub(super) fn windows(&self) -> impl DoubleEndedIterator<Item = &WriteBuffer> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Buffer(window) => Some(&window.buffer),
            Layer::Trie(_) => None,
        })
    }

    /// The value of `key`; `None` if the key is absent or deleted. Cost: a probe of each write buffer and of each
    /// trie's filter, and usually a search of one trie; if values are bytes, also a search among the values of one
    /// part.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if a part of a file that was read, now or before, is damaged.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<V::Read<'_>>> {
        let key = key.as_ref();
        self.read(self.find(key, self.hasher.hash(key))?)
    }

    /// Reads the value of a key; `found` is the result of the search for the key.
    #[inline]
    fn read(&self, found: Option<Found>) -> Result<Option<V::Read<'_>>> {
        found.and_then(Found::value).map(|number| V::read(number, Layers(&self.layers))).transpose()
    }

    /// True if `key` has a value.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        Ok(self.find(key, self.hasher.hash(key))?.and_then(Found::value).is_some())
    }

    /// Returns the value or the deletion of a key in the newest part that has the key; `None` if none does.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub(super) fn find(&self, key: &[u8], hash: KeyHash) -> Result<Option<Found>> {
        let asked = Asked::new(key, hash);
        for layer in self.layers.iter().rev() {
            let found = match layer {
                Layer::Buffer(window) => window.buffer.get(key, hash),
                Layer::Trie(trie) => trie.get(&asked)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Looks up a batch of keys, which takes less time than looking them up one by one. `out` is cleared, and gets the
    /// value of each key; `None` stands for a key that is absent or deleted.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn get_all<'a>(&'a self, keys: &[impl AsRef<[u8]>], out: &mut Vec<Option<V::Read<'a>>>) -> Result<()> {
        out.clear();
        out.resize(keys.len(), None);
        // The indices and the hashes of the keys that no part searched so far knows.
        let mut open: Vec<usize> = (0..keys.len()).collect();
        let mut hashes: Vec<KeyHash> = keys.iter().map(|key| self.hasher.hash(key.as_ref())).collect();
        for layer in self.layers.iter().rev() {
            let known = match layer {
                Layer::Buffer(window) => {
                    let found = open.iter().zip(&hashes).map(|(&i, &hash)| window.buffer.get(keys[i].as_ref(), hash));
                    found.enumerate().filter_map(|(place, found)| Some((place, found?))).collect()
                }
                Layer::Trie(trie) => trie.get_all(&open, &hashes, keys)?,
            };
            for &(place, found) in &known {
                out[open[place]] = self.read(Some(found))?;
            }
            take_out(&mut open, &known);
            take_out(&mut hashes, &known);
        }
        Ok(())
    }

    /// An iterator over all keys and their values, in order of keys.
    pub fn iter(&self) -> Entries<'_, V> {
        Entries::new(&self.layers, b"", None)
    }

    /// An iterator over the keys that begin with `prefix`, and their values, in order of keys.
    ///
    /// ```
    /// let mut dict = furui::dict::Dict::open_with(furui::store::Memory::new(), Default::default())?;
    /// dict.put("see", 1)?;
    /// dict.put("seen", 2)?;
    /// dict.put("so", 3)?;
    /// assert_eq!(dict.prefix("see").collect::<Result<Vec<_>, _>>()?, [(b"see".to_vec(), 1), (b"seen".to_vec(), 2)]);
    /// # Ok::<(), furui::Error>(())
    /// ```
    pub fn prefix(&self, prefix: impl AsRef<[u8]>) -> Entries<'_, V> {
        let prefix = prefix.as_ref();
        Entries::new(&self.layers, prefix, after_prefix(prefix))
    }

    /// An iterator over the keys of a range, and their values, in order of keys.
    ///
    /// ```
    /// let mut dict = furui::dict::Dict::open_with(furui::store::Memory::new(), Default::default())?;
    /// for (key, value) in [("a", 1), ("b", 2), ("c", 3)] {
    ///     dict.put(key, value)?;
    /// }
    /// assert_eq!(dict.range("b"..).collect::<Result<Vec<_>, _>>()?, [(b"b".to_vec(), 2), (b"c".to_vec(), 3)]);
    /// assert_eq!(dict.range(&b"a"[..]..&b"b"[..]).collect::<Result<Vec<_>, _>>()?, [(b"a".to_vec(), 1)]);
    /// # Ok::<(), furui::Error>(())
    /// ```
    pub fn range<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>) -> Entries<'_, V> {
        // The smallest key that is greater than `key` is `key` with a zero byte after it.
        let after = |key: &[u8]| [key, &[0]].concat();
        let from = match range.start_bound() {
            Bound::Included(key) => key.as_ref().to_vec(),
            Bound::Excluded(key) => after(key.as_ref()),
            Bound::Unbounded => vec![],
        };
        let end = match range.end_bound() {
            Bound::Included(key) => Some(after(key.as_ref())),
            Bound::Excluded(key) => Some(key.as_ref().to_vec()),
            Bound::Unbounded => None,
        };
        Entries::new(&self.layers, &from, end)
    }

    /// Returns the length and the value of the longest key that is a prefix of `text`; `None` if no key is.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn longest_prefix(&self, text: impl AsRef<[u8]>) -> Result<Option<(usize, V::Read<'_>)>> {
        let longest = self.prefixes_found(text.as_ref())?.pop();
        longest.map(|(length, number)| Ok((length, V::read(number, Layers(&self.layers))?))).transpose()
    }

    /// Returns the length and the value of each key that is a prefix of `text`, the shortest first.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn prefixes(&self, text: impl AsRef<[u8]>) -> Result<Vec<(usize, V::Read<'_>)>> {
        let found = self.prefixes_found(text.as_ref())?.into_iter();
        found.map(|(length, number)| Ok((length, V::read(number, Layers(&self.layers))?))).collect()
    }

    /// Returns, for each key that is a prefix of `text`, its length and the number (a value or the id of one) that the
    /// newest part with this key has for it.
    fn prefixes_found(&self, text: &[u8]) -> Result<Vec<(usize, u32)>> {
        let text = &text[..text.len().min(super::MAX_KEY)];
        let mut found = BTreeMap::new();
        if self.windows().any(|buffer| !buffer.is_empty()) {
            for (length, hash) in self.prefix_hashes(text).enumerate() {
                let newest = self.windows().rev().find_map(|buffer| buffer.get(&text[..length], hash));
                if let Some(newest) = newest {
                    found.insert(length, newest);
                }
            }
        }
        for trie in self.tries().rev() {
            for (length, older) in trie.trie().prefixes(text)? {
                found.entry(length).or_insert(older);
            }
        }
        Ok(found.into_iter().filter_map(|(length, found)| Some((length, found.value()?))).collect())
    }

    /// Yields the hash of every prefix of `text`, beginning with that of the empty prefix.
    fn prefix_hashes(&self, text: &[u8]) -> impl Iterator<Item = KeyHash> {
        let mut walk = self.hasher.rolling().map(|rolling| (rolling, rolling.start()));
        (0..=text.len()).map(move |length| match &mut walk {
            Some((rolling, state)) => {
                if let Some(last) = length.checked_sub(1) {
                    *state = rolling.push(*state, text[last]);
                }
                state.finish()
            }
            None => self.hasher.hash(&text[..length]),
        })
    }
}

/// Removes from `list` the items at the ascending indices that `known` names.
fn take_out<T>(list: &mut Vec<T>, known: &[(usize, Found)]) {
    if known.is_empty() {
        return;
    }
    let (mut known, mut place) = (known.iter().peekable(), 0);
    list.retain(|_| {
        let gone = known.next_if(|&&(known, _)| known == place).is_some();
        place += 1;
        !gone
    });
}

/// The smallest string that is greater than every string that begins with `prefix`; `None` if there is none.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}
