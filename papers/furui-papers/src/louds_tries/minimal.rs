//! Tries of minimal prefixes, the future work of the paper of Koyanagi et al.: their size and time, compared with plain
//! LOUDS and with the compact trie.

use std::collections::HashSet;
use std::hint::black_box;

use furui::raw::Rolling;
use furui::raw::{Found, LoudsTrie, Merged, Skeleton, SortedKeys, Trie, Value};

use super::minimal_trie::MinimalTrie;
use super::path_hash::build;
use super::scale;
use super::words::WordList;
use crate::clock::{self, median, ns_each};
use crate::keys::mix;
use crate::report::{Cell, Context, Finding, Grade, Result, Table, Verdict, brief};

const ROUNDS: usize = 5;
const BUILDS: usize = 3;
const TRIES: [&str; 3] = ["plain LOUDS", "minimal prefixes", "compact"];
const KEYS: [&str; 2] = ["lemmas", "paths"];

/// For each of the three tries, its CPU times in nanoseconds a key.
type Times = [Vec<f64>; 3];

pub(super) fn run(context: &Context) -> Result<Finding> {
    let count = scale(context, 1_000_000, 200_000, 400);
    let title = format!("A frozen trie; CPU time, medians of {ROUNDS} rounds ({BUILDS} for building and merging)");
    let columns = "keys|trie|nodes a key|bytes a key|without the values|build ns a key|merge ns a key|hit ns|miss ns";
    let mut tries = Table::new("minimal", title, columns.split('|'));
    let columns = "keys|keys with a rest %|rests|distinct rests|ends of rests";
    let mut tail = Table::new("minimal-tail", "TAIL, in bytes a key of the trie".into(), columns.split('|'));
    let bar = context.bar(2, "tries");
    let mut data = String::new();
    for (name, corpus) in KEYS.into_iter().zip([WordList::lemmas, WordList::paths]) {
        let corpus = corpus(context, count)?;
        measure(name, &corpus, context, &mut tries, &mut tail)?;
        data += &format!("{} ", corpus.data);
        bar.inc(1);
    }
    let verdict = verdict(&tries, &tail);
    let data = data + "A tenth of each is left out of the tries, for look-ups that miss.";
    Ok(Finding::new(data, verdict, [tries, tail], []))
}

/// Three tries that hold the same keys.
struct Three(LoudsTrie, MinimalTrie, Trie);

impl Three {
    fn build(sorted: &[(&[u8], Value)], times: &mut Times) -> Result<Self> {
        let (keys, count) = (SortedKeys::new(sorted)?, sorted.len());
        let louds = timed(count, &mut times[0], || build(keys.root()));
        let minimal = timed(count, &mut times[1], || MinimalTrie::build(keys.root()));
        let encode = || Trie::encode(&Skeleton::from_sorted(sorted.iter().copied())?);
        Ok(Self(louds, minimal, timed(count, &mut times[2], encode)?))
    }

    fn merge(&self, other: &Self, times: &mut Times) -> Result<Self> {
        let count = (self.0.keys() + other.0.keys()) as usize;
        let louds = timed(count, &mut times[0], || Merged::new([&self.0, &other.0].map(LoudsTrie::root)).map(build));
        let minimal = timed(count, &mut times[1], || {
            Merged::new([&self.1, &other.1].map(MinimalTrie::root)).map(MinimalTrie::build)
        });
        let merge = || Trie::merge(&[&self.2, &other.2], &Rolling::new(0), false, |_| {});
        Ok(Self(louds.ok_or("no trie")?, minimal.ok_or("no trie")?, timed(count, &mut times[2], merge)?))
    }

    /// Checks that all tries have every key and none of `misses`.
    fn check(&self, keys: &[&[u8]], misses: &[&[u8]]) {
        let get = |key| (self.0.get(key), self.1.get(key), self.2.get(key));
        for (&key, value) in keys.iter().zip(0..) {
            assert_eq!(get(key), (Some(Some(value)), Some(Some(value)), Some(Found::Value(value))));
        }
        assert!(misses.iter().all(|key| get(key) == (None, None, None)), "no key that was not put in");
    }
}

fn timed<R>(items: usize, times: &mut Vec<f64>, work: impl FnOnce() -> R) -> R {
    let (time, result) = clock::timed(items, work);
    times.push(time);
    result
}

