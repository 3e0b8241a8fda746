//! What it costs to be all keepers of a word.
//!
//! A node's place is the hash of its identity, and identities are free. So an attacker makes identities until enough of
//! them are nearer to the word than all honest nodes. Each one costs a hash (and a key).

use std::collections::BTreeSet;

use furui_search::limits;

use crate::random::Random;

/// The number of nodes nearest to a key among which keepers with different prefixes are chosen.
const WINDOW: usize = 20;

/// The prefix of an address: that of each honest node is its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Prefix {
    Honest(usize),
    Hostile(usize),
}

/// The first `count` keepers among nodes at these distances from a key, where `taken` are those of another key.
fn keepers(mut nodes: Vec<(u64, Prefix)>, are_diverse: bool, count: usize, taken: &[Prefix]) -> Vec<Prefix> {
    nodes.sort_unstable();
    nodes.truncate(WINDOW);
    let (mut first, mut others): (Vec<Prefix>, Vec<Prefix>) = (Vec::new(), Vec::new());
    for (_, prefix) in nodes {
        let is_taken = are_diverse && (first.contains(&prefix) || taken.contains(&prefix));
        if is_taken { others.push(prefix) } else { first.push(prefix) }
    }
    first.into_iter().chain(others).take(count).collect()
}

/// The identities that an attacker places, and the hashes that it computes, until it has all keepers of a word.
struct Cost {
    identities: usize,
    hashes: u64,
}

/// How the keepers of a word are chosen.
#[derive(Clone, Copy)]
struct Choice {
    are_diverse: bool,
    /// True if one of the three keepers is the one nearest to a second key of the word.
    by_two_keys: bool,
}

/// Attacks a word of a network of `nodes` honest nodes with addresses of `prefixes` prefixes, with at most `most`
/// identities. `None` if that is not enough.
fn eclipse(nodes: usize, prefixes: usize, choice: Choice, most: usize, random: &mut Random) -> Option<Cost> {
    let (mut taken, mut identities, mut hashes): (Vec<Prefix>, usize, u64) = (Vec::new(), 0, 0);
    let counts = if choice.by_two_keys { vec![limits::REPLICAS - 1, 1] } else { vec![limits::REPLICAS] };
    for count in counts {
        let mut honest: Vec<(u64, Prefix)> = (0..nodes).map(|node| (random.next(), Prefix::Honest(node))).collect();
        honest.sort_unstable();
        honest.truncate(WINDOW);
        let (nearest, mut placed) = (honest[0].0, Vec::new());
        loop {
            let found = keepers(honest.iter().chain(&placed).copied().collect(), choice.are_diverse, count, &taken);
            if found.iter().all(|prefix| matches!(prefix, Prefix::Hostile(_))) {
                taken.extend(found);
                break;
            }
            if identities == most {
                return None;
            }
            let mut distance = nearest;
            while distance >= nearest {
                hashes += 1;
                distance = random.next();
            }
            placed.push((distance, Prefix::Hostile(identities % prefixes)));
            identities += 1;
        }
    }
    Some(Cost { identities, hashes })
}

#[test]
fn to_eclipse_a_word_takes_three_prefixes_or_a_crowd() {
    let mut random = Random(36);
    println!("seed 36");
    let choice = |are_diverse, by_two_keys| Choice { are_diverse, by_two_keys };
    for nodes in [1000, 10_000] {
        for (choice, prefixes, identities) in [
            (choice(false, false), 1, 3),
            (choice(true, false), 1, 20),
            (choice(true, false), 2, 20),
            (choice(true, false), 3, 3),
            (choice(true, false), 20, 3),
            // A second key makes the crowd of few addresses larger, and for three addresses it changes nothing.
            (choice(true, true), 1, 40),
            (choice(true, true), 2, 22),
            (choice(true, true), 3, 3),
            (choice(true, true), 20, 3),
        ] {
            let mut hashes: Vec<u64> = Vec::new();
            for _ in 0..40 {
                let cost = eclipse(nodes, prefixes, choice, 10 * WINDOW, &mut random).unwrap();
                assert_eq!(cost.identities, identities);
                hashes.push(cost.hashes);
            }
            hashes.sort_unstable();
            println!(
                "{nodes} nodes, {prefixes} hostile prefixes, keepers with different prefixes: {}, by two keys: {}; \
                 {identities} identities, {} hashes (median)",
                choice.are_diverse,
                choice.by_two_keys,
                hashes[hashes.len() / 2]
            );
        }
        // An attacker with one address and few identities is at most one keeper.
        assert!(eclipse(nodes, 1, choice(true, false), WINDOW - 1, &mut random).is_none());
    }
}
