//! Decodes any bytes as a record, and parses any text as a query. The bytes are an error, or the only encoding of a
//! record. The text is a query, or an error that points into the text; the words of the text have bounded length.
//! A query judges and marks a document that consists of the text of the query.
#![no_main]

use furui_search::{Fit, PublisherKey, Query, Record, Showing, Showings, limits, list_of, words};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(record) = Record::decode(bytes) {
        assert_eq!(record.encode().expect("it was read"), bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    for word in words(&text) {
        assert!((1..=limits::WORD_BYTES).contains(&word.len()), "{word:?}");
    }
    assert!(Query::read(&text).is_ok() || words(&text).next().is_none());
    match Query::parse(&text) {
        Ok(query) => {
            assert!((1..=limits::CLAUSES).contains(&query.clauses().len()));
            assert!(query.clauses().iter().all(|clause| !clause.must.is_empty()));
            let fit = Fit::new(query.clauses()).expect("a query keeps to the limits");
            let publisher = PublisherKey::new([7; PublisherKey::BYTES]);
            let record = Record { url: text.to_string(), title: String::new(), text: text.to_string(), publisher };
            let showing = Showings::new(query.clauses()).expect("a query keeps to the limits").of(&record);
            assert_eq!(showing.is_some(), fit.fits(&record));
            if let Some(Showing { grades, snippet, .. }) = showing {
                assert!(snippet.text.chars().count() <= limits::SNIPPET + 2);
                assert!(snippet.marks.iter().all(|mark| snippet.text.get(mark.clone()).is_some()));
                assert!(snippet.title_marks.is_empty());
                assert!(grades.len() <= limits::QUERY_WORDS);
            }
            let words = record.words();
            // If something is excluded, the document may not fit the query. If it fits, the query finds the document by
            // its words too.
            if fit.fits(&record) {
                assert!(
                    query.clauses().iter().any(|clause| clause.must.iter().all(|word| words.contains(&*list_of(word))))
                );
            }
        }
        Err(error) => {
            assert!(error.at <= text.len() && text.is_char_boundary(error.at));
            assert!(!error.to_string().is_empty());
        }
    }
});
