//! Attacks on a live network: whatever attackers send, the honest nodes answer as before.

mod attacker;
pub mod keeper;
mod library;
mod town;

use crate::common::{NOBODY, Publishes};
use attacker::{Plan, Tally};
use furui_net::node::Document;
use furui_search::{Peer, Record};
use keeper::Manner;
use town::{LONG, Town};

/// The number of nodes and of documents.
const NODES: usize = 6;
const DOCUMENTS: usize = 300;
/// The word of documents that are published during the attack.
const LATE: &str = "yesterday";

/// Attacks from this many addresses at once.
async fn siege(town: &Town, attackers: usize, plan: Plan) -> Tally {
    let victims: Vec<Peer> = town.nodes.iter().map(|node| node.net().me()).collect();
    let attacks = (0..attackers).map(|number| {
        let host = town::address(2, number);
        tokio::spawn(attacker::attack(host, number as u64, town.library.clone(), victims.clone(), plan))
    });
    let attacks: Vec<_> = attacks.collect();
    let mut sum = Tally::default();
    for attack in attacks {
        sum = sum.plus(attack.await.unwrap());
    }
    sum
}

/// Publishes documents, which have none of the words of the queries. Returns their number.
async fn publish(town: &Town) -> usize {
    let late = |number: usize| {
        let text = format!("{LATE} news{number}");
        let record =
            Record { url: format!("http://late.example/{number}"), title: LATE.into(), text, publisher: NOBODY };
        Document::new(&record).unwrap()
    };
    let late: Vec<Document> = (0..5).map(late).collect();
    let publishing = async {
        // A node that is too busy refuses, and the publisher tries again.
        while town.nodes[2].publishes(late.clone(), false).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, publishing).await.expect("the documents are published in spite of the attack");
    late.len()
}

/// What attackers achieve.
async fn attacked(attackers: usize, plan: Plan) {
    let mut town = Town::new(NODES, DOCUMENTS).await;
    town.has_everything().await;
    let before = town.stands("before", 1, true).await;
    let (tally, published) = tokio::join!(siege(&town, attackers, plan), publish(&town));
    println!("{attackers} attackers: {tally:?}");
    assert!(tally.postings >= (attackers * plan.postings * NODES) as u64);
    for node in &town.nodes {
        let refusals = node.net().refusals().latest();
        // Deceived nodes do not distrust each other.
        let mut honest = refusals.iter().filter(|it| !it.who.contains(" at 127.2."));
        assert_eq!(honest.next().map(|it| (&it.who, it.why)), None);
    }
    println!("the last wrong answer ended {:?} after the attack", town.recovers().await);
    let after = town.stands("after the attack", 1, true).await;
    println!("50 queries at each of {NODES} nodes: {before} bytes before, {after} after");
    assert!(after < before + before / 4);
    for node in &town.nodes {
        let found = town::ask(node, LATE, 10).await.unwrap().0;
        assert_eq!((found.hits.len(), found.whole), (published, true), "what was published during the attack");
    }
    town.grow().await;
    town.stands("after a node has joined", 1, true).await;
    town.has_everything().await;
    town.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attacker_changes_no_answer() {
    attacked(1, Plan { postings: 20_000, fresh: 20 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_attackers_at_twenty_addresses_change_no_answer() {
    attacked(20, Plan { postings: 20_000, fresh: 5 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a soak test"]
async fn a_million_false_postings_change_no_answer() {
    attacked(20, Plan { postings: 50_000, fresh: 50 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newcomers_change_no_answer() {
    let mut town = Town::new(NODES, DOCUMENTS).await;
    for _ in 0..2 {
        town.grow().await;
        town.stands("after a node has joined", 1, true).await;
    }
    town.shut_down().await;
}

/// What so many hostile nodes achieve: of the three keepers of each word and document, at most so many are hostile.
async fn betrayed(hostile: usize, manner: Manner) {
    // Something false that a keeper of records does not take back may be dropped without a proof. Then the node says
    // that the answer may lack something.
    let must_be_whole = hostile == 1 && !matches!(manner, Manner::Forges | Manner::Adapts);
    let mut town = Town::new(NODES, DOCUMENTS).await;
    let join = |number: usize| keeper::join(town::address(3, number), &town.nodes[0], manner);
    let hostile = futures::future::join_all((0..hostile).map(join)).await;
    town::meet(&town.nodes).await;
    town.stands("when the hostile nodes have joined", NODES, must_be_whole).await;
    town.grow().await;
    town.stands("after an honest node has joined, too", NODES, must_be_whole).await;
    for net in hostile {
        net.shutdown().await;
    }
    town.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_keeper_changes_no_answer() {
    betrayed(1, Manner::Silent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_hides_everything_changes_no_answer() {
    betrayed(1, Manner::Hides).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_forges_everything_changes_no_answer() {
    betrayed(1, Manner::Forges).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_shows_what_is_false_changes_no_answer() {
    betrayed(1, Manner::ShowsFalsely).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_is_honest_for_some_time_changes_no_answer() {
    betrayed(1, Manner::Adapts).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_keepers_of_three_that_hide_everything_change_no_answer() {
    betrayed(2, Manner::Hides).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_keepers_of_three_that_forge_everything_change_no_answer() {
    betrayed(2, Manner::Forges).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_all_keepers_are_silent_the_answer_is_told_to_be_incomplete() {
    let town = Town::new(3, DOCUMENTS).await;
    let join = |number: usize| keeper::join(town::address(3, number), &town.nodes[0], Manner::Silent);
    let hostile = futures::future::join_all((0..9).map(join)).await;
    town::meet(&town.nodes).await;
    let mut incomplete = 0;
    for (query, before) in town.library.queries.iter().zip(&town.pages).take(8) {
        match town::ask(&town.nodes[0], query, 10).await {
            Ok((page, _)) if page.whole => assert_eq!(page, *before),
            Ok(_) | Err(_) => incomplete += 1,
        }
    }
    // Of twelve nodes, nine are hostile, so two of five words have no honest keeper.
    println!("{incomplete} of 8 incomplete");
    for net in hostile {
        net.shutdown().await;
    }
    town.shut_down().await;
}
