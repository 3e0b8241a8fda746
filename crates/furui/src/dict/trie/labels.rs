use super::block::Position;
use super::guard::Guard;
use super::parts::Names;
use super::text::Text;
use crate::bits::Cpu;

/// How the rest of a label (what is behind its first byte) is written.
#[derive(Clone, Copy)]
pub(super) enum Label<'a> {
    Empty,
    /// The number of one of the most frequent labels.
    One(u8),
    /// The number of a frequent label.
    Two(u16),
    /// `nibbles` half bytes from half byte `start` on: tokens of 12 bits or, if it is a link, the place of the text.
    Record {
        records: &'a [u8],
        start: usize,
        nibbles: usize,
        link: bool,
    },
}

/// A token: at most 15 bytes of text, and in the last byte its length.
pub(super) type Token = [u8; 16];
pub(super) const MAX_TOKEN: usize = 15;

/// 2¹² tokens.
pub(super) const TOKEN_NIBBLES: usize = 3;
/// So many tokens are read, compared and written at a time, as a word: 12 bits each, the first the lowest.
pub(super) const WORD_TOKENS: usize = 5;
/// The most half bytes of a record of tokens: the length has 7 bits.
pub(super) const MAX_RECORD: usize = 127;
/// A link to the equal label of an earlier node has this many half bytes if the position has as many bits ...
pub(super) const NEAR_NIBBLES: usize = 8;
/// ... or this many.
pub(super) const FAR_NIBBLES: usize = 10;
/// A link to a text of its own has this many.
pub(super) const LONG_NIBBLES: usize = 16;

/// A text of the label dictionary or one of its own: start · 2¹⁶ + length.
pub(super) const PLACE_LENGTH_BITS: u32 = 16;

/// Labels of two-byte codes are in groups of this many, all of one length: that makes places of codes arithmetic.
pub(super) const GROUP: usize = 64;
/// How many places there are for one-byte codes, one each.
pub(super) const ONES: usize = 256;

/// A label's rest, found: text as it is, or a record of tokens.
#[derive(Clone, Copy)]
pub(super) enum Rest<'a> {
    Text(Text<'a>),
    Tokens { records: &'a [u8], start: usize, count: usize },
}

impl<'a, G: Guard> Names<'a, G> {
    /// Follows codes and links; `None` if the bytes are damaged.
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

    /// Kept out of the way of the usual labels.
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

    /// How long the label's rest is, if `text` begins with it.
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

    /// Appends the label's rest to `out`; what is damaged is left out.
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

    /// Writes the text of a record to the beginning of `out`, and gives its length. There must be room for a token more than
    /// `count`: each is copied whole, of which the end is overwritten, as that is one instruction, and of each word as many,
    /// as how many it has nobody can foresee.
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

/// The words of a record of `count` tokens from half byte `start` on; fewer if the bytes end before it does.
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

/// The tokens of a word, and zeros behind them.
#[inline(always)]
pub(super) fn in_word(word: u64) -> impl Iterator<Item = u16> {
    (0..WORD_TOKENS).map(move |i| (word >> (4 * TOKEN_NIBBLES * i)) as u16 & 0xFFF)
}

/// A record of tokens that is being made: words, appended to others. The one at hand is kept apart, so that it stays in a
/// register.
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

    /// Gives the number of tokens.
    #[inline(always)]
    pub(super) fn finish(self) -> usize {
        if self.shift > 0 {
            self.words.push(self.word);
        }
        self.count
    }
}

/// The number of the token that begins at a half byte.
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

/// Where a text begins, and how long it is, of what a place or link says.
#[inline(always)]
fn place_of(place: u64) -> (usize, usize) {
    ((place >> PLACE_LENGTH_BITS) as usize, (place & ((1 << PLACE_LENGTH_BITS) - 1)) as usize)
}

/// Where a text is, as places and links say it.
pub(super) fn place(start: usize, len: usize) -> u64 {
    (start as u64) << PLACE_LENGTH_BITS | len as u64
}
