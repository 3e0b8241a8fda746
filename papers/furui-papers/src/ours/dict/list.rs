//! The whole dictionary in memory: the time of inserting a key, including all freezing and merging, and of looking a
//! key up (hits and misses), depending on the number of tries. The keys that are looked up lie side by side in memory,
//! as if they were read from a stream. It would take longer to load keys from random places of a large text than to
//! query a filter.

use std::hint::black_box;

use furui::dict::{Dict, DictOptions, FilterHash, Layout, Merging};
use furui::store::Memory;

use super::{copied, shuffled};
use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::report::Result;

const KEYS: usize = 3_500_000;
/// The number of windows (write buffers) into which the inserted keys are divided. The last two become one trie.
const WINDOWS: usize = 8;
const LOOKUPS: usize = 200_000;
const ROUNDS: usize = 9;

pub(crate) fn run(file: &str, keys: Option<&str>) -> Result<()> {
    let wanted: usize = keys.map_or(Ok(KEYS), str::parse)?;
    let window = wanted.div_ceil(WINDOWS);
    let text = std::fs::read(file)?;
    let lines = shuffled(&text);
    let (keys, misses) = lines.split_at(wanted.min(lines.len() / 10 * 9));
    let mut room = vec![];
    let misses = copied(&misses[..LOOKUPS.min(misses.len())], &mut room);
    println!(
        "{} keys, windows of {window}; times in ns a key. Look-ups: the median of {ROUNDS} rounds, and the median of \
         the ratios to one trie in the same round",
        keys.len()
    );
    println!(
        "tries at most   put   tries   bytes a key   with filters   hit   miss   hit, batched   miss, batched   as ratios to one trie"
    );
    let mut built = vec![];
    let usual = DictOptions { window, ..DictOptions::default() };
    let louds = DictOptions { layout: Some(Layout::Louds), ..usual };
    let paper = DictOptions { filter_hash: Some(FilterHash::Polynomials4), ..louds };
    for options in [
        DictOptions { merge_after: 1, merging: Merging::All, ..usual },
        DictOptions { merge_after: 8, merging: Merging::All, ..usual },
        DictOptions { merge_after: 8, ..usual },
        DictOptions { merge_after: 1, merging: Merging::All, ..louds },
        DictOptions { merge_after: 8, merging: Merging::All, ..louds },
        DictOptions { merge_after: 8, ..louds },
        DictOptions { merge_after: 8, merging: Merging::All, ..paper },
    ] {
        let mut dict = Dict::open_with(Memory::new(), options)?;
        let mut outcome = Ok(());
        let put = ns_each(keys.len(), || {
            let mut entries = keys.iter().zip(0..);
            outcome = entries.try_for_each(|(key, value)| dict.put(key, value)).and_then(|()| dict.sync());
        });
        outcome?;
        built.push((options, put, dict, Times::default()));
    }
    for round in 0..ROUNDS {
        let hits: Vec<&[u8]> =
            (0..LOOKUPS).map(|i| keys[(mix((round * LOOKUPS + i) as u64) % keys.len() as u64) as usize]).collect();
        let mut room = vec![];
        let hits = copied(&hits, &mut room);
        for (.., dict, times) in &mut built {
            let of_round =
                [one_by_one(dict, &hits), one_by_one(dict, &misses), batched(dict, &hits), batched(dict, &misses)];
            times.0.iter_mut().zip(of_round).for_each(|(times, time)| times.push(time));
        }
    }
    let of_one = built[0].3.clone();
    for (options, put, dict, times) in &built {
        let bytes: u64 = dict.tries().map(|trie| trie.trie_bytes() as u64).sum();
        let stored: u64 = dict.tries().map(|trie| trie.entry().seal.length).sum();
        let [hit, miss, hits, misses] = times.0.each_ref().map(|times| median(&mut times.clone()));
        let ratios: [f64; 4] = std::array::from_fn(|i| {
            let ratios = times.0[i].iter().zip(&of_one.0[i]).map(|(time, of_one)| time / of_one);
            median(&mut ratios.collect::<Vec<_>>())
        });
        println!(
            "{} {} {} {:?}  {put:8.0} {:5} {:11.2} {:11.2} {hit:8.0} {miss:6.0} {hits:10.0} {misses:12.0}   {ratios:.2?}",
            dict.layout(),
            dict.filter_hash(),
            options.merge_after,
            options.merging,
            dict.tries().count(),
            bytes as f64 / keys.len() as f64,
            stored as f64 / keys.len() as f64,
        );
    }
    Ok(())
}

/// The times of look-ups in each round, in nanoseconds a key: of hits and of misses one by one, then of hits and of
/// misses in batches.
#[derive(Clone, Default)]
struct Times([Vec<f64>; 4]);

fn one_by_one(dict: &Dict<Memory>, keys: &[&[u8]]) -> f64 {
    ns_each(keys.len(), || {
        for key in keys {
            black_box(dict.get(key)).expect("a dictionary in memory is whole");
        }
    })
}

fn batched(dict: &Dict<Memory>, keys: &[&[u8]]) -> f64 {
    let mut values = vec![];
    ns_each(keys.len(), || {
        for batch in keys.chunks(4096) {
            dict.get_all(batch, &mut values).expect("a dictionary in memory is whole");
            black_box(&values);
        }
    })
}
