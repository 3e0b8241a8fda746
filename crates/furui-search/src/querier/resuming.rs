//! Continues a query that has ended, because some of its documents turned out not to be any.

use super::Querier;
use super::top::Top;

impl Querier {
    /// Makes a query that has ended find up to `limit` more documents, after the last one that it has handed out. The
    /// query must have ended with [`QueryEvent::Done`](super::QueryEvent::Done). The report goes on, and `found` in the
    /// next `Done` counts from here.
    pub fn resume(&mut self, limit: u64) {
        self.options.limit = Some(limit);
        self.options.after = self.last;
        let (ranked, after) = (self.options.ranked.is_some(), self.last.map(|last| last.id));
        self.branches.iter_mut().for_each(|branch| branch.restart(ranked, after));
        self.top = Top::default();
        self.ready.clear();
        self.found = 0;
        self.over = false;
    }

    /// The idf by which this ranked query ranks a word that must occur; `None` if the word is in no slice so far.
    pub fn idf(&self, word: &str) -> Option<u32> {
        let number = self.words.iter().position(|other| other.name == word)?;
        self.idfs.get(&number).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::super::{
        ContentId, Peer, Place, Query, QueryEvent, QueryOptions, Ranked, Request, Response, Scale, Search, Survey,
        Weight, WordSize,
    };
    use super::*;

    /// The answer of an honest keeper of the only word, which all of `documents` documents hold once.
    fn answer(request: &[u8], documents: u8, me: &Peer) -> Response {
        match Request::decode(request).expect("it is one") {
            Request::Size { .. } => Response::Sizes(vec![WordSize {
                ids: documents.into(),
                whole: true,
                mean_length: 0,
                holders: vec![me.clone()],
            }]),
            Request::Search(Search { ranking: Some(ranking), .. }) => {
                let score = Scale::new(ranking.mean_length).score(ranking.idfs[0], Weight::new(1, 5));
                let all = (0..documents).map(|number| Place { score, id: ContentId::new([number; 20]) });
                let wanted = all.filter(|place| ranking.after.is_none_or(|after| *place > after));
                let places: Vec<Place> = wanted.take(ranking.best as usize).collect();
                let (seen, found) = (documents.into(), documents.into());
                Response::Ranked(Ranked { places, next: None, seen, found, whole: true, costs: vec![] })
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_query_that_is_resumed_finds_all_documents_once_and_in_order() {
        let (me, now) = (Peer::new(b"only", b""), Duration::ZERO);
        let survey = Survey { documents: 100, mean_length: 5 };
        let options = QueryOptions { page: 3, limit: Some(3), ranked: Some(survey), ..QueryOptions::new(1) };
        let mut querier = Querier::new(Query::parse("word").unwrap().clauses(), vec![], options).unwrap();
        let (mut found, mut turns) = (Vec::new(), 0);
        loop {
            match querier.poll(now) {
                Some(QueryEvent::Lookup { word }) => querier.on_holders(&word, vec![me.clone()], now),
                Some(QueryEvent::Send { call, request, .. }) => {
                    querier.on_response(call, answer(&request, 10, &me), now);
                }
                Some(QueryEvent::Page { places }) => found.extend(places),
                Some(QueryEvent::Done { more: false, whole, .. }) => {
                    assert!(whole);
                    break;
                }
                Some(QueryEvent::Done { .. }) => {
                    turns += 1;
                    querier.resume(turns);
                }
                other => panic!("{other:?}"),
            }
        }
        let ids: Vec<u8> = found.iter().map(|place| place.id.as_bytes()[0]).collect();
        assert_eq!(ids, (0..10).collect::<Vec<u8>>());
        assert_eq!((turns, querier.idf("word"), querier.idf("other")), (4, Some(survey.idf(10)), None));
    }
}
