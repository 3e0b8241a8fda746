use std::collections::VecDeque;
use std::ops::Deref;

use super::block::{Block, Position, below};
use super::labels::Rest;
use super::parts::{Names, Part};
use super::search::group;
use super::skeleton::common_prefix;
use super::values::Width;
use super::writer::Writer;
use super::{Found, Trie, TrieError};
use crate::bits::Vectors;
use crate::hash::{KeyHash, Rolling};

mod codebook;
mod cursor;
mod labels;
mod path;
mod prune;
mod records;

use codebook::Number;
use cursor::Cursor;
use labels::Labels;
use path::Path;

/// The most tries that are merged at a time.
pub const MAX_MERGED: usize = 256;

impl Trie {
    /// Several tries as one, newest first: of equal keys the newest counts. Beside the trie, the hashes of its keys by
    /// [`Rolling::spec`]`(seed)`, in breadth-first order.
    ///
    /// `forget`: keys that are deleted are left out, which is right if there is no older trie. The trie has the nodes of the
    /// one that is built of the same keys, but its labels have the codes and tokens of the largest source: it may be a
    /// few hundredths larger.
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
    /// together, to the end of the shortest label. Where only one trie has keys, its nodes are copied. A node is written
    /// when the walk meets it.
    ///
    /// Cost: time linear in the nodes of all tries and the bytes of their labels; 16 bytes for every waiting node, and 8
    /// for every trie that has keys below it; 8 bytes a key for the hashes. If keys are left out, a second walk over the
    /// merged trie.
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
        let vectors = Vectors::detect();
        let Some((heir, _)) = (0..=u8::MAX).zip(tries).max_by_key(|(_, trie)| trie.nodes()) else {
            return Ok((Self::encode(&super::Skeleton::new())?, vec![]));
        };
        let mut walk = Walk::new(tries, heir, forget, vectors)?;
        walk.root(Rolling::start(seed));
        vectors.run(
            #[inline(always)]
            |vectors| walk.run(vectors),
        )?;
        let Walk { mut writer, mut labels, hashes, .. } = walk;
        labels.settle(&mut writer)?;
        let trie = Self::assemble(writer.finish(labels.finish(), vectors)?)?;
        if forget && !trie.part(Part::Deleted).is_empty() {
            return Ok((trie.without_deleted(vectors)?, hashes));
        }
        Ok((trie, hashes))
    }
}

/// An inner node of the merged trie whose children are still to come. Its cursors are in a queue of their own.
struct Waiting {
    path: Path,
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
    labels: Labels<'t>,
    writer: Writer,
    forget: bool,
    hashes: Vec<KeyHash>,
    waiting: VecDeque<Waiting>,
    cursors: VecDeque<Cursor>,
    /// What comes next in the labels in which cursors stand.
    bytes: VecDeque<u8>,
    /// How many nodes there may still be: in damaged tries there may be more ways to a node than one.
    left: u64,
    here: Vec<Cursor>,
    branches: Vec<Branch<'t>>,
    texts: Vec<Text<'t>>,
    decoded: Vec<u8>,
}

