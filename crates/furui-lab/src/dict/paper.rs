//! Table 2 of the paper: a trie and its filter built one after the other or at once, when a buffer is frozen and when
//! tries are merged.

use std::hint::black_box;

use furui::dict::{LoudsTrie, Merged, Node, SortedKeys, Value, freeze};
use furui::filter::ConfigError;
use furui::hash::PolynomialHashes;

use super::dynamic::DynamicTrie;
use super::path_hash::{OneState, PathHash, build, build_concurrently, scan, scan_keys};
use super::words::Words;
use crate::clock::{median, thread_ns};

const ROUNDS: usize = 3;

/// What `work` costs, in seconds, and its result.
fn seconds<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = thread_ns();
    let result = work();
    ((thread_ns() - start) as f64 / 1e9, result)
}

/// One row: the medians of building the trie, of both second scans, and of building both at once.
fn row<H: PathHash>(what: &str, root: impl Node + Clone, keys: usize) {
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        let (of_trie, trie) = seconds(|| build(root.clone()));
        let (of_scan, by_scan) = seconds(|| scan::<H>(&trie));
        let (of_keys, by_keys) = seconds(|| scan_keys::<H>(&trie));
        drop(trie);
        let (of_both, (_, at_once)) = seconds(|| build_concurrently::<H>(root.clone(), keys));
        assert!(by_scan == at_once && by_keys == at_once, "the same filter either way");
        times.iter_mut().zip([of_trie, of_scan, of_keys, of_both]).for_each(|(times, time)| times.push(time));
    }
    let [trie, scan, by_key, both] = times.map(|mut times| median(&mut times));
    println!(
        "| {what} | {trie:.2} | {scan:.2} | {by_key:.2} | {both:.2} | {:.2} | {:.2} | {:.2} |",
        (both - trie) / both,
        both / (trie + scan),
        both / (trie + by_key),
    );
}

fn rows<N: Node + Clone>(what: &str, root: &N, keys: usize) {
    row::<PolynomialHashes<1>>(&format!("{what}, k = 1"), root.clone(), keys);
    row::<PolynomialHashes<2>>(&format!("{what}, k = 2"), root.clone(), keys);
    row::<PolynomialHashes<4>>(&format!("{what}, k = 4"), root.clone(), keys);
    row::<PolynomialHashes<8>>(&format!("{what}, k = 8"), root.clone(), keys);
    row::<OneState<4>>(&format!("{what}, k = 4 of one state"), root.clone(), keys);
    row::<OneState<8>>(&format!("{what}, k = 8 of one state"), root.clone(), keys);
}

/// Prints the table for these words.
pub(crate) fn run(words: &Words) -> Result<(), ConfigError> {
    let bytes: usize = words.iter().map(|(word, _)| word.len()).sum();
    println!("{} keys, {:.1} bytes on average; seconds\n", words.len(), bytes as f64 / words.len() as f64);
    println!(
        "| | trie | scan | scan by key | both at once | filter's share | of trie + scan | of trie + scan by key |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let numbered = || words.iter().map(|(word, _)| word.as_slice()).zip(0..);
    let mut buffer = DynamicTrie::new();
    numbered().for_each(|(word, number)| buffer.insert(word, number));
    rows("freeze a dynamic trie", &buffer.root(), words.len());
    drop(buffer);

    // Sorted keys lie one behind the other, as a buffer that is to be frozen would put them.
    let mut order: Vec<(&[u8], u32)> = numbered().collect();
    order.sort_unstable();
    let text: Vec<u8> = order.iter().flat_map(|(word, _)| *word).copied().collect();
    let mut rest = text.as_slice();
    let mut in_text: Vec<(&[u8], Value)> = Vec::with_capacity(order.len());
    for (word, number) in order {
        let (word, behind) = rest.split_at(word.len());
        in_text.push((word, Some(number)));
        rest = behind;
    }
    let sorted = |part: usize, parts: usize| -> Vec<_> {
        let is_in = |value: Value| value.is_some_and(|number| number as usize % parts == part);
        in_text.iter().filter(|(_, value)| is_in(*value)).copied().collect()
    };
    let entries = sorted(0, 1);
    let keys = SortedKeys::new(&entries)?;
    rows("freeze sorted keys", &keys.root(), words.len());
    let (time, frozen) = seconds(|| freeze(keys.root(), 0.01, 0));
    let bytes_each = frozen?.trie.bytes() as f64 / words.len() as f64;
    println!("| `freeze` at a rate of 1 % | | | | {time:.2} | | | |");

    for parts in [2, 4, 8] {
        let tries = (0..parts).map(|part| Ok(build(SortedKeys::new(&sorted(part, parts))?.root())));
        let tries = tries.collect::<Result<Vec<LoudsTrie>, ConfigError>>()?;
        let Some(root) = Merged::new(tries.iter().map(LoudsTrie::root)) else { continue };
        let what = format!("merge {parts} tries");
        if parts == 2 {
            rows(&what, &root, words.len());
        } else {
            row::<PolynomialHashes<4>>(&format!("{what}, k = 4"), root.clone(), words.len());
            row::<OneState<4>>(&format!("{what}, k = 4 of one state"), root.clone(), words.len());
        }
        let (time, frozen) = seconds(|| freeze(root, 0.01, 0));
        black_box(frozen?);
        println!("| {what}: `freeze` at a rate of 1 % | | | | {time:.2} | | | |");
        let (time, trie) = seconds(|| {
            let mut merged = DynamicTrie::new();
            tries.iter().for_each(|trie| merged.insert_all(trie.root()));
            build(merged.root())
        });
        let (of_scan, _) = seconds(|| scan::<PolynomialHashes<4>>(&trie));
        println!("| {what} through a dynamic trie, k = 4 | {time:.2} | {of_scan:.2} | | | | | |");
    }
    println!("\nThe trie takes {bytes_each:.2} bytes a key, 4 of them for the value.");
    Ok(())
}
