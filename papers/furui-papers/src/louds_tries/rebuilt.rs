//! Measures what users of an immutable trie have to do: they build the trie anew whenever a window of new words is
//! full.

use std::collections::HashMap;

use super::online::{FilterBuild, Online};
use crate::clock::thread_ns;

/// Compares the crate trie-rs, whose trie is built anew for each window, with a dictionary of one trie, for a stream of
/// indices of words.
pub(super) fn run(words: &[(Vec<u8>, f64)], stream: &[u32], window: usize) -> String {
    let ours = Online::measure(words, stream, window, 1);
    let mut all: Vec<(&[u8], u32)> = vec![];
    let mut trie = None;
    let mut buffer: HashMap<&[u8], u32> = HashMap::new();
    let start = thread_ns();
    let mut known = 0;
    for &index in stream {
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
    assert_eq!(known, ours.distinct, "each word is new once");
    format!(
        "A trie that cannot be merged has to be built anew: trie-rs 0.4 with windows of {window} words and a hash map as the buffer \
         takes {:.1} times as long as one LOUDS trie with its filter, built at once ({} look-ups of {known} words).",
        theirs / ours.all(FilterBuild::AtOnce),
        stream.len(),
    )
}
