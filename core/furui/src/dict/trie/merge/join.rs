//! Merges those branches (subtrees) of several tries that begin with the same byte.

use super::cursor::Cursor;
use super::path::Path;
use super::source::{At, Branch, End};
use super::{TrieError, Walk};
use crate::bits::Cpu;
use crate::dict::trie::label::Token;
use crate::dict::trie::labels::Rest;
use crate::dict::trie::text::{SLACK, Text};
use crate::hash::KeyHash;

impl<'t, F: FnMut(KeyHash)> Walk<'t, F> {
    /// Adds one node for the branches of `alike`, whose first bytes are equal. Its label is the common prefix of their
    /// labels.
    #[inline(always)]
    pub(super) fn join<'b, 'p: 'b>(
        &mut self,
        parent: Path,
        alike: impl Iterator<Item = &'b Branch<'p>> + Clone,
        first: bool,
        vectors: Cpu,
    ) -> Result<(), TrieError> {
        self.ends.clear();
        let mut byte = 0;
        for branch in alike.clone() {
            self.decode(branch, vectors)?;
            byte = branch.byte;
        }
        let mut start = 0;
        let mut texts = self.ends.iter().map(|&end| Text::of(&self.decoded, std::mem::replace(&mut start, end)..end));
        let whole = texts.next().ok_or(TrieError::Damaged)?;
        let common = texts.map(|text| whole.common_prefix(text)).fold(whole.len(), usize::min);
        let path = self.labels.push_text(whole.up_to(common), parent.push(self.rolling, byte));
        let mut newest = None;
        let mut start = 0;
        for (branch, &end) in alike.zip(&self.ends) {
            let text = Text::of(&self.decoded, std::mem::replace(&mut start, end)..end);
            let End { beyond, found } = self.end(branch);
            if text.len() > common {
                self.queue.push_within(Cursor::within(branch.trie, beyond), text.behind(common), found);
                continue;
            }
            newest = newest.or(found);
            if let Some(cursor) = beyond {
                self.queue.push(cursor);
            }
        }
        self.node(path, byte, first, newest)
    }

    /// Appends the rest of a branch's label, without its first byte, to the texts of the labels that are being
    /// compared.
    #[inline(always)]
    fn decode(&mut self, branch: &Branch<'_>, vectors: Cpu) -> Result<(), TrieError> {
        let start = self.ends.last().copied().unwrap_or(0);
        let end = match branch.at {
            At::Tail(text, _) => self.keep(text, start),
            At::Node(block, position) => {
                let source = &self.sources[usize::from(branch.trie)];
                let label = block.label(position.slot(), vectors).ok_or(TrieError::Damaged)?;
                let rest = source.names.rest(label, vectors).ok_or(TrieError::Damaged)?;
                self.keep_rest(branch.trie, rest, start)
            }
        };
        self.ends.push(end);
        Ok(())
    }

    /// Writes the rest of a label of a trie to `decoded` from `start` on. Returns the end of the text.
    #[inline(always)]
    pub(super) fn keep_rest(&mut self, trie: u8, rest: Rest<'_>, start: usize) -> usize {
        match rest {
            Rest::Text(text) => self.keep(text, start),
            Rest::Tokens { records, start: nibble, count } => {
                self.reserve(start + count * size_of::<Token>());
                let names = &self.sources[usize::from(trie)].names;
                start + names.decode(records, nibble, count, &mut self.decoded[start..])
            }
        }
    }

    #[inline(always)]
    fn keep(&mut self, text: Text<'_>, start: usize) -> usize {
        let end = start + text.len();
        self.reserve(end);
        text.copy_to(&mut self.decoded[start..]);
        end
    }

    #[inline(always)]
    fn reserve(&mut self, room: usize) {
        if self.decoded.len() < room + SLACK {
            self.decoded.resize(2 * (room + SLACK), 0);
        }
    }

    #[inline(always)]
    fn end(&self, branch: &Branch<'_>) -> End {
        match branch.at {
            At::Node(block, position) => self.sources[usize::from(branch.trie)].end(block, position.slot()),
            At::Tail(_, end) => end,
        }
    }
}
