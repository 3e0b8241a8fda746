//! Times of rank1 and select0 on random bits, as many as the array BASE has in a trie of five million paths. Each query
//! depends on the answer to the previous query.

use std::hint::black_box;

use furui::raw::{Buffer, Rank1, Select0};

use crate::clock::{median, ns_each};
use crate::keys::mix;

const BITS: u64 = 124_800_000;
const QUESTIONS: u64 = 1_000_000;
const ROUNDS: usize = 9;

/// A name, and a function that measures the contender's rank1 and select0.
type Contender<'a> = (&'static str, Box<dyn Fn() -> [f64; 2] + 'a>);

/// The time of a query in nanoseconds. The arguments of the queries are random numbers below `limit`.
fn chain(limit: u64, ask: impl Fn(u64) -> u64) -> f64 {
    let mut last = 0;
    ns_each(QUESTIONS as usize, || {
        for i in 0..QUESTIONS {
            last = ask(((u128::from(mix(i ^ last)) * u128::from(limit)) >> 64) as u64);
        }
        black_box(last);
    })
}

/// Prints the times of both kinds of query.
pub(crate) fn run() {
    let words: Vec<u64> = (0..BITS / 64).map(mix).collect();
    let bytes = || Buffer::from(words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    let (ranks, zeros) = (Rank1::new(bytes(), BITS).expect("memory"), Select0::new(bytes(), BITS).expect("memory"));
    let share = |index: usize| 8.0 * index as f64 / BITS as f64;
    println!(
        "{BITS} bits; index of rank1 {:.4}, of select0 {:.4} of them",
        share(ranks.index().len()),
        share(zeros.index().map(<[u8]>::len).iter().sum()),
    );
    let measure = || {
        let select0 = chain(zeros.zeros(), |i| zeros.select0(i).unwrap_or(BITS));
        [chain(BITS, |i| ranks.rank1(i)), select0]
    };
    #[cfg(feature = "rivals")]
    let rivals = rivals::all(&words, zeros.zeros());
    #[cfg(not(feature = "rivals"))]
    let rivals = [];
    let ours: Contender<'_> = ("furui", Box::new(measure));
    let contenders: Vec<Contender<'_>> = std::iter::once(ours).chain(rivals).collect();
    let mut times = vec![[const { Vec::new() }; 2]; contenders.len()];
    for _ in 0..ROUNDS {
        for (times, (_, measure)) in times.iter_mut().zip(&contenders) {
            times.iter_mut().zip(measure()).for_each(|(times, time)| times.push(time));
        }
    }
    println!("| | rank1 ns | select0 ns |\n|---|---|---|");
    for ((name, _), times) in contenders.iter().zip(times) {
        let [rank1, select0] = times.map(|mut times| median(&mut times));
        println!("| {name} | {rank1:.1} | {select0:.1} |");
    }
}

#[cfg(feature = "rivals")]
mod rivals {
    use sucds::bit_vectors::{Rank, Rank9Sel, Select};
    use vers_vecs::{BitVec, RsVec};

    use super::*;

    pub(super) fn all(words: &[u64], zeros: u64) -> [Contender<'static>; 2] {
        let vers = RsVec::from_bit_vec(BitVec::from_limbs(words));
        let ask_vers = move || {
            let select0 = chain(zeros, |i| vers.select0(i as usize) as u64);
            [chain(BITS, |i| vers.rank1(i as usize) as u64), select0]
        };
        let bits = (0..BITS).map(|i| words[(i / 64) as usize] >> (i % 64) & 1 == 1);
        let sucds = Rank9Sel::from_bits(bits).select0_hints();
        let ask_sucds = move || {
            let select0 = chain(zeros, |i| sucds.select0(i as usize).map_or(BITS, |position| position as u64));
            [chain(BITS, |i| sucds.rank1(i as usize).map_or(0, |rank| rank as u64)), select0]
        };
        [("vers-vecs", Box::new(ask_vers)), ("sucds", Box::new(ask_sucds))]
    }
}
