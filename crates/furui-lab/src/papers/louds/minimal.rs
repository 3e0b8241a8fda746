//! Tries of minimal prefixes, the future work of the paper: their size and time, compared with plain LOUDS and with the
//! compact trie.

use std::collections::HashSet;
use std::hint::black_box;

use furui::dict::{Found, LoudsTrie, Merged, Skeleton, SortedKeys, Trie, Value};
use furui::hash::Rolling;

use super::minimal_trie::MinimalTrie;
use super::path_hash::build;
use super::scale;
use super::words::Corpus;
use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::papers::{Context, Finding, Grade, Result, Verdict, brief};
use crate::table::{Cell, Table};

const ROUNDS: usize = 5;

const LOUDS: &str = "plain LOUDS";
const MINIMAL: &str = "minimal prefixes";
const COMPACT: &str = "compact";
const TRIES: [&str; 3] = [LOUDS, MINIMAL, COMPACT];

const KEYS: [&str; 3] = ["lemmas", "phrases", "paths"];

pub(super) fn run(context: &Context) -> Result<Finding> {
    let count = scale(context, 1_000_000, 200_000, 400);
    let bar = context.bar(3, "tries");
    let mut tries = Table::new(
        "minimal",
        format!("A frozen trie; CPU time, medians of {ROUNDS} rounds (building and merging: of 3)"),
        [
            "keys",
            "trie",
            "nodes a key",
            "bytes a key",
            "without the values",
            "build ns a key",
            "merge ns a key",
            "hit ns",
            "miss ns",
        ],
    );
    let mut tail = Table::new(
        "minimal-tail",
        "TAIL, in bytes a key of the trie".into(),
        ["keys", "keys with a rest %", "rests", "of these distinct", "ends in unary", "ends as offsets"],
    );
    let corpora = [Corpus::lemmas(context, count)?, Corpus::phrases(context, count)?, Corpus::paths(context, count)?];
    let mut data = vec![];
    for (name, corpus) in KEYS.into_iter().zip(corpora) {
        measure(name, &corpus, context, &mut tries, &mut tail)?;
        data.push(corpus.data);
        bar.inc(1);
    }
    let data = format!("{} Every tenth of them is left out, for misses.", data.join(" "));
    let verdict = verdict(&tries, &tail);
    let notes = vec![
        "All hold a 32-bit number for each key: the compact trie in as many bits as the largest number needs, the others \
         in four bytes. All are built from sorted keys, and merged of two tries of their kind with half of the keys each: the \
         first two by the same walk over virtual nodes, the compact one by its own, which also hashes the keys. The \
         merged trie of minimal prefixes is compared with that of sorted keys."
            .into(),
        "Rests are written one after the other, without marks, so that they may have any bytes. Their ends are a bit string \
         with the length of each rest in unary, with an index for `select0`. Offsets of 32 bits instead would take four bytes for \
         each key and save two selects of a hit; they would also allow rests that are equal, or the end of others, to be \
         stored once: \"of these distinct\" has the bytes if equal ones are."
            .into(),
    ];
    Ok(Finding { data, tables: vec![tries, tail], plots: vec![], verdict, notes })
}

type Entries<'a> = Vec<(&'a [u8], Value)>;

/// The three tries of equal keys.
struct Three {
    louds: LoudsTrie,
    minimal: MinimalTrie,
    compact: Trie,
}

impl Three {
    /// Builds them from sorted keys. The CPU time of each, in nanoseconds a key, goes to `times`.
    fn build(sorted: &Entries<'_>, times: &mut [Vec<f64>; 3]) -> Result<Self> {
        let keys = SortedKeys::new(sorted)?;
        let louds = timed(sorted.len(), &mut times[0], || build(keys.root()));
        let minimal = timed(sorted.len(), &mut times[1], || MinimalTrie::build(keys.root()));
        let compact =
            timed(sorted.len(), &mut times[2], || Trie::encode(&Skeleton::from_sorted(sorted.iter().copied())?))?;
        Ok(Self { louds, minimal, compact })
    }

