//! Table 3 of the paper: a dictionary that grows with a stream. Each word is looked up, and put in if it is unknown.

use furui::dict::{LoudsTrie, Merged, Node};
use furui::hash::PolynomialHashes;

use super::dynamic::DynamicTrie;
use super::path_hash::{PathHash, build, build_concurrently, scan};
use super::words::{Words, stream};
use crate::clock::{median, thread_ns};

/// The paper's: four hashes.
type Hash = PolynomialHashes<4>;

const ROUNDS: usize = 3;

/// How many words of the stream there are for one that is distinct: 97.44 % are known.
const OCCURRENCES: usize = 39;

/// How many buffers are frozen in all. With so many, building takes about the paper's share of the time (41 % with one trie
/// and the filters by a second scan).
const WINDOWS: usize = 52;

/// A buffer, and the frozen tries with their filters, oldest first.
struct Online {
    buffer: DynamicTrie,
    frozen: Vec<(LoudsTrie, <Hash as PathHash>::Filter)>,
    window: usize,
    max_tries: usize,
    /// Whether the filters are built with the tries, or by a second scan.
    concurrent: bool,
    build_ns: u64,
}

impl Online {
    fn new(window: usize, max_tries: usize, concurrent: bool) -> Self {
        Self { buffer: DynamicTrie::new(), frozen: Vec::new(), window, max_tries, concurrent, build_ns: 0 }
    }

    fn get(&self, word: &[u8]) -> Option<u32> {
        self.buffer.get(word).or_else(|| {
            let hash = Hash::of(word);
            self.frozen
                .iter()
                .rev()
                .filter(|(_, filter)| hash.is_in(filter))
                .find_map(|(trie, _)| trie.get(word).flatten())
        })
    }

    fn put(&mut self, word: &[u8], number: u32) {
        self.buffer.insert(word, number);
        if self.buffer.keys() == self.window {
            let start = thread_ns();
            let buffer = std::mem::replace(&mut self.buffer, DynamicTrie::new());
            self.frozen.push(self.build(buffer.root(), buffer.keys()));
            if self.frozen.len() > self.max_tries {
                let keys = self.frozen.iter().map(|(trie, _)| trie.keys() as usize).sum();
                let root = Merged::new(self.frozen.iter().rev().map(|(trie, _)| trie.root()));
                self.frozen = root.map(|root| self.build(root, keys)).into_iter().collect();
            }
            self.build_ns += thread_ns() - start;
        }
    }

    fn build(&self, root: impl Node, keys: usize) -> (LoudsTrie, <Hash as PathHash>::Filter) {
        if self.concurrent {
            return build_concurrently::<Hash>(root, keys);
        }
        let trie = build(root);
        let filter = scan::<Hash>(&trie);
        (trie, filter)
    }
}

/// Looks up every word of the stream and puts in the unknown ones; the number of distinct words.
fn number(words: &Words, stream: &[u32], mut get: impl FnMut(&[u8], u32) -> u32) -> u32 {
    let mut known = 0;
    for &index in stream {
        known = known.max(get(&words[index as usize].0, known) + 1);
    }
    known
}

/// The seconds of all queries, of all building, and the number of distinct words.
fn measure(words: &Words, stream: &[u32], max_tries: usize, concurrent: bool) -> ([f64; 2], u32) {
    let mut dictionary = Online::new(words.len() / WINDOWS, max_tries, concurrent);
    let start = thread_ns();
    let distinct = number(words, stream, |word, next| {
        dictionary.get(word).unwrap_or_else(|| {
            dictionary.put(word, next);
            next
        })
    });
    let all = thread_ns() - start;
    ([all - dictionary.build_ns, dictionary.build_ns].map(|ns| ns as f64 / 1e9), distinct)
}

/// Prints the table for a stream of these words.
pub(crate) fn run(words: &Words) {
    let occurrences = stream(words, words.len() * OCCURRENCES);
    println!("| tries | sequential: query | build | all | concurrent: query | build | all | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut distinct = 0;
    for max_tries in [1, 3, 5, 7] {
        let mut times = [const { [const { Vec::new() }; 3] }; 2];
        for _ in 0..ROUNDS {
            for concurrent in [false, true] {
                let ([query, build], met) = measure(words, &occurrences, max_tries, concurrent);
                let of = &mut times[usize::from(concurrent)];
                of.iter_mut().zip([query, build, query + build]).for_each(|(times, time)| times.push(time));
                distinct = met;
            }
        }
        let [sequential, concurrent] = times.map(|of| of.map(|mut times| median(&mut times)));
        let cells = |[query, build, all]: [f64; 3]| format!("{query:.2} | {build:.2} | {all:.2}");
        let ratio = concurrent[2] / sequential[2];
        println!("| {max_tries} | {} | {} | {ratio:.2} |", cells(sequential), cells(concurrent));
    }
    let share = 1.0 - f64::from(distinct) / occurrences.len() as f64;
    println!(
        "\n{} occurrences of {distinct} words: {:.2} % are known; buffers of {} words",
        occurrences.len(),
        100.0 * share,
        words.len() / WINDOWS,
    );
    #[cfg(feature = "rivals")]
    rebuilt::run(words);
}

/// What users of an immutable trie do: build it anew at every window.
#[cfg(feature = "rivals")]
mod rebuilt {
    use std::collections::HashMap;

    use super::*;

    /// trie-rs is so slow that the experiment is repeated with this share of the words.
    const SHARE: usize = 8;

    pub(super) fn run(words: &Words) {
        let words: Words = words.iter().take(words.len() / SHARE).cloned().collect();
        let occurrences = stream(&words, words.len() * OCCURRENCES);
        let ([query, build], distinct) = measure(&words, &occurrences, 1, true);
        let window = words.len() / WINDOWS;
        let mut all: Vec<(&[u8], u32)> = vec![];
        let mut trie = None;
        let mut buffer: HashMap<&[u8], u32> = HashMap::new();
        let start = thread_ns();
        let mut known = 0;
        for &index in &occurrences {
            let word = words[index as usize].0.as_slice();
            let in_trie = |trie: &trie_rs::map::Trie<u8, u32>| trie.exact_match(word).is_some();
            if buffer.contains_key(word) || trie.as_ref().is_some_and(in_trie) {
                continue;
            }
            buffer.insert(word, known);
            known += 1;
            if buffer.len() == window {
                all.extend(buffer.drain());
                let mut builder = trie_rs::map::TrieBuilder::new();
                all.iter().for_each(|&(word, number)| builder.push(word, number));
                trie = Some(builder.build());
            }
        }
        let theirs = (thread_ns() - start) as f64 / 1e9;
        assert_eq!(known, distinct);
        let ours = query + build;
        println!(
            "{} occurrences of {distinct} words, one trie: {ours:.2} s; trie-rs rebuilt at the same windows {theirs:.2} s, \
             {:.1} times as long",
            occurrences.len(),
            theirs / ours,
        );
    }
}
