//! Makes the key of a line: the whole line, some of its fields, or a part of its JSON. Also decides which keys are
//! equal.

mod canonical;
mod column;
mod compare;
mod counts;
mod csv;
mod fields;
mod form;
mod json;
mod maker;
mod part;
mod url;

use std::sync::Arc;

use furui::seen::Verdict;
use furui::{HashSpec, Hashes, KeyHasher};

use crate::cli::{LineOptions, Policy};
use crate::error::Error;
use crate::input::block::Block;
use crate::output::Output;
use maker::Maker;

pub use counts::Counts;
pub use form::{check, form, said};

/// Finds the keys of the lines of a block, and hashes them.
pub struct Keys {
    maker: Arc<Maker>,
    /// The lines of the last block that have no key: the index of each line, ascending, and its fate.
    lacking: Vec<(u32, Fate)>,
    /// The error to return after the lines of the last block before it.
    failure: Option<Error>,
    counts: Counts,
    /// True if this prints no header, whichever input it belongs to.
    is_headless: bool,
}

/// The reason why a line has no key.
#[derive(Debug, PartialEq, Eq)]
enum Lack {
    Missing,
    /// The line is not a valid record, for this reason.
    Bad(String),
}

/// The treatment of a line of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The line has a key, for which the set gave this verdict.
    Observed(Verdict),
    /// The line has no key, and is printed.
    Kept,
    /// The line has no key, and is not printed.
    Dropped,
}

impl Keys {
    /// Creates a finder of the keys that the options describe. Options that contradict each other are an error.
    pub fn new(spec: HashSpec, options: &LineOptions) -> Result<Self, Error> {
        Ok(Self::of(Arc::new(Maker::new(spec, options)?)))
    }

    /// Creates a finder of keys that people read, as a dictionary has them: the parts of a key are separated by tabs.
    /// Otherwise it is that of [`new`](Self::new).
    pub fn with_text(options: &LineOptions) -> Result<Self, Error> {
        Ok(Self::of(Arc::new(Maker::new(HashSpec::default(), options)?.with_text())))
    }

    /// Creates a finder of the keys in a list of keys, each of which is a line. The options say how the keys of other
    /// lines, which are to be compared with these, are made.
    pub fn listed(spec: HashSpec, options: &LineOptions) -> Result<Self, Error> {
        Ok(Self::of(Arc::new(Maker::listed(spec, options)?)))
    }

    fn of(maker: Arc<Maker>) -> Self {
        Self { maker, lacking: vec![], failure: None, counts: Counts::default(), is_headless: false }
    }

    /// Prints no header if this output, to which the lines are printed, is appended to a file that is not empty: that
    /// file has its header already.
    pub fn printed_to(self, output: &Output) -> Self {
        Self { is_headless: output.continues(), ..self }
    }

    /// Creates another finder of keys with the same options, for other blocks. Two threads can use the two finders at
    /// once.
    pub fn others(&self) -> Self {
        Self { is_headless: self.is_headless, ..Self::of(Arc::clone(&self.maker)) }
    }

    /// The hasher by which the keys of lines become hashes, as the set or filter requires.
    pub fn hasher(&self) -> &KeyHasher {
        &self.maker.hasher
    }

    /// Reads the block if it is the header of an input. Returns true if it is to be printed, which only the first
    /// header is, and false if not; `None` if the block has lines. Headers are read in the order of the inputs, and
    /// before the lines of their inputs are hashed.
    pub fn header(&self, block: &Block) -> Result<Option<bool>, Error> {
        Ok(self.maker.header(block)?.map(|is_first| is_first && !self.is_headless))
    }

    /// Returns the numbers of lines without a key since the last call, and resets them.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }

    /// Prints on standard error how many lines had no key, if there were any. `kept` says what became of those that
    /// were not dropped.
    pub fn report(&self, kept: &str) {
        self.counts.report(kept);
    }

    /// Clears `out`, and appends the hash of each line's key in a block; a line without a key has no hash. If such a
    /// line is an error by the options, the block is cut before it, and the next call of [`failure`](Self::failure)
    /// returns the error.
    pub fn hash_all(&mut self, block: &mut Block, out: &mut Hashes) {
        out.clear();
        if self.maker.is_line() {
            self.lacking.clear();
            out.extend(block.lines());
            return;
        }
        self.each(block, |key| out.push(key));
    }

    /// Calls `see` with the bytes of each key that [`hash_all`](Self::hash_all) would hash. Lines without a key are
    /// treated in the same way.
    pub fn each(&mut self, block: &mut Block, mut see: impl FnMut(&[u8])) {
        self.lacking.clear();
        if self.maker.is_line() {
            block.lines().for_each(see);
            return;
        }
        let mut key = vec![];
        for index in 0..block.len() {
            key.clear();
            let line = match index {
                0 => block.line(0).strip_prefix(block.mark()).unwrap_or_default(),
                _ => block.line(index),
            };
            let fate = match self.maker.key(line, &mut key) {
                Ok(()) => {
                    see(&key);
                    key.clear();
                    // A line of a list may stand for two keys.
                    if self.maker.value(line, &mut key) {
                        see(&key);
                    }
                    continue;
                }
                Err(lack) => self.fate(lack, block, index),
            };
            match fate {
                Ok(fate) => self.lacking.push((index as u32, fate)),
                Err(error) => {
                    self.failure = Some(error);
                    block.truncate(index);
                    return;
                }
            }
        }
    }

