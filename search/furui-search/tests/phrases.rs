//! Queries with phrases and sites find what brute force finds in documents of a few words, and the lists of words
//! contain all of these documents.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use furui_search::{Clause, Fit, Phrase, PhraseWord, PublisherKey, Query, QueryFault, Record, limits, list_of};
use proptest::collection::vec;
use proptest::prelude::*;
use url::Url;

/// A unit of a text: a word of letters, or a Japanese character.
#[derive(Clone, Debug, PartialEq)]
struct Unit {
    text: String,
    /// True if the unit is Japanese, and so is the character right before it.
    is_joined: bool,
    /// True if the unit is Japanese, and so is the character right after it.
    joins: bool,
}

fn is_japanese(c: char) -> bool {
    "東京タワ".contains(c)
}

/// The units of a text of lower-case letters, Japanese characters and separators.
fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        if is_japanese(c) {
            let is_joined = is_japanese(last);
            if is_joined {
                units.last_mut().unwrap().joins = true;
            }
            units.push(Unit { text: c.into(), is_joined, joins: false });
        } else if c.is_alphabetic() {
            if !last.is_ascii_alphabetic() {
                units.push(Unit { text: String::new(), is_joined: false, joins: false });
            }
            units.last_mut().unwrap().text.push(c);
        }
        last = c;
    }
    units
}

/// True if a unit of a query matches a unit of a text.
fn is_at(wanted: &Unit, there: &Unit) -> bool {
    wanted.text == there.text && (!wanted.is_joined || there.is_joined) && (!wanted.joins || there.joins)
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let (there, wanted) = (units(text), units(phrase));
    there.windows(wanted.len()).any(|there| wanted.iter().zip(there).all(|(wanted, there)| is_at(wanted, there)))
}

fn has_words(record: &Record, words: &str) -> bool {
    let wanted = units(words);
    // Text without spaces between words is asked for as a phrase.
    if wanted.len() > 1 && wanted.iter().all(|unit| unit.text.chars().all(is_japanese)) {
        return [&record.title, &record.text].into_iter().any(|text| has_phrase(text, words));
    }
    let holds = |part: &[Unit]| {
        let text = part.iter().map(|unit| unit.text.as_str()).collect::<String>();
        [&record.title, &record.text].into_iter().any(|place| has_phrase(place, &text))
    };
    wanted.iter().enumerate().all(|(at, unit)| match (unit.joins, unit.is_joined) {
        (true, _) => holds(&wanted[at..at + 2]),
        (false, true) => true,
        (false, false) => holds(&wanted[at..=at]),
    })
}

#[derive(Clone, Debug)]
enum Asked {
    Words(String),
    Phrase(String),
    Site(&'static str),
    All(Box<Asked>, Box<Asked>),
    Any(Box<Asked>, Box<Asked>),
    Without(Box<Asked>, Box<Asked>),
}

impl Asked {
    fn text(&self) -> String {
        match self {
            Self::Words(words) => words.clone(),
            Self::Phrase(phrase) => format!("\"{phrase}\""),
            Self::Site(host) => format!("site:{host}"),
            Self::All(left, right) => format!("({} {})", left.text(), right.text()),
            Self::Any(left, right) => format!("({} OR {})", left.text(), right.text()),
            Self::Without(left, right) => format!("({} -{})", left.text(), right.text()),
        }
    }

    /// True if a record fits the query, or its negation if `negated`.
    fn fits(&self, record: &Record, negated: bool) -> bool {
        let phrase = |phrase| [&record.title, &record.text].into_iter().any(|text| has_phrase(text, phrase));
        match (self, negated) {
            (Self::Words(words), false) => has_words(record, words),
            (Self::Words(words), true) => !phrase(words),
            (Self::Phrase(words), negated) => phrase(words) != negated,
            (Self::Site(host), negated) => {
                let end = record.url.strip_prefix("http://").unwrap();
                (end == *host || end.ends_with(&format!(".{host}"))) != negated
            }
            (Self::Any(left, right), false) | (Self::All(left, right), true) => {
                left.fits(record, negated) || right.fits(record, negated)
            }
            (Self::All(left, right), false) | (Self::Any(left, right), true) => {
                left.fits(record, negated) && right.fits(record, negated)
            }
            (Self::Without(left, right), false) => left.fits(record, false) && right.fits(record, true),
            (Self::Without(left, right), true) => left.fits(record, true) || right.fits(record, false),
        }
    }
}

fn pieces(most: usize, between: &'static [&'static str]) -> impl Strategy<Value = String> {
    let word = proptest::sample::select(vec!["a", "b", "ab", "東", "京", "タ", "東京", "タワ", "京タ"]);
    vec((word, proptest::sample::select(between)), 1..=most).prop_map(|pieces| {
        let text: String = pieces.into_iter().flat_map(|(word, between)| [word, between]).collect();
        text.trim().to_owned()
    })
}

