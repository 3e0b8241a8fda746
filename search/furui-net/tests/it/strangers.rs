//! Hostile nodes among honest nodes.

use crate::common;
use crate::common::{Publishes, UNSIGNED, all_by};
use crate::local;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answer::{all, search};
use crate::common::{check, config, document, network};
use crate::siege::keeper::hide;
use furui_net::net::{MAX_MESSAGE, Net};
use furui_search::{
    ContentId, Listed, Met, Place, Publication, PublisherKey, Ranked, Refusal, Request, Response, Shown, Weight,
    Withdrawal, WordSize,
};

/// How a hostile node treats requests.
#[derive(Clone, Copy, Debug)]
enum Manner {
    NeverAnswers,
    HangsUp,
    TooMuch,
    WrongRanks,
    Hides,
}

/// Joins the network as a node that other nodes take for a keeper.
async fn join(first: &furui_net::node::Node, manner: Manner) -> Net {
    let (net, mut inbound) = Net::start(config(Some(first))).await.unwrap();
    net.joined().await;
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Some(asked) = inbound.recv().await {
            match manner {
                Manner::NeverAnswers => kept.push(asked.reply),
                Manner::HangsUp => {}
                Manner::TooMuch => asked.reply.send(vec![1; MAX_MESSAGE]).unwrap(),
                Manner::Hides => {
                    let nothing = hide(&Request::decode(&asked.request).unwrap());
                    asked.reply.send(nothing.encode().unwrap()).unwrap();
                }
                Manner::WrongRanks => asked.reply.send(lie(&Request::decode(&asked.request).unwrap())).unwrap(),
            }
        }
    });
    net
}

/// A wrong answer of the right kind.
fn lie(request: &Request) -> Vec<u8> {
    let id = |byte| ContentId::new([byte; 20]);
    let response = match request {
        Request::Size { words } => {
            let size = WordSize { ids: u64::MAX, log_length: 12, whole: true, holders: Vec::new() };
            Response::Sizes(vec![size; words.len()])
        }
        Request::Search(_) => Response::Ranked(Ranked {
            places: vec![Place { score: 1, id: id(9) }, Place { score: 2, id: id(3) }],
            next: None,
            seen: 2,
            found: 2,
            whole: true,
            costs: Vec::new(),
        }),
        Request::Meet(_) => {
            Response::Met(Met { matches: vec![0xff; 5000], whole: true, session: Some(1), grades: vec![] })
        }
        Request::Settle(_) => Response::Settled(true),
        Request::Show { documents, .. } => {
            let publication = Publication { signature: UNSIGNED, first: 0, network: 0 };
            let record = Shown::Record { publication, record: b"no record".to_vec() };
            Response::Shown { documents: vec![record; documents.len()], settled: true }
        }
        Request::Store { .. } | Request::Doubt { .. } => Response::Stored { new: 1 },
        Request::Near { word } => Response::Near(vec![(word.clone(), u64::MAX); 8]),
        Request::Beginning { word } => Response::Near(vec![(format!("{word}ing"), u64::MAX); 8]),
        Request::Withdraw { withdrawals } => Response::Withdrawn { gone: withdrawals.len() as u64 + 1 },
        // The answer has keys for everything, and says that more follow.
        Request::Withdrawn { .. } => {
            let publisher = PublisherKey::new([1; PublisherKey::BYTES]);
            let withdrawal = |byte| (Withdrawal { id: id(byte), publisher, signature: UNSIGNED }, 30);
            Response::Withdrawals { withdrawals: [3, 9].map(withdrawal).to_vec(), more: true }
        }
        // The answer says that more follow.
        Request::Compare { from, .. } => {
            let lists = vec![(format!("{from}x").split_off(from.len().saturating_sub(100)), 1, 1)];
            Response::Compared { state: 1, lists, more: true }
        }
        Request::List { .. } => {
            Response::Listed(vec![Listed { ids: vec![id(9), id(3)], weights: vec![], days: vec![9, 9], more: true }])
        }
    };
    response.encode().unwrap()
}

