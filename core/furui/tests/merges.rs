//! The k-way merge compared with the union of sets.

use std::collections::BTreeSet;

use furui::Result;
use furui::raw::{MERGE_WINDOW, Merge, SortedSource};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// A source that returns its keys in small pieces.
struct Pieces {
    keys: Vec<u64>,
    start: usize,
    piece: usize,
}

impl SortedSource for Pieces {
    fn fill(&mut self) -> Result<&[u64]> {
        let end = self.keys.len().min(self.start + self.piece);
        Ok(&self.keys[self.start..end])
    }

    fn consume(&mut self, count: usize) {
        assert!(count <= self.piece, "no more is consumed than was returned");
        self.start += count;
    }
}

/// Strategy for sets: from small domains, so that sources share keys, and from large ones, with the smallest and
/// largest keys.
fn source() -> impl Strategy<Value = BTreeSet<u64>> {
    prop_oneof![
        btree_set(0..300u64, 0..200),
        btree_set(any::<u64>(), 0..300),
        btree_set(u64::MAX - 50..=u64::MAX, 0..50),
        Just(BTreeSet::new()),
        Just(BTreeSet::from([0, 1, u64::MAX])),
    ]
}

fn all_keys(mut merge: Merge<impl SortedSource>) -> Vec<u64> {
    let mut all = vec![];
    loop {
        let keys = merge.next_keys().unwrap();
        if keys.is_empty() {
            assert!(merge.next_keys().unwrap().is_empty(), "a source that has ended stays at its end");
            return all;
        }
        all.extend_from_slice(keys);
    }
}

fn union(sources: &[BTreeSet<u64>]) -> Vec<u64> {
    sources.iter().flatten().copied().collect::<BTreeSet<u64>>().into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn a_merge_is_the_sorted_union(sources in vec((source(), 1..200usize), 0..10)) {
        let pieces = sources
            .iter()
            .map(|(keys, piece)| Pieces { keys: keys.iter().copied().collect(), start: 0, piece: *piece });
        let sets: Vec<BTreeSet<u64>> = sources.iter().map(|(keys, _)| keys.clone()).collect();
        prop_assert_eq!(all_keys(Merge::new(pieces.collect())), union(&sets));
    }
}

#[test]
fn sources_longer_than_a_window_pass_in_rounds() {
    for ways in 1..=9u64 {
        // Source w has the multiples of w, so that lengths differ and many keys are shared.
        let sources: Vec<BTreeSet<u64>> = (1..=ways)
            .map(|w| (0..4 * MERGE_WINDOW as u64).step_by(w as usize).map(|key| key << 40).collect())
            .collect();
        let slices: Vec<Vec<u64>> = sources.iter().map(|keys| keys.iter().copied().collect()).collect();
        assert_eq!(all_keys(Merge::new(slices.iter().map(|keys| &keys[..]).collect())), union(&sources));
    }
}

#[test]
fn sources_of_different_kinds_merge_behind_a_box() {
    let slice: &[u64] = &[1, 3, 5];
    let sources: Vec<Box<dyn SortedSource>> =
        vec![Box::new(slice), Box::new(Pieces { keys: vec![2, 3, 4], start: 0, piece: 1 })];
    assert_eq!(all_keys(Merge::new(sources)), [1, 2, 3, 4, 5]);
}

#[test]
fn an_error_of_a_source_is_the_error_of_the_merge() {
    struct Broken;
    impl SortedSource for Broken {
        fn fill(&mut self) -> Result<&[u64]> {
            Err(furui::Error::NoNumberLeft { to: "this test" })
        }
        fn consume(&mut self, _: usize) {}
    }
    let error = Merge::new(vec![Broken]).next_keys().unwrap_err();
    assert!(matches!(error, furui::Error::NoNumberLeft { to: "this test" }), "{error}");
}
