use std::fmt;

use super::Clause;
use super::words::telling_words;

/// The most bytes of a query.
pub const MAX_QUERY: usize = 4 << 10;
/// The most words of a query, each counted as often as it is written.
pub const MAX_WORDS: usize = 64;
/// The most clauses that a query may come to.
pub const MAX_CLAUSES: usize = 16;
/// How deep parentheses may be nested.
pub const MAX_NESTING: usize = 16;

/// What is searched for: the documents of any of some [`Clause`]s.
///
/// | written | finds documents with |
/// |---|---|
/// | `bloom filter`, `bloom AND filter` | both words |
/// | `bloom OR cuckoo` | one of them, or both |
/// | `filter -coffee`, `filter NOT coffee` | the first word, without the other |
/// | `filter (bloom OR cuckoo) -(tea OR coffee)` | as in arithmetic: NOT before AND before OR |
///
/// OR, AND and NOT are in upper case; in lower case they are words. Words are cut and normalised as those of the
/// documents are ([`words`](super::words)), so `foo-bar` asks for both parts, and what is only punctuation for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    clauses: Vec<Clause>,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// If it cannot be understood, asks for too much at once, or for all documents without certain words: where, and what
    /// to write instead.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.len() > MAX_QUERY {
            return Err(fault(QueryFault::TooLong, text, 0));
        }
        let items = items(text)?;
        let mut parser = Parser { text, items: &items, next: 0, depth: 0 };
        let expression = parser.alternatives()?;
        if let Some(&(_, at)) = items.get(parser.next) {
            return Err(fault(QueryFault::NotOpened, text, at));
        }
        let clauses = clauses(&expression, false).map_err(|why| fault(why, text, 0))?;
        if clauses.is_empty() {
            let why = if items.is_empty() { QueryFault::Empty } else { QueryFault::Contradiction };
            return Err(fault(why, text, 0));
        }
        if clauses.iter().any(|clause| clause.must.is_empty()) {
            let first = items.iter().find(|(item, _)| matches!(item, Item::Not));
            return Err(fault(QueryFault::OnlyWithout, text, first.map_or(0, |&(_, at)| at)));
        }
        Ok(Self { clauses })
    }

    /// Its clauses: at least one, at most [`MAX_CLAUSES`], none of which includes another. A document is found if it fits one.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }
}

/// What a query is made of.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    Words(Vec<String>),
    Or,
    And,
    Not,
    Open,
    Close,
}

/// Cuts the text into items, each with its place.
fn items(text: &str) -> Result<Vec<(Item, usize)>, QueryError> {
    let mut items: Vec<(Item, usize)> = Vec::new();
    let mut words = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        let item = match c {
            '(' | '（' => Item::Open,
            ')' | '）' => Item::Close,
            // Before a space it is a dash.
            '-' | '−' | '－' if text[at..].starts_with(|next: char| !next.is_whitespace()) => Item::Not,
            _ if c.is_whitespace() => continue,
            _ => {
                let rest = &text[start..];
                let length = rest.find(|c: char| c.is_whitespace() || "()（）".contains(c)).unwrap_or(rest.len());
                at = start + length;
                let found = match &rest[..length] {
                    "OR" => Item::Or,
                    "AND" => Item::And,
                    "NOT" => Item::Not,
                    word if word.starts_with(['"', '“', '„']) => {
                        return Err(fault(QueryFault::Phrase, text, start));
                    }
                    word if word.starts_with("site:") => return Err(fault(QueryFault::Site, text, start)),
                    word => Item::Words(telling_words(word).map(|word| word.into_owned()).collect()),
                };
                if let Item::Words(found) = &found {
                    words += found.len();
                    if words > MAX_WORDS {
                        return Err(fault(QueryFault::TooManyWords, text, start));
                    }
                    if found.is_empty() {
                        // Punctuation, with the minus before it.
                        items.pop_if(|(item, end)| *item == Item::Not && *end + 1 == start);
                        continue;
                    }
                }
                found
            }
        };
        items.push((item, start));
    }
    Ok(items)
}

