//! Compares the answers of simulated nodes with brute force.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod answers;
mod costs;
mod eclipse;
mod hostile;
mod node;
mod partial;
#[path = "../predict/mod.rs"]
mod predict;
mod random;
mod siege;
mod villain;
mod world;

use furui_search::{Clause, Querier, QueryOptions, Wants, limits};
use random::Random;
use world::World;

/// Words, each with the fraction of documents that hold it.
const WORDS: [(&str, f64); 12] = [
    ("the", 0.7),
    ("of", 0.6),
    ("and", 0.4),
    ("search", 0.2),
    ("filter", 0.1),
    ("table", 0.08),
    ("hash", 0.05),
    ("ring", 0.02),
    ("bloom", 0.01),
    ("sieve", 0.004),
    ("quotient", 0.001),
    ("nothing", 0.0),
];

const CODINGS: [Wants; 6] = [
    Wants::Best,
    Wants::Naive,
    Wants::Fixed { bits: 2164, probes: 5 },
    Wants::Ringed { probes: Some(7), delta: 1000 },
    Wants::Ringed { probes: None, delta: 1000 },
    Wants::Golomb,
];

fn clause(must: &[&str], without: &[&str]) -> Clause {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Clause { must: owned(must), without: owned(without), ..Clause::default() }
}

/// One to three conjunctions of one to five allowed words, some with excluded words.
fn any_query(random: &mut Random, allowed: &[&str]) -> Vec<Clause> {
    let mut some = |least: usize, most: usize| -> Vec<&str> {
        (0..least + random.below(most - least + 1)).map(|_| allowed[random.below(allowed.len())]).collect()
    };
    let clauses = some(1, 3).len();
    (0..clauses).map(|_| clause(&some(1, 5), &some(0, 2))).collect()
}

/// Checks that five queries of some of these words have whole answers that equal brute force.
fn any_query_is_right(world: &mut World, words: &[&str], seed: u64) {
    for round in 0..5 {
        let clauses = any_query(&mut world.random, words);
        let outcome = world.run(query(&clauses, whole_answer(round)));
        assert!(outcome.is_done(), "seed {seed}, round {round}: {:?} of {clauses:?}", outcome.end);
        assert!(outcome.ids == world.truth(&clauses), "seed {seed}, round {round}: {clauses:?}");
    }
}

/// Options for all documents of an answer that has no more than one query can find.
fn whole_answer(salt: u64) -> QueryOptions {
    QueryOptions { limit: limits::PAGE as u64, ..page(salt) }
}

/// Options for the best 20 documents, on one page.
fn page(salt: u64) -> QueryOptions {
    QueryOptions::new(salt)
}

fn query(clauses: &[Clause], options: QueryOptions) -> Querier {
    Querier::new(clauses, vec![], options).unwrap()
}

/// Options for the best `limit` documents in pages of ten.
fn best(salt: u64, limit: u64) -> QueryOptions {
    QueryOptions { page: 10, limit, ..page(salt) }
}
