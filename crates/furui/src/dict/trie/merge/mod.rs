use std::collections::VecDeque;
use std::ops::{Deref, Range};

use super::labels::{Label, Rest};
use super::parts::{Names, Part};
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
mod source;
mod tails;

use codebook::Number;
use cursor::Cursor;
use labels::Labels;
use path::Path;
use source::{At, Branch, End, Source};
use tails::Tails;

/// The most tries that are merged at a time.
pub const MAX_MERGED: usize = 256;

impl Trie {
    /// Several tries as one, newest first: of equal keys the newest counts. `each_key` is told the hash of each of its keys
    /// by [`Rolling::spec`]`(seed)`, in breadth-first order.
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
    /// One walk, breadth-first, from branch to branch: what waits in the queue is how each trie goes on that has keys
    /// there, with a node's children or with the rest of a label, and the state of the hash of the path. Where they go on alike they go
    /// together, to the end of the shortest label. Where only one trie has keys, its nodes are copied. A node is written
    /// when the walk meets it.
    ///
    /// Cost: time linear in the nodes of all tries and the bytes of their labels; beside the trie 16 bytes for every
    /// waiting node, 8 for every trie that has keys below it, and the rest of its label if it stands within one. If keys
    /// are left out, a second walk over the merged trie.
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
        each_key: impl FnMut(KeyHash),
    ) -> Result<Self, TrieError> {
        if tries.len() > MAX_MERGED {
            return Err(TrieError::TooLarge("more than 256 tries to merge"));
        }
        let vectors = Vectors::detect();
        let Some((heir, _)) = (0..=u8::MAX).zip(tries).max_by_key(|(_, trie)| trie.nodes()) else {
            return Self::encode(&super::Skeleton::new());
        };
        let mut walk = Walk::new(tries, heir, forget, each_key, vectors)?;
        walk.root(tries.iter().find_map(|trie| trie.terminal(trie.root())), Rolling::start(seed));
        vectors.run(
            #[inline(always)]
            |vectors| walk.run(vectors),
        )?;
        let Walk { mut writer, mut labels, .. } = walk;
        labels.settle(&mut writer)?;
        let trie = Self::assemble(writer.finish(labels.finish(), vectors)?);
        if forget && !trie.part(Part::Deleted).is_empty() {
            return trie.without_deleted(vectors);
        }
        Ok(trie)
    }
}

/// An inner node of the merged trie whose children are still to come. Its cursors are in a queue of their own.
struct Waiting {
    path: Path,
    cursors: u32,
}

/// A piece of a label: as it lies in a trie, or decoded.
enum Text<'t> {
    Borrowed(&'t [u8]),
    Decoded(Range<usize>),
}

struct Walk<'t, F> {
    sources: Vec<Source<'t>>,
    labels: Labels<'t>,
    writer: Writer,
    forget: bool,
    each_key: F,
    waiting: VecDeque<Waiting>,
    cursors: VecDeque<Cursor>,
    /// For the cursors that stand within labels.
    tails: Tails,
    /// How many nodes there may still be: in damaged tries there may be more ways to a node than one.
    left: u64,
    branches: Vec<Branch<'t>>,
    /// The branches in the order of their bytes, of equal bytes newest first: 2²⁴ · byte + index.
    order: Vec<u32>,
    texts: Vec<Text<'t>>,
    decoded: Vec<u8>,
}

/// The most children a node has.
const MAX_CHILDREN: usize = 256;

