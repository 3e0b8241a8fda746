//! What a node keeps for others is bounded, shared fairly, and does not touch its own publications.

use crate::common::{NOBODY, Publishes, UNSIGNED, signed};
use std::collections::HashSet;

use crate::common::{config, document, find, url};
use furui_net::net::{Identity, Net};
use furui_net::node::{Node, StartOptions};
use furui_net::shelf::{Bounds, Full, Origin, Shelf, ShelfOptions};
use furui_search::{ContentId, Index, Publication, Record, Refusal, Request, Response, Weight};

const EXPIRES: u64 = 4_000_000_000;
const RECORD: usize = 1000;

fn origin(host: u32, peer: u32) -> Origin {
    Origin { peer: peer.to_le_bytes().to_vec(), prefix: host.to_string(), taken_over: false }
}

/// A record, and a posting of it under a word.
fn brought(number: u32) -> (ContentId, Vec<u8>) {
    let record: Vec<u8> = number.to_le_bytes().into_iter().cycle().take(RECORD).collect();
    (ContentId::of(&record), record)
}

fn store(shelf: &mut Shelf, origin: &Origin, number: u32) -> Result<(), Full> {
    let (id, record) = brought(number);
    let publication = Publication { signature: UNSIGNED, first: 0, network: 0 };
    let postings = [("word".to_owned(), vec![(id, Weight::default())])];
    shelf
        .store_of(origin, &HashSet::new(), (&postings, &[(id, record)], &[(id, NOBODY, publication)]), EXPIRES)
        .unwrap()
        .map(drop)
}

fn has(shelf: &mut Shelf, number: u32) -> bool {
    shelf.document(brought(number).0).unwrap().is_some()
}

fn bounded(disk: u64) -> Shelf {
    let mut shelf = Shelf::in_memory(ShelfOptions { recent_bytes: 8000, ..ShelfOptions::default() }).unwrap();
    shelf.set_bounds(Bounds { disk, free: 0 });
    shelf
}

