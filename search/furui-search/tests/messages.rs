//! Messages in bytes: every message is decoded as it was encoded, and any bytes are a message or an error.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use furui::filter::{Gamma, RingedParams};
use furui_search::{
    Clause, Coding, ContentId, Cost, Golomb, IdRange, Listed, Meet, MessageError, Met, Part, Peer, Phrase, PhraseWord,
    Place, Publication, PublisherKey, Query, Ranked, Ranking, Record, Refusal, Request, Response, Scale, Search,
    Settle, Showings, Shown, ShownDocument, Signature, Term, Wants, Weight, Withdrawal, WordSize, limits,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn word() -> impl Strategy<Value = String> {
    "[a-z篩é]{1,20}"
}

fn ids(most: usize) -> impl Strategy<Value = Vec<ContentId>> {
    vec(any::<[u8; 20]>().prop_map(ContentId::new), 0..most)
}

fn id() -> impl Strategy<Value = ContentId> {
    any::<[u8; 20]>().prop_map(ContentId::new)
}

fn signature() -> impl Strategy<Value = Signature> {
    any::<(u32, u8)>().prop_map(|(at, byte)| Signature { at, bytes: [byte; 64] })
}

fn publication() -> impl Strategy<Value = Publication> {
    let publication = |(signature, (first, network))| Publication { signature, first, network };
    (signature(), any::<(u64, u32)>()).prop_map(publication)
}

fn withdrawal() -> impl Strategy<Value = Withdrawal> {
    (id(), publisher(), signature()).prop_map(|(id, publisher, signature)| Withdrawal { id, publisher, signature })
}

fn publisher() -> impl Strategy<Value = PublisherKey> {
    any::<[u8; 32]>().prop_map(PublisherKey::new)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300)
}

fn range() -> impl Strategy<Value = IdRange> {
    any::<(u64, u64)>().prop_map(|(a, b)| IdRange { first: a.min(b), last: a.max(b) })
}

fn peers() -> impl Strategy<Value = Vec<Peer>> {
    let peer = (vec(any::<u8>(), 0..=Peer::MAX_IDENTITY), vec(any::<u8>(), 0..=Peer::MAX_ADDRESS));
    vec(peer.prop_map(|(identity, address)| Peer::new(&identity, &address)), 0..=limits::HOLDERS)
}

fn terms() -> impl Strategy<Value = Vec<Term>> {
    vec((word(), any::<u64>(), peers()).prop_map(|(word, size, holders)| Term { word, size, holders }), 0..4)
}

fn wants() -> impl Strategy<Value = Wants> {
    prop_oneof![
        Just(Wants::Best),
        Just(Wants::Naive),
        any::<(u32, u8)>().prop_map(|(bits, probes)| Wants::Fixed { bits, probes }),
        any::<(Option<u8>, u32)>().prop_map(|(probes, delta)| Wants::Ringed { probes, delta }),
        Just(Wants::Golomb),
    ]
}

fn weight() -> impl Strategy<Value = Weight> {
    (0..1_u16 << 12, 0..1_u16 << 12).prop_filter_map("no form", |(uses, size)| Weight::of_bits(uses, size))
}

fn place() -> impl Strategy<Value = Place> {
    any::<(u32, [u8; 20])>().prop_map(|(score, id)| Place { score, id: ContentId::new(id) })
}

fn ranking() -> impl Strategy<Value = Ranking> {
    let places = (proptest::option::of(place()), proptest::option::of(place()));
    (Scale::LENGTHS, any::<[u32; 2]>(), vec(any::<u32>(), 0..5), places).prop_map(
        |(log_length, [best, floor], idfs, (after, from))| Ranking { log_length, idfs, best, floor, after, from },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let search = (terms(), terms(), any::<u32>(), wants(), any::<u64>(), ranking());
    prop_oneof![
        vec(word(), 0..limits::WORDS).prop_map(|words| Request::Size { words }),
        search.prop_map(|(must, without, most, wants, salt, ranking)| {
            Request::Search(Search { must, without, most, wants, salt, ranking })
        }),
        (word(), bytes(), any::<bool>()).prop_map(|(word, set, weighted)| Request::Meet(Meet { word, set, weighted })),
        (any::<u64>(), bytes(), any::<u64>()).prop_map(|(session, rejected, checksum)| Request::Settle(Settle {
            session,
            rejected,
            checksum
        })),
        (vec((id(), part()), 0..50), vec(clause(), 0..3))
            .prop_map(|(documents, clauses)| Request::Show { documents, clauses }),
        (
            vec((word(), vec((any::<[u8; 20]>().prop_map(ContentId::new), weight()), 0..5)), 0..9),
            vec((signature(), bytes()), 0..5)
        )
            .prop_map(|(postings, records)| Request::Store { postings, records }),
        vec(withdrawal(), 0..9).prop_map(|withdrawals| Request::Withdraw { withdrawals }),
        range().prop_map(|range| Request::Withdrawn { range }),
        (word_or_none(), any::<u64>()).prop_map(|(from, since)| Request::Compare { from, since }),
        (vec(word_or_none(), 0..9), range(), any::<u32>()).prop_map(|(words, range, most)| Request::List {
            words,
            range,
            most
        }),
        vec((word(), id()), 0..9).prop_map(|claims| Request::Doubt { claims }),
        word().prop_map(|word| Request::Near { word }),
        word().prop_map(|word| Request::Beginning { word }),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::Snippet),
        Just(Part::Presence),
        Just(Part::Record),
        Just(Part::Version),
        Just(Part::Publisher)
    ]
}

