use std::ops::Deref;

use super::label::Label;
use super::parts::{Names, TriePart};
use super::values::Width;
use super::writer::{Encoded, Writer};
use super::{Found, Trie, TrieError};
use crate::bits::Cpu;
use crate::hash::{KeyHash, Rolling, RollingState};

mod codebook;
mod cursor;
mod greedy;
mod join;
mod labels;
mod order;
mod path;
mod prune;
mod queue;
mod records;
mod source;
mod tokens;

use super::text::Text;
use cursor::Cursor;
use labels::Labels;
use order::Order;
use path::Path;
use queue::{Queue, Waiting};
use source::{At, Branch, End, Source};

/// The maximum number of tries that can be merged at once.
pub const MAX_MERGED: usize = 256;

impl Trie {
    /// Merges several tries, newest first, into one. Of equal keys, the newest one is kept. `each_key` is called with
    /// the hash of each key by `rolling`, in breadth-first order.
    ///
    /// With `forget` deleted keys are left out, which is right if there is no older trie. The result has the nodes of a
    /// trie that is built from the same keys. But its labels have the codes and tokens of the largest source, so it may
    /// be a few percent larger.
    ///
    /// ```text
    ///   new   rom ── an* ─┬─ us*        queue   {new: behind "rom", old: behind "rom" of "romul"}, hash of "rom"
    ///                     └─ e*
    ///   old   romul ─┬─ us*             goes on with a  {new: behind "an"},     a node "an" of one trie: copied
    ///                └─ o*                           u  {old: behind "romul"},  a node "ul"
    /// ```
    ///
    /// The merge is one breadth-first walk from branch to branch. The queue holds the state of the hash of each path,
    /// and the place where each trie that has keys there continues: with a node's children, or within a label. Where
    /// tries continue with the same bytes, they are followed together, to the end of the shortest label. Where only one
    /// trie has keys, its nodes are copied. A node is written when the walk meets it.
    ///
    /// Cost: time linear in the nodes of all tries and the bytes of their labels. Memory besides the trie: 12 bytes for
    /// each waiting node. Each trie that has keys below a waiting node adds 8 bytes, and the rest of the label if the
    /// trie continues within a label. The places of records take a byte for each key, and codes take some megabytes. If
    /// keys are left out, there is a second walk over the merged trie.
    ///
    /// Source: sections 4.3 and 4.4 of Koyanagi et al., "Method to Build Bloom Filters for Online Building of LOUDS
    /// TRIE" (2011). In the paper every node is one byte, so a walk is never within a label.
    ///
    /// # Errors
    /// [`TrieError::Damaged`] if the bytes of a trie are invalid, [`TrieError::TooLarge`] if there are too many keys or
    /// tries.
    pub fn merge<M: Deref<Target = [u8]>>(
        tries: &[&Trie<M>],
        rolling: &Rolling,
        forget: bool,
        each_key: impl FnMut(KeyHash),
    ) -> Result<Self, TrieError> {
        if tries.len() > MAX_MERGED {
            return Err(TrieError::TooLarge("more than 256 tries to merge"));
        }
        let vectors = Cpu::detect();
        let Some((heir, _)) = (0..=u8::MAX).zip(tries).max_by_key(|(_, trie)| trie.nodes()) else {
            return Self::encode(&super::Skeleton::default());
        };
        let mut walk = Walk::new(tries, heir, rolling, forget, each_key, vectors)?;
        walk.root(tries)?;
        vectors.run(
            #[inline(always)]
            |vectors| walk.run(vectors),
        )?;
        let trie = Self::assemble(walk.finish(vectors)?);
        if forget && !trie.part(TriePart::Deleted).is_empty() {
            return trie.without_deleted(rolling, vectors);
        }
        Ok(trie)
    }
}

struct Walk<'t, F> {
    sources: Vec<Source<'t>>,
    labels: Labels<'t>,
    writer: Writer,
    rolling: &'t Rolling,
    forget: bool,
    each_key: F,
    queue: Queue,
    /// The maximum number of nodes that the merge may still visit. The limit ends a merge of damaged tries, in which
    /// several paths may lead to one node.
    left: u64,
    /// The texts of the labels that are being compared, one after the other.
    decoded: Vec<u8>,
    /// The offset in `decoded` at which each text ends.
    ends: Vec<usize>,
}