fn measure(name: &str, corpus: &WordList, context: &Context, tries: &mut Table, tail: &mut Table) -> Result<()> {
    let words: Vec<&[u8]> = corpus.words.iter().map(|(word, _)| word.as_slice()).collect();
    let (misses, keys) = words.split_at(words.len() / 10);
    let mut sorted: Vec<(&[u8], Value)> = keys.iter().zip(0..).map(|(&key, value)| (key, Some(value))).collect();
    sorted.sort_unstable();
    let [mut builds, mut merges, mut hits, mut missed, mut unused] = <[Times; 5]>::default();
    let (even, odd): (Vec<_>, Vec<_>) =
        sorted.iter().copied().partition(|(_, value)| value.is_some_and(|v| v % 2 == 0));
    let halves = [Three::build(&even, &mut unused)?, Three::build(&odd, &mut unused)?];
    for round in 0..BUILDS {
        let merged = halves[0].merge(&halves[1], &mut merges)?;
        if round == 0 {
            merged.check(keys, misses);
        }
        drop(merged);
        Three::build(&sorted, &mut builds)?;
    }
    drop(halves);
    let three = Three::build(&sorted, &mut unused)?;
    three.check(keys, misses);
    for round in 0..ROUNDS {
        for (list, times) in [(keys, &mut hits), (misses, &mut missed)] {
            let pick = |i| list[(mix((round << 32 | i) as u64 ^ context.seed << 40) % list.len() as u64) as usize];
            let queries: Vec<&[u8]> = (0..context.size(50_000, 500)).map(pick).collect();
            let count = queries.len();
            times[0].push(ns_each(count, || queries.iter().for_each(|query| _ = black_box(three.0.get(query)))));
            times[1].push(ns_each(count, || queries.iter().for_each(|query| _ = black_box(three.1.get(query)))));
            times[2].push(ns_each(count, || queries.iter().for_each(|query| _ = black_box(three.2.get(query)))));
        }
    }
    let Three(louds, minimal, compact) = &three;
    let packed = compact.sizes().iter().filter(|(part, _)| *part == "values").map(|(_, bytes)| bytes).sum::<u64>();
    let sizes = [
        (louds.nodes(), louds.bytes(), 4 * louds.keys()),
        (minimal.prefixes().nodes(), minimal.bytes(), 4 * louds.keys()),
        (compact.nodes(), compact.bytes(), packed),
    ];
    let each = |count: u64| count as f64 / keys.len() as f64;
    for (i, (nodes, bytes, values)) in sizes.into_iter().enumerate() {
        let sizes = [nodes, bytes as u64, bytes as u64 - values].map(each);
        let times = [&mut builds[i], &mut merges[i], &mut hits[i], &mut missed[i]].map(|times| median(times));
        tries.push([name.into(), TRIES[i].into()].into_iter().chain(sizes.into_iter().chain(times).map(Cell::from)));
    }
    let bytes = |rests: &mut dyn Iterator<Item = &[u8]>| rests.map(|rest| rest.len() as u64).sum::<u64>();
    let with_rest = 100 * minimal.rests().filter(|rest| !rest.is_empty()).count() as u64;
    let distinct = bytes(&mut minimal.rests().collect::<HashSet<_>>().into_iter());
    let of_tail = [with_rest, bytes(&mut minimal.rests()), distinct, minimal.bytes_of_ends() as u64];
    tail.push([name.into()].into_iter().chain(of_tail.map(each).map(Cell::from)));
    Ok(())
}

fn verdict(tries: &Table, tail: &Table) -> Verdict {
    let both = |text: &dyn Fn(&str) -> f64| KEYS.map(|keys| brief(text(keys))).join(" and ");
    let of = |keys: &str, trie: &str, column| tries.number(column, &[("keys", keys.into()), ("trie", trie.into())]);
    let of_tail = |column| both(&|keys| tail.number(column, &[("keys", keys.into())]));
    let share = |keys: &str, trie, column| of(keys, TRIES[1], column) / of(keys, trie, column);
    let shares = |trie| {
        let columns = ["bytes a key", "build ns a key", "merge ns a key", "hit ns", "miss ns"];
        let [bytes, build, merge, hit, miss] = columns.map(|column| both(&|keys| share(keys, trie, column)));
        format!(
            "{bytes} of the bytes, {build} of the time to build, {merge} to merge, {hit} of a hit and {miss} of a miss"
        )
    };
    let is_better = |keys: &&str| ["bytes a key", "hit ns"].iter().all(|column| share(keys, TRIES[2], column) < 1.0);
    let better: Vec<&str> = KEYS.into_iter().filter(is_better).collect();
    let pays = if better.is_empty() {
        "They would not pay as a layout: on no data are they smaller and faster to look up than the compact trie."
            .into()
    } else {
        format!("They are smaller and faster to look up than the compact trie on {}.", better.join(" and "))
    };
    let text = format!(
        "The walk that builds and merges LOUDS tries also builds minimal tries, over virtual nodes that have no child \
         if only one key is below. Compared with plain LOUDS, on lemmas and on paths, minimal tries take {}. Compared \
         with the compact trie: {}. The rests take {} bytes a key ({} if equal ones were stored once) and their ends \
         {}; all of the compact trie without its values takes {}. {pays}",
        shares(TRIES[0]),
        shares(TRIES[2]),
        of_tail("rests"),
        of_tail("distinct rests"),
        of_tail("ends of rests"),
        both(&|keys| of(keys, TRIES[2], "without the values")),
    );
    Verdict::new(Grade::Reproduced, text)
}