/// What a keeper shows of a random document.
fn shown() -> impl Strategy<Value = Shown> {
    let query = "[ab東京]{1,2}( (-|OR )?\"?[ab東京]{1,3}( [ab]\")?){0,3}";
    let record = ("\\PC{1,9}", "[ab東京é ,]{0,9}", "([ab東京é \n,-]|\\PC){0,400}", publisher());
    let record = record.prop_map(|(url, title, text, publisher)| Record { url, title, text, publisher }).boxed();
    let document = (query, record.clone(), signature(), ids(limits::VERSIONS));
    let document = document.prop_map(|(query, record, signature, others)| {
        let query = Query::parse(&query).unwrap_or_else(|_| Query::parse("a").unwrap());
        let showing = Showings::new(query.clauses()).unwrap().of(&record);
        let shown = |showing| Shown::Document(Box::new(ShownDocument { showing, signature, others }));
        showing.map_or(Shown::Unfit, shown)
    });
    let version = (record, publication())
        .prop_map(|(record, publication)| Shown::Version { head: Box::new(record.head()), publication });
    prop_oneof![
        document,
        version,
        (publication(), bytes()).prop_map(|(publication, record)| Shown::Record { publication, record }),
        ids(limits::VERSIONS).prop_map(|others| Shown::Kept { others }),
        publisher().prop_map(|publisher| Shown::Publisher { publisher }),
        Just(Shown::Unknown),
        Just(Shown::Later),
        (publisher(), signature()).prop_map(|(publisher, signature)| Shown::Withdrawn { publisher, signature }),
    ]
}

fn clause() -> impl Strategy<Value = Clause> {
    let phrase = (word(), vec((any::<bool>(), word()), 0..4)).prop_map(|(first, others)| {
        let others = others.into_iter().map(|(skips, word)| PhraseWord { word, skips });
        Phrase::new([PhraseWord { word: first, skips: false }].into_iter().chain(others).collect()).unwrap()
    });
    let phrases = vec(phrase, 0..3).boxed();
    (vec(word(), 0..3), vec(word(), 0..3), phrases.clone(), phrases)
        .prop_map(|(must, without, phrases, without_phrases)| Clause { must, without, phrases, without_phrases })
}

fn word_or_none() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), word()]
}

