//! The compact trie: one immutable map from byte strings to numbers, ten times smaller than a hash map.

use std::fmt;
use std::ops::Deref;

use crate::bits::{Buffer, Vectors, prefetch};

mod block;
mod codes;
mod cursor;
mod encode;
mod error;
mod intern;
mod jump;
mod labels;
mod parts;
mod search;
mod skeleton;
mod tokens;
mod values;

use block::Position;
pub use cursor::TrieNode;
pub use error::{MAX_KEY, TrieError};
use parts::{Names, Part, Parts};
use search::{Search, Step};
pub use skeleton::Skeleton;
use values::Width;

/// "Which number has this key?": a map from byte strings to `u32` over a block of bytes, in memory, mapped or borrowed.
#[derive(Clone)]
pub struct Trie<M = Buffer> {
    body: M,
    shape: Shape,
    vectors: Vectors,
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A value.
    Value(u32),
    /// Nothing any more: the key is deleted, here and in all older tries of a list.
    Deleted,
}

impl Found {
    /// The value, if it is one.
    pub fn value(self) -> Option<u32> {
        match self {
            Self::Value(value) => Some(value),
            Self::Deleted => None,
        }
    }
}

/// The numbers of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Deleted ones among them.
    keys: u64,
    nodes: u64,
    leaves: u64,
    width: Width,
    jump: jump::Lengths,
    parts: Parts,
}

impl Trie {
    /// Encodes a trie.
    ///
    /// # Errors
    /// [`TrieError`] if there is no memory, or a limit of the format is met.
    pub fn encode(skeleton: &Skeleton) -> Result<Self, TrieError> {
        let encoded = encode::encode(skeleton)?;
        let shape = encoded.shape;
        let mut body = Buffer::zeroed(shape.parts.len()).map_err(|_| TrieError::NoMemory(shape.parts.len()))?;
        for (part, bytes) in Part::ALL.into_iter().zip(&encoded.parts) {
            body[shape.parts.range(part)].copy_from_slice(bytes);
        }
        Ok(Self { body, shape, vectors: Vectors::detect() })
    }
}

impl Trie {
    pub(super) fn shared(self) -> Trie<crate::format::Bytes> {
        let body = std::sync::Arc::<[u8]>::from(&*self.body).into();
        Trie { body, shape: self.shape, vectors: self.vectors }
    }
}

impl<M> Trie<M> {
    /// How many keys there are, deleted ones among them.
    pub fn keys(&self) -> u64 {
        self.shape.keys
    }

    /// How many nodes there are, the root not counted.
    pub fn nodes(&self) -> u64 {
        self.shape.nodes
    }
}

impl<M: Deref<Target = [u8]>> Trie<M> {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    /// What its parts are called, and how many bytes each takes.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        Part::ALL.iter().map(|part| part.name()).zip(self.shape.parts.lengths()).collect()
    }

    #[inline(always)]
    fn part(&self, part: Part) -> &[u8] {
        &self.body[self.shape.parts.range(part)]
    }

    #[inline(always)]
    fn names(&self) -> Names<'_> {
        let body: &[u8] = &self.body;
        let part = |part| &body[self.shape.parts.range(part)];
        Names {
            nodes: part(Part::Nodes),
            places: part(Part::Places).as_chunks().0,
            texts: part(Part::Texts),
            tokens: part(Part::Tokens).as_chunks().0,
            long: part(Part::Long),
        }
    }

    /// What `key` holds.
    pub fn get(&self, key: &[u8]) -> Option<Found> {
        let id = self.vectors.run(
            #[inline(always)]
            |vectors| self.find(key, vectors),
        )?;
        Some(self.found(id))
    }

    /// What each of `keys` holds; `out` is cleared.
    pub fn get_all(&self, keys: &[&[u8]], out: &mut Vec<Option<Found>>) {
        out.clear();
        out.extend(keys.iter().map(|key| self.get(key)));
    }

    /// The number of `key`, below [`keys`](Self::keys).
    pub fn id_of(&self, key: &[u8]) -> Option<u64> {
        self.vectors.run(
            #[inline(always)]
            |vectors| self.find(key, vectors),
        )
    }

    #[inline(always)]
    fn find(&self, key: &[u8], vectors: Vectors) -> Option<u64> {
        if key.is_empty() {
            return self.inner_id(0);
        }
        let names = self.names();
        let values = self.part(Part::Values);
        let landing = jump::land(&self.shape.jump, self.part(Part::Buckets), self.part(Part::Paths), key, vectors);
        let (position, at) = landing.unwrap_or((Position(0), 0));
        let mut search = Search::new(key, position, at);
        loop {
            search.fetch(&names);
            let step = search.step(&names, vectors, |leaf| {
                let byte = leaf as usize * self.shape.width.bits() as usize / 8;
                values.get(byte).into_iter().for_each(prefetch);
            });
            match step {
                Step::Down => {}
                Step::Miss => return None,
                Step::Leaf(rank) => return (rank < self.shape.leaves).then_some(rank),
                Step::Inner(rank) => return self.inner_id(rank),
            }
        }
    }

    #[inline]
    fn inner_id(&self, inner: u64) -> Option<u64> {
        let id = self.shape.leaves + values::terminal_rank(self.part(Part::Terminals), inner)?;
        (id < self.shape.keys).then_some(id)
    }

    /// What the key of this number holds.
    #[inline]
    fn found(&self, id: u64) -> Found {
        let deleted = self.part(Part::Deleted);
        if deleted.get((id / 8) as usize).is_some_and(|byte| byte >> (id % 8) & 1 == 1) {
            return Found::Deleted;
        }
        Found::Value(self.shape.width.get(self.part(Part::Values), id))
    }
}

impl<M> fmt::Debug for Trie<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trie").field("shape", &self.shape).finish_non_exhaustive()
    }
}
