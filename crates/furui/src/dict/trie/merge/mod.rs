use std::collections::VecDeque;
use std::ops::Deref;

use super::block::{Block, Position};
use super::labels::Rest;
use super::parts::Names;
use super::search::group;
use super::{Found, MAX_KEY, Skeleton, Trie, TrieError};
use crate::bits::Vectors;
use crate::hash::{KeyHash, Rolling};

mod cursor;
mod known;
mod prune;

use cursor::Cursor;
use known::Known;

/// The most tries that are merged at a time.
pub const MAX_MERGED: usize = 256;

impl Skeleton {
    /// Several tries as one, newest first: of equal keys the newest counts. Beside the trie, the hashes of its keys by
    /// [`Rolling::spec`]`(seed)`, in breadth-first order, deleted keys among them.
    ///
    /// `forget`: keys that are deleted are left out, which is right if there is no older trie. The skeleton is the one
    /// that [`from_sorted`](Self::from_sorted) makes of the same keys.
    ///
    /// ```text
    ///   new   rom ── an* ─┬─ us*        queue   {new: behind "rom", old: behind "rom" of "romul"}, hash of "rom"
    ///                     └─ e*
    ///   old   romul ─┬─ us*             goes on with a  {new: behind "an"},     a node "an" of one trie: copied
    ///                └─ o*                           u  {old: behind "romul"},  a node "ul"
    /// ```
    ///
    /// One walk, breadth-first, from branch to branch: what waits in the queue is where each trie stands that has keys
    /// there, in a node or within its label, and the state of the hash of the path. Where they go on alike they go
    /// together, to the end of the shortest label. Where only one trie has keys, its nodes are copied.
    ///
    /// Cost: time linear in the nodes of all tries and the bytes of their labels; 16 bytes for every waiting node, and 8
    /// for every trie that has keys below it; 8 bytes a key for the hashes. If keys are left out, a second pass over the
    /// skeleton.
    ///
    /// Source: sections 4.3 and 4.4 of Koyanagi et al., "Method to Build Bloom Filters for Online Building of LOUDS
    /// TRIE" (2011), where every node is a byte, so that a walk never stands within one.
    ///
    /// # Errors
    /// [`TrieError::Damaged`] if the bytes of a trie are not those of one, [`TrieError::TooLarge`] if there are too many
    /// keys or tries.
    pub fn merge<M: Deref<Target = [u8]>>(
        tries: &[&Trie<M>],
        seed: u64,
        forget: bool,
    ) -> Result<(Self, Vec<KeyHash>), TrieError> {
        if tries.len() > MAX_MERGED {
            return Err(TrieError::TooLarge("more than 256 tries to merge"));
        }
        let mut walk = Walk::new(tries, forget);
        walk.root(Rolling::start(seed));
        Vectors::detect().run(
            #[inline(always)]
            |vectors| walk.run(vectors),
        )?;
        let Walk { skeleton, hashes, .. } = walk;
        let any_deleted = skeleton.deleted.ones() > 0 || skeleton.root == Some(Found::Deleted);
        if forget && any_deleted {
            return Ok((skeleton.without_deleted()?, hashes));
        }
        Ok((skeleton, hashes))
    }
}

/// An inner node of the merged trie whose children are still to come. Its cursors are in a queue of their own.
struct Waiting {
    hash: Rolling,
    /// Bytes from the root.
    depth: u32,
    cursors: u32,
}

/// A trie's way on from a waiting node, which begins with `byte`.
struct Branch<'t> {
    byte: u8,
    trie: u8,
    /// How many bytes of the node's label come before `byte`.
    offset: u16,
    position: Position,
    block: Block<'t>,
}

/// A piece of a label: as it lies in a trie, or decoded.
#[derive(Clone, Copy)]
enum Text<'t> {
    Borrowed(&'t [u8]),
    Decoded { start: usize, end: usize },
}

struct Walk<'t, M> {
    tries: &'t [&'t Trie<M>],
    names: Vec<Names<'t>>,
    known: Vec<Known>,
    /// Labels of codes that will be known when their numbers are: trie, code, node of the skeleton.
    fresh: Vec<(u8, u32, u32)>,
    forget: bool,
    skeleton: Skeleton,
    hashes: Vec<KeyHash>,
    waiting: VecDeque<Waiting>,
    cursors: VecDeque<Cursor>,
    /// How many nodes there may still be: in damaged tries there may be more ways to a node than one.
    left: u64,
    here: Vec<Cursor>,
    branches: Vec<Branch<'t>>,
    texts: Vec<Text<'t>>,
    decoded: Vec<u8>,
}