impl<'t, F: FnMut(KeyHash)> Walk<'t, F> {
    fn new<M: Deref<Target = [u8]>>(
        tries: &'t [&'t Trie<M>],
        heir: u8,
        forget: bool,
        each_key: F,
        vectors: Vectors,
    ) -> Result<Self, TrieError> {
        let sources: Vec<Source<'t>> = (0..=u8::MAX).zip(tries).map(|(i, trie)| Source::new(i, *trie)).collect();
        let names: Vec<Names<'t>> = sources.iter().map(|source| source.names).collect();
        let keys = tries.iter().map(|trie| trie.keys()).sum();
        let width = tries.iter().map(|trie| trie.shape.width).max().unwrap_or(Width::ZERO);
        let root = tries.iter().find_map(|trie| trie.terminal(trie.root()));
        let roots = (0..=u8::MAX).zip(tries).filter(|(_, trie)| trie.nodes() > 0);
        Ok(Self {
            labels: Labels::new(&names, heir, keys, vectors)?,
            writer: Writer::new(tries.iter().map(|trie| trie.bytes()).sum(), width, root)?,
            sources,
            forget,
            each_key,
            waiting: VecDeque::new(),
            cursors: roots.map(|(trie, _)| Cursor::root(trie)).collect(),
            tails: Tails::default(),
            left: tries.iter().map(|trie| 2 * trie.nodes()).sum(),
            branches: vec![],
            order: vec![],
            texts: vec![],
            decoded: vec![],
        })
    }

    fn root(&mut self, found: Option<Found>, hash: Rolling) {
        self.hash_key(found, hash);
        if !self.cursors.is_empty() {
            self.waiting.push_back(Waiting { path: Path::root(hash), cursors: self.cursors.len() as u32 });
        }
    }

    #[inline(always)]
    fn run(&mut self, vectors: Vectors) -> Result<(), TrieError> {
        while let Some(parent) = self.waiting.pop_front() {
            self.tails.tidy();
            let first = self.next_branch(vectors)?;
            if parent.cursors == 1 {
                self.copy_all(parent.path, first, vectors)?;
            } else {
                self.merge(&parent, first, vectors)?;
            }
        }
        Ok(())
    }

    /// The first branch of the next cursor.
    #[inline(always)]
    fn next_branch(&mut self, vectors: Vectors) -> Result<Branch<'t>, TrieError> {
        let cursor = self.cursors.pop_front().ok_or(TrieError::Damaged)?;
        let source = &self.sources[usize::from(cursor.trie())];
        if !cursor.is_within() {
            return source.first_child(cursor, vectors);
        }
        let (text, found) = self.tails.pop().ok_or(TrieError::Damaged)?;
        let byte = self.tails.text(text.clone())[0];
        let end = End { beyond: cursor.beyond(), found };
        Ok(Branch { byte, trie: cursor.trie(), at: At::Tail(text.start + 1..text.end, end) })
    }

    /// The children of a node that only one trie has.
    #[inline(always)]
    fn copy_all(&mut self, parent: Path, first: Branch<'t>, vectors: Vectors) -> Result<(), TrieError> {
        let (mut branch, mut is_first) = (first, true);
        loop {
            self.copy(parent, &branch, is_first, vectors)?;
            match self.sources[usize::from(branch.trie)].sibling(&branch) {
                Some(next) => (branch, is_first) = (next, false),
                None => return Ok(()),
            }
        }
    }

    /// The children of a node that several tries have.
    #[inline(always)]
    fn merge(&mut self, parent: &Waiting, first: Branch<'t>, vectors: Vectors) -> Result<(), TrieError> {
        let mut branches = std::mem::take(&mut self.branches);
        let mut order = std::mem::take(&mut self.order);
        branches.clear();
        order.clear();
        let mut next = first;
        for left in (0..parent.cursors).rev() {
            loop {
                order.push(u32::from(next.byte) << 24 | branches.len() as u32);
                let sibling = self.sources[usize::from(next.trie)].sibling(&next);
                branches.push(next);
                match sibling {
                    Some(sibling) => next = sibling,
                    None => break,
                }
                if branches.len() > MAX_CHILDREN * parent.cursors as usize {
                    return Err(TrieError::Damaged);
                }
            }
            if left == 0 {
                break;
            }
            next = self.next_branch(vectors)?;
        }
        order.sort_unstable();
        let mut at = 0;
        while let Some(&begin) = order.get(at) {
            let alike = 1 + order[at + 1..].iter().take_while(|&&other| (other ^ begin) >> 24 == 0).count();
            let is_first = at == 0;
            if alike == 1 {
                self.copy(parent.path, &branches[(begin & INDEX) as usize], is_first, vectors)?;
            } else {
                self.join(parent.path, &branches, &order[at..at + alike], is_first, vectors)?;
            }
            at += alike;
        }
        (self.branches, self.order) = (branches, order);
        Ok(())
    }

    /// Adds a node that only one trie has.
    #[inline(always)]
    fn copy(&mut self, parent: Path, branch: &Branch<'t>, first: bool, vectors: Vectors) -> Result<(), TrieError> {
        let path = parent.push(branch.byte);
        let (path, end) = match &branch.at {
            At::Node(block, position) => {
                let slot = position.slot();
                let end = self.sources[usize::from(branch.trie)].end(*block, slot);
                let label = block.label(slot, vectors).ok_or(TrieError::Damaged)?;
                (self.label(path, branch.trie, label, vectors)?, end)
            }
            At::Tail(text, end) => (self.labels.push_text(self.tails.text(text.clone()), path), *end),
        };
        self.cursors.extend(end.beyond);
        self.node(path, branch.byte, first, u32::from(end.beyond.is_some()), end.found)
    }

    /// The label of a node that only one trie has.
    #[inline(always)]
    fn label(&mut self, path: Path, trie: u8, label: Label<'t>, vectors: Vectors) -> Result<Path, TrieError> {
        if let Some(known) = self.labels.known(trie, label) {
            return Ok(self.labels.push_known(known, path));
        }
        let source = &self.sources[usize::from(trie)];
        let rest = source.rest(label, vectors)?;
        if let Some(path) = self.labels.push_tokens(trie, rest, path) {
            return Ok(path);
        }
        let text = match rest {
            Rest::Text(text) => text,
            rest => {
                self.decoded.clear();
                source.names.append(rest, &mut self.decoded);
                &self.decoded
            }
        };
        Ok(self.labels.push_text(text, path))
    }

    /// Adds the node to which several tries go on together: those branches that `alike` are.
    #[inline(always)]
    fn join(
        &mut self,
        parent: Path,
        branches: &[Branch<'t>],
        alike: &[u32],
        first: bool,
        vectors: Vectors,
    ) -> Result<(), TrieError> {
        let alike = alike.iter().map(|index| &branches[(index & INDEX) as usize]);
        let byte = alike.clone().next().map_or(0, |branch| branch.byte);
        let (mut cursors, mut newest) = (0, None);
        if let Some(known) = self.known_to_all(alike.clone(), vectors)? {
            let path = self.labels.push_known(known, parent.push(byte));
            for branch in alike {
                cursors += self.pass(branch, &mut newest);
            }
            return self.node(path, byte, first, cursors, newest);
        }
        self.read(alike.clone(), vectors)?;
        let decoded = std::mem::take(&mut self.decoded);
        let texts = self.texts.iter().map(|text| match text {
            Text::Borrowed(text) => text,
            Text::Decoded(range) => &decoded[range.clone()],
        });
        let common = texts.reduce(|common, text| &common[..common_prefix(common, text)]).unwrap_or_default();
        let path = self.labels.push_text(common, parent.push(byte));
        for (i, branch) in alike.enumerate() {
            let text = match &self.texts[i] {
                Text::Borrowed(text) => text,
                Text::Decoded(range) => &decoded[range.clone()],
            };
            if text.len() > common.len() {
                let end = self.end(branch);
                self.tails.push(&text[common.len()..], end.found);
                self.cursors.push_back(Cursor::within(branch.trie, end.beyond));
                cursors += 1;
            } else {
                cursors += self.pass(branch, &mut newest);
            }
        }
        self.decoded = decoded;
        self.node(path, byte, first, cursors, newest)
    }

    /// The labels of branches, or what is left of them, behind their first bytes.
    #[inline(always)]
    fn read<'b>(&mut self, branches: impl Iterator<Item = &'b Branch<'t>>, vectors: Vectors) -> Result<(), TrieError>
    where
        't: 'b,
    {
        self.decoded.clear();
        self.texts.clear();
        for branch in branches {
            let start = self.decoded.len();
            match &branch.at {
                At::Tail(text, _) => self.decoded.extend_from_slice(self.tails.text(text.clone())),
                At::Node(block, position) => {
                    let source = &self.sources[usize::from(branch.trie)];
                    let label = block.label(position.slot(), vectors).ok_or(TrieError::Damaged)?;
                    match source.rest(label, vectors)? {
                        Rest::Text(text) => {
                            self.texts.push(Text::Borrowed(text));
                            continue;
                        }
                        rest => source.names.append(rest, &mut self.decoded),
                    }
                }
            }
            self.texts.push(Text::Decoded(start..self.decoded.len()));
        }
        Ok(())
    }

    /// What is known of a label that is the same in all tries, and whole in them.
    #[inline(always)]
    fn known_to_all<'b>(
        &self,
        branches: impl Iterator<Item = &'b Branch<'t>>,
        vectors: Vectors,
    ) -> Result<Option<Number>, TrieError>
    where
        't: 'b,
    {
        let mut all: Option<Number> = None;
        for branch in branches {
            let At::Node(block, position) = &branch.at else { return Ok(None) };
            let label = block.label(position.slot(), vectors).ok_or(TrieError::Damaged)?;
            let Some(known) = self.labels.known(branch.trie, label) else { return Ok(None) };
            if all.is_some_and(|all| all != known) {
                return Ok(None);
            }
            all = Some(known);
        }
        Ok(all)
    }

    #[inline(always)]
    fn end(&self, branch: &Branch<'t>) -> End {
        match &branch.at {
            At::Node(block, position) => self.sources[usize::from(branch.trie)].end(*block, position.slot()),
            At::Tail(_, end) => *end,
        }
    }

    /// Goes on to the end of a label. Gives 1 if there are children, and the key that ends there if there is no newer one.
    #[inline(always)]
    fn pass(&mut self, branch: &Branch<'t>, newest: &mut Option<Found>) -> u32 {
        let end = self.end(branch);
        self.cursors.extend(end.beyond);
        *newest = newest.or(end.found);
        u32::from(end.beyond.is_some())
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
            (self.each_key)(hash.finish());
        }
    }
}

/// The bits of `order` that are an index.
const INDEX: u32 = (1 << 24) - 1;
