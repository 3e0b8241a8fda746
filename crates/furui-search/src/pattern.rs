use std::collections::HashMap;
use std::ops::Range;

use super::words::tokens;
use super::{Phrase, limits};

/// Units that a phrase may take: as many words as a query has, each of which skips one.
const UNITS: usize = 2 * limits::WORDS;

/// Words and phrases to look for in texts, all at once.
///
/// A phrase is one number of as many bits as it takes units (Shift-And): bit i is set where its units up to i have
/// just been seen.
///
/// **Cost.** For each unit of the text a step for each phrase.
///
/// **Source.** Baeza-Yates and Gonnet, "A New Approach to Text Searching" (1992). There, each place has one letter; here,
/// any of the words that begin at a unit will do, and where no word has to, any unit.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    words: HashMap<&'a str, Uses>,
    phrases: Vec<Places<'a>>,
}

/// What a word is looked for as.
#[derive(Debug, Default)]
struct Uses {
    /// Its number as a word by itself.
    alone: Option<usize>,
    /// In which phrases, and at which of their units.
    places: Vec<(usize, u128)>,
}

#[derive(Debug)]
struct Places<'a> {
    phrase: &'a Phrase,
    /// Units that no word begins with.
    any: u128,
    /// The last unit that one does.
    last: usize,
}

/// What was found.
pub(super) enum Found {
    /// The word of this number.
    Word(usize),
    /// The phrase of this number.
    Phrase(usize),
}

impl<'a> Pattern<'a> {
    pub(super) fn new() -> Self {
        Self { words: HashMap::new(), phrases: Vec::new() }
    }

    /// Looks for a word, too, and reports it by this number.
    pub(super) fn add_word(&mut self, word: &'a str, number: usize) {
        self.words.entry(word).or_default().alone = Some(number);
    }

    /// Looks for a phrase, too; its number, which is that of the same phrase, if it was there before.
    pub(super) fn add_phrase(&mut self, phrase: &'a Phrase) -> usize {
        if let Some(number) = self.phrases.iter().position(|other| other.phrase == phrase) {
            return number;
        }
        let number = self.phrases.len();
        let (mut begun, mut last) = (0, 0);
        for (place, word) in phrase.places() {
            self.words.entry(word).or_default().places.push((number, 1u128 << place));
            begun |= 1u128 << place;
            last = place;
        }
        // None above the last: from there it goes on for nothing.
        let any = !begun & u128::MAX >> (UNITS - 1 - last);
        self.phrases.push(Places { phrase, any, last });
        number
    }

    pub(super) fn phrases(&self) -> usize {
        self.phrases.len()
    }

    /// Tells of all that the text holds, in the order of its ends; where it is, if that is wanted.
    pub(super) fn scan(&self, text: &str, located: bool, mut on: impl FnMut(Found, Range<usize>)) {
        let mut state = vec![State::default(); self.phrases.len()];
        // Where the last units began.
        let mut starts = [0; UNITS];
        let mut unit = 0;
        for token in tokens(text, located) {
            while unit < token.unit {
                self.advance(unit, &mut state, &starts, &mut on);
                unit += 1;
            }
            starts[unit % UNITS] = token.span.start;
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
    }

    /// Goes on after a unit.
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

/// How far a phrase has been seen.
#[derive(Clone, Default)]
struct State {
    /// Bit i: units 0 to i of the phrase end here.
    seen: u128,
    /// At which of the phrase's units the words of this one may stand.
    words: u128,
    /// Where the last of them that are the phrase's ends.
    end: usize,
}
