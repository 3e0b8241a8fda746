//! The compact trie: an immutable map from byte strings to numbers that is ten times smaller than a hash map.
//!
//! Looking up: `mod` looks up one key, and `batch` many keys at once. `search` goes from node to node; `block`,
//! `labels` and `text` read nodes and labels. `jump` skips the upper nodes, those with many keys below them, which
//! `counts` finds.
//!
//! Writing: `writer` writes each node into a `body` when the node comes. `ends` writes the values, in `pieces` until
//! all nodes are there. `skeleton` and `encode` supply the nodes of keys, with `codes`, `tokens` and `matcher` for the
//! labels, and `merge` supplies the nodes of several tries.
//!
//! Walking: `cursor` and `iter`; `subtree` counts without a walk. Files: `file` and `check` read bytes of unknown
//! origin; a `guard` is told which bytes are read, so that it can check them.

use std::fmt;
use std::ops::Deref;

use crate::bits::{Buffer, Cpu, prefetch};
use crate::dict::Found;

mod batch;
mod bits;
mod block;
mod body;
mod check;
mod codes;
mod counts;
mod cursor;
mod draft;
mod encode;
mod ends;
mod file;
mod guard;
mod intern;
mod iter;
mod jump;
mod label;
mod labels;
mod matcher;
mod merge;
mod parts;
mod pieces;
mod position;
mod renumber;
mod room;
mod search;
mod skeleton;
mod subtree;
mod text;
mod token_trie;
mod tokens;
mod values;
mod writer;

pub use crate::error::{MAX_KEY, TrieError};
pub use cursor::TrieNode;
pub(in crate::dict) use guard::Checked;
#[expect(unreachable_pub, reason = "bounds of public items, which no other crate need name")]
pub use guard::{Guard, Trusted};
use jump::JumpTable;
pub use merge::MAX_MERGED;
use parts::{Names, Parts, TriePart};
use position::Position;
pub(in crate::dict) use room::{collected, filled, reserve};
use search::{Search, Step};
pub use skeleton::Skeleton;
use values::Width;

/// An immutable map from byte strings to `u32`, over bytes in memory, mapped or borrowed.
///
/// ```text
/// keys  rom romane romanus      one block:  first   1  1  1  0      label    r·om  a·n  e·  u·s
///                                           inner   1  1  0  0               └ edge └ rest: nothing, a code, or tokens
/// root ── rom* ── an ─┬─ e*                 down    slot 1: the first child of the block's first inner node;
///                     └─ us*                        the children of its i-th are the i-th group from there
/// ```
///
/// The nodes are those of a path-compressed trie, breadth-first, in self-contained blocks of 64. A search compares one
/// byte with the 64 edges of a block at once, then the rest of the label, and counts ones to find the next group.
/// Frequent labels are codes of one or two bytes, other labels are made of 4096 trained tokens, and a jump table skips
/// the upper levels. A trie is encoded from a [`Skeleton`].
///
/// ```
/// use furui::raw::{Found, Skeleton, Trie};
///
/// let keys = [("rom", Some(3)), ("romane", Some(1)), ("romanus", None)];
/// let skeleton = Skeleton::from_sorted(keys.map(|(key, value)| (key.as_bytes(), value)))?;
/// let trie = Trie::encode(&skeleton)?;
/// assert_eq!(trie.get(b"romane"), Some(Found::Value(1)));
/// assert_eq!(trie.get(b"romanus"), Some(Found::Deleted));
/// assert_eq!(trie.get(b"roman"), None);
/// assert_eq!(trie.prefixes(b"romantic").collect::<Vec<_>>(), [(3, Found::Value(3))]);
/// # Ok::<(), furui::dict::TrieError>(())
/// ```
///
/// # Cost
///
/// On 5 million paths of 64 bytes: 7.5 bytes a key and ⌈log₂(max + 1)⌉ bits for its value; a search visits about seven
/// nodes after its jump, at a cache miss or two for each. Building is linear in the bytes of the sorted keys.
///
/// # Source
///
/// Level-order tries without per-degree unary codes are the LOUDS-Sparse of SuRF (Zhang et al., SIGMOD 2018), path
/// compression is Morrison's PATRICIA (1968). Instead of select directories, each block holds the place of its children
/// and its ranks: one memory access where LOUDS needs several. Ids, tombstones and the label codes are this crate's
/// own.
#[derive(Clone)]
pub struct Trie<M = Buffer, G = Trusted> {
    body: M,
    shape: TrieShape,
    vectors: Cpu,
    /// The guard, which checks the bytes of a file before they are read, or trusts them.
    guard: G,
}

/// The numbers of keys and nodes of a trie, and the ranges of its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TrieShape {
    /// The number of keys, deletions included.
    keys: u64,
    nodes: u64,
    leaves: u64,
    width: Width,
    jump: jump::Lengths,
    parts: Parts,
}

impl Trie {
    /// Encodes a trie from its [`Skeleton`].
    ///
    /// # Errors
    /// [`TrieError`] if there is no memory, or a limit of the format is exceeded.
    pub fn encode(skeleton: &Skeleton) -> Result<Self, TrieError> {
        Ok(Self::assemble(encode::encode(skeleton)?))
    }

    fn assemble(encoded: writer::Encoded) -> Self {
        Self { body: encoded.body, shape: encoded.shape, vectors: Cpu::detect(), guard: Trusted }
    }
}

impl<M, G> Trie<M, G> {
    /// The number of keys, deletions included.
    pub fn keys(&self) -> u64 {
        self.shape.keys
    }