fn response() -> impl Strategy<Value = Response> {
    let size = (any::<u64>(), Scale::LENGTHS, any::<bool>(), peers());
    let size = size.prop_map(|(ids, log_length, whole, holders)| WordSize { ids, log_length, whole, holders });
    let golomb = (1..=64u8, 0..=64u8, any::<u32>(), any::<bool>());
    let coding = prop_oneof![
        Just(Coding::Ids),
        (1u32.., 1..=64u8).prop_map(|(bits, probes)| Coding::Fixed { bits, probes }),
        (1..=64u32, 1u32..1 << 20)
            .prop_map(|(probes, delta)| Coding::Ringed(RingedParams::new(probes, Gamma::Exact, delta).unwrap())),
        golomb.prop_map(|(cell_bits, check_bits, salt, three_messages)| {
            Coding::Golomb(Golomb { cell_bits, check_bits, salt, three_messages })
        }),
    ];
    let cost = (any::<u32>(), coding, any::<bool>(), any::<[u64; 4]>()).prop_map(
        |(term, coding, in_three, [sent_bits, back_bits, sent_bytes, back_bytes])| Cost {
            term,
            coding,
            in_three,
            sent_bits,
            back_bits,
            sent_bytes,
            back_bytes,
        },
    );
    let costs = vec(cost, 0..6);
    let ranked = (vec(place(), 0..9), proptest::option::of(place()), any::<[u64; 2]>(), any::<bool>(), costs)
        .prop_map(|(places, next, [seen, found], whole, costs)| Ranked { places, next, seen, found, whole, costs });
    use Refusal::{Busy, Crowded, Failed, Forgotten, Invalid, Unproven, Unreachable};
    let refusals = vec![Busy, Invalid, Forgotten, Unreachable, Failed, Crowded, Unproven];
    let listed =
        (ids(50), any::<u8>(), any::<bool>(), proptest::option::of(weight())).prop_map(|(ids, days, more, weight)| {
            Listed {
                days: vec![days; ids.len()],
                weights: weight.map_or(vec![], |weight| vec![weight; ids.len()]),
                ids,
                more,
            }
        });
    prop_oneof![
        vec(size, 0..5).prop_map(Response::Sizes),
        ranked.prop_map(Response::Ranked),
        (bytes(), any::<bool>(), any::<Option<u64>>(), bytes())
            .prop_map(|(matches, whole, session, grades)| { Response::Met(Met { matches, whole, session, grades }) }),
        any::<bool>().prop_map(Response::Settled),
        (vec(shown(), 0..9), any::<bool>()).prop_map(|(documents, settled)| Response::Shown { documents, settled }),
        any::<u64>().prop_map(|new| Response::Stored { new }),
        (any::<u64>(), vec((word(), any::<u64>(), any::<u64>()), 0..9), any::<bool>())
            .prop_map(|(state, lists, more)| Response::Compared { state, lists, more }),
        vec(listed, 0..9).prop_map(Response::Listed),
        vec((word(), any::<u64>()), 0..limits::NEAR).prop_map(Response::Near),
        any::<u64>().prop_map(|gone| Response::Withdrawn { gone }),
        (vec((withdrawal(), any::<u8>()), 0..9), any::<bool>())
            .prop_map(|(withdrawals, more)| Response::Withdrawals { withdrawals, more }),
        proptest::sample::select(refusals).prop_map(Response::Refused),
    ]
}

/// Checks that bytes which decode to a message are the only encoding of this message.
fn decode(bytes: &[u8]) {
    if let Ok(request) = Request::decode(bytes) {
        assert_eq!(request.encode().unwrap(), bytes);
    }
    if let Ok(response) = Response::decode(bytes) {
        assert_eq!(response.encode().unwrap(), bytes);
    }
}

proptest! {
    #[test]
    fn requests_come_back(request in request()) {
        let bytes = request.encode().unwrap();
        prop_assert_eq!(Request::decode(&bytes).unwrap(), request);
        prop_assert!(Response::decode(&bytes).is_err());
    }

    #[test]
    fn responses_come_back(response in response()) {
        let bytes = response.encode().unwrap();
        prop_assert_eq!(Response::decode(&bytes).unwrap(), response);
        prop_assert!(Request::decode(&bytes).is_err());
    }

    #[test]
    fn a_message_cut_short_or_with_more_after_it_is_none(request in request(), response in response(), at: usize) {
        for (mut bytes, is_request) in [(request.encode().unwrap(), true), (response.encode().unwrap(), false)] {
            let ok = |bytes: &[u8]| if is_request { Request::decode(bytes).is_ok() } else { Response::decode(bytes).is_ok() };
            prop_assert!(!ok(&bytes[..at % bytes.len()]));
            bytes.push(0);
            prop_assert!(!ok(&bytes));
        }
    }

    #[test]
    fn changed_messages_are_others_or_none(
        request in request(), response in response(), changes in vec(any::<(usize, u8)>(), 1..5),
    ) {
        for mut bytes in [request.encode().unwrap(), response.encode().unwrap()] {
            for &(at, byte) in &changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            decode(&bytes);
        }
    }

    #[test]
    fn any_bytes_are_a_message_or_none(kind in 0..0x90u8, rest in vec(prop_oneof![0..4u8, any::<u8>()], 0..200)) {
        decode(&[&[1, kind], &rest[..]].concat());
        decode(&rest);
    }
}

/// The messages in docs/protocol.md, "Example of messages". A line is groups of digits, where `ab×20` is 20 bytes, and
/// a remark.
fn shown_messages() -> Vec<Vec<u8>> {
    let (_, section) = include_str!("../../../docs/protocol.md").split_once("### Example of messages\n").unwrap();
    let digits = |group: &str| group.split_once('×').map_or(group.into(), |(one, n)| one.repeat(n.parse().unwrap()));
    let message = |block: &str| {
        let groups = block.lines().flat_map(|line| line.trim_start().split("  ").next().unwrap().split(' '));
        let digits = groups.map(digits).collect::<String>().into_bytes();
        let bytes = digits.chunks(2).map(|byte| u8::from_str_radix(str::from_utf8(byte).unwrap(), 16).unwrap());
        bytes.collect()
    };
    section.split("\n\n").filter(|block| block.starts_with("    ")).map(message).collect()
}

