use super::guard::Guard;
use super::label::{Label, MAX_TOKEN, Token};
use super::parts::Names;
use super::position::Position;
use super::text::Text;
use crate::bits::Cpu;

/// The number of half bytes that the number of a token takes: at most 2¹² tokens exist.
pub(super) const TOKEN_NIBBLES: usize = 3;
/// The number of tokens in a 64-bit word, in which they are read, compared and written: 12 bits each, the first one
/// lowest.
pub(super) const WORD_TOKENS: usize = 5;
/// The maximum length of a record of tokens in half bytes: the length is stored in 7 bits.
pub(super) const MAX_RECORD_NIBBLES: usize = 127;
/// The number of half bytes of a short link to the equal label of an earlier node. It suffices for a position below
/// 2³².
pub(super) const NEAR_NIBBLES: usize = 8;
/// The number of half bytes of a link to the equal label of an earlier node whose position is 2³² or more.
pub(super) const FAR_NIBBLES: usize = 10;
/// The number of half bytes of a link to a long label, whose text is stored outside the blocks of nodes.
pub(super) const LONG_NIBBLES: usize = 16;

/// The number of low bits that hold the length in the place of a text, which is 2¹⁶ · start + length.
pub(super) const PLACE_LENGTH_BITS: u32 = 16;

/// The number of labels in a group of two-byte codes. All labels of a group have one length, so that the place of a
/// text can be computed from its code.
pub(super) const GROUP: usize = 64;
/// The number of codes of one byte, which the most frequent labels have.
pub(super) const ONES: usize = 256;