/// Stores until the shelf has rested from making room.
fn store_after_rest(shelf: &mut Shelf, origin: &Origin, number: u32) {
    loop {
        match store(shelf, origin, number) {
            Ok(()) => return,
            Err(Full::Bound) => std::thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_stranger_that_stores_without_end_is_refused_and_its_oldest_make_room_for_others() {
    let mut shelf = bounded(100 * RECORD as u64);
    let (id, record) = brought(0);
    let own = [("own".to_owned(), vec![(id, Weight::default())])];
    shelf.store((&own, &[(id, record)], &[]), EXPIRES).unwrap();
    let greedy = origin(1, 1);
    let stored = (1..1000).take_while(|&number| store(&mut shelf, &greedy, number).is_ok()).count();
    assert!((80..=100).contains(&stored), "{stored}");
    assert_eq!(store(&mut shelf, &greedy, 1000), Err(Full::Share));
    // Another identity of the same host begins with nothing, and the first gives way to it.
    for number in 2000..2030 {
        store_after_rest(&mut shelf, &origin(1, 2), number);
    }
    // Other hosts have their shares, too.
    for number in 3000..3030 {
        store_after_rest(&mut shelf, &origin(2, 1), number);
    }
    assert!((2000..2030).chain(3000..3030).all(|number| has(&mut shelf, number)));
    // The oldest went, the latest stayed, and so did what this node publishes itself.
    assert!(!has(&mut shelf, 1) && has(&mut shelf, stored as u32) && has(&mut shelf, 0));
    let usages = shelf.usages();
    let sum: u64 = usages.iter().map(|usage| usage.bytes).sum();
    assert!(sum <= 100 * RECORD as u64, "{sum}");
    assert_eq!(usages.iter().map(|usage| usage.documents).sum::<u64>() + 1, shelf.statistics().unwrap().documents);
    assert!(!shelf.size("word").unwrap().whole);
}

#[test]
fn who_adds_to_the_documents_of_others_is_counted_and_they_are_not() {
    let mut shelf = bounded(u64::MAX);
    let (victim, stranger) = (origin(1, 1), origin(2, 1));
    store(&mut shelf, &victim, 1).unwrap();
    let before = shelf.usages();
    let junk: Vec<_> = (0..100).map(|word| (format!("junk{word}"), vec![(brought(1).0, Weight::default())])).collect();
    let stored = shelf.store_of(&stranger, &HashSet::new(), (&junk, &[], &[]), EXPIRES).unwrap().unwrap();
    assert!(stored.foreign >= 400, "{stored:?}");
    assert_eq!(shelf.usages().iter().find(|usage| usage.origin == victim), before.first());
}

#[test]
fn the_counts_of_origins_survive_and_what_this_node_publishes_becomes_its_own() {
    let directory = std::env::temp_dir().join(format!("furui-origins-{}", std::process::id()));
    let open = || Shelf::open(&directory, ShelfOptions { recent_bytes: 8000, ..ShelfOptions::default() }).unwrap();
    let mut shelf = open();
    (0..30).for_each(|number| store(&mut shelf, &origin(number % 3, 1), number).unwrap());
    let before = shelf.usages();
    assert!(before.iter().all(|usage| usage.documents == 10 && usage.bytes >= 10 * RECORD as u64), "{before:?}");
    drop(shelf);
    let mut shelf = open();
    assert_eq!(shelf.usages(), before);
    // What this node publishes itself is not counted for the stranger that had brought it before.
    let (id, record) = brought(0);
    shelf.store((&[], &[(id, record)], &[]), EXPIRES).unwrap();
    let claimed = shelf.usages();
    assert_eq!(claimed.iter().map(|usage| usage.documents).sum::<u64>(), 29);
    drop(shelf);
    let mut shelf = open();
    assert_eq!(shelf.usages(), claimed);
    shelf.compact().unwrap();
    assert_eq!(shelf.usages(), claimed);
    shelf.expire(EXPIRES).unwrap();
    assert_eq!(shelf.usages(), []);
    drop(shelf);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn below_the_floor_of_free_space_nothing_of_others_is_stored() {
    let directory = std::env::temp_dir().join(format!("furui-floor-{}", std::process::id()));
    let mut shelf = Shelf::open(&directory, ShelfOptions::default()).unwrap();
    shelf.set_bounds(Bounds { disk: u64::MAX, free: u64::MAX });
    assert_eq!(store(&mut shelf, &origin(1, 1), 1), Err(Full::Space));
    let (id, record) = brought(2);
    shelf.store((&[], &[(id, record)], &[]), EXPIRES).unwrap();
    assert!(has(&mut shelf, 2) && !has(&mut shelf, 1));
    drop(shelf);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_at_its_bound_refuses_with_a_reason_and_stays() {
    let node = Node::start_with(None, config(None), StartOptions { disk: Some(100_000), rekey: false }).await.unwrap();
    assert_eq!(node.publishes((0..20).map(document).collect(), false).await.unwrap().new, 20);
    let (stranger, _inbound) = Net::start(config(Some(&node))).await.unwrap();
    stranger.joined().await;
    let (identity, mut refused) = (Identity::generate(), false);
    for number in 0..200 {
        let text = format!("junk{number} ").repeat(RECORD / 10);
        let record = Record { url: url(number), title: String::new(), text, publisher: NOBODY };
        let (document, signature) = signed(&identity, record);
        let request = Request::Store {
            postings: document.words[..1]
                .iter()
                .map(|(word, weight)| (word.clone(), vec![(document.id, *weight)]))
                .collect(),
            records: vec![(signature, document.record)],
        };
        let answer = stranger.call(&node.net().me(), request.encode().unwrap()).await.unwrap();
        refused |= Response::decode(&answer).unwrap() == Response::Refused(Refusal::Busy);
    }
    assert!(refused);
    let status = node.status().await.unwrap();
    let refusal = status.refusals.first().unwrap();
    assert!(refusal.who.contains(&stranger.name()) && refusal.why.contains("fair share"), "{refusal:?}");
    assert!(find(&node, "document").await.unwrap().contains(&url(7)));
    stranger.shutdown().await;
    node.shutdown().await;
}