impl<'t, M: Deref<Target = [u8]>> Walk<'t, M> {
    fn new(tries: &'t [&'t Trie<M>], heir: u8, forget: bool, vectors: Vectors) -> Result<Self, TrieError> {
        let names: Vec<Names<'t>> = tries.iter().map(|trie| trie.names()).collect();
        let keys = tries.iter().map(|trie| trie.keys()).sum();
        let width = tries.iter().map(|trie| trie.shape.width).max().unwrap_or(Width::ZERO);
        let root = tries.iter().find_map(|trie| trie.terminal(trie.root()));
        Ok(Self {
            labels: Labels::new(&names, heir, keys, vectors)?,
            writer: Writer::new(width, root),
            names,
            tries,
            forget,
            hashes: vec![],
            waiting: VecDeque::new(),
            cursors: VecDeque::new(),
            bytes: VecDeque::new(),
            left: tries.iter().map(|trie| 2 * trie.nodes()).sum(),
            here: vec![],
            branches: vec![],
            texts: vec![],
            decoded: vec![],
        })
    }

    fn root(&mut self, hash: Rolling) {
        self.hash_key(self.tries.iter().find_map(|trie| trie.terminal(trie.root())), hash);
        let roots = (0..=u8::MAX).zip(self.tries).filter(|(_, trie)| trie.nodes() > 0);
        self.cursors.extend(roots.map(|(trie, _)| Cursor::root(trie)));
        if !self.cursors.is_empty() {
            self.waiting.push_back(Waiting { path: Path::root(hash), cursors: self.cursors.len() as u32 });
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
                    [branch] => self.copy(parent.path, branch, first, vectors)?,
                    _ => self.join(parent.path, alike, first, vectors)?,
                }
                first = false;
            }
            if first {
                return Err(TrieError::Damaged);
            }
            self.branches = branches;
        }
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
                let byte = self.bytes.pop_front().ok_or(TrieError::Damaged)?;
                self.branches.push(Branch { byte, trie, offset, position, block });
                continue;
            }
            let (down, skip) = if cursor.is_root() {
                (Position(0), 0)
            } else {
                let block = Block::at(names.nodes, position.offset()).ok_or(TrieError::Damaged)?;
                (block.down(), (block.inner() & below(position.slot())).count_ones())
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
    fn copy(&mut self, parent: Path, branch: &Branch<'t>, first: bool, vectors: Vectors) -> Result<(), TrieError> {
        let (inner, found) = self.found(branch);
        if inner {
            self.cursors.push_back(Cursor::new(branch.trie, branch.position, 0));
        }
        let path = self.label(parent.push(branch.byte), branch, vectors)?;
        self.node(path, branch.byte, first, u32::from(inner), found)
    }

    /// The label of a node that only one trie has.
    #[inline(always)]
    fn label(&mut self, path: Path, branch: &Branch<'t>, vectors: Vectors) -> Result<Path, TrieError> {
        let whole = branch.offset == 0;
        let label = branch.block.label(branch.position.slot(), vectors).ok_or(TrieError::Damaged)?;
        if whole && let Some(known) = self.labels.known(branch.trie, label) {
            return Ok(self.labels.push_known(known, path));
        }
        let names = &self.names[usize::from(branch.trie)];
        let rest = names.rest(label, vectors).ok_or(TrieError::Damaged)?;
        if whole && let Some(path) = self.labels.push_tokens(branch.trie, rest, path) {
            return Ok(path);
        }
        self.decoded.clear();
        let text = match rest {
            Rest::Text(text) => text,
            rest => {
                names.append(rest, &mut self.decoded);
                &self.decoded
            }
        };
        let text = text.get(usize::from(branch.offset)..).ok_or(TrieError::Damaged)?;
        Ok(self.labels.push_text(text, path))
    }

    /// Adds the node to which several tries go on together.
    #[inline(always)]
    fn join(&mut self, parent: Path, branches: &[Branch<'t>], first: bool, vectors: Vectors) -> Result<(), TrieError> {
        let byte = branches[0].byte;
        if let Some(known) = self.known_to_all(branches, vectors)? {
            let path = self.labels.push_known(known, parent.push(byte));
            let (mut cursors, mut newest) = (0, None);
            for branch in branches {
                cursors += self.pass(branch, &mut newest);
            }
            return self.node(path, byte, first, cursors, newest);
        }
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
        let decoded = std::mem::take(&mut self.decoded);
        let bytes = |text: Text<'t>| match text {
            Text::Borrowed(text) => text,
            Text::Decoded { start, end } => &decoded[start..end],
        };
        let mut common = bytes(self.texts[0]);
        for &text in &self.texts[1..] {
            common = &common[..common_prefix(common, bytes(text))];
        }
        let path = self.labels.push_text(common, parent.push(byte));
        let length = common.len();
        let (mut cursors, mut newest) = (0, None);
        for (i, branch) in branches.iter().enumerate() {
            if let Some(&byte) = bytes(self.texts[i]).get(length) {
                self.bytes.push_back(byte);
                let offset = usize::from(branch.offset) + 1 + length;
                let offset = u16::try_from(offset).map_err(|_| TrieError::Damaged)?;
                self.cursors.push_back(Cursor::new(branch.trie, branch.position, offset));
                cursors += 1;
            } else {
                cursors += self.pass(branch, &mut newest);
            }
        }
        self.decoded = decoded;
        self.node(path, byte, first, cursors, newest)
    }

    /// What is known of a label that is the same in all tries, and whole in them.
    #[inline(always)]
    fn known_to_all(&self, branches: &[Branch<'t>], vectors: Vectors) -> Result<Option<Number>, TrieError> {
        let mut all: Option<Number> = None;
        for branch in branches {
            if branch.offset > 0 {
                return Ok(None);
            }
            let label = branch.block.label(branch.position.slot(), vectors).ok_or(TrieError::Damaged)?;
            let Some(known) = self.labels.known(branch.trie, label) else { return Ok(None) };
            if all.is_some_and(|all| all != known) {
                return Ok(None);
            }
            all = Some(known);
        }
        Ok(all)
    }

    /// Goes on to the end of a node. Gives 1 if that has children, and its key if there is no newer one.
    #[inline(always)]
    fn pass(&mut self, branch: &Branch<'t>, newest: &mut Option<Found>) -> u32 {
        let (inner, found) = self.found(branch);
        if inner {
            self.cursors.push_back(Cursor::new(branch.trie, branch.position, 0));
        }
        *newest = newest.or(found);
        u32::from(inner)
    }

    /// Adds a node whose label is given to `labels`.
    #[inline(always)]
    fn node(&mut self, path: Path, byte: u8, first: bool, cursors: u32, found: Option<Found>) -> Result<(), TrieError> {
        self.left = self.left.checked_sub(1).ok_or(TrieError::Damaged)?;
        if found.is_none() && cursors == 0 {
            return Err(TrieError::Damaged);
        }
        let path = path.check()?;
        self.hash_key(found, path.hash);
        if cursors > 0 {
            self.waiting.push_back(Waiting { path, cursors });
        }
        self.writer.push(byte, first, cursors > 0, found)?;
        if self.writer.is_full() { self.labels.settle(&mut self.writer) } else { Ok(()) }
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