/// The rest of a label, after codes and links were resolved: a text, or a record of tokens.
#[derive(Clone, Copy)]
pub(super) enum Rest<'a> {
    Text(Text<'a>),
    Tokens { records: &'a [u8], start: usize, count: usize },
}

impl<'a, G: Guard> Names<'a, G> {
    /// Resolves the codes and links of a label; `None` if the bytes are damaged.
    #[inline(always)]
    pub(super) fn rest(&self, label: Label<'a>, vectors: Cpu) -> Option<Rest<'a>> {
        match label {
            Label::Empty => Some(Rest::Text(Text::default())),
            Label::One(code) => text(self.texts, self.place(usize::from(code), 0)?),
            Label::Two(code) => {
                let code = usize::from(code);
                text(self.texts, self.place(ONES + code / GROUP, code % GROUP)?)
            }
            Label::Record { records, start, nibbles, link: false } => {
                Some(Rest::Tokens { records, start, count: nibbles / TOKEN_NIBBLES })
            }
            Label::Record { records, start, nibbles, .. } => self.linked(records, start, nibbles, vectors),
        }
    }

    #[inline(always)]
    fn place(&self, index: usize, times: usize) -> Option<u64> {
        let place = u64::from_le_bytes(*self.places.get(index)?);
        let length = place & ((1 << PLACE_LENGTH_BITS) - 1);
        Some(place.wrapping_add((length * times as u64) << PLACE_LENGTH_BITS))
    }

    /// Resolves a label that is a link. It is not inlined, because links are rare.
    #[inline(never)]
    fn linked(&self, records: &'a [u8], start: usize, nibbles: usize, vectors: Cpu) -> Option<Rest<'a>> {
        let mut bytes = [0; 16];
        let from = records.get(start / 2..)?;
        let len = from.len().min(9);
        bytes[..len].copy_from_slice(&from[..len]);
        let bits = (u128::from_le_bytes(bytes) >> (4 * (start % 2))) as u64;
        if nibbles == LONG_NIBBLES {
            let (start, len) = place_of(bits);
            return if self.guard.touch(self.long_start.saturating_add(start), len) {
                text(self.long, bits)
            } else {
                None
            };
        }
        let position = Position(bits & ((1 << (4 * nibbles.min(FAR_NIBBLES))) - 1));
        match self.block(position.offset())?.label(position.slot(), vectors)? {
            Label::Record { records, start, nibbles, link: false } => {
                Some(Rest::Tokens { records, start, count: nibbles / TOKEN_NIBBLES })
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn token(&self, records: &[u8], nibble: usize) -> Option<&'a Token> {
        self.tokens.get(usize::from(token_number(records, nibble)?))
    }

    /// The length of the label's rest in bytes, if `text` begins with it; otherwise `None`.
    #[inline(always)]
    pub(super) fn length_if_prefix(&self, rest: Rest<'_>, text: &[u8], vectors: Cpu) -> Option<usize> {
        match rest {
            Rest::Text(label) => vectors.starts_with(text, label.as_bytes()).then_some(label.len()),
            Rest::Tokens { records, start, count } => {
                let mut at = 0;
                for i in 0..count {
                    let token = self.token(records, start + i * TOKEN_NIBBLES)?;
                    let len = usize::from(token[MAX_TOKEN]) & 0xF;
                    if !vectors.starts_with(&text[at..], &token[..len]) {
                        return None;
                    }
                    at += len;
                }
                Some(at)
            }
        }
    }

    /// Appends the label's rest to `out`. Damaged parts are left out.
    pub(super) fn append(&self, rest: Rest<'_>, out: &mut Vec<u8>) {
        match rest {
            Rest::Text(label) => out.extend_from_slice(label.as_bytes()),
            Rest::Tokens { records, start, count } => {
                let end = out.len();
                out.resize(end + (count + 1) * size_of::<Token>(), 0);
                let end = end + self.decode(records, start, count, &mut out[end..]);
                out.truncate(end);
            }
        }
    }

    /// Writes the text of a record to the beginning of `out`, and returns its length. `out` must have room for one
    /// token more than `count`: each token is copied whole, which is one instruction, and the next token overwrites the
    /// unused end. A fixed number of tokens is copied from each word, because the processor could not predict the
    /// number of tokens in a word.
    #[inline(always)]
    pub(super) fn decode(&self, records: &[u8], start: usize, count: usize, out: &mut [u8]) -> usize {
        let mut end = 0;
        for (word, first) in words(records, start, count).zip((0..).step_by(WORD_TOKENS)) {
            for (i, token) in (first..).zip(in_word(word)) {
                let Some(token) = self.tokens.get(usize::from(token)) else { break };
                out[end..][..size_of::<Token>()].copy_from_slice(token);
                end += usize::from(i < count) * usize::from(token[MAX_TOKEN] & 0xF);
            }
        }
        end
    }
}

/// The 64-bit words of a record of `count` tokens that begins at half byte `start`, five tokens a word. There are fewer
/// words if the bytes end before the record.
#[inline(always)]
pub(super) fn words(records: &[u8], start: usize, count: usize) -> impl Iterator<Item = u64> {
    (0..count).step_by(WORD_TOKENS).map_while(move |first| {
        let (nibble, tokens) = (start + first * TOKEN_NIBBLES, (count - first).min(WORD_TOKENS));
        let from = records.get(nibble / 2..)?;
        let bits = match from.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => last_word(from, nibble % 2 + tokens * TOKEN_NIBBLES)?,
        };
        Some(bits >> (4 * (nibble % 2)) & ((1 << (4 * TOKEN_NIBBLES * tokens)) - 1))
    })
}

#[cold]
fn last_word(bytes: &[u8], nibbles: usize) -> Option<u64> {
    let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    (nibbles <= 2 * bytes.len()).then_some(word)
}

/// The numbers of the five tokens in a word. After the last token of a record, they are zeros.
#[inline(always)]
pub(super) fn in_word(word: u64) -> impl Iterator<Item = u16> {
    (0..WORD_TOKENS).map(move |i| (word >> (4 * TOKEN_NIBBLES * i)) as u16 & 0xFFF)
}

/// A writer of a record of tokens, which appends words of five tokens to `words`. The current word is a separate field,
/// so that it is kept in a register.
pub(super) struct Packing<'w> {
    words: &'w mut Vec<u64>,
    word: u64,
    shift: usize,
    count: usize,
}

impl<'w> Packing<'w> {
    #[inline(always)]
    pub(super) fn new(words: &'w mut Vec<u64>) -> Self {
        Self { words, word: 0, shift: 0, count: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, token: u16) {
        if self.shift == 4 * TOKEN_NIBBLES * WORD_TOKENS {
            self.words.push(std::mem::take(&mut self.word));
            self.shift = 0;
        }
        self.word |= u64::from(token) << self.shift;
        self.shift += 4 * TOKEN_NIBBLES;
        self.count += 1;
    }

    /// Writes the last word, and returns the number of tokens of the record.
    #[inline(always)]
    pub(super) fn finish(self) -> usize {
        if self.shift > 0 {
            self.words.push(self.word);
        }
        self.count
    }
}

/// The number of the token that begins at half byte `nibble`; `None` beyond the end.
#[inline(always)]
pub(super) fn token_number(records: &[u8], nibble: usize) -> Option<u16> {
    let pair = records.get(nibble / 2..)?.first_chunk()?;
    Some(u16::from_le_bytes(*pair) >> (4 * (nibble % 2)) & 0xFFF)
}

#[inline(always)]
fn text(texts: &[u8], place: u64) -> Option<Rest<'_>> {
    let (start, len) = place_of(place);
    Some(Rest::Text(Text::beginning(texts.get(start..)?, len)?))
}

/// Returns the start and the length of the text that `place` (2¹⁶ · start + length) stands for.
#[inline(always)]
fn place_of(place: u64) -> (usize, usize) {
    ((place >> PLACE_LENGTH_BITS) as usize, (place & ((1 << PLACE_LENGTH_BITS) - 1)) as usize)
}

/// Combines the start and the length of a text in one number, its place. A link to a long label holds this number.
pub(super) fn place(start: usize, len: usize) -> u64 {
    (start as u64) << PLACE_LENGTH_BITS | len as u64
}