/// The maximum number of children of a node.
const MAX_CHILDREN: usize = 256;

impl<'t, F: FnMut(KeyHash)> Walk<'t, F> {
    fn new<M: Deref<Target = [u8]>>(
        tries: &'t [&'t Trie<M>],
        heir: u8,
        rolling: &'t Rolling,
        forget: bool,
        each_key: F,
        vectors: Cpu,
    ) -> Result<Self, TrieError> {
        let sources: Vec<Source<'t>> = (0..=u8::MAX).zip(tries).map(|(i, trie)| Source::new(i, *trie)).collect();
        let names: Vec<Names<'t>> = sources.iter().map(|source| source.names).collect();
        let keys = tries.iter().map(|trie| trie.keys()).sum();
        let width = tries.iter().map(|trie| trie.shape.width).max().unwrap_or(Width::ZERO);
        let root = tries.iter().find_map(|trie| trie.terminal(trie.root()));
        Ok(Self {
            labels: Labels::new(&names, heir, keys, rolling, vectors)?,
            writer: Writer::new(tries.iter().map(|trie| trie.bytes()).sum(), width, root)?,
            sources,
            rolling,
            forget,
            each_key,
            queue: Queue::new()?,
            left: tries.iter().map(|trie| 2 * trie.nodes()).sum(),
            decoded: vec![],
            ends: vec![],
        })
    }

    fn root<M: Deref<Target = [u8]>>(&mut self, tries: &[&Trie<M>]) -> Result<(), TrieError> {
        let hash = self.rolling.start();
        self.hash_key(tries.iter().find_map(|trie| trie.terminal(trie.root())), hash);
        for (number, _) in (0..=u8::MAX).zip(tries).filter(|(_, trie)| trie.nodes() > 0) {
            self.queue.push(Cursor::root(number));
        }
        if self.queue.cursors() > 0 { self.queue.close(Path::root(hash)) } else { Ok(()) }
    }

    #[inline(always)]
    fn run(&mut self, vectors: Cpu) -> Result<(), TrieError> {
        while let Some(piece) = self.queue.pop()? {
            let mut waiting = Waiting::new(&piece);
            let (mut branches, mut order) = (vec![], Order::default());
            while let Some((path, cursors)) = waiting.node() {
                if cursors == 1 {
                    self.copy_all(path, &mut waiting, vectors)?;
                } else {
                    self.read(cursors, &mut waiting, &mut branches, &mut order, vectors)?;
                    self.merge(path, &branches, order.ascending(), vectors)?;
                }
            }
            self.queue.reuse(piece);
        }
        Ok(())
    }

    fn finish(self, vectors: Cpu) -> Result<Encoded, TrieError> {
        let Self { mut writer, mut labels, .. } = self;
        labels.settle(&mut writer)?;
        writer.finish(labels.finish(), vectors)
    }

    /// Reads the next cursor (place in one of the merged tries) of the current node from the queue, and returns the
    /// first branch there.
    #[inline(always)]
    fn next_branch<'p>(&self, waiting: &mut Waiting<'p>, vectors: Cpu) -> Result<Branch<'p>, TrieError>
    where
        't: 'p,
    {
        let cursor = waiting.cursor().ok_or(TrieError::Damaged)?;
        if !cursor.is_within() {
            let source = self.sources.get(usize::from(cursor.trie())).ok_or(TrieError::Damaged)?;
            return source.first_child(cursor, vectors);
        }
        let (text, found) = waiting.rest().ok_or(TrieError::Damaged)?;
        let (byte, rest) = text.split_first().ok_or(TrieError::Damaged)?;
        Ok(Branch { byte, trie: cursor.trie(), at: At::Tail(rest, End { beyond: cursor.beyond(), found }) })
    }

    /// Copies the children of a node of the merged trie that only one of the tries has.
    #[inline(always)]
    fn copy_all<'p>(&mut self, parent: Path, waiting: &mut Waiting<'p>, vectors: Cpu) -> Result<(), TrieError>
    where
        't: 'p,
    {
        let (mut branch, mut is_first) = (self.next_branch(waiting, vectors)?, true);
        loop {
            self.copy(parent, &branch, is_first, vectors)?;
            match self.sources[usize::from(branch.trie)].sibling(&branch) {
                Some(next) if next.byte > branch.byte => (branch, is_first) = (next, false),
                Some(_) => return Err(TrieError::Damaged),
                None => return Ok(()),
            }
        }
    }

    /// Reads the branches of a node of the merged trie that several tries have, newest trie first.
    #[inline(always)]
    fn read<'p>(
        &self,
        cursors: u32,
        waiting: &mut Waiting<'p>,
        branches: &mut Vec<Branch<'p>>,
        order: &mut Order,
        vectors: Cpu,
    ) -> Result<(), TrieError>
    where
        't: 'p,
    {
        branches.clear();
        order.clear();
        for _ in 0..cursors {
            let mut next = self.next_branch(waiting, vectors)?;
            loop {
                order.push(next.byte);
                branches.push(next);
                match self.sources[usize::from(next.trie)].sibling(&next) {
                    Some(sibling) => next = sibling,
                    None => break,
                }
                if branches.len() > MAX_CHILDREN * cursors as usize {
                    return Err(TrieError::Damaged);
                }
            }
        }
        Ok(())
    }

    /// Merges the children of a node that several tries have. `order` lists the branches by their first bytes; of
    /// branches with equal bytes, that of the newest trie is first.
    #[inline(always)]
    fn merge(&mut self, parent: Path, branches: &[Branch<'_>], order: &[u32], vectors: Cpu) -> Result<(), TrieError> {
        let mut at = 0;
        while let Some(&begin) = order.get(at) {
            let alike = 1 + order[at + 1..].iter().take_while(|&&other| Order::same_byte(begin, other)).count();
            let is_first = at == 0;
            if alike == 1 {
                self.copy(parent, &branches[Order::index(begin)], is_first, vectors)?;
            } else {
                let alike = order[at..at + alike].iter().map(|&index| &branches[Order::index(index)]);
                self.join(parent, alike, is_first, vectors)?;
            }
            at += alike;
        }
        Ok(())
    }

    /// Adds the node of a branch that only one of the tries has.
    #[inline(always)]
    fn copy(&mut self, parent: Path, branch: &Branch<'_>, first: bool, vectors: Cpu) -> Result<(), TrieError> {
        let path = parent.push(self.rolling, branch.byte);
        let (path, end) = match branch.at {
            At::Node(block, position) => {
                let slot = position.slot();
                let end = self.sources[usize::from(branch.trie)].end(block, slot);
                let label = block.label(slot, vectors).ok_or(TrieError::Damaged)?;
                (self.label(path, branch.trie, label, vectors)?, end)
            }
            At::Tail(text, end) => (self.labels.push_text(text, path), end),
        };
        if let Some(cursor) = end.beyond {
            self.queue.push(cursor);
        }
        self.node(path, branch.byte, first, end.found)
    }

    /// Adds the label of a node that only one of the tries has. Returns the path extended by the label.
    #[inline(always)]
    fn label(&mut self, path: Path, trie: u8, label: Label<'_>, vectors: Cpu) -> Result<Path, TrieError> {
        if let Some(known) = self.labels.known(trie, label) {
            return Ok(self.labels.push_known(known, path));
        }
        let source = &self.sources[usize::from(trie)];
        let rest = source.names.rest(label, vectors).ok_or(TrieError::Damaged)?;
        if let Some(path) = self.labels.push_tokens(trie, rest, path) {
            return Ok(path);
        }
        let end = self.keep_rest(trie, rest, 0);
        Ok(self.labels.push_text(Text::of(&self.decoded, 0..end), path))
    }

    /// Adds a node to the merged trie. The caller adds its label to `labels`, and its cursors to the queue.
    #[inline(always)]
    fn node(&mut self, path: Path, byte: u8, first: bool, found: Option<Found>) -> Result<(), TrieError> {
        self.left = self.left.checked_sub(1).ok_or(TrieError::Damaged)?;
        let inner = self.queue.cursors() > 0;
        if found.is_none() && !inner {
            return Err(TrieError::Damaged);
        }
        let path = path.check()?;
        self.hash_key(found, path.hash);
        if inner {
            self.queue.close(path)?;
        }
        self.writer.push(byte, first, inner, found)?;
        if self.writer.is_full() { self.labels.settle(&mut self.writer) } else { Ok(()) }
    }

    #[inline(always)]
    fn hash_key(&mut self, found: Option<Found>, hash: RollingState) {
        if found.is_some_and(|found| !self.forget || found != Found::Deleted) {
            (self.each_key)(hash.finish());
        }
    }
}