enum Expression {
    Words(Vec<String>),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

struct Parser<'a> {
    text: &'a str,
    items: &'a [(Item, usize)],
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    /// `conjunction OR conjunction …`
    fn alternatives(&mut self) -> Result<Expression, QueryError> {
        let mut any = vec![self.conjunction()?];
        while let Some(at) = self.take(&Item::Or) {
            let next = self.conjunction()?;
            if [&any[any.len() - 1], &next].into_iter().any(Expression::is_empty) {
                return Err(fault(QueryFault::OneSided("OR"), self.text, at));
            }
            any.push(next);
        }
        Ok(Expression::Any(any))
    }

    /// `operand operand …`, with or without `AND` between them.
    fn conjunction(&mut self) -> Result<Expression, QueryError> {
        let mut all = Vec::new();
        let mut and = None;
        loop {
            if let Some(at) = self.take(&Item::And) {
                if all.is_empty() {
                    return Err(fault(QueryFault::OneSided("AND"), self.text, at));
                }
                and = Some(at);
            }
            match self.operand()? {
                Some(operand) => all.push(operand),
                None => break,
            }
            and = None;
        }
        match and {
            Some(at) => Err(fault(QueryFault::OneSided("AND"), self.text, at)),
            None => Ok(Expression::All(all)),
        }
    }

    /// Words, what is in parentheses, or either negated; none if something else comes.
    fn operand(&mut self) -> Result<Option<Expression>, QueryError> {
        let mut negated = None;
        let mut is_negated = false;
        while let Some(at) = self.take(&Item::Not) {
            negated = Some(at);
            is_negated = !is_negated;
        }
        let operand = match self.items.get(self.next) {
            Some((Item::Words(words), _)) => {
                self.next += 1;
                Expression::Words(words.clone())
            }
            Some(&(Item::Open, at)) => self.group(at)?,
            _ => match negated {
                Some(at) => return Err(fault(QueryFault::NothingExcluded, self.text, at)),
                None => return Ok(None),
            },
        };
        Ok(Some(if is_negated { Expression::Not(operand.into()) } else { operand }))
    }

    fn group(&mut self, at: usize) -> Result<Expression, QueryError> {
        if self.depth == MAX_NESTING {
            return Err(fault(QueryFault::TooDeep, self.text, at));
        }
        self.next += 1;
        self.depth += 1;
        let inside = self.alternatives()?;
        self.depth -= 1;
        match self.take(&Item::Close) {
            None => Err(fault(QueryFault::NotClosed, self.text, at)),
            Some(_) if inside.is_empty() => Err(fault(QueryFault::EmptyGroup, self.text, at)),
            Some(_) => Ok(inside),
        }
    }

    /// Goes on if this item comes next; its place.
    fn take(&mut self, wanted: &Item) -> Option<usize> {
        let (_, at) = self.items.get(self.next).filter(|(item, _)| item == wanted)?;
        self.next += 1;
        Some(*at)
    }
}

impl Expression {
    fn is_empty(&self) -> bool {
        match self {
            Self::Words(_) | Self::Not(_) => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::is_empty),
        }
    }
}

/// The disjunctive normal form of the expression, or of its contrary.
fn clauses(expression: &Expression, negated: bool) -> Result<Vec<Clause>, QueryFault> {
    let of = |word: &String| match negated {
        false => Clause { must: vec![word.clone()], without: vec![] },
        true => Clause { must: vec![], without: vec![word.clone()] },
    };
    match expression {
        Expression::Words(words) if negated => Ok(any(words.iter().map(|word| vec![of(word)]))?),
        Expression::Words(words) => all(words.iter().map(|word| Ok(vec![of(word)]))),
        Expression::Not(inner) => clauses(inner, !negated),
        Expression::Any(parts) | Expression::All(parts) if parts.is_empty() => Ok(vec![]),
        Expression::Any(parts) if !negated => any(of_each(parts, negated)?.into_iter()),
        Expression::All(parts) if negated => any(of_each(parts, negated)?.into_iter()),
        Expression::Any(parts) | Expression::All(parts) => all(parts.iter().map(|part| clauses(part, negated))),
    }
}