impl<'t, M: Deref<Target = [u8]>> Walk<'t, M> {
    fn new(tries: &'t [&'t Trie<M>], forget: bool) -> Self {
        let names: Vec<Names<'t>> = tries.iter().map(|trie| trie.names()).collect();
        Self {
            known: names.iter().map(Known::new).collect(),
            names,
            fresh: vec![],
            tries,
            forget,
            skeleton: Skeleton::new(),
            hashes: vec![],
            waiting: VecDeque::new(),
            cursors: VecDeque::new(),
            left: tries.iter().map(|trie| 2 * trie.nodes()).sum(),
            here: vec![],
            branches: vec![],
            texts: vec![],
            decoded: vec![],
        }
    }

    fn root(&mut self, hash: Rolling) {
        let found = self.tries.iter().find_map(|trie| trie.terminal(trie.root()));
        self.skeleton.set_root(found);
        self.hash_key(found, hash);
        let roots = (0..=u8::MAX).zip(self.tries).filter(|(_, trie)| trie.nodes() > 0);
        self.cursors.extend(roots.map(|(trie, _)| Cursor::root(trie)));
        if !self.cursors.is_empty() {
            self.waiting.push_back(Waiting { hash, depth: 0, cursors: self.cursors.len() as u32 });
        }
    }

    #[inline(always)]
    fn run(&mut self, vectors: Vectors) -> Result<(), TrieError> {
        while let Some(parent) = self.waiting.pop_front() {
            self.here.clear();
            self.here.extend(self.cursors.drain(..parent.cursors as usize));
            self.branch(vectors)?;
            // Of one trie they are in order.
            if self.here.len() > 1 {
                self.branches.sort_by_key(|branch| branch.byte);
            }
            let branches = std::mem::take(&mut self.branches);
            let mut first = true;
            for alike in branches.chunk_by(|a, b| a.byte == b.byte) {
                match alike {
                    [branch] => self.copy(&parent, branch, first, vectors)?,
                    _ => self.join(&parent, alike, first, vectors)?,
                }
                first = false;
            }
            if first {
                return Err(TrieError::Damaged);
            }
            self.branches = branches;
            if self.skeleton.is_full() {
                self.settle();
            }
        }
        self.settle();
        self.skeleton.distinct.close();
        Ok(())
    }

    /// Where the cursors go on.
    #[inline(always)]
    fn branch(&mut self, vectors: Vectors) -> Result<(), TrieError> {
        self.branches.clear();
        for i in 0..self.here.len() {
            let cursor = self.here[i];
            let trie = cursor.trie();
            let names = &self.names[usize::from(trie)];
            let position = cursor.position();
            let offset = cursor.offset();
            if offset > 0 {
                let block = Block::at(names.nodes, position.offset()).ok_or(TrieError::Damaged)?;
                let rest = self.rest(trie, block, position.slot(), vectors)?;
                self.decoded.clear();
                let byte = match rest {
                    Rest::Text(text) => text.get(usize::from(offset) - 1),
                    rest => {
                        names.append(rest, &mut self.decoded);
                        self.decoded.get(usize::from(offset) - 1)
                    }
                };
                let byte = *byte.ok_or(TrieError::Damaged)?;
                self.branches.push(Branch { byte, trie, offset, position, block });
                continue;
            }
            let (down, skip) = if cursor.is_root() {
                (Position(0), 0)
            } else {
                let block = Block::at(names.nodes, position.offset()).ok_or(TrieError::Damaged)?;
                (block.down(), (block.inner() & super::block::below(position.slot())).count_ones())
            };
            let (mut block, mut at, mut slot) =
                group(names.nodes, down.offset(), down.slot(), skip, vectors).ok_or(TrieError::Damaged)?;
            if !cursor.is_root() && Position::new(at, slot) <= position {
                return Err(TrieError::Damaged);
            }
            loop {
                let byte = block.edges()[slot as usize];
                self.branches.push(Branch { byte, trie, offset: 0, position: Position::new(at, slot), block });
                slot += 1;
                if slot == 64 {
                    at += block.length();
                    let Some(next) = Block::at(names.nodes, at) else { break };
                    (block, slot) = (next, 0);
                }
                if block.first() >> slot & 1 == 1 {
                    break;
                }
                if self.branches.len() > 256 * self.here.len() {
                    return Err(TrieError::Damaged);
                }
            }
        }
        Ok(())
    }

    /// Adds a node that only one trie has.
    #[inline(always)]
    fn copy(&mut self, parent: &Waiting, branch: &Branch<'t>, first: bool, vectors: Vectors) -> Result<(), TrieError> {
        let (trie, slot) = (branch.trie, branch.position.slot());
        let label = branch.block.label(slot, vectors).ok_or(TrieError::Damaged)?;
        let whole = branch.offset == 0;
        let names = &self.names[usize::from(trie)];
        let (inner, found) = self.found(branch);
        if inner {
            self.cursors.push_back(Cursor::new(trie, branch.position, 0));
        }
        let mut node =
            Waiting { hash: parent.hash.push(branch.byte), depth: parent.depth + 1, cursors: u32::from(inner) };
        let code = if whole { known::code(label) } else { None };
        if let Some(known) = code.and_then(|code| self.known[usize::from(trie)].get(code)) {
            let number = known.number();
            self.skeleton.distinct.count_again(number);
            node.hash = node.hash.push_run(known.run);
            node.depth += known.run.len();
            self.node(&node, found)?;
            self.skeleton.push_node(branch.byte, number, first, inner, found)?;
        } else {
            let rest = names.rest(label, vectors).ok_or(TrieError::Damaged)?;
            self.decoded.clear();
            let text = match rest {
                Rest::Text(text) => text,
                rest => {
                    names.append(rest, &mut self.decoded);
                    &self.decoded
                }
            };
            let text = text.get(usize::from(branch.offset)..).ok_or(TrieError::Damaged)?;
            node.hash = node.hash.push_all(text);
            node.depth += text.len() as u32;
            self.fresh.extend(code.map(|code| (trie, code as u32, self.skeleton.nodes() as u32)));
            self.skeleton.push_later(branch.byte, text, first, inner, found)?;
            self.node(&node, found)?;
        }
        if inner {
            self.waiting.push_back(node);
        }
        Ok(())
    }

    /// Adds the node to which several tries go on together.
    #[inline(always)]
    fn join(
        &mut self,
        parent: &Waiting,
        branches: &[Branch<'t>],
        first: bool,
        vectors: Vectors,
    ) -> Result<(), TrieError> {
        self.decoded.clear();
        self.texts.clear();
        for branch in branches {
            let rest = self.rest(branch.trie, branch.block, branch.position.slot(), vectors)?;
            let offset = usize::from(branch.offset);
            let text = match rest {
                Rest::Text(text) => Text::Borrowed(text.get(offset..).ok_or(TrieError::Damaged)?),
                rest => {
                    let start = self.decoded.len();
                    self.names[usize::from(branch.trie)].append(rest, &mut self.decoded);
                    let (start, end) = (start + offset, self.decoded.len());
                    if start > end {
                        return Err(TrieError::Damaged);
                    }
                    Text::Decoded { start, end }
                }
            };
            self.texts.push(text);
        }
        let decoded = &self.decoded;
        let bytes = |text: Text<'t>| match text {
            Text::Borrowed(text) => text,
            Text::Decoded { start, end } => &decoded[start..end],
        };
        let mut common = bytes(self.texts[0]);
        for &text in &self.texts[1..] {
            common = &common[..super::skeleton::common_prefix(common, bytes(text))];
        }
        let hash = parent.hash.push(branches[0].byte).push_all(common);
        let depth = parent.depth + 1 + common.len() as u32;
        let length = common.len();
        let mut node = Waiting { hash, depth, cursors: 0 };
        let mut newest = None;
        for (i, branch) in branches.iter().enumerate() {
            let text = match self.texts[i] {
                Text::Borrowed(text) => text.len(),
                Text::Decoded { start, end } => end - start,
            };
            if text > length {
                let offset = usize::from(branch.offset) + 1 + length;
                let offset = u16::try_from(offset).map_err(|_| TrieError::Damaged)?;
                self.cursors.push_back(Cursor::new(branch.trie, branch.position, offset));
                node.cursors += 1;
                continue;
            }
            let (inner, found) = self.found(branch);
            if inner {
                self.cursors.push_back(Cursor::new(branch.trie, branch.position, 0));
                node.cursors += 1;
            }
            newest = newest.or(found);
        }
        self.skeleton.push_later(branches[0].byte, common, first, node.cursors > 0, newest)?;
        self.node(&node, newest)?;
        if node.cursors > 0 {
            self.waiting.push_back(node);
        }
        Ok(())
    }

    /// Checks a node, and hashes the key that ends there.
    #[inline(always)]
    fn node(&mut self, node: &Waiting, found: Option<Found>) -> Result<(), TrieError> {
        self.left = self.left.checked_sub(1).ok_or(TrieError::Damaged)?;
        if node.depth as usize > MAX_KEY || (found.is_none() && node.cursors == 0) {
            return Err(TrieError::Damaged);
        }
        self.hash_key(found, node.hash);
        Ok(())
    }

    /// Gives the labels that wait their numbers.
    fn settle(&mut self) {
        self.skeleton.settle();
        for (trie, code, node) in self.fresh.drain(..) {
            let number = self.skeleton.rests[node as usize];
            self.known[usize::from(trie)].set(code as usize, number, self.skeleton.distinct.get(number));
        }
    }

    #[inline(always)]
    fn hash_key(&mut self, found: Option<Found>, hash: Rolling) {
        if found.is_some_and(|found| !self.forget || found != Found::Deleted) {
            self.hashes.push(hash.finish());
        }
    }

    #[inline(always)]
    fn rest(&self, trie: u8, block: Block<'t>, slot: u32, vectors: Vectors) -> Result<Rest<'t>, TrieError> {
        let label = block.label(slot, vectors).ok_or(TrieError::Damaged)?;
        self.names[usize::from(trie)].rest(label, vectors).ok_or(TrieError::Damaged)
    }

    /// Whether the node of a branch has children, and what the key holds that ends there.
    #[inline(always)]
    fn found(&self, branch: &Branch<'t>) -> (bool, Option<Found>) {
        let trie = self.tries[usize::from(branch.trie)];
        let slot = branch.position.slot();
        let inner = branch.block.is_inner(slot);
        let id = match inner {
            false => trie.leaf_id(branch.block.leaf_rank(slot)),
            true => trie.inner_id(branch.block.inner_rank(slot)),
        };
        (inner, id.map(|id| trie.found(id)))
    }
}
