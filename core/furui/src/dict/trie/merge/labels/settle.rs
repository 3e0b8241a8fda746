//! Writing the labels of a block of nodes, once all of them are known.

use std::ops::Range;

use super::{Labels, Rare, Sought};
use crate::bits::Cpu;
use crate::dict::trie::TrieError;
use crate::dict::trie::encode::MAX_RARE;
use crate::dict::trie::labels::{MAX_RECORD_NIBBLES, TOKEN_NIBBLES, WORD_TOKENS, in_word};
use crate::dict::trie::merge::tokens::text_of;
use crate::dict::trie::room::no_memory;
use crate::dict::trie::text::Text;
use crate::dict::trie::writer::Writer;

impl Labels<'_> {
    /// Writes all labels of the current block, first all of one kind and then all of the next, because this makes
    /// branches predictable.
    pub(in super::super) fn settle(&mut self, writer: &mut Writer) -> Result<(), TrieError> {
        self.vectors.run(
            #[inline(always)]
            |vectors| self.settle_with(writer, vectors),
        )
    }

    #[inline(always)]
    fn settle_with(&mut self, writer: &mut Writer, vectors: Cpu) -> Result<(), TrieError> {
        for i in 0..self.sought.len() {
            let Sought { slot, start, end, hash } = self.sought[i];
            match self.book.find(Text::of(&self.text, start as usize..end as usize), hash) {
                Some(known) => self.codes[slot as usize] = self.book.code(known),
                None => self.cut(slot as usize, start, end, hash),
            }
        }
        for i in 0..self.foreign.len() {
            let Sought { slot, start, end: count, hash } = self.foreign[i];
            match self.book.find_if(hash, |text| self.is_text(start as usize, count as usize, text.as_bytes())) {
                Some(known) => self.codes[slot as usize] = self.book.code(known),
                None => self.set_record(slot as usize, start as usize, count as usize, hash),
            }
        }
        for slot in ones(self.rares) {
            if let Rare::Tokens { count, hash, .. } = self.rare[slot] {
                self.records.fetch_earlier(writer, count as usize, hash);
            }
        }
        for slot in ones(self.rares) {
            match self.rare[slot] {
                Rare::Tokens { start, count, hash } => {
                    let count = count as usize;
                    let words = &self.words[start as usize..][..count.div_ceil(WORD_TOKENS)];
                    match self.records.before(writer, slot, words, count, hash, vectors) {
                        Some(position) => writer.link(position),
                        None => writer.tokens(words, count),
                    }
                }
                Rare::Long { start, end } => self.long(writer, start as usize..end as usize)?,
            }
        }
        for &code in &self.codes[..self.count] {
            writer.code(code)?;
        }
        (self.count, self.rares) = (0, 0);
        self.sought.clear();
        self.foreign.clear();
        self.text.clear();
        self.words.clear();
        Ok(())
    }

    /// Divides a text that has no code into the tokens of a record.
    #[inline(always)]
    pub(super) fn cut(&mut self, slot: usize, start: u32, end: u32, hash: u64) {
        let text = &self.text[start as usize..end as usize];
        let before = self.words.len();
        if text.len() <= MAX_RARE
            && let Some(count) = self.greedy.cut(text, &mut self.words)
            && count * TOKEN_NIBBLES <= MAX_RECORD_NIBBLES
        {
            return self.set_record(slot, before, count, hash);
        }
        self.rare[slot] = Rare::Long { start, end };
        self.rares |= 1 << slot;
    }

    /// Makes the label in `slot` a record of `count` tokens, whose words begin at `start`. `hash` is the hash of the
    /// text.
    #[inline(always)]
    pub(super) fn set_record(&mut self, slot: usize, start: usize, count: usize, hash: u64) {
        self.records.fetch(count, hash);
        self.rare[slot] = Rare::Tokens { start: start as u32, count: count as u32, hash };
        self.rares |= 1 << slot;
    }

    /// True if the tokens of a record spell `text`. The record has `count` tokens, packed in words from `start` on.
    fn is_text(&self, start: usize, count: usize, text: &[u8]) -> bool {
        let words = self.words[start..].iter().zip((0..count).step_by(WORD_TOKENS));
        let mut tokens = words.flat_map(|(&word, first)| in_word(word).take(count - first));
        let rest = tokens.try_fold(text, |rest, token| rest.strip_prefix(text_of(&self.tokens[usize::from(token)])));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// Writes a label whose text is not a sequence of tokens. The text itself is written to the part `long`, outside
    /// the blocks of nodes.
    fn long(&mut self, writer: &mut Writer, text: Range<usize>) -> Result<(), TrieError> {
        let text = &self.text[text];
        let hash = self.rolling.push_all(self.rolling.start(), text).finish().get();
        let place = match self.long.get(&hash) {
            Some(&place) if writer.is_long(place, text) => place,
            _ => {
                self.long.try_reserve(1).map_err(|_| no_memory::<[u64; 2]>(self.long.len() + 1))?;
                let place = writer.add_long(text)?;
                self.long.entry(hash).or_insert(place);
                place
            }
        };
        writer.long(place);
        Ok(())
    }
}

/// The positions of the one bits of a word, ascending.
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        first
    })
}
