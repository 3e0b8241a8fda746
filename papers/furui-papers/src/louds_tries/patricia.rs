//! The compact trie, which merges paths of single children into one node and shares labels, compared with the plain
//! LOUDS of Koyanagi et al.

use std::hint::black_box;

use furui::raw::{Found, LoudsTrie, Skeleton, SortedKeys, Trie, Value};

use super::path_hash::build;
use super::words::WordList;
use crate::clock::{median, ns_each, seconds};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};

const ROUNDS: usize = 5;
const BUILDS: usize = 3;

const LOUDS: &str = "plain LOUDS";
const COMPACT: &str = "compact";
const BATCHED: &str = "compact, in batches";

pub(super) fn run(context: &Context) -> Result<Finding> {
    let count = context.size(1_000_000, 400);
    let bar = context.bar(2, "tries");
    let mut table = Table::new(
        "patricia",
        format!("A frozen trie; CPU time, medians of {ROUNDS} rounds ({BUILDS} for building)"),
        ["keys", "trie", "nodes a key", "bytes a key", "of it the index", "build ns a key", "hit ns", "miss ns"],
    );
    let mut data = vec![];
    for (name, corpus) in [("phrases", WordList::phrases(context, count)?), ("paths", WordList::paths(context, count)?)]
    {
        measure(name, &corpus, context, &mut table)?;
        data.push(corpus.data);
        bar.inc(1);
    }
    let data = format!("{} A tenth of each is left out of the tries, for look-ups that miss.", data.join(" "));
    let (plots, verdict) = (vec![plot(&table)], verdict(&table));
    Ok(Finding::new(data, verdict, [table], plots))
}

fn measure(name: &str, corpus: &WordList, context: &Context, table: &mut Table) -> Result<()> {
    let words: Vec<&[u8]> = corpus.words.iter().map(|(word, _)| word.as_slice()).collect();
    let (misses, keys) = words.split_at(words.len() / 10);
    let mut sorted: Vec<(&[u8], Value)> = keys.iter().zip(0..).map(|(&key, value)| (key, Some(value))).collect();
    sorted.sort_unstable();
    let mut tries = None;
    let mut builds = [vec![], vec![]];
    for _ in 0..BUILDS {
        drop(tries.take());
        let (of_louds, louds) = seconds(|| SortedKeys::new(&sorted).map(|keys| build(keys.root())));
        let (of_compact, compact) = seconds(|| Trie::encode(&Skeleton::from_sorted(sorted.iter().copied())?));
        builds[0].push(1e9 * of_louds / keys.len() as f64);
        builds[1].push(1e9 * of_compact / keys.len() as f64);
        tries = Some((louds?, compact?));
    }
    drop(sorted);
    let (louds, compact) = tries.ok_or("no tries")?;
    check(&louds, &compact, keys, misses);

    let lookups = context.size(300_000, 500);
    let mut times: [[Vec<f64>; 3]; 2] = Default::default();
    let mut answers = vec![];
    for round in 0..ROUNDS {
        let pick = |list: &[&'_ [u8]], i: usize| {
            (mix((round * lookups + i) as u64 ^ context.seed << 40) % list.len() as u64) as usize
        };
        let hits: Vec<&[u8]> = (0..lookups).map(|i| keys[pick(keys, i)]).collect();
        let missed: Vec<&[u8]> = (0..lookups / 2).map(|i| misses[pick(misses, i)]).collect();
        for (times, queries) in times.iter_mut().zip([hits, missed]) {
            times[0].push(ns_each(queries.len(), || queries.iter().for_each(|query| _ = black_box(louds.get(query)))));
            times[1]
                .push(ns_each(queries.len(), || queries.iter().for_each(|query| _ = black_box(compact.get(query)))));
            times[2].push(ns_each(queries.len(), || compact.get_all(&queries, &mut answers)));
        }
    }
    let [hits, misses] = times.map(|of| of.map(|mut times| median(&mut times)));
    let builds = builds.map(|mut times| median(&mut times));
    let values = compact.sizes().iter().filter(|(part, _)| *part == "values").map(|(_, bytes)| bytes).sum::<u64>();
    let of_louds = (louds.nodes(), louds.bytes() as u64, louds.values().len() as u64, builds[0]);
    let of_compact = (compact.nodes(), compact.bytes() as u64, values, builds[1]);
    for (i, (trie, (nodes, bytes, values, build))) in
        [(LOUDS, of_louds), (COMPACT, of_compact), (BATCHED, of_compact)].into_iter().enumerate()
    {
        let each = |count: u64| count as f64 / keys.len() as f64;
        let cells = [each(nodes), each(bytes), each(bytes - values), build, hits[i], misses[i]].map(Cell::from);
        table.push([name.into(), trie.into()].into_iter().chain(cells));
    }
    Ok(())
}

/// Checks that both tries have every key of `keys` and none of `misses`.
fn check(louds: &LoudsTrie, compact: &Trie, keys: &[&[u8]], misses: &[&[u8]]) {
    for (&key, value) in keys.iter().zip(0..) {
        assert_eq!((louds.get(key), compact.get(key)), (Some(Some(value)), Some(Found::Value(value))));
    }
    assert!(
        misses.iter().all(|key| louds.get(key).is_none() && compact.get(key).is_none()),
        "no key that was not put in"
    );
}

const COLUMNS: [&str; 5] = ["bytes a key", "of it the index", "build ns a key", "hit ns", "miss ns"];

/// The number of the compact trie in a column of the table, divided by that of plain LOUDS.
fn share(table: &Table, keys: &str, trie: &str, column: &str) -> f64 {
    let of = |trie: &str| table.number(column, &[("keys", keys.into()), ("trie", trie.into())]);
    of(trie) / of(LOUDS)
}

fn plot(table: &Table) -> Plot {
    let shares = |keys: &str| COLUMNS.map(|column| share(table, keys, COMPACT, column));
    Plot::new(
        "patricia",
        "The compact trie, as a share of plain LOUDS",
        Axis::names("", COLUMNS),
        Axis::linear("share of plain LOUDS"),
    )
    .bars("phrases", shares("phrases"))
    .bars("paths", shares("paths"))
}

fn verdict(table: &Table) -> Verdict {
    let both = |trie: &str, column: &str| {
        let [phrases, paths] = ["phrases", "paths"].map(|keys| brief(share(table, keys, trie, column)));
        format!("{phrases} and {paths}")
    };
    let text = format!(
        "Compared with plain LOUDS, on phrases and on paths, the compact trie takes {} of the bytes with values ({} \
         of the index alone), {} of the time to build, {} of the time of a hit, {} of that of a miss, and in batches \
         {} of that of a hit.",
        both(COMPACT, "bytes a key"),
        both(COMPACT, "of it the index"),
        both(COMPACT, "build ns a key"),
        both(COMPACT, "hit ns"),
        both(COMPACT, "miss ns"),
        both(BATCHED, "hit ns"),
    );
    Verdict::new(Grade::Measured, text)
}
