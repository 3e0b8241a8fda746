//! Attacks on a live network: whatever attackers send, the honest nodes answer as before.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod attacker;
#[path = "../hostile/mod.rs"]
mod hostile;
mod keeper;
mod library;
mod town;

use attacker::{Plan, Tally};
use furui_search::Peer;
use keeper::Manner;
use town::Town;

/// The number of nodes and of documents.
const NODES: usize = 6;
const DOCUMENTS: usize = 300;

/// Attacks from this many addresses at once.
async fn siege(town: &Town, attackers: usize, plan: Plan) -> Tally {
    let victims: Vec<Peer> = town.nodes.iter().map(|node| node.net().me()).collect();
    let attacks = (0..attackers).map(|number| {
        let host = format!("127.2.{}.{}", number / 200, number % 200 + 1);
        tokio::spawn(attacker::attack(host, number as u64, town.library.clone(), victims.clone(), plan))
    });
    let attacks: Vec<_> = attacks.collect();
    let mut sum = Tally::default();
    for attack in attacks {
        sum = sum.plus(attack.await.unwrap());
    }
    sum
}

/// What attackers achieve.
async fn attacked(attackers: usize, plan: Plan) {
    let mut town = Town::new(NODES, DOCUMENTS).await;
    town.stands("before", true).await;
    for node in &town.nodes {
        let status = node.status().await.unwrap();
        println!("{:?} {} records {} postings", node.survey().await, status.shelf.records, status.shelf.postings);
    }
    let tally = siege(&town, attackers, plan).await;
    println!("{attackers} attackers: {tally:?}");
    assert!(tally.postings >= (attackers * plan.postings * NODES) as u64);
    for node in &town.nodes {
        let status = node.status().await.unwrap();
        println!("{:?} {} records {} postings {:?}", node.survey().await, status.shelf.records, status.shelf.postings, status.refusals.iter().map(|it| it.why).collect::<std::collections::BTreeSet<_>>());
    }
    town.stands("after the attack", true).await;
    town.grow().await;
    town.stands("after a node has joined", true).await;
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
        town.stands("after a node has joined", true).await;
    }
    town.shut_down().await;
}

/// What one hostile node achieves: of the three keepers of each word and document, at most one is hostile.
async fn betrayed(manner: Manner) {
    // Something false that a keeper of records does not take back may be dropped without a proof. Then the node says that
    // the answer may lack something.
    let must_be_whole = !matches!(manner, Manner::Forges | Manner::Adapts);
    let mut town = Town::new(NODES, DOCUMENTS).await;
    let hostile = keeper::join("127.3.0.1", &town.nodes[0], manner).await;
    town::meet(&town.nodes).await;
    town.stands("when the hostile node has joined", must_be_whole).await;
    town.grow().await;
    town.stands("after an honest node has joined, too", must_be_whole).await;
    hostile.shutdown().await;
    town.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_keeper_changes_no_answer() {
    betrayed(Manner::Silent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_hides_everything_changes_no_answer() {
    betrayed(Manner::Hides).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_forges_everything_changes_no_answer() {
    betrayed(Manner::Forges).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_shows_what_is_false_changes_no_answer() {
    betrayed(Manner::ShowsFalsely).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_is_honest_for_some_time_changes_no_answer() {
    betrayed(Manner::Adapts).await;
}
