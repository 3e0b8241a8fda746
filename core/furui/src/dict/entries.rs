use std::marker::PhantomData;
use std::result;

use super::checked::{CheckedEntries, CheckedTrie};
use super::layer::Layer;
use super::value::Layers;
use super::{DictValue, Found, WriteBuffer};
use crate::error::{Error, Result};
use crate::format::FormatError;

/// An iterator over the keys and values of all parts of a dictionary, in order of keys: see
/// [`Snapshot::range`](super::Snapshot::range).
///
/// The iterator merges one stream for each part. Of several entries with the same key only the newest is returned, and
/// deleted keys are skipped. Cost of each key: a comparison of keys for each part, and a step of each stream that has
/// the key.
///
/// As an [`Iterator`] it returns each key in a vector of its own; [`next_entry`](Self::next_entry) lends the key
/// instead. Values that are bytes are lent by the dictionary. The iterator ends after an error.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// let mut dict = Dict::open_with(Memory::new(), DictOptions::default())?;
/// dict.put("see", 1)?;
/// dict.put("seen", 2)?;
/// let mut entries = dict.iter();
/// while let Some((key, value)) = entries.next_entry()? {
///     println!("{} {value}", key.escape_ascii());
/// }
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Entries<'a, V: ?Sized = u32> {
    /// The layers (tries and write buffers) of the dictionary, oldest first.
    layers: &'a [Layer],
    /// The sorted streams that are merged, one for each layer, newest first.
    streams: Vec<Stream<'a>>,
    /// The exclusive upper bound of the keys; `None` if the range has no end.
    end: Option<Vec<u8>>,
    key: Vec<u8>,
    /// An error that occurred when the iteration began, and that has not been returned yet.
    failure: Option<Error>,
    values: PhantomData<&'a V>,
}

#[derive(Debug)]
enum Stream<'a> {
    Buffer { buffer: &'a WriteBuffer, next: usize },
    Trie(Box<TrieStream<'a>>),
}

/// The sorted entries of a trie as a stream, with a copy of the next entry.
#[derive(Debug)]
struct TrieStream<'a> {
    entries: CheckedEntries<'a>,
    key: Vec<u8>,
    found: Option<Found>,
}

impl<'a> TrieStream<'a> {
    fn new(trie: &'a CheckedTrie, from: &[u8]) -> result::Result<Self, FormatError> {
        let mut stream = Self { entries: trie.entries_from(from), key: vec![], found: None };
        stream.advance()?;
        Ok(stream)
    }

    fn advance(&mut self) -> result::Result<(), FormatError> {
        self.found = self.entries.next_entry()?.map(|(key, found)| {
            self.key.clear();
            self.key.extend_from_slice(key);
            found
        });
        Ok(())
    }
}

impl<'a, V: DictValue + ?Sized> Entries<'a, V> {
    /// An iterator over the keys from `from` on, up to but not including `end` if there is one. `layers` are oldest
    /// first.
    pub(super) fn new(layers: &'a [Layer], from: &[u8], end: Option<Vec<u8>>) -> Self {
        let streams = layers.iter().rev().map(|layer| match layer {
            Layer::Buffer(window) => {
                window.buffer.sort()?;
                Ok(Stream::Buffer { buffer: &window.buffer, next: window.buffer.rank(from) })
            }
            Layer::Trie(trie) => Ok(Stream::Trie(Box::new(TrieStream::new(trie.trie(), from)?))),
        });
        let (streams, failure) = match streams.collect::<Result<_>>() {
            Ok(streams) => (streams, None),
            Err(failure) => (vec![], Some(failure)),
        };
        Self { layers, streams, end, key: vec![], failure, values: PhantomData }
    }

    /// The next key and its value.
    ///
    /// # Errors
    /// [`Error::Format`] if a part of a file that was read is damaged; [`Error::Trie`] if there is no memory to sort
    /// the keys of write buffers.
    pub fn next_entry(&mut self) -> Result<Option<(&[u8], V::Read<'a>)>> {
        loop {
            match self.advance()? {
                Some(Found::Value(number)) => match V::read(number, Layers(self.layers)) {
                    Ok(value) => return Ok(Some((&self.key, value))),
                    Err(error) => {
                        self.streams.clear();
                        return Err(error);
                    }
                },
                Some(Found::Deleted) => {}
                None => return Ok(None),
            }
        }
    }

    /// Returns the next key, and its value or deletion in the newest part that has the key; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Format`] if a trie is damaged.
    pub(super) fn next_found(&mut self) -> Result<Option<(&[u8], Found)>> {
        let found = self.advance()?;
        Ok(found.map(|found| (&*self.key, found)))
    }

    /// Advances to the next key, stores it in `key`, and returns its value or deletion; `None` at the end. After an
    /// error the iterator has ended.
    fn advance(&mut self) -> Result<Option<Found>> {
        let next = match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.step().map_err(Error::from),
        };
        if next.is_err() {
            self.streams.clear();
        }
        next
    }

    fn step(&mut self) -> result::Result<Option<Found>, FormatError> {
        let mut least: Option<(usize, &[u8], Found)> = None;
        for (i, stream) in self.streams.iter().enumerate() {
            if let Some((key, found)) = stream.current()
                && least.is_none_or(|(_, least, _)| key < least)
            {
                least = Some((i, key, found));
            }
        }
        let Some((newest, key, found)) = least else { return Ok(None) };
        if self.end.as_deref().is_some_and(|end| key >= end) {
            return Ok(None);
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        self.streams[newest].advance()?;
        for older in &mut self.streams[newest + 1..] {
            if older.current().is_some_and(|(key, _)| key == self.key) {
                older.advance()?;
            }
        }
        Ok(Some(found))
    }
}

impl Stream<'_> {
    fn current(&self) -> Option<(&[u8], Found)> {
        match self {
            Self::Buffer { buffer, next } => buffer.nth(*next).map(|record| (record.key, record.found)),
            Self::Trie(trie) => trie.found.map(|found| (trie.key.as_slice(), found)),
        }
    }

    fn advance(&mut self) -> result::Result<(), FormatError> {
        match self {
            Self::Buffer { next, .. } => {
                *next += 1;
                Ok(())
            }
            Self::Trie(trie) => trie.advance(),
        }
    }
}

impl<'a, V: DictValue + ?Sized> Iterator for Entries<'a, V> {
    type Item = Result<(Vec<u8>, V::Read<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().map(|entry| entry.map(|(key, value)| (key.to_vec(), value))).transpose()
    }
}