    /// Merges each with that of `older`.
    fn merge(&self, older: &Self, times: &mut [Vec<f64>; 3]) -> Result<Self> {
        let count = (self.louds.keys() + older.louds.keys()) as usize;
        let none = || "no tries";
        let louds = timed(count, &mut times[0], || Merged::new([self.louds.root(), older.louds.root()]).map(build));
        let minimal = timed(count, &mut times[1], || {
            Merged::new([self.minimal.root(), older.minimal.root()]).map(MinimalTrie::build)
        });
        let compact = timed(count, &mut times[2], || {
            Trie::merge(&[&self.compact, &older.compact], &Rolling::new(0), false, |_| {})
        })?;
        Ok(Self { louds: louds.ok_or_else(none)?, minimal: minimal.ok_or_else(none)?, compact })
    }

    /// Checks that all have every key and none of `misses`.
    fn check(&self, keys: &[&[u8]], misses: &[&[u8]]) {
        let get = |key| (self.louds.get(key), self.minimal.get(key), self.compact.get(key));
        for (&key, value) in keys.iter().zip(0..) {
            assert_eq!(get(key), (Some(Some(value)), Some(Some(value)), Some(Found::Value(value))));
        }
        assert!(misses.iter().all(|key| get(key) == (None, None, None)), "no key that was not put in");
    }
}

fn timed<R>(items: usize, times: &mut Vec<f64>, work: impl FnOnce() -> R) -> R {
    let (seconds, result) = crate::clock::seconds(work);
    times.push(1e9 * seconds / items as f64);
    result
}

fn measure(name: &str, corpus: &Corpus, context: &Context, tries: &mut Table, tail: &mut Table) -> Result<()> {
    let words: Vec<&[u8]> = corpus.words.iter().map(|(word, _)| word.as_slice()).collect();
    let (misses, keys) = words.split_at(words.len() / 10);
    let mut sorted: Entries<'_> = keys.iter().zip(0..).map(|(&key, value)| (key, Some(value))).collect();
    sorted.sort_unstable();
    let halves: [Entries<'_>; 2] = [0, 1].map(|half| {
        let of_half = sorted.iter().filter(|(_, value)| value.is_some_and(|value| value % 2 == half));
        of_half.copied().collect()
    });
    let (mut builds, mut merges, mut unused) =
        (<[Vec<f64>; 3]>::default(), <[Vec<f64>; 3]>::default(), Default::default());
    let newer = Three::build(&halves[0], &mut unused)?;
    let older = Three::build(&halves[1], &mut unused)?;
    for _ in 0..2 {
        Three::build(&sorted, &mut builds)?;
        newer.merge(&older, &mut merges)?;
    }
    let merged = newer.merge(&older, &mut merges)?;
    merged.check(keys, misses);
    drop((newer, older));
    let three = Three::build(&sorted, &mut builds)?;
    three.check(keys, misses);
    assert!(three.minimal.rests().eq(merged.minimal.rests()) && three.minimal.bytes() == merged.minimal.bytes());
    drop(merged);

    let lookups = context.size(100_000, 500);
    let mut times: [[Vec<f64>; 3]; 2] = Default::default();
    for round in 0..ROUNDS {
        let pick = |list: &[&'_ [u8]], i: usize| {
            (mix((round * lookups + i) as u64 ^ context.seed << 40) % list.len() as u64) as usize
        };
        let hits: Vec<&[u8]> = (0..lookups).map(|i| keys[pick(keys, i)]).collect();
        let missed: Vec<&[u8]> = (0..lookups).map(|i| misses[pick(misses, i)]).collect();
        for (times, queries) in times.iter_mut().zip([hits, missed]) {
            let count = queries.len();
            times[0].push(ns_each(count, || queries.iter().for_each(|query| _ = black_box(three.louds.get(query)))));
            times[1].push(ns_each(count, || queries.iter().for_each(|query| _ = black_box(three.minimal.get(query)))));
            times[2].push(ns_each(count, || queries.iter().for_each(|query| _ = black_box(three.compact.get(query)))));
        }
    }
    let [hits, missed] = times;
    let values =
        three.compact.sizes().iter().filter(|(part, _)| *part == "values").map(|(_, bytes)| bytes).sum::<u64>();
    let nodes = [three.louds.nodes(), three.minimal.prefixes().nodes(), three.compact.nodes()];
    let bytes = [three.louds.bytes(), three.minimal.bytes(), three.compact.bytes()].map(|bytes| bytes as u64);
    let values = [three.louds.values().len() as u64, three.minimal.prefixes().values().len() as u64, values];
    let each = |count: u64| count as f64 / keys.len() as f64;
    for i in 0..3 {
        let times = [&builds, &merges, &hits, &missed].map(|times| median(&mut times[i].clone()));
        let sizes = [nodes[i], bytes[i], bytes[i] - values[i]].map(each);
        tries.push([name.into(), TRIES[i].into()].into_iter().chain(sizes.into_iter().chain(times).map(Cell::from)));
    }
    let rests: Vec<&[u8]> = three.minimal.rests().collect();
    let distinct: HashSet<&[u8]> = rests.iter().copied().collect();
    let length = |rests: &mut dyn Iterator<Item = &&[u8]>| rests.map(|rest| rest.len() as u64).sum::<u64>();
    let with_rest = rests.iter().filter(|rest| !rest.is_empty()).count() as u64;
    let of_tail = [
        100.0 * each(with_rest),
        each(length(&mut rests.iter())),
        each(length(&mut distinct.iter())),
        each(three.minimal.bytes_of_ends() as u64),
        4.0,
    ];
    tail.push([name.into()].into_iter().chain(of_tail.map(Cell::from)));
    Ok(())
}

