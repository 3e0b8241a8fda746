use std::collections::HashMap;
use std::ops::Range;

use super::words::tokens;
use super::{Phrase, limits};

/// The maximum number of units (words or characters) of a phrase: each of its words may have a skipped unit before it.
const UNITS: usize = 2 * limits::WORDS;

/// Finds many words and phrases in a text in one pass.
///
/// A unit is a word, or a character of a script that is written without spaces. The state of a phrase is a number with
/// one bit per unit of the phrase (the Shift-And algorithm): bit i is set if units 0 to i of the phrase match the last
/// i + 1 units of the text.
///
/// **Cost.** One step per phrase at each unit of the text. Most stretches of ASCII without a word of the pattern are
/// not cut into words.
///
/// **Source.** Baeza-Yates and Gonnet, "A New Approach to Text Searching" (1992). In the paper, the text has one letter
/// at each position. Here, several words may begin at one unit of the text, and any of them may match. A unit of the
/// phrase at which no word of the phrase begins matches every unit of the text.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    words: HashMap<&'a str, Uses>,
    /// A bit mask of the lengths of all words of the pattern. Most words of a text have another length, and need no
    /// look-up.
    lengths: u128,
    phrases: Vec<Places<'a>>,
}

/// The purposes for which a word is searched: on its own, or as a part of phrases.
#[derive(Debug, Default)]
struct Uses {
    /// The index under which the word is reported if it is searched on its own; otherwise `None`.
    alone: Option<usize>,
    /// The occurrences of the word in phrases: for each, the index of the phrase in the pattern, and a mask with the
    /// bit of the phrase's unit at which the word begins.
    places: Vec<(usize, u128)>,
}

#[derive(Debug)]
struct Places<'a> {
    phrase: &'a Phrase,
    /// A mask of the units of the phrase at which none of its words begins, so that any word of the text matches there.
    any: u128,
    /// The index, in the phrase, of the last unit at which a word of the phrase begins.
    last: usize,
}

/// The bit for the length of a word in a mask of lengths. All lengths above 127 share one bit.
fn length_bit(word: &str) -> u128 {
    1 << word.len().min(127)
}

/// A word or phrase of the pattern that was found in a text.
pub(super) enum Found {
    /// A word of the pattern, with the index that [`Pattern::add_word`] was given for it.
    Word(usize),
    /// A phrase of the pattern, with the index that [`Pattern::add_phrase`] has returned for it.
    Phrase(usize),
}

impl<'a> Pattern<'a> {
    pub(super) fn new() -> Self {
        Self { words: HashMap::new(), lengths: 0, phrases: Vec::new() }
    }

    /// Adds a word to the pattern. It is reported with the index `number`.
    pub(super) fn add_word(&mut self, word: &'a str, number: usize) {
        self.uses(word).alone = Some(number);
    }

    /// Adds a phrase to the pattern, and returns the index with which it is reported. A phrase that was added before
    /// keeps its index.
    pub(super) fn add_phrase(&mut self, phrase: &'a Phrase) -> usize {
        if let Some(number) = self.phrases.iter().position(|other| other.phrase == phrase) {
            return number;
        }
        let number = self.phrases.len();
        let (mut begun, mut last) = (0, 0);
        for (place, word) in phrase.places() {
            self.uses(word).places.push((number, 1u128 << place));
            begun |= 1u128 << place;
            last = place;
        }
        // The mask ends at the last unit of the phrase: later units would match every unit of the text.
        let any = !begun & u128::MAX >> (UNITS - 1 - last);
        self.phrases.push(Places { phrase, any, last });
        number
    }

    fn uses(&mut self, word: &'a str) -> &mut Uses {
        self.lengths |= length_bit(word);
        self.words.entry(word).or_default()
    }

    pub(super) fn phrases(&self) -> usize {
        self.phrases.len()
    }

    /// Reports all words and phrases found in the text, in the order of their ends. If `located` is true, their byte
    /// ranges are reported too. Returns the total number of words in the text.
    pub(super) fn scan(&self, text: &str, located: bool, mut on: impl FnMut(Found, Range<usize>)) -> u32 {
        let mut state = vec![State::default(); self.phrases.len()];
        // The byte offsets at which the last `UNITS` units begin.
        let mut starts = [0; UNITS];
        let (mut unit, mut words) = (0, 0);
        let mut tokens = tokens(text, located);
        while let Some(token) = tokens.next_of(|stretch| self.may_be_in(stretch.as_bytes())) {
            words += 1;
            while unit < token.unit {
                self.advance(unit, &mut state, &starts, &mut on);
                unit += 1;
            }
            starts[unit % UNITS] = token.span.start;
            if self.lengths & length_bit(&token.word) == 0 {
                continue;
            }
            let Some(Uses { alone, places }) = self.words.get(&*token.word) else { continue };
            if let &Some(number) = alone {
                on(Found::Word(number), token.span.clone());
            }
            for &(phrase, places) in places {
                state[phrase].words |= places;
                state[phrase].end = token.span.end;
            }
        }
        self.advance(unit, &mut state, &starts, &mut on);
        words + tokens.skipped()
    }

    /// False if no word of the pattern is in this ASCII text. A word is looked for by its first two bytes and its last
    /// one, in loops without branches, which become vector instructions; few texts without the word have these.
    fn may_be_in(&self, text: &[u8]) -> bool {
        self.words.keys().map(|word| word.as_bytes()).any(|word| {
            let (Some(first), Some(last)) = (word.first(), word.last()) else { return false };
            let second = word.get(1).unwrap_or(first);
            let after = |count: usize| text.get(count..).unwrap_or_default();
            let (seconds, lasts) = (after(word.len().min(2) - 1), after(word.len() - 1));
            let is_there = |((a, b), c): ((&u8, &u8), &u8)| {
                (a.to_ascii_lowercase() == *first)
                    & (b.to_ascii_lowercase() == *second)
                    & (c.to_ascii_lowercase() == *last)
            };
            text.iter().zip(seconds).zip(lasts).map(is_there).fold(false, |found, there| found | there)
        })
    }

    /// Advances the states of all phrases by one unit (a word or a character) of the text. `unit` is the number of the
    /// unit, and `starts` has the byte offsets of the last units.
    fn advance(
        &self,
        unit: usize,
        state: &mut [State],
        starts: &[usize; UNITS],
        on: &mut impl FnMut(Found, Range<usize>),
    ) {
        for ((number, places), state) in self.phrases.iter().enumerate().zip(state) {
            state.seen = (state.seen << 1 | 1) & (std::mem::take(&mut state.words) | places.any);
            if state.seen >> places.last & 1 == 1 {
                on(Found::Phrase(number), starts[(unit - places.last) % UNITS]..state.end);
            }
        }
    }
}

/// The state of the search (by Shift-And) for a phrase in a text.
#[derive(Clone, Default)]
struct State {
    /// Bit i is set if units 0 to i of the phrase match the last i + 1 units of the text.
    seen: u128,
    /// A mask of the phrase's units that the text's current unit matches.
    words: u128,
    /// The byte offset of the end of the last of the phrase's words that begin at the text's current unit.
    end: usize,
}
