//! Decodes any bytes as a message: the result is an error, or a message that has no other encoding. Both sides of a
//! search survive any message of a peer.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use furui::Result;
use furui_search::{
    AnswerEvent, Answerer, Clause, ContentId, IdRange, Index, ListPart, Listing, Peer, Querier, QueryEvent,
    QueryOptions, Request, Response, Weight, limits,
};
use libfuzzer_sys::fuzz_target;

/// A list of a thousand ids for every word.
struct Lists;

impl Index for Lists {
    fn size(&mut self, _: &str) -> Result<Listing> {
        Ok(Listing { ids: 1000, whole: true, log_length: 9 })
    }

    fn slice(&mut self, _: &str, range: IdRange, most: usize) -> Result<ListPart> {
        let ids = (0..1000u64).map(|i| {
            let mut id = [0; 20];
            id[..8].copy_from_slice(&(i * (u64::MAX / 1000)).to_le_bytes());
            id[..8].reverse();
            ContentId::new(id)
        });
        let ids: Arc<[ContentId]> = ids.filter(|&id| range.contains(id)).take(most).collect();
        let weight = |[often, length]: [u8; 2]| Weight::new(u32::from(often % 70) + 1, length.into());
        let weights = ids.iter().map(|id| weight([id.as_bytes()[0], id.as_bytes()[1]])).collect();
        Ok((ids, weights))
    }
}

fuzz_target!(|input: (Vec<u8>, Vec<Vec<u8>>)| {
    let (first, others) = input;
    let request = Request::decode(&first);
    if let Ok(request) = &request {
        assert_eq!(request.encode().expect("it was read"), first);
    }
    let responses: Vec<Response> = others
        .iter()
        .filter_map(|bytes| {
            let response = Response::decode(bytes).ok()?;
            assert_eq!(response.encode().expect("it was read"), *bytes);
            Some(response)
        })
        .collect();
    if let Ok(request) = request {
        answer(request, responses.clone());
    }
    ask(responses, QueryOptions { explain: true, ..QueryOptions::new(1) });
});

/// Sends a node a request, and gives these answers to the requests that the node makes to others.
fn answer(request: Request, responses: Vec<Response>) {
    let (mut answerer, me) = (Answerer::new(Peer::new(b"me", b"")), Peer::new(b"you", b""));
    let (mut responses, mut now) = (responses.into_iter(), Duration::ZERO);
    let _ = answerer.on_request(&me, 0, request, now, &mut Lists);
    loop {
        while let Some(event) = answerer.poll() {
            match event {
                AnswerEvent::Send { call, request, .. } => {
                    Request::decode(&request).expect("it is one");
                    match responses.next() {
                        Some(response) => answerer.on_response(call, response, now, &mut Lists),
                        None => answerer.on_failure(call, now, &mut Lists),
                    }
                }
                AnswerEvent::Respond { response, .. } => drop(response.encode().expect("it fits")),
            }
        }
        let (meetings, sessions) = answerer.ids_held();
        assert!(meetings <= limits::MEETING_IDS && sessions <= limits::SESSION_IDS);
        let Some(deadline) = answerer.deadline() else { return };
        now = now.max(deadline);
        answerer.on_time(now, &mut Lists);
    }
}

/// Runs a query, with these answers to its requests.
fn ask(responses: Vec<Response>, options: QueryOptions) {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let clauses = [
        Clause { must: words(&["a", "b"]), without: words(&["c"]), ..Clause::default() },
        Clause { must: words(&["a"]), ..Clause::default() },
    ];
    let mut querier = Querier::new(&clauses, vec![], options).expect("it is a query");
    let (mut responses, mut now) = (responses.into_iter(), Duration::ZERO);
    let mut last = None;
    loop {
        match querier.poll(now) {
            Some(QueryEvent::Lookup { word }) => querier.on_holders(&word, vec![Peer::new(b"you", b"")], now),
            Some(QueryEvent::Send { call, request, .. }) => {
                Request::decode(&request).expect("it is one");
                match responses.next() {
                    Some(response) => querier.on_response(call, response, now),
                    None => querier.on_failure(call, now),
                }
            }
            Some(QueryEvent::Prove { word, ids }) => {
                let proved = ids.into_iter().map(|id| (id, id.as_bytes()[0].is_multiple_of(2)));
                querier.on_proof(&word, &proved.collect());
            }
            Some(QueryEvent::Shun { .. }) => {}
            Some(QueryEvent::Page { places }) => {
                for place in places {
                    assert!(last.is_none_or(|last| last < place), "a document out of order, or twice");
                    match place.id.as_bytes()[0] % 3 {
                        0 => querier.miss(place),
                        rest => drop(querier.judge(place, rest == 1)),
                    }
                    last = Some(place);
                }
            }
            Some(QueryEvent::Done { .. } | QueryEvent::Failed { .. }) => return,
            None => now = now.max(querier.deadline().expect("a querier that waits has a deadline")),
        }
        assert!(querier.ids_held() <= 3 * limits::IDS);
    }
}