/// A column of the tries of minimal prefixes divided by that of another trie, for the keys of a name.
fn share(table: &Table, keys: &str, other: &str, column: &str) -> f64 {
    let of = |trie: &str| table.number(column, &[("keys", keys.into()), ("trie", trie.into())]);
    of(MINIMAL) / of(other)
}

fn verdict(tries: &Table, tail: &Table) -> Verdict {
    let list = |texts: [String; 3]| texts.join(", ");
    let shares = |other: &str| {
        let of = |column: &str| list(KEYS.map(|keys| brief(share(tries, keys, other, column))));
        format!(
            "{} of the bytes, {} of the time to build, {} to merge, {} of a hit and {} of a miss",
            of("bytes a key"),
            of("build ns a key"),
            of("merge ns a key"),
            of("hit ns"),
            of("miss ns"),
        )
    };
    let of_tail = |column: &str| list(KEYS.map(|keys| brief(tail.number(column, &[("keys", keys.into())]))));
    let better: Vec<&str> = KEYS
        .into_iter()
        .filter(|keys| ["bytes a key", "hit ns"].iter().all(|column| share(tries, keys, COMPACT, column) < 1.0))
        .collect();
    let pays = match better.len() {
        0 => "They would not pay as a layout: on no keys are they smaller and faster to look up than the compact trie."
            .into(),
        3 => "They would pay as a layout: on all keys they are smaller and faster to look up than the compact trie."
            .into(),
        _ => format!("They are smaller and faster to look up than the compact trie on {} only.", better.join(" and ")),
    };
    let text = format!(
        "The walk that builds and merges LOUDS tries builds them too, over virtual nodes that have no child where only one key is \
         below. Compared with plain LOUDS, on lemmas, phrases and paths, they take {}. Compared with the compact trie: {}. The \
         rests take {} bytes a key, and their ends {}. {pays}",
        shares(LOUDS),
        shares(COMPACT),
        of_tail("rests"),
        of_tail("ends in unary"),
    );
    Verdict::new(Grade::Reproduced, text)
}