fn asked() -> impl Strategy<Value = Asked> {
    let host = proptest::sample::select(vec!["a.example", "www.a.example", "b.example"]);
    let leaf = prop_oneof![
        3 => pieces(2, &["", "-"]).prop_map(|text| Asked::Words(text.trim_end_matches('-').to_owned())),
        4 => pieces(4, &["", " ", " ", ", "]).prop_map(Asked::Phrase),
        1 => host.prop_map(Asked::Site),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        (inner.clone(), inner, 0..3).prop_map(|(left, right, how)| {
            let (left, right) = (Box::new(left), Box::new(right));
            match how {
                0 => Asked::All(left, right),
                1 => Asked::Any(left, right),
                _ => Asked::Without(left, right),
            }
        })
    })
}

fn record() -> impl Strategy<Value = Record> {
    let host = proptest::sample::select(vec!["a.example", "www.a.example", "b.example"]);
    let between: &[&str] = &["", " ", " ", ", ", "」 「", "-"];
    (host, pieces(3, between), pieces(8, between)).prop_map(|(host, title, text)| Record {
        url: format!("http://{host}"),
        title,
        text,
        publisher: PublisherKey::new([7; 32]),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_query_finds_what_brute_force_finds(asked in asked(), records in vec(record(), 1..12)) {
        let text = asked.text();
        match Query::parse(&text) {
            Ok(query) => {
                let fit = Fit::new(query.clauses()).unwrap();
                for record in &records {
                    prop_assert_eq!(fit.fits(record), asked.fits(record, false), "{} in {:?}", text, record);
                }
            }
            Err(error) => match error.fault {
                QueryFault::Contradiction => prop_assert!(!records.iter().any(|record| asked.fits(record, false))),
                why => prop_assert!(matches!(why, QueryFault::OnlyWithout | QueryFault::TooManyClauses), "{}", text),
            },
        }
    }

    #[test]
    fn lists_of_words_leave_out_nothing_that_fits(asked in asked(), record in record()) {
        let Ok(query) = Query::parse(&asked.text()) else { return Ok(()) };
        let words = record.words();
        for clause in query.clauses() {
            if Fit::new(std::slice::from_ref(clause)).unwrap().fits(&record) {
                prop_assert!(clause.must.iter().all(|word| words.contains(&*list_of(word))));
                prop_assert!(!clause.without.iter().any(|word| words.contains(&*list_of(word))));
            }
        }
    }

    #[test]
    fn hosts_are_written_as_browsers_write_them(
        name in "([aBcé篩ßΣ0-9_-]{1,4}[.。．]){0,10}[aBz篩ü]{1,4}\\.?|[1-9][0-9]{0,2}(\\.[1-9][0-9]{0,2}){3}|\\[[0-9a-f:]{2,9}\\]",
        user in "(u@)?", port in "(:8080)?", path in "[/?#a.@:]{0,4}",
    ) {
        let url = format!("http://{user}{name}{port}/{path}");
        let words: Vec<String> = Record { url: url.clone(), title: String::new(), text: String::new(), publisher: PublisherKey::new([7; 32]) }.words().into_iter().collect();
        let Ok(url) = Url::parse(&url) else { return Ok(()) };
        let host = url.host_str().unwrap();
        let host = host.strip_suffix('.').unwrap_or(host);
        let word = format!("site:{host}");
        prop_assert!(words.contains(&word) || word.len() > limits::WORD_BYTES, "{host}: {words:?}");
        let is_above = |word: &String| host.ends_with(&format!(".{}", &word[5..])) && word.contains('.');
        prop_assert!(words.iter().all(|word| word[5..] == *host || is_above(word)), "{host}: {words:?}");
    }

    #[test]
    fn no_text_has_a_word_that_stands_for_a_host(text in "(site:|a\\.b|[:：ː︓;a東. ]|\\PC){0,20}") {
        let record = Record { url: "u:1".into(), title: text.clone(), text, publisher: PublisherKey::new([7; 32]) };
        prop_assert!(!record.words().iter().any(|word| word.contains(':')));
    }
}

#[test]
fn case_width_accents_and_punctuation_are_as_in_words() {
    let record = Record {
        url: "http://a.example/".into(),
        title: "The State-of-the-Art".into(),
        text: "In NEW\n YORK (Ｎｅｗ　Ｔｏｗｎ). Café crème; データベースの、検索エンジン。".into(),
        publisher: PublisherKey::new([7; 32]),
    };
    let fits = |text: &str| Fit::new(Query::parse(text).unwrap().clauses()).unwrap().fits(&record);
    for text in [
        "\"new york\"",
        "\"York, new-town\"",
        "\"new town\" \"CAFÉ CRÈME\"",
        "“state of the art”",
        "「ﾃﾞｰﾀﾍﾞｰｽ」",
        "「ベースの 検索」",
        "「検索エンジン」 site:a.example",
        "\"the\"",
        "the of in",
    ] {
        assert!(fits(text), "{text}");
    }
    for text in [
        "\"town york\" town york",
        "\"cafe creme\"",
        // A phrase does not extend from the title into the text.
        "\"art in\" art in",
        // A comma separates Japanese text.
        "「ベースの検索」",
        "york -\"new york\"",
        "new -site:a.example",
    ] {
        assert!(!fits(text), "{text}");
    }
}

/// The longest possible phrase matches, and does not match if its last word differs.
#[test]
fn long_phrases_are_found_to_their_last_word() {
    let text: String =
        (0..limits::WORDS).map(|at| if at % 2 == 0 { "東京".into() } else { format!(" w{at} ") }).collect();
    let query = Query::parse(&format!("\"{text}\"")).unwrap();
    let record =
        |text: String| Record { url: "u:1".into(), title: String::new(), text, publisher: PublisherKey::new([7; 32]) };
    let fit = Fit::new(query.clauses()).unwrap();
    assert!(fit.fits(&record(format!("東京 w1 {text}"))));
    assert!(!fit.fits(&record(format!("w63 {}", text.replace("w63", "w0 w63")))));
    assert!(!fit.fits(&record(format!("京東{}", text.replace("東京 w1 ", "東京 w1 京 ")))));
    let many = "a b ".repeat(50_000);
    let query = Query::parse(&format!("\"{}\"", "a b ".repeat(limits::WORDS / 2 - 1) + "a a")).unwrap();
    let fit = Fit::new(query.clauses()).unwrap();
    assert!(!fit.fits(&record(many.clone())));
    assert!(fit.fits(&record(many + "a a")));
}

#[test]
fn too_many_phrases_are_refused() {
    let phrase = |number: usize| Phrase::of(&format!("a w{number}")).unwrap();
    let clause = |from, to| Clause { phrases: (from..to).map(phrase).collect(), ..Clause::default() };
    assert!(Fit::new(&[clause(0, limits::PHRASES), clause(0, limits::PHRASES)]).is_some());
    assert!(Fit::new(&[clause(0, limits::PHRASES), clause(1, limits::PHRASES + 1)]).is_none());
}

#[test]
fn phrases_of_any_words_are_looked_for() {
    let word = |word: &str, skips| PhraseWord { word: word.into(), skips };
    let clause = |words| [Clause { phrases: vec![Phrase::new(words).unwrap()], ..Clause::default() }];
    let record =
        Record { url: "u:1".into(), title: "a x b".into(), text: "b a".into(), publisher: PublisherKey::new([7; 32]) };
    for (words, fits) in [
        (vec![word("a", false), word("b", true)], true),
        (vec![word("a", false), word("b", false)], false),
        (vec![word("B", false)], false),
        (vec![word("b", false), word("a", false)], true),
    ] {
        assert_eq!(Fit::new(&clause(words.clone())).unwrap().fits(&record), fits, "{words:?}");
    }
}