async fn found_in_spite_of(manner: Manner) {
    let nodes = network(5).await;
    // Two of three keepers are hostile.
    let hostile = [join(&nodes[0], manner).await, join(&nodes[0], manner).await];
    for node in &nodes {
        node.net().refresh().await;
    }
    assert_eq!(nodes[1].publishes((0..150).map(document).collect(), false).await.unwrap().new, 150);
    check(&nodes, 150).await;
    for net in hostile {
        net.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keepers_that_never_answer_are_left_for_others() {
    found_in_spite_of(Manner::NeverAnswers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keepers_that_hang_up_are_left_for_others() {
    found_in_spite_of(Manner::HangsUp).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keepers_that_answer_too_much_are_left_for_others() {
    found_in_spite_of(Manner::TooMuch).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keepers_that_name_wrong_ranks_are_left_for_others() {
    found_in_spite_of(Manner::WrongRanks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_hides_documents_hides_none() {
    let nodes = network(6).await;
    let hostile = join(&nodes[0], Manner::Hides).await;
    for node in &nodes {
        node.net().refresh().await;
    }
    assert_eq!(nodes[1].publishes((0..150).map(document).collect(), false).await.unwrap().new, 150);
    check(&nodes, 150).await;
    let peers: Vec<_> = nodes.iter().map(|node| node.net().me()).chain([hostile.me()]).collect();
    let its = |word: &String| local::keepers_among(peers.clone(), word).contains(&hostile.me());
    let words: Vec<String> = (0..150).map(|number| number.to_string()).filter(its).collect();
    assert!(words.len() > 20, "it keeps {} words", words.len());
    for word in words {
        let url = common::url(word.parse().unwrap());
        assert_eq!(common::find(&nodes[0], &word).await.unwrap(), BTreeSet::from([url]));
    }
    hostile.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_let_a_node_wait_is_not_asked_first_again() {
    let nodes = local::network(5).await;
    let text = |number: usize| format!("word x{}", common::letters(number));
    let documents = (0..200).map(|number| local::document(format!("http://a.example/{number}"), text(number)));
    let documents = all_by(&nodes[1], documents);
    assert_eq!(nodes[1].publishes(documents.clone(), false).await.unwrap().new, 200);

    let (silent, mut inbound) = Net::start(config(Some(&nodes[0]))).await.unwrap();
    silent.joined().await;
    let who_asks = nodes[0].net().me();
    let [asked, asked_for_records] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let (count, count_records) = (Arc::clone(&asked), Arc::clone(&asked_for_records));
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Some(request) = inbound.recv().await {
            let what = Request::decode(&request.request).unwrap();
            let is_for_records = matches!(what, Request::Show { .. });
            let is_for_lists =
                matches!(what, Request::Size { .. } | Request::Search(_) | Request::Meet(_) | Request::Settle(_));
            if is_for_records || is_for_lists {
                let is_counted = request.from == who_asks;
                count.fetch_add(usize::from(is_counted), Ordering::SeqCst);
                count_records.fetch_add(usize::from(is_counted && is_for_records), Ordering::SeqCst);
                kept.push(request.reply);
            } else {
                request.reply.send(hide(&what).encode().unwrap()).unwrap();
            }
        }
    });
    for node in &nodes {
        node.net().refresh().await;
    }
    local::repaired(&nodes).await;

    // Each word is in one document, and the hostile node is its nearest keeper.
    let peers: Vec<_> = nodes.iter().map(|node| node.net().me()).chain([silent.me()]).collect();
    let its = |number: &usize| {
        local::keepers_among(peers.clone(), &format!("x{}", common::letters(*number)))[0] == silent.me()
    };
    for (turn, number) in (0..200).filter(its).take(6).enumerate() {
        let answer = search(&nodes[0], &format!("x{}", common::letters(number)), all()).await.unwrap();
        assert_eq!(answer.ids(), BTreeSet::from([documents[number].id]));
        if turn == 0 {
            assert_ne!(asked.load(Ordering::SeqCst), 0);
            asked_for_records.store(0, Ordering::SeqCst);
        }
    }
    // All keepers of a word are asked at once for the size of its list and for slices of it. For records, others are
    // asked first.
    assert_eq!(asked_for_records.load(Ordering::SeqCst), 0);
    local::shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_store_only_what_a_node_may_have_to_keep() {
    let nodes = network(14).await;
    let stranger = join(&nodes[0], Manner::HangsUp).await;
    stranger.refresh().await;
    for node in &nodes {
        node.net().refresh().await;
    }
    let request = Request::Store {
        postings: vec![("word".to_owned(), vec![(ContentId::new([5; 20]), Weight::default())])],
        records: vec![],
    };
    let (mut stored, mut refused) = (0, 0);
    for node in &nodes {
        let answer = stranger.call(&node.net().me(), request.encode().unwrap()).await.unwrap();
        match Response::decode(&answer).unwrap() {
            // There is no record that proves the posting.
            Response::Refused(Refusal::Unproven) => stored += 1,
            Response::Refused(Refusal::Invalid) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    // The eight nearest of fifteen nodes would store it; the stranger may be one of them.
    assert!((7..=8).contains(&stored) && stored + refused == 14, "{stored} stored, {refused} refused");
}
