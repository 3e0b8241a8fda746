use super::layer::Layer;
use super::{Found, Trie, TrieEntries, WriteBuffer};
use crate::format::Bytes;

/// Keys and values in order of keys, of all parts of a dictionary as if it were one: see
/// [`Snapshot::range`](super::Snapshot::range).
///
/// A merge of as many streams as there are parts, in which of equal keys the newest counts, and those that are deleted
/// are passed over. Cost: a comparison of keys for each part, and a step of those that have the key.
///
/// As an [`Iterator`] it gives each key in a vector of its own; [`next_entry`](Self::next_entry) lends it.
pub struct Entries<'a> {
    /// Newest first.
    streams: Vec<Stream<'a>>,
    /// The first key that does not belong.
    end: Option<Vec<u8>>,
    key: Vec<u8>,
}

enum Stream<'a> {
    Window { buffer: &'a WriteBuffer, next: usize },
    Trie(TrieStream<'a>),
}

/// The entries of a trie, the next of them at hand.
struct TrieStream<'a> {
    entries: TrieEntries<'a, Bytes>,
    key: Vec<u8>,
    found: Option<Found>,
}

impl<'a> TrieStream<'a> {
    fn new(trie: &'a Trie<Bytes>, from: &[u8]) -> Self {
        let mut stream = Self { entries: trie.range(from..), key: vec![], found: None };
        stream.advance();
        stream
    }

    fn advance(&mut self) {
        self.found = self.entries.next_entry().map(|(key, found)| {
            self.key.clear();
            self.key.extend_from_slice(key);
            found
        });
    }
}

impl<'a> Entries<'a> {
    /// The keys from `from` on, and before `end` if there is one. `layers` are oldest first.
    pub(super) fn new(layers: &'a [Layer], from: &[u8], end: Option<Vec<u8>>) -> Self {
        let streams = layers.iter().rev().map(|layer| match layer {
            Layer::Window(window) => Stream::Window { buffer: &window.buffer, next: window.buffer.rank(from) },
            Layer::Trie(trie) => Stream::Trie(TrieStream::new(trie.trie(), from)),
        });
        Self { streams: streams.collect(), end, key: vec![] }
    }

    /// The next key and its value.
    pub fn next_entry(&mut self) -> Option<(&[u8], u32)> {
        loop {
            match self.advance()? {
                Found::Value(value) => return Some((&self.key, value)),
                Found::Deleted => {}
            }
        }
    }

    /// As [`next_entry`](Self::next_entry), with those that are deleted.
    pub(super) fn next_found(&mut self) -> Option<(&[u8], Found)> {
        let found = self.advance()?;
        Some((&self.key, found))
    }

    /// Goes on to the next key: what it holds. The key is in `key` then.
    fn advance(&mut self) -> Option<Found> {
        let mut least: Option<(usize, &[u8], Found)> = None;
        for (i, stream) in self.streams.iter().enumerate() {
            if let Some((key, found)) = stream.current()
                && least.is_none_or(|(_, least, _)| key < least)
            {
                least = Some((i, key, found));
            }
        }
        let (newest, key, found) = least?;
        if self.end.as_deref().is_some_and(|end| key >= end) {
            return None;
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        self.streams[newest].advance();
        for older in &mut self.streams[newest + 1..] {
            if older.current().is_some_and(|(key, _)| key == self.key) {
                older.advance();
            }
        }
        Some(found)
    }
}

impl Stream<'_> {
    fn current(&self) -> Option<(&[u8], Found)> {
        match self {
            Self::Window { buffer, next } => buffer.nth(*next).map(|record| (record.key, record.found)),
            Self::Trie(trie) => trie.found.map(|found| (trie.key.as_slice(), found)),
        }
    }

    fn advance(&mut self) {
        match self {
            Self::Window { next, .. } => *next += 1,
            Self::Trie(trie) => trie.advance(),
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = (Vec<u8>, u32);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().map(|(key, value)| (key.to_vec(), value))
    }
}