#[test]
fn the_example_of_the_format_is_what_is_written() {
    let search = Search {
        must: vec![
            Term { word: "bloom".into(), size: 300, holders: vec![Peer::new(b"\x01\x02", b"\x7f")] },
            Term { word: "filter".into(), size: 70_000, holders: vec![] },
        ],
        without: vec![],
        most: 300,
        wants: Wants::Ringed { probes: Some(7), delta: 1000 },
        salt: 0x1122_3344_5566_7788,
        ranking: Ranking { log_length: 7, idfs: vec![5000, 900], best: 11, floor: 0, after: None, from: None },
    };

    let ranked = Ranked {
        places: vec![Place { score: 6000, id: ContentId::new([0xab; 20]) }],
        next: None,
        seen: 300,
        found: 1,
        whole: true,
        costs: vec![Cost {
            term: 0,
            coding: Coding::Ringed(RingedParams::new(7, Gamma::Whole, 1000).unwrap()),
            in_three: false,
            sent_bits: 2100,
            back_bits: 45,
            sent_bytes: 290,
            back_bytes: 11,
        }],
    };
    let written = [Request::Search(search).encode().unwrap(), Response::Ranked(ranked).encode().unwrap()];
    assert_eq!(shown_messages(), written);
}

#[test]
fn what_is_too_large_is_neither_written_nor_read() {
    let too_many = |what: &str, error: MessageError| {
        assert!(matches!(error, MessageError::TooMany { .. }) && error.to_string().contains(what), "{error}");
    };
    let words = vec!["word".to_owned(); limits::WORDS + 1];
    too_many("65 words, at most 64", Request::Size { words }.encode().unwrap_err());
    let from = "w".repeat(limits::ASKED_BYTES + 1);
    too_many("130 bytes of a word", Request::Compare { from, since: 0 }.encode().unwrap_err());
    let ids = vec![ContentId::new([7; 20]); limits::IDS + 1];
    let listed = Listed { days: vec![0; ids.len()], ids, weights: vec![], more: false };
    too_many("32769 ids", Response::Listed(vec![listed]).encode().unwrap_err());
    let set = vec![0; limits::MESSAGE_BYTES];
    let meet = Meet { word: "word".into(), set, weighted: false };
    too_many("bytes of a message", Request::Meet(meet).encode().unwrap_err());
    too_many("bytes of a message", Request::decode(&vec![1; limits::MESSAGE_BYTES + 1]).unwrap_err());
    too_many("words", Request::decode(&[1, 1, 65]).unwrap_err());
    let claims = vec![("word".to_owned(), ContentId::new([7; 20])); limits::DOUBTS + 1];
    too_many("257 claims", Request::Doubt { claims }.encode().unwrap_err());
    // The number of withdrawals is valid, but the bytes are missing: no memory is allocated for them.
    let short = MessageError::Short { what: "withdrawals", at: 2 };
    assert_eq!(Request::decode(&[1, 9, 0xff, 1]).unwrap_err(), short);
    assert_eq!(short.to_string(), "message: withdrawals begins at byte 2 and is cut short");
}

#[test]
fn each_error_says_what_is_wrong() {
    let invalid = |what, at| MessageError::Invalid { what, at };
    let weights_of_nothing = Response::decode(&[1, 0x88, 1, 0, 0, 1]).unwrap_err();
    assert_eq!(weights_of_nothing, invalid("whether there are weights", 5));
    for (bytes, error) in [
        (&[2, 1, 0][..], MessageError::Version(2)),
        (&[1, 99], invalid("the kind of a request", 1)),
        (&[1, 0x81], invalid("the kind of a request", 1)),
        (&[1, 1, 0, 0], MessageError::Trailing { at: 3 }),
        (&[1, 1, 1, 0, 0], invalid("an empty word", 3)),
        (&[1, 1, 1, 1, 0xff], invalid("a word, which is not UTF-8,", 3)),
        (&[1, 1, 0x80, 0], invalid("words", 2)),
        (&[1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2], invalid("words", 2)),
        (&[], MessageError::Short { what: "the version", at: 0 }),
    ] {
        assert_eq!(Request::decode(bytes).unwrap_err(), error, "{bytes:?}");
    }
    // A range from 2 to 1, an unnecessary 0, and more bytes than a head has.
    for (range, at) in [(&[1, 2, 1, 0xfe][..], 5), (&[2, 1, 0, 0], 5), (&[0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1], 6)] {
        let bytes = [&[1, 8, 1, 1, b'w'], range].concat();
        assert_eq!(Request::decode(&bytes).unwrap_err(), invalid("a range of ids", at));
    }
}
