//! Finds the words of a text one after the other.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

use super::Token;
use super::ascii::{self, AsciiWords, named};
use super::character::{Kind, kind, normalised};
use super::parts::{parts, whole_name, without_v};
use super::stretches::Stretches;
use crate::limits;

/// The maximum number of letters before a number that make one name with it: `UTF-8` is `utf8`, `RFC 2616` is
/// `rfc2616`. Chosen: most abbreviations have so many, and few other words.
const JOINED: usize = 4;
/// The maximum size, in bytes, of a character with its combining marks in scripts without spaces. Two such characters
/// form a word.
const MAX_CLUSTER: usize = limits::WORD_BYTES / 2;

/// Splits the text into stretches. One of ASCII consists of words. Any other is split into pieces (between the
/// boundaries of UAX #29), and each piece into units. A unit is a word, or a character of a script without spaces,
/// which forms words with its neighbours.
pub(in super::super) struct Tokens<'a> {
    stretches: Stretches<'a>,
    /// The stretch that is being read, and its byte offset in the text.
    stretch: &'a str,
    offset: usize,
    /// The words that remain of the stretch if it is ASCII, and its pieces if it is not.
    ascii: AsciiWords<'a>,
    pieces: UnicodeWordIndices<'a>,
    /// The normalised text of the current piece, of which the bytes before `at` were read.
    piece: Cow<'a, str>,
    at: usize,
    /// The byte offset of the current piece in the text.
    start: usize,
    end: usize,
    /// The number of units (words or characters) of the text before the current one.
    units: usize,
    skipped: u32,
    /// The last word of at most [`JOINED`] ASCII letters, as it is written, with its unit and its start in the text.
    letters: Option<(&'a str, usize, usize)>,
    located: bool,
    /// For each character of the piece, its end offsets in the normal form and in the original. Empty if the two are
    /// equal, or are not needed.
    ends: Vec<(usize, usize)>,
    /// The previous character, if it belongs to a script without spaces.
    last: Option<Cluster>,
    ready: VecDeque<Token<'a>>,
}