fn of_each(parts: &[Expression], negated: bool) -> Result<Vec<Vec<Clause>>, QueryFault> {
    parts.iter().map(|part| clauses(part, negated)).collect()
}

/// The clauses of one or the other.
fn any(parts: impl Iterator<Item = Vec<Clause>>) -> Result<Vec<Clause>, QueryFault> {
    let mut found = Vec::new();
    for clause in parts.flatten() {
        add(&mut found, clause)?;
    }
    Ok(found)
}

/// The clauses of one and the other: each with each.
fn all(parts: impl Iterator<Item = Result<Vec<Clause>, QueryFault>>) -> Result<Vec<Clause>, QueryFault> {
    let mut found = vec![Clause::default()];
    for part in parts {
        let part = part?;
        let mut both = Vec::new();
        for left in &found {
            for right in &part {
                let mut clause = left.clone();
                add_words(&mut clause.must, &right.must);
                add_words(&mut clause.without, &right.without);
                if !clause.must.iter().any(|word| clause.without.contains(word)) {
                    add(&mut both, clause)?;
                }
            }
        }
        found = both;
    }
    Ok(found)
}

fn add_words(words: &mut Vec<String>, more: &[String]) {
    for word in more {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
}

/// Adds a clause, unless one that is there asks for less; those that ask for more go.
fn add(clauses: &mut Vec<Clause>, clause: Clause) -> Result<(), QueryFault> {
    let includes = |wide: &Clause, narrow: &Clause| {
        wide.must.iter().all(|word| narrow.must.contains(word))
            && wide.without.iter().all(|word| narrow.without.contains(word))
    };
    if clauses.iter().any(|other| includes(other, &clause)) {
        return Ok(());
    }
    clauses.retain(|other| !includes(&clause, other));
    if clauses.len() == MAX_CLAUSES {
        return Err(QueryFault::TooManyClauses);
    }
    clauses.push(clause);
    Ok(())
}

/// Why a query cannot be asked, and where in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// What is wrong.
    pub fault: QueryFault,
    /// Before which byte of the query.
    pub at: usize,
    /// The same in characters, from 1 on.
    pub character: usize,
}

/// What is wrong with a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFault {
    /// It has no words.
    Empty,
    /// It says only what documents are not to hold.
    OnlyWithout,
    /// A word is asked for and excluded.
    Contradiction,
    /// A `(` without `)`.
    NotClosed,
    /// A `)` without `(`.
    NotOpened,
    /// `()`.
    EmptyGroup,
    /// OR or AND has no words on one side.
    OneSided(&'static str),
    /// NOT has no word after it.
    NothingExcluded,
    /// More than [`MAX_QUERY`] bytes.
    TooLong,
    /// More than [`MAX_WORDS`] words.
    TooManyWords,
    /// More than [`MAX_CLAUSES`] clauses.
    TooManyClauses,
    /// Parentheses more than [`MAX_NESTING`] deep.
    TooDeep,
    /// A phrase in quotes, which cannot be searched yet.
    Phrase,
    /// `site:`, which cannot be searched yet.
    Site,
}

