//! Parses queries in the language of the search box.

mod clauses;
mod error;
mod expression;
mod items;
mod relaxed;

use super::words::{telling_tokens, tokens};
use super::{Clause, limits, list_of};
use clauses::clauses;
use error::fault;
use expression::Parser;
use items::{Item, items};

pub use error::{QueryError, QueryFault};

/// The maximum number of names of a query that are searched for as a whole. Chosen: a pasted text has many.
const NAMES: usize = 2;

/// A parsed query: it finds the documents of any of its [`Clause`]s.
///
/// | written | finds documents with |
/// |---|---|
/// | `bloom filter`, `bloom AND filter` | both words |
/// | `"bloom filter"`, `“bloom filter”`, `「東京タワー」` | the words one after the other, in the title or in the text |
/// | `"bloom"` | the word in this form only |
/// | `bloom OR cuckoo` | one of them, or both |
/// | `filter -coffee`, `filter NOT coffee` | the first word, without the other |
/// | `filter -"coffee filter"` | the word, without the phrase |
/// | `filter site:example.org` | the word, on that host or a host below it |
/// | `filter (bloom OR cuckoo) -(tea OR site:example.org)` | NOT applied before AND, and AND before OR |
///
/// OR, AND and NOT are in upper case; in lower case they are words. Words are cut and normalised like those of
/// documents ([`words()`](super::words())), so `foo-bar` requires both parts, and punctuation alone requires nothing.
/// All forms of a word are found ([`Asked`](super::Asked)), unless it is quoted or excluded. Text without spaces
/// between words, as in Japanese, is a phrase. If an excluded item has several words, as in `-foo-bar` or `-東京タワー`, it
/// is excluded as a phrase. No word is too common to be searched for.
///
/// ```
/// use furui_search::Query;
///
/// let query = Query::parse("filter (bloom OR cuckoo) -coffee")?;
/// let [bloom, cuckoo] = query.clauses() else { panic!("one clause for each choice") };
/// assert_eq!((&bloom.must[..], &bloom.without[..]), (&["filter".into(), "bloom".into()][..], &["=coffee".into()][..]));
/// assert_eq!(cuckoo.must, ["filter", "cuckoo"]);
/// # Ok::<(), furui_search::QueryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    clauses: Vec<Clause>,
    /// The names of several words that a query of [plain words](Self::plain_words) has, as `pg_index`.
    names: Vec<String>,
}

impl Query {
    /// Parses a query.
    ///
    /// # Errors
    /// If the query cannot be understood, exceeds a limit, or only excludes words. The error says where, and what to
    /// write instead.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.len() > limits::QUERY_BYTES {
            return Err(fault(QueryFault::TooLong, text, 0));
        }
        let items = items(text)?;
        let expression = Parser::new(text, &items).expression()?;
        let clauses = clauses(&expression, false).map_err(|why| fault(why, text, 0))?;
        if clauses.is_empty() {
            let why = if items.is_empty() { QueryFault::Empty } else { QueryFault::Contradiction };
            return Err(fault(why, text, 0));
        }
        if clauses.iter().any(|clause| clause.must.is_empty()) {
            let first = items.iter().find(|(item, _)| matches!(item, Item::Not));
            return Err(fault(QueryFault::OnlyWithout, text, first.map_or(0, |&(_, at)| at)));
        }
        let mut query = Self { clauses, names: vec![] };
        if query.plain_words().is_some() {
            query.names = names(text);
        }
        Ok(query)
    }

    /// Parses a query or, if it cannot be understood, takes it literally, as the words that are in it: what somebody
    /// has pasted, such as an error message or a line of a program, is searched for and not refused. Returns the query,
    /// and the reason that it was taken literally, if it was. Of a long text, the first words are taken.
    ///
    /// ```
    /// use furui_search::{Query, QueryFault};
    ///
    /// let (query, why) = Query::read("printf(\"%d\\n\", x")?;
    /// assert_eq!(query.clauses()[0].must, ["printf", "d", "n", "x"]);
    /// assert_eq!(why.map(|why| why.fault), Some(QueryFault::NotClosed));
    /// # Ok::<(), furui_search::QueryError>(())
    /// ```
    ///
    /// # Errors
    /// If the text has no words.
    pub fn read(text: &str) -> Result<(Self, Option<QueryError>), QueryError> {
        let why = match Self::parse(text) {
            Ok(query) => return Ok((query, None)),
            Err(why) => why,
        };
        let mut must: Vec<String> = Vec::new();
        for token in telling_tokens(text) {
            if must.len() < limits::WORDS && !must.iter().any(|word| list_of(word) == list_of(&token.word)) {
                must.push(token.word.into_owned());
            }
        }
        match must.is_empty() {
            true => Err(fault(QueryFault::Empty, text, 0)),
            false => {
                let clauses = vec![Clause { must, ..Clause::default() }];
                Ok((Self { clauses, names: names(text) }, Some(why)))
            }
        }
    }

    /// The clauses of the query and, if it has names of several words, as `pg_index`, one more before them, which
    /// prefers the documents that have these names to those that have their words in other places. It finds no other
    /// documents.
    pub fn clauses_with_names(&self) -> Vec<Clause> {
        let mut clauses = self.clauses.clone();
        if !self.names.is_empty() && clauses[0].must.len() + self.names.len() <= limits::WORDS {
            let must = [&*clauses[0].must, &*self.names].concat();
            clauses.insert(0, Clause { must, ..clauses[0].clone() });
        }
        clauses
    }

    /// The clauses of the query: at least one, at most [`limits::CLAUSES`], none of which includes another.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }
}