/// A character with its combining marks, in a script without spaces.
struct Cluster {
    text: String,
    unit: usize,
    span: Range<usize>,
    /// True if the previous character also belongs to a script without spaces.
    follows: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str, located: bool) -> Self {
        Self {
            stretches: Stretches::new(text),
            stretch: "",
            offset: 0,
            ascii: AsciiWords::new(""),
            pieces: "".unicode_word_indices(),
            piece: "".into(),
            at: 0,
            start: 0,
            end: 0,
            units: 0,
            skipped: 0,
            letters: None,
            located,
            ends: Vec::new(),
            last: None,
            ready: VecDeque::new(),
        }
    }

    /// The byte range in the original text of the range `part` of the normalised piece.
    fn span(&self, part: Range<usize>) -> Range<usize> {
        if self.ends.is_empty() {
            return self.start + part.start..self.start + part.end;
        }
        let first = self.ends.partition_point(|&(end, _)| end <= part.start);
        let start = if first == 0 { 0 } else { self.ends[first - 1].1 };
        let last = self.ends.partition_point(|&(end, _)| end < part.end).min(self.ends.len() - 1);
        self.start + start..self.start + self.ends[last].1
    }

    /// The next word that is not in an ASCII stretch which `is_wanted` refuses. The words of such a stretch are only
    /// counted.
    pub(in super::super) fn next_of(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<Token<'a>> {
        loop {
            if let Some(token) = self.ready.pop_front() {
                return Some(token);
            }
            if self.at < self.piece.len() {
                self.step();
                continue;
            }
            if let Some(word) = self.ascii.next() {
                self.units += 1;
                let token = self.ascii_token(word);
                self.push_parts(&token);
                return Some(token);
            }
            match self.pieces.next() {
                Some((start, piece)) => self.begin(self.offset + start, piece),
                None => {
                    self.end_run();
                    if self.ready.is_empty() {
                        let (offset, stretch) = self.stretches.next()?;
                        self.read(offset, stretch, &is_wanted);
                    }
                }
            }
        }
    }

    /// The number of words that were only counted.
    pub(in super::super) fn skipped(&self) -> u32 {
        self.skipped
    }

    /// Begins a stretch, or counts its words.
    fn read(&mut self, offset: usize, stretch: &'a str, is_wanted: impl Fn(&str) -> bool) {
        (self.offset, self.stretch) = (offset, stretch);
        if !stretch.is_ascii() {
            self.pieces = stretch.unicode_word_indices();
        } else if is_wanted(stretch) {
            self.ascii = AsciiWords::new(stretch);
        } else {
            let words = ascii::count(stretch);
            self.skipped += words;
            self.units += words as usize;
        }
    }

    /// Begins a piece, which is at this byte offset in the text.
    fn begin(&mut self, start: usize, piece: &'a str) {
        if start != self.end {
            self.end_run();
        }
        self.start = start;
        self.end = start + piece.len();
        self.piece = normalised(piece);
        self.at = 0;
        self.ends = if self.located && !piece.is_ascii() { ends(piece, &self.piece) } else { Vec::new() };
    }

    /// The token of an ASCII word of the current unit, given its byte range in the stretch.
    fn ascii_token(&self, word: Range<usize>) -> Token<'a> {
        let span = self.offset + word.start..self.offset + word.end;
        let is_cut = word.len() > limits::WORD_BYTES;
        let word = normalised(without_v(cut(&self.stretch[word], limits::WORD_BYTES)));
        Token { word, implied: false, is_part: false, is_cut, unit: self.units - 1, span }
    }

    /// Adds the parts of an ASCII word, which was just read, to `ready`, the name that a number makes with letters
    /// before it, and the name of which the word is the last part.
    fn push_parts(&mut self, token: &Token<'a>) {
        let start = token.span.start - self.offset;
        let raw = cut(&self.stretch[start..token.span.end - self.offset], limits::WORD_BYTES);
        let part = |word, span| Token { word, implied: false, is_part: true, is_cut: false, unit: token.unit, span };
        for range in parts(raw) {
            let span = token.span.start + range.start..token.span.start + range.end;
            self.ready.push_back(part(normalised(&raw[range]), span));
        }
        let (offset, end) = (self.offset, token.span.end - self.offset);
        if let Some(name) = whole_name(self.stretch, start..end) {
            let span = offset + name.start..offset + name.end;
            self.ready.push_back(part(self.stretch[name].to_ascii_lowercase().into(), span));
        }
        if raw.len() <= JOINED && raw.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            self.letters = Some((raw, token.unit, token.span.start));
        } else if let Some((letters, unit, start)) = self.letters.take()
            && unit + 1 == token.unit
            && raw.len() <= 2 * JOINED
            && raw.bytes().all(|byte| byte.is_ascii_digit())
        {
            let word = normalised(&format!("{letters}{raw}")).into_owned().into();
            self.ready.push_back(part(word, start..token.span.end));
        }
    }

    /// Reads the next unit of the piece, and adds its words to `ready`.
    fn step(&mut self) {
        let rest = &self.piece[self.at..];
        let Some(c) = rest.chars().next() else { return };
        let kind = kind(c);
        if kind == Kind::None {
            let span = self.span(self.at..self.at + c.len_utf8());
            self.at += c.len_utf8();
            match &mut self.last {
                // In NFKC, Thai sara am becomes a mark of the previous character, and another character.
                Some(last) if is_combining_mark(c) && last.text.len() + c.len_utf8() <= MAX_CLUSTER => {
                    last.text.push(c);
                    last.span.end = span.end;
                }
                _ => self.end_run(),
            }
            return;
        }
        let length = if kind == Kind::Spaced { word_length(rest) } else { cluster_length(rest) };
        let start = self.at;
        self.at += length;
        let (unit, span) = (self.units, self.span(start..self.at));
        self.units += 1;
        if kind == Kind::Spaced {
            self.end_run();
            let is_raw = self.stretch.get(self.start - self.offset..self.end - self.offset).is_some_and(str::is_ascii);
            if is_raw {
                let first = self.start - self.offset + start;
                let token = self.ascii_token(named(self.stretch, first..first + length));
                self.ready.push_back(token.clone());
                return self.push_parts(&token);
            }
            let word = match &self.piece {
                Cow::Borrowed(piece) => Cow::Borrowed(cut(&piece[start..self.at], limits::WORD_BYTES)),
                Cow::Owned(piece) => Cow::Owned(cut(&piece[start..self.at], limits::WORD_BYTES).to_owned()),
            };
            let is_cut = length > limits::WORD_BYTES;
            self.ready.push_back(Token { word, implied: false, is_part: false, is_cut, unit, span });
        } else {
            let text = cut(&self.piece[start..self.at], MAX_CLUSTER).to_owned();
            self.push_cluster(Cluster { text, unit, span, follows: self.last.is_some() });
        }
    }

    fn push_cluster(&mut self, cluster: Cluster) {
        if let Some(last) = self.last.take() {
            let pair = format!("{}{}", last.text, cluster.text);
            let span = last.span.start..cluster.span.end;
            let unit = last.unit;
            self.ready.push_back(last.into_token(true));
            let word = pair.into();
            self.ready.push_back(Token { word, implied: false, is_part: false, is_cut: false, unit, span });
        }
        self.last = Some(cluster);
    }

    /// Ends a run of characters that form words in pairs. The last character forms no word with a next one.
    fn end_run(&mut self) {
        if let Some(last) = self.last.take() {
            let implied = last.follows;
            self.ready.push_back(last.into_token(implied));
        }
    }
}

impl Cluster {
    fn into_token<'a>(self, implied: bool) -> Token<'a> {
        let Self { text, unit, span, .. } = self;
        Token { word: text.into(), implied, is_part: false, is_cut: false, unit, span }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.next_of(|_| true)
    }
}

/// For each grapheme cluster, its end offsets in the normal form and in the piece. If normalisation joins clusters, the
/// only entry is for the whole piece.
fn ends(piece: &str, normal: &str) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    let mut end = 0;
    for (at, character) in piece.grapheme_indices(true) {
        let part = normalised(character);
        if !normal[end..].starts_with(&*part) {
            return vec![(normal.len(), piece.len())];
        }
        end += part.len();
        ends.push((end, at + character.len()));
    }
    if end == normal.len() { ends } else { vec![(normal.len(), piece.len())] }
}

/// The length in bytes of the word at the beginning of the text, in a script with spaces.
fn word_length(text: &str) -> usize {
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let stays = match c {
            '.' => before.is_some_and(char::is_numeric) && chars.peek().is_some_and(|&(_, next)| next.is_numeric()),
            _ => kind(c) == Kind::Spaced || is_combining_mark(c),
        };
        if !stays {
            return at;
        }
        before = Some(c);
    }
    text.len()
}

/// The length in bytes of the character at the beginning of the text, including its combining marks.
fn cluster_length(text: &str) -> usize {
    text.char_indices().skip(1).find(|&(_, c)| !is_combining_mark(c)).map_or(text.len(), |(at, _)| at)
}

/// The longest beginning of a word with at most `most` bytes, without a full stop at its end.
fn cut(word: &str, most: usize) -> &str {
    let mut end = most.min(word.len());
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    word[..end].trim_end_matches('.')
}
