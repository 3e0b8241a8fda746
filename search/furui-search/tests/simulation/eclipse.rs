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

/// The keepers among nodes at these distances from a word.
fn keepers(mut nodes: Vec<(u64, Prefix)>, are_diverse: bool) -> Vec<Prefix> {
    nodes.sort_unstable();
    nodes.truncate(WINDOW);
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for (_, prefix) in nodes {
        if are_diverse && taken.contains(&prefix) { others.push(prefix) } else { taken.push(prefix) }
    }
    taken.into_iter().chain(others).take(limits::REPLICAS).collect()
}

/// The identities that an attacker places, and the hashes that it computes, until it has all keepers of a word.
struct Cost {
    identities: usize,
    hashes: u64,
}

/// Attacks a word of a network of `nodes` honest nodes with addresses of `prefixes` prefixes, with at most `most`
/// identities. `None` if that is not enough.
fn eclipse(nodes: usize, prefixes: usize, are_diverse: bool, most: usize, random: &mut Random) -> Option<Cost> {
    let honest: Vec<(u64, Prefix)> = (0..nodes).map(|node| (random.next(), Prefix::Honest(node))).collect();
    let nearest = honest.iter().map(|(distance, _)| *distance).min()?;
    let near: BTreeSet<u64> = honest.iter().map(|(distance, _)| *distance).collect();
    let near: Vec<u64> = near.into_iter().take(WINDOW).collect();
    let honest: Vec<(u64, Prefix)> = honest.into_iter().filter(|(distance, _)| near.contains(distance)).collect();
    let (mut placed, mut hashes) = (Vec::new(), 0);
    while placed.len() < most {
        hashes += 1;
        let distance = random.next();
        if distance >= nearest {
            continue;
        }
        placed.push((distance, Prefix::Hostile(placed.len() % prefixes)));
        let keepers = keepers(honest.iter().chain(&placed).copied().collect(), are_diverse);
        if keepers.iter().all(|prefix| matches!(prefix, Prefix::Hostile(_))) {
            return Some(Cost { identities: placed.len(), hashes });
        }
    }
    None
}

#[test]
fn to_eclipse_a_word_takes_three_prefixes_or_a_crowd() {
    let mut random = Random(36);
    println!("seed 36");
    for nodes in [1000, 10_000] {
        for (are_diverse, prefixes, identities) in
            [(false, 1, Some(3)), (true, 1, Some(20)), (true, 2, Some(20)), (true, 3, Some(3)), (true, 20, Some(3))]
        {
            let tries = 40;
            let mut hashes: Vec<u64> = Vec::new();
            for _ in 0..tries {
                let cost = eclipse(nodes, prefixes, are_diverse, 10 * WINDOW, &mut random);
                assert_eq!(cost.as_ref().map(|cost| cost.identities), identities);
                hashes.extend(cost.map(|cost| cost.hashes));
            }
            hashes.sort_unstable();
            println!(
                "{nodes} nodes, {prefixes} hostile prefixes, keepers with different prefixes: {are_diverse}; \
                 {identities:?} identities, {} hashes (median)",
                hashes[hashes.len() / 2]
            );
        }
        // An attacker with one address and few identities is at most one keeper.
        assert!(eclipse(nodes, 1, true, WINDOW - 1, &mut random).is_none());
    }
}