/// The names of several words in a text, as `pg_index`, of which a query has room for [`NAMES`].
fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for token in tokens(text, false).filter(|token| token.is_part && token.word.contains(['_', '.'])) {
        if names.len() < NAMES && !names.iter().any(|name| *name == token.word) {
            names.push(token.word.into_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::asked::exactly;
    use super::super::{Fit, Phrase, PhraseWord};
    use super::*;

    /// Formats the clauses like `a b -c | d`, with phrases in brackets, and excluded phrases as `-[…]`.
    fn parsed(text: &str) -> String {
        let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let phrase = |phrase: &Phrase| {
            let words: Vec<&str> = phrase.words().iter().map(|word| word.word.as_str()).collect();
            words.join(" ")
        };
        let clause = |clause: &Clause| {
            let word = |word: &String| word.trim_start_matches('=').to_owned();
            let without = clause.without.iter().map(|it| format!("-{}", word(it)));
            let phrases = clause.phrases.iter().map(|it| format!("[{}]", phrase(it)));
            let without_phrases = clause.without_phrases.iter().map(|it| format!("-[{}]", phrase(it)));
            let all = clause.must.iter().map(word).chain(without).chain(phrases).chain(without_phrases);
            all.collect::<Vec<_>>().join(" ")
        };
        query.clauses().iter().map(clause).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn queries_are_disjunctions_of_conjunctions() {
        for (text, expected) in [
            ("Bloom FILTERS", "bloom filters"),
            ("a AND b", "a b"),
            ("a OR b c", "a | b c"),
            ("(a OR b) c", "a c | b c"),
            ("a -b NOT c", "a -b -c"),
            ("-b a", "a -b"),
            ("a -(b OR c)", "a -b -c"),
            ("a -(b c)", "a -b | a -c"),
            ("a --b", "a b"),
            ("foo-bar", "foo bar"),
            ("a -foo-bar", "a -[foo bar]"),
            ("a --foo-bar", "a foo bar"),
            ("a -東京タワー", "a -[東京 京タ タワ ワー]"),
            ("東京タワー -大阪", "東京 京タ タワ ワー -大阪 [東京 京タ タワ ワー]"),
            ("東京　（大阪 OR 京都）", "東京 大阪 | 東京 京都"),
            ("a b a A", "a b"),
            ("a OR a b", "a"),
            ("a b OR a", "a"),
            ("(a OR b) (a OR b)", "a | b"),
            ("a OR (b -b)", "a"),
            ("rock - & - roll -👍 !", "rock roll"),
            ("rock －& roll", "rock roll"),
            ("f(x)", "f x"),
            ("or not and", "or not and"),
            ("5\" disk", "5 disk"),
            ("\"New York\" hotel", "new york hotel [new york]"),
            ("“new york” “new york”", "new york [new york]"),
            ("„new york“ ”a b” ＂a b＂", "new york a b [new york] [a b]"),
            ("「東京タワー」夜景", "東京 京タ タワ ワー 夜景 [東京 京タ タワ ワー]"),
            ("東京「駅 前」『夜 景』", "東京 駅 前 夜 景 [駅 前] [夜 景]"),
            ("a「『b c』」", "a b c [b c]"),
            ("\"york\" \"水\" \"東京\"", "york 水 東京"),
            ("a -\"b\" -\"b c\" -「d e」", "a -b -[b c] -[d e]"),
            ("a -(\"b c\" OR \"d e\")", "a -[b c] -[d e]"),
            ("a -(b \"c d\")", "a -b | a -[c d]"),
            ("\"a b\" OR \"c d\"", "a b [a b] | c d [c d]"),
            ("\"a b\" OR a b", "a b"),
            ("\"a b\" -\"b a\"", "a b [a b] -[b a]"),
            ("\"a OR b\"", "a or b [a or b]"),
            ("\"a site:b\" (\"c d\")", "a site b c d [a site b] [c d]"),
            ("site:Example.org", "site:example.org"),
            ("SITE：https://example.org/ a -site:www.example.org", "site:example.org a -site:www.example.org"),
            ("(site:a.example OR site:b.example) c", "site:a.example c | site:b.example c"),
            ("a site :b", "a site b"),
            ("the and of to in is it", "the and of to in is it"),
            ("これ は の", "これ は の"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn whole_names_are_preferred() {
        for (text, expected) in [
            ("os.getcwd Windows", &["os getcwd windows os.getcwd", "os getcwd windows"][..]),
            ("pg_index", &["pg index pg_index", "pg index"]),
            ("foo( a.b", &["foo a b a.b", "foo a b"]),
            ("\"pg_index\"", &["=pg =index"]),
            ("pg_index -a", &["pg index"]),
        ] {
            let (query, _) = Query::read(text).unwrap();
            let clauses: Vec<String> = query.clauses_with_names().iter().map(|it| it.must.join(" ")).collect();
            assert_eq!(clauses, expected, "{text}");
        }
    }

    #[test]
    fn words_have_all_forms_unless_they_are_quoted_or_excluded() {
        for (text, must, without) in [
            ("commits", &["commits"][..], &[][..]),
            ("commits commit -commit", &["commits"], &["=commit"]),
            ("\"commits\" commit -tea", &["=commits"], &["=tea"]),
            ("commit \"commits\" \"commit\"", &["=commits", "=commit"], &[]),
            ("\"new york\" york's", &["=new", "=york", "s"], &[]),
            ("東京 \"東京\" site:a.example", &["東京", "site:a.example"], &[]),
            ("C++ v3.11 .NET", &["c++", "3.11", ".net"], &[]),
        ] {
            let Ok([clause]) = Query::parse(text).map(|query| <[Clause; 1]>::try_from(query.clauses).unwrap()) else {
                panic!("{text}")
            };
            assert_eq!(
                (&clause.must[..], &clause.without[..]),
                (
                    &must.iter().map(|it| it.to_string()).collect::<Vec<_>>()[..],
                    &without.iter().map(|it| it.to_string()).collect::<Vec<_>>()[..]
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_asked_is_explained() {
        use QueryFault::*;
        for (text, expected, character) in [
            ("", Empty, 1),
            (" !? ", Empty, 1),
            ("-a -b", OnlyWithout, 1),
            ("水 OR -b", OnlyWithout, 6),
            ("a -a", Contradiction, 1),
            ("水 (b", NotClosed, 3),
            ("a) b", NotOpened, 2),
            ("a ()", EmptyGroup, 3),
            ("a (!)", EmptyGroup, 3),
            ("a OR", OneSided("OR"), 3),
            ("OR a", OneSided("OR"), 1),
            ("a OR OR b", OneSided("OR"), 3),
            ("a AND", OneSided("AND"), 3),
            ("a AND AND b", OneSided("AND"), 3),
            ("a AND OR b", OneSided("AND"), 3),
            ("a NOT", NothingExcluded, 3),
            ("a -)", NothingExcluded, 3),
            ("水 \"b c", QuoteNotClosed, 3),
            ("水「b c", QuoteNotClosed, 2),
            ("a b \"", QuoteNotClosed, 5),
            ("a -「b\"", QuoteNotClosed, 4),
            ("a \"\"", EmptyPhrase, 3),
            ("a -\"?!\"", EmptyPhrase, 4),
            ("\"a b\" -\"a b\"", Contradiction, 1),
            ("-\"a b\"", OnlyWithout, 1),
            ("-foo-bar", OnlyWithout, 1),
            ("a OR -site:b", OnlyWithout, 6),
            ("site:a -site:a", Contradiction, 1),
            ("a site:", NoHost, 3),
            ("a site: example.org", NoHost, 3),
            ("水 -site:", NoHost, 4),
            ("site:*.example.org", BadHost, 1),
            ("site:\"a\"", BadHost, 1),
            ("site:example.org/docs", SiteWithPath, 1),
        ] {
            let error = Query::parse(text).unwrap_err();
            assert_eq!((error.fault, error.character), (expected, character), "{text}");
        }
        let error = Query::parse("水 (b").unwrap_err();
        assert_eq!(error.at, 4);
        assert_eq!(error.to_string(), "at character 3: this \"(\" is never closed; add a \")\", or leave it out");
    }

    #[test]
    fn limits_are_errors_that_name_them() {
        let fault = |text: &str| Query::parse(text).unwrap_err().fault;
        assert_eq!(fault(&"a ".repeat(limits::QUERY_BYTES)), QueryFault::TooLong);
        assert_eq!(fault(&"a ".repeat(limits::WORDS + 1)), QueryFault::TooManyWords);
        assert_eq!(parsed(&"a ".repeat(limits::WORDS)), "a");
        assert_eq!(fault(&"a-".repeat(limits::WORDS + 1)), QueryFault::TooManyWords);
        assert_eq!(fault(&format!("\"{}\"", "a ".repeat(limits::WORDS + 1))), QueryFault::TooManyWords);
        assert_eq!(fault(&format!("site:a {}", "a ".repeat(limits::WORDS))), QueryFault::TooManyWords);
        assert_eq!(parsed(&"\"a b\" ".repeat(limits::WORDS / 2)), "a b [a b]");
        assert_eq!(fault(&format!("a {}", "b".repeat(limits::WORD_BYTES + 1))), QueryFault::TooLongWord);
        assert_eq!(fault(&format!("\"a {}\"", "b".repeat(limits::WORD_BYTES + 1))), QueryFault::TooLongWord);
        assert!(Query::parse(&"b".repeat(limits::WORD_BYTES)).is_ok());
        let pairs = |n: usize| (0..n).map(|i| format!("(a{i} OR b{i}) ")).collect::<String>();
        assert_eq!(Query::parse(&pairs(4)).unwrap().clauses().len(), limits::CLAUSES);
        assert_eq!(fault(&pairs(5)), QueryFault::TooManyClauses);
        let nested = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(parsed(&nested(limits::NESTING)), "a");
        assert_eq!(fault(&nested(limits::NESTING + 1)), QueryFault::TooDeep);
    }

    /// A strategy for random expressions: the text, and the set of assignments of the words a to d under which the
    /// expression is true, as one bit per assignment.
    fn expressions() -> impl Strategy<Value = (String, u16)> {
        let word = (0u32..4).prop_map(|word| {
            let holds: u16 =
                (0..16).filter(|assignment| assignment >> word & 1 == 1).map(|assignment| 1 << assignment).sum();
            (char::from(b'a' + word as u8).to_string(), holds)
        });
        word.prop_recursive(4, 12, 2, |inner| {
            (inner.clone(), inner, 0..3).prop_map(|((left, l), (right, r), how)| match how {
                0 => (format!("({left} OR {right})"), l | r),
                1 => (format!("({left} {right})"), l & r),
                _ => (format!("({left} -{right})"), l & !r),
            })
        })
    }

    proptest! {
        #[test]
        fn clauses_mean_what_the_query_says((text, holds) in expressions()) {
            match Query::parse(&text) {
                Ok(query) => {
                    for assignment in 0..16u16 {
                        let has = |word: &String| assignment >> (word.trim_start_matches('=').as_bytes()[0] - b'a') & 1 == 1;
                        let fits = |clause: &Clause| clause.must.iter().all(has) && !clause.without.iter().any(has);
                        prop_assert_eq!(query.clauses().iter().any(fits), holds >> assignment & 1 == 1, "{}", text);
                    }
                }
                Err(error) => match error.fault {
                    QueryFault::Contradiction => prop_assert_eq!(holds, 0),
                    QueryFault::OnlyWithout => prop_assert!(holds & 1 == 1, "{}", text),
                    why => prop_assert_eq!(why, QueryFault::TooManyClauses),
                },
            }
        }

        #[test]
        fn any_text_is_a_query_or_an_error(text in "([ab水ー ()\"「」“”OR-]|site:|a\\.b){0,40}|\\PC{0,40}") {
            match Query::parse(&text) {
                Ok(query) => {
                    prop_assert!(Fit::new(query.clauses()).is_some());
                    for clause in query.clauses() {
                        prop_assert!(!clause.must.is_empty() && clause.must.len() + clause.without.len() <= limits::WORDS);
                        let words = clause.phrases.iter().flat_map(Phrase::words);
                        let is_required = |word: &PhraseWord| clause.must.contains(&exactly(&word.word));
                        prop_assert!(words.into_iter().all(is_required));
                    }
                }
                Err(error) => {
                    prop_assert!(text.is_char_boundary(error.at));
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}
