use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::words::{Form, form_of, forms, tokens};
use super::{Asked, Phrase, limits};

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
    words: HashMap<Cow<'a, str>, Uses>,
    /// The words that are searched on their own, with their indices, by the names of their lists. They find the words
    /// of a text that are not ASCII; their forms in ASCII are in `words`.
    lists: HashMap<String, Vec<(usize, &'a str)>>,
    /// Texts in lower case, one of which is in every ASCII text with a word of the pattern.
    needles: Vec<String>,
    /// A bit mask of the lengths of all words of the pattern. Most words of a text have another length, and need no
    /// look-up.
    lengths: u128,
    phrases: Vec<Places<'a>>,
}

/// The purposes for which a word is searched: on its own, or as a part of phrases.
#[derive(Debug, Default)]
struct Uses {
    /// The indices under which the word is reported if a form of it is searched on its own, each with this form, and
    /// true if the word itself is searched.
    alone: Vec<(usize, u8, bool)>,
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
    /// A form of a word of the pattern.
    Word {
        /// The index that [`Pattern::add_word`] was given for the word.
        number: usize,
        /// The [form](Form::bit) that was found.
        form: u8,
        /// True if it is the form that was given.
        is_same: bool,
        /// The unit of the text.
        unit: usize,
    },
    /// A phrase of the pattern, with the index that [`Pattern::add_phrase`] has returned for it.
    Phrase(usize),
}

impl<'a> Pattern<'a> {
    pub(super) fn new() -> Self {
        let (words, lists) = (HashMap::new(), HashMap::new());
        Self { words, lists, needles: Vec::new(), lengths: 0, phrases: Vec::new() }
    }

    /// Adds a word of a query to the pattern. All its forms are reported with the index `number`.
    pub(super) fn add_word(&mut self, word: &'a str, number: usize) {
        let asked = Asked::of(word);
        let mut shared: Option<String> = None;
        for form in forms(asked.list()).filter(|form| form.is_ascii()) {
            let alike = shared.as_ref().map_or(form.len(), |shared| {
                shared.bytes().zip(form.bytes()).take_while(|(one, other)| one == other).count()
            });
            shared = Some(form[..alike].to_owned());
            let alone = (number, form_of(&form).1.bit(), form == asked.word());
            self.uses(form.into()).alone.push(alone);
        }
        // A name of letters and a number may be written in two words.
        match shared.as_deref().and_then(|it| Some(it.split_at(it.find(|c: char| c.is_ascii_digit())?))) {
            Some((letters, digits)) if !letters.is_empty() => self.needles.extend([letters, digits].map(str::to_owned)),
            _ => self.needles.extend(shared),
        }
        self.lists.entry(asked.list().to_owned()).or_default().push((number, asked.word()));
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
            self.needles.push(word.to_owned());
            self.uses(word.into()).places.push((number, 1u128 << place));
            begun |= 1u128 << place;
            last = place;
        }
        // The mask ends at the last unit of the phrase: later units would match every unit of the text.
        let any = !begun & u128::MAX >> (UNITS - 1 - last);
        self.phrases.push(Places { phrase, any, last });
        number
    }

    fn uses(&mut self, word: Cow<'a, str>) -> &mut Uses {
        self.lengths |= length_bit(&word);
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
            words += u32::from(!token.is_part);
            while unit < token.unit {
                self.advance(unit, &mut state, &starts, &mut on);
                unit += 1;
            }
            if !token.is_part {
                starts[unit % UNITS] = token.span.start;
            }
            let word = &*token.word;
            let mut found = |number, form, is_same| {
                let form = if token.is_part { Form::PART } else { form };
                on(Found::Word { number, form, is_same: is_same && !token.is_part, unit }, token.span.clone());
            };
            if !self.lists.is_empty() && !word.is_ascii() {
                let (list, form) = form_of(word);
                let numbers = self.lists.get(&*list).into_iter().flatten();
                numbers.for_each(|&(number, asked)| found(number, form.bit(), asked == word));
            }
            if self.lengths & length_bit(word) == 0 {
                continue;
            }
            let Some(Uses { alone, places }) = self.words.get(word) else { continue };
            alone.iter().for_each(|&(number, form, is_same)| found(number, form, is_same));
            if token.is_part {
                continue;
            }
            for &(phrase, places) in places {
                state[phrase].words |= places;
                state[phrase].end = token.span.end;
            }
        }
        self.advance(unit, &mut state, &starts, &mut on);
        words + tokens.skipped()
    }

    /// False if no word of the pattern is in this ASCII text. A needle is looked for by its first two bytes and its
    /// last one, in loops without branches, which become vector instructions; few texts without it have these.
    fn may_be_in(&self, text: &[u8]) -> bool {
        self.needles.iter().map(|needle| needle.as_bytes()).any(|word| {
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