    /// Decides if a line without a key is kept or dropped, and counts the line. `index` is that of the line in the
    /// block. If the options make such a line an error, the error names it.
    fn fate(&mut self, lack: Lack, block: &Block, index: usize) -> Result<Fate, Error> {
        let (policy, reason, option) = match lack {
            Lack::Missing => (self.maker.missing, "the line has no key".to_owned(), "--missing"),
            Lack::Bad(reason) => (self.maker.bad, reason, "--bad"),
        };
        let (count, fate) = match policy {
            Policy::Keep => (&mut self.counts.kept, Fate::Kept),
            Policy::Drop => (&mut self.counts.dropped, Fate::Dropped),
            Policy::Error => {
                let place = block.place(index);
                let goes_on = format!("with {option} keep or {option} drop the run goes on");
                return Err(Error::Message(format!("{place}: {reason}; {goes_on}")));
            }
        };
        *count += 1;
        Ok(fate)
    }

    /// True if every line is its own key.
    pub fn is_line(&self) -> bool {
        self.maker.is_line()
    }

    /// Appends the key that is made from a text, which is all or a part of the line with the index `index` in a block.
    /// If it has no key, returns if the line is kept or dropped, or an error that names it.
    pub fn append(
        &mut self,
        text: &[u8],
        block: &Block,
        index: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<Fate>, Error> {
        let text = text.strip_prefix(if index == 0 { block.mark() } else { b"" }).unwrap_or(text);
        match self.maker.key(text, out) {
            Ok(()) => Ok(None),
            Err(lack) => self.fate(lack, block, index).map(Some),
        }
    }

    /// Keeps the results of only the first `lines` lines of the last block. Returns the number of these lines that have
    /// a key.
    pub fn cut(&mut self, lines: usize) -> usize {
        let lacking = self.lacking.partition_point(|lack| (lack.0 as usize) < lines);
        for (_, fate) in self.lacking.drain(lacking..) {
            match fate {
                Fate::Kept => self.counts.kept -= 1,
                Fate::Observed(_) | Fate::Dropped => self.counts.dropped -= 1,
            }
        }
        self.failure = None;
        lines - lacking
    }

    /// Returns the error that follows the lines of the last block, if there is one.
    pub fn failure(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Writes the fate of each line of the last block to `out`. `verdicts` are the answers for the lines that have a
    /// key.
    pub fn fates(&self, verdicts: &[Verdict], out: &mut Vec<Fate>) {
        out.clear();
        let mut verdicts = verdicts.iter().map(|&verdict| Fate::Observed(verdict));
        for &(index, fate) in &self.lacking {
            out.extend(verdicts.by_ref().take(index as usize - out.len()));
            out.push(fate);
        }
        out.extend(verdicts);
    }

    /// Returns for each line of the last block true if it is to be printed. `answers` are the values for the lines that
    /// have a key; `lacking` is the value for all lines that have no key and are kept.
    pub fn wanted(&self, answers: impl Iterator<Item = bool>, lacking: bool) -> impl Iterator<Item = bool> {
        let (mut answers, mut lacks) = (answers, self.lacking.iter().peekable());
        (0..).map_while(move |index| match lacks.next_if(|lack| lack.0 == index) {
            Some((_, fate)) => Some(lacking && *fate == Fate::Kept),
            None => answers.next(),
        })
    }

    /// Returns a function from the number of a key in the last block, from 0 on, to the index of its line.
    pub fn with_key(&self) -> impl Fn(usize) -> usize {
        let lacking: Vec<usize> = self.lacking.iter().enumerate().map(|(nth, lack)| lack.0 as usize - nth).collect();
        move |index| index + lacking.partition_point(|&before| before <= index)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::InputOptions;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        lines: LineOptions,
        #[command(flatten)]
        _input: InputOptions,
    }

    /// The key that these options make from a line.
    fn key(options: &[&str], line: &str) -> Result<Vec<u8>, Lack> {
        let arguments = Arguments::try_parse_from([&["furui"], options].concat()).unwrap();
        let keys = Keys::new(HashSpec::default(), &arguments.lines).unwrap();
        let mut out = vec![];
        keys.maker.key(line.as_bytes(), &mut out).map(|()| out)
    }

    /// The key that these options make from a line for a dictionary.
    fn text_key(options: &[&str], line: &str) -> String {
        let arguments = Arguments::try_parse_from([&["furui"], options].concat()).unwrap();
        let mut out = vec![];
        Keys::with_text(&arguments.lines).unwrap().maker.key(line.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn equal(options: &[&str], a: &str, b: &str) -> bool {
        key(options, a).unwrap() == key(options, b).unwrap()
    }

    #[test]
    fn urls_that_name_one_page_have_one_key() {
        let url = &["--url"];
        assert!(equal(url, "HTTP://Example.COM:80/a/../b#top", "http://example.com/b"));
        assert!(equal(url, "https://example.com", "https://example.com/"));
        assert!(equal(url, "http://例え.jp/", "http://xn--r8jz45g.jp/"));
        assert!(!equal(url, "http://example.com/?a", "http://example.com/?b"));
        for (a, b) in [
            ("no url", "No url"),
            ("ERROR: ticket #12", "ERROR: ticket #13"),
            ("localhost:8080/#/a", "localhost:8080/#/b"),
            ("data:text/plain,a#1", "data:text/plain,a#2"),
            ("C:\\Dir", "c:\\Dir"),
        ] {
            assert!(!equal(url, a, b), "{a} {b}");
        }
        let drop = &["--url", "--url-drop", "utm_*,fbclid"];
        assert!(equal(drop, "http://a/?utm_source=x&b=1&fbclid=y", "http://a/?b=1"));
        assert!(equal(drop, "http://a/?utm%5Fx=1", "http://a/"));
        assert!(!equal(drop, "http://a/?utm=1", "http://a/"));
        assert!(equal(&["--url", "--url-sort"], "http://a/?b=1&a=2&b=0", "http://a/?b=0&b=1&a=2"));
    }

    #[test]
    fn fields_are_counted_from_one() {
        assert!(equal(&["-f", "2"], "x\tk\ty", "z\tk"));
        assert_eq!(key(&["-f", "2"], "x"), Err(Lack::Missing));
        assert!(equal(&["-f", "3,1", "-d", ";"], "a;b;c", "a;x;c"));
        // Different pairs of fields have different keys, even if the two fields joined are equal.
        assert!(!equal(&["-f", "1,2", "-d", ";"], "ab;c", "a;bc"));
    }

    #[test]
    fn keys_are_compared_as_the_options_say() {
        assert!(equal(&["--trim"], " \ta b\u{3000}", "a b"));
        assert!(equal(&["--ignore-case"], "ΣΑΣ Straße", "σας straße"));
        assert!(equal(&["--ignore-case"], "ς", "Σ"), "simple folding has one small sigma");
        assert!(!equal(&["--ignore-case"], "ss", "ß"), "simple folding changes no length in letters");
        assert!(equal(&["-f", "1", "--trim", "--ignore-case"], " A \tx", "a\ty"));
    }

    #[test]
    fn json_is_compared_by_value() {
        let json = &["--json", "--key", "/a/b"];
        assert!(equal(json, r#"{"a":{"b":"\u0041"}}"#, r#" {"x":[1,{"b":2}],"a":{"c":1,"b": "A"} } "#));
        for (a, b) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("-0.5", "-5E-1"),
            ("0", "-0.0"),
            ("12345678901234567890123", "1.2345678901234567890123e22"),
        ] {
            assert!(equal(json, &format!(r#"{{"a":{{"b":{a}}}}}"#), &format!(r#"{{"a":{{"b":{b}}}}}"#)), "{a} {b}");
        }
        assert!(!equal(json, r#"{"a":{"b":1}}"#, r#"{"a":{"b":"1"}}"#));
        assert!(!equal(json, r#"{"a":{"b":null}}"#, r#"{"a":{"b":"null"}}"#));
        assert_eq!(key(json, r#"{"a":{}}"#), Err(Lack::Missing));
        assert_eq!(key(json, "3"), Err(Lack::Missing));
        assert_eq!(key(json, ""), Err(Lack::Missing));
        assert!(matches!(key(json, r#"{"a":{"b":1}"#), Err(Lack::Bad(_))));
        assert!(matches!(key(json, r#"{"a":{"b":1}} x"#), Err(Lack::Bad(_))));
        for (value, text) in [
            ("10e-1", "1"),
            ("120.0", "120"),
            ("-2.50", "-2.5"),
            ("0.0025", "0.0025"),
            ("-0.0", "0"),
            ("1e30", "1e30"),
            ("1e-30", "1e-30"),
            ("\"en\"", "en"),
            ("\"1\"", "\"1\""),
            ("\"null\"", "\"null\""),
            ("\"\\\"\"", "\""),
            ("null", "null"),
            ("[1, 2]", "[1, 2]"),
        ] {
            assert_eq!(text_key(json, &format!(r#"{{"a":{{"b":{value}}}}}"#)), text, "{value}");
        }
        let two = &["--json", "--key", "/a,/b"];
        assert_eq!(text_key(two, r#"{"a":"x\ty\\","b":2}"#), "x\\ty\\\\\t2");
        assert_eq!(text_key(&["-f", "2,1"], "a\tb"), "b\ta");
        assert!(equal(&["--json", "--key", "/1/~1~0"], r#"[0,{"/~":"k"}]"#, r#"[1,{"/~":"k"},2]"#));
    }
}