    /// The number of nodes, without the root.
    pub fn nodes(&self) -> u64 {
        self.shape.nodes
    }
}

impl<M: Deref<Target = [u8]>, G: Guard> Trie<M, G> {
    /// The number of bytes that the trie takes.
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    /// The name and the size in bytes of each part of the trie.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        TriePart::ALL.iter().map(|part| part.name()).zip(self.shape.parts.lengths()).collect()
    }

    /// A view of this trie that borrows its bytes.
    pub(in crate::dict) fn borrowed(&self) -> Trie<&[u8], G> {
        self.guarded(self.guard)
    }

    /// Reports to the guard that the tables of labels are read, so that it can check them. Searches do not report these
    /// reads.
    pub(in crate::dict) fn touch_labels(&self) {
        for part in [TriePart::Places, TriePart::Texts, TriePart::Tokens] {
            self.touch(part, 0, self.shape.parts.range(part).len());
        }
    }

    /// This trie over borrowed bytes, with another guard, which checks the bytes that are read or trusts them.
    pub(in crate::dict) fn guarded<H>(&self, guard: H) -> Trie<&[u8], H> {
        Trie { body: &self.body, shape: self.shape, vectors: self.vectors, guard }
    }

    /// Reports to the guard that `len` bytes of a section are read, from the offset `start` of that section on.
    #[inline(always)]
    fn touch(&self, part: TriePart, start: usize, len: usize) {
        self.guard.touch(self.shape.parts.start(part).saturating_add(start), len);
    }

    #[inline(always)]
    fn part(&self, part: TriePart) -> &[u8] {
        &self.body[self.shape.parts.range(part)]
    }

    #[inline(always)]
    fn names(&self) -> Names<'_, G> {
        let body: &[u8] = &self.body;
        let part = |part| &body[self.shape.parts.range(part)];
        Names {
            nodes: part(TriePart::Nodes),
            places: part(TriePart::Places).as_chunks().0,
            texts: part(TriePart::Texts),
            tokens: part(TriePart::Tokens).as_chunks().0,
            long: part(TriePart::Long),
            long_start: self.shape.parts.start(TriePart::Long),
            guard: self.guard,
        }
    }

    /// The value or deletion of `key`; `None` if the trie does not have the key.
    pub fn get(&self, key: &[u8]) -> Option<Found> {
        let id = self.vectors.run(
            #[inline(always)]
            |vectors| self.find(key, vectors),
        )?;
        Some(self.found(id))
    }

    /// Begins a search at the deepest node that the jump table has for the key, or at the root if it has none.
    #[inline(always)]
    fn begin<'k>(&self, key: &'k [u8], vectors: Cpu) -> Search<'k> {
        let table = JumpTable {
            lengths: &self.shape.jump,
            buckets: self.part(TriePart::Buckets),
            paths: self.part(TriePart::Paths),
            starts: [TriePart::Buckets, TriePart::Paths].map(|part| self.shape.parts.start(part)),
            guard: self.guard,
        };
        let (position, at) = jump::land(&table, key, vectors).unwrap_or((Position(0), 0));
        Search::new(key, position, at)
    }

    #[inline(always)]
    fn fetch_value(&self, id: u64) {
        let byte = id as usize * self.shape.width.bits() as usize / 8;
        self.part(TriePart::Values).get(byte).into_iter().for_each(prefetch);
    }

    #[inline(always)]
    fn find(&self, key: &[u8], vectors: Cpu) -> Option<u64> {
        if key.is_empty() {
            return self.inner_id(0);
        }
        let names = self.names();
        let mut search = self.begin(key, vectors);
        loop {
            match search.step(&names, vectors, |leaf| self.fetch_value(leaf)) {
                Step::Inner(rank) if search.is_done() => return self.inner_id(rank),
                Step::Inner(_) => {}
                Step::Leaf(rank) if search.is_done() => return self.leaf_id(rank),
                Step::Leaf(_) | Step::Miss => return None,
            }
        }
    }

    #[inline(always)]
    fn leaf_id(&self, leaf: u64) -> Option<u64> {
        (leaf < self.shape.leaves).then_some(leaf)
    }

    #[inline]
    fn inner_id(&self, inner: u64) -> Option<u64> {
        let (start, len) = values::terminal_line(inner);
        self.touch(TriePart::Terminals, start, len);
        let id = self.shape.leaves + values::terminal_rank(self.part(TriePart::Terminals), inner)?;
        (id < self.shape.keys).then_some(id)
    }

    /// The values of all keys that are not deleted, in the order of ids.
    pub(in crate::dict) fn values(&self) -> impl Iterator<Item = u32> {
        (0..self.shape.keys).filter_map(|id| self.found(id).value())
    }

    /// The value or deletion of the key with this id.
    #[inline]
    fn found(&self, id: u64) -> Found {
        let deleted = self.part(TriePart::Deleted);
        let (start, len) = self.shape.width.place(id);
        self.touch(TriePart::Values, start, len);
        self.touch(TriePart::Deleted, (id / 8) as usize, usize::from(!deleted.is_empty()));
        if deleted.get((id / 8) as usize).is_some_and(|byte| byte >> (id % 8) & 1 == 1) {
            return Found::Deleted;
        }
        Found::Value(self.shape.width.get(self.part(TriePart::Values), id))
    }
}

impl<M, G> fmt::Debug for Trie<M, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trie").field("shape", &self.shape).finish_non_exhaustive()
    }
}
