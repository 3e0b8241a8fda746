//! Resumes a query that has ended, because some of its documents were rejected.

use super::Querier;
use super::branch::Branch;
use super::panel::Panel;
use super::top::Top;

impl Querier {
    /// Makes a query that has ended find up to `limit` more documents after the last one that it has returned. The
    /// query must have ended with [`QueryEvent::Done`](super::QueryEvent::Done). The report continues, and `found` in
    /// the next `Done` counts the documents from here on.
    pub fn resume(&mut self, limit: u64) {
        self.options.limit = limit;
        self.options.after = self.last;
        self.branches.iter_mut().for_each(Branch::restart);
        self.panels.iter_mut().for_each(|panel| *panel = Panel::default());
        self.top = Top::default();
        self.disputes.restart();
        self.ready.clear();
        self.found = 0;
        self.over = false;
    }

    /// The inverse document frequency by which this query ranks a required word; `None` if no slice with the word was
    /// requested yet.
    pub fn idf(&self, word: &str) -> Option<u32> {
        let number = self.words.all.iter().position(|other| other.name == word)?;
        self.measure.as_ref()?.idfs.get(&number).copied()
    }

    /// The mean length of documents, as an exponent of two, by which this query ranks; `None` if no slice was requested
    /// yet.
    pub fn log_length(&self) -> Option<u8> {
        Some(self.measure.as_ref()?.log_length)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::super::{
        AnswerEvent, Answerer, ContentId, IdRange, Index, ListPart, Listing, Peer, Query, QueryEvent, QueryOptions,
        Request, Response, Weight, WordSize,
    };
    use super::*;

    /// A list of ten documents, each of which contains every word once.
    struct Ten;

    fn of_range<T>(range: IdRange, most: usize, of: impl Fn(ContentId) -> T) -> Arc<[T]> {
        let ids = (0..10).map(|number| ContentId::new([number; 20]));
        ids.filter(|id| range.contains(*id)).take(most).map(of).collect()
    }

    impl Index for Ten {
        fn size(&mut self, _: &str) -> furui::Result<Listing> {
            Ok(Listing { ids: 10, log_length: 7, whole: true })
        }

        fn slice(&mut self, _: &str, range: IdRange, most: usize) -> furui::Result<ListPart> {
            Ok((of_range(range, most, |id| id), of_range(range, most, |_| Weight::new(1, 5))))
        }
    }

    #[test]
    fn a_query_that_is_resumed_finds_all_documents_once_and_in_order() {
        let (me, now) = (Peer::new(b"only", b""), Duration::ZERO);
        let options = QueryOptions { page: 3, limit: 3, ..QueryOptions::new(1) };
        let mut querier = Querier::new(Query::parse("word").unwrap().clauses(), vec![], options).unwrap();
        let mut answerer = Answerer::new(me.clone());
        let (mut found, mut turns) = (Vec::new(), 0);
        loop {
            match querier.poll(now) {
                Some(QueryEvent::Lookup { word }) => querier.on_holders(&word, vec![me.clone()], now),
                Some(QueryEvent::Send { call, request, .. }) => {
                    let request = Request::decode(&request).unwrap();
                    if answerer.on_request(&me, call, request, now, &mut Ten).is_some() {
                        let holders = vec![me.clone()];
                        let size = WordSize { ids: 10, log_length: 7, whole: true, holders };
                        querier.on_response(call, Response::Sizes(vec![size]), now);
                    }
                    while let Some(event) = answerer.poll() {
                        let AnswerEvent::Respond { call, response } = event else { panic!("{event:?}") };
                        querier.on_response(call, response, now);
                    }
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
        assert_eq!((turns, querier.idf("word"), querier.idf("other")), (4, Some(1024), None));
        assert_eq!(querier.log_length(), Some(7));
    }
}