fn fault(fault: QueryFault, text: &str, at: usize) -> QueryError {
    QueryError { fault, at, character: text[..at].chars().count() + 1 }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use QueryFault::{Contradiction, Empty, TooLong, TooManyClauses};
        if !matches!(self.fault, Empty | Contradiction | TooLong | TooManyClauses) {
            write!(f, "at character {}: ", self.character)?;
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for QueryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the query has no words; write some letters or digits to search for"),
            Self::OnlyWithout => f.write_str(
                "this excludes words from nothing: on each side of an OR, write at least one word that the documents are \
                 to hold, as in: word -other",
            ),
            Self::Contradiction => {
                f.write_str("no document can hold a word and not hold it; leave one of the two out of the query")
            }
            Self::NotClosed => f.write_str("this \"(\" is never closed; add a \")\", or leave it out"),
            Self::NotOpened => f.write_str("this \")\" was never opened; add a \"(\" before, or leave it out"),
            Self::EmptyGroup => f.write_str("there is no word in these parentheses; write one, or leave them out"),
            Self::OneSided(name) => write!(
                f,
                "{name} needs words on both sides, as in: this {name} that; to search for the word, write {}",
                name.to_lowercase()
            ),
            Self::NothingExcluded => {
                f.write_str("NOT needs a word after it, as in: word NOT other; to search for the word, write not")
            }
            Self::TooLong => write!(f, "the query is longer than {MAX_QUERY} bytes; ask for fewer words"),
            Self::TooManyWords => write!(f, "here are more than {MAX_WORDS} words; ask for fewer"),
            Self::TooManyClauses => {
                write!(f, "the query comes to more than {MAX_CLAUSES} searches; use OR, or exclude, less")
            }
            Self::TooDeep => write!(f, "parentheses more than {MAX_NESTING} deep; use fewer"),
            Self::Phrase => {
                f.write_str("phrases in quotes cannot be searched yet; without the quotes, all of their words are")
            }
            Self::Site => f.write_str("site: cannot be searched yet; leave it out"),
        }
    }
}

impl std::error::Error for QueryError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The clauses, as in `a b -c | d`.
    fn parsed(text: &str) -> String {
        let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let clause = |clause: &Clause| {
            let without = clause.without.iter().map(|word| format!("-{word}"));
            clause.must.iter().cloned().chain(without).collect::<Vec<_>>().join(" ")
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
            ("a -foo-bar", "a -foo | a -bar"),
            ("東京タワー -大阪", "東京 京タ タワ ワー -大阪"),
            ("東京　（大阪 OR 京都）", "東京 大阪 | 東京 京都"),
            ("a b a A", "a b"),
            ("a OR a b", "a"),
            ("a b OR a", "a"),
            ("(a OR b) (a OR b)", "a | b"),
            ("a OR (b -b)", "a"),
            ("rock - & - roll -👍 !", "rock roll"),
            ("f(x)", "f x"),
            ("or not and", "or not and"),
            ("5\" disk", "5 disk"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
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
            ("a \"b c\"", Phrase, 3),
            ("a site:example.org", Site, 3),
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
        assert_eq!(fault(&"a ".repeat(MAX_QUERY)), QueryFault::TooLong);
        assert_eq!(fault(&"a ".repeat(MAX_WORDS + 1)), QueryFault::TooManyWords);
        assert_eq!(parsed(&"a ".repeat(MAX_WORDS)), "a");
        let pairs = |n: usize| (0..n).map(|i| format!("(a{i} OR b{i}) ")).collect::<String>();
        assert_eq!(Query::parse(&pairs(4)).unwrap().clauses().len(), MAX_CLAUSES);
        assert_eq!(fault(&pairs(5)), QueryFault::TooManyClauses);
        let nested = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(parsed(&nested(MAX_NESTING)), "a");
        assert_eq!(fault(&nested(MAX_NESTING + 1)), QueryFault::TooDeep);
    }

    /// A random expression as text, with the set of assignments of the words a to d under which it holds: one bit for each.
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
                        let has = |word: &String| assignment >> (word.as_bytes()[0] - b'a') & 1 == 1;
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
        fn any_text_is_a_query_or_an_error(text in "[ab水 ()\"OR-]{0,40}|\\PC{0,40}") {
            match Query::parse(&text) {
                Ok(query) => prop_assert!(query.clauses().iter().all(|clause| !clause.must.is_empty())),
                Err(error) => prop_assert!(text.is_char_boundary(error.at)),
            }
        }
    }
}
