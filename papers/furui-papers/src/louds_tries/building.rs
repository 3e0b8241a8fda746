//! Table 2 and Fig. 3 of the paper of Koyanagi et al.: the time to build a trie and its filter one after the other or
//! at once, when a buffer is frozen and when tries are merged.

use std::hint::black_box;

use furui::raw::PolynomialHashes;
use furui::raw::{LoudsTrie, Merged, Node, SortedKeys, Value, breadth_first};

use super::dynamic::DynamicTrie;
use super::path_hash::{OneState, PathHash, build, build_concurrently, scan, scan_keys};
use super::scale;
use super::words::{WordList, Words};
use crate::clock::{medians, seconds};
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};

const PAPER_KEYS: usize = 6_400_000;
const DEFAULT_KEYS: usize = PAPER_KEYS / 32;
const QUICK_KEYS: usize = 300;

/// The number of rounds of a measurement, of which the median is reported.
const ROUNDS: usize = 3;
/// The number of rounds of a measurement at the scale of Koyanagi et al., where each takes minutes.
const PAPER_ROUNDS: usize = 1;

/// The name of the walk over a dynamic trie, which is the buffer in the paper of Koyanagi et al.
const BUFFER: &str = "freeze a dynamic trie";
const SORTED: &str = "freeze sorted keys";
const MERGE: &str = "merge 2 tries";

const POLYNOMIALS: &str = "k polynomials";
const ONE_STATE: &str = "one state";

/// The rows of Table 2 of Koyanagi et al.: the number k of hash functions, the seconds with the filter built after the
/// trie, and the seconds with both built at once.
const PAPER: [(u64, f64, f64); 4] = [(1, 36.73, 23.65), (2, 38.37, 24.90), (4, 38.02, 25.86), (8, 43.23, 30.81)];

/// The shares of the walk, the trie and the filter in the time at k = 4, in per cent, according to the paper of
/// Koyanagi et al.
const PAPER_SHARES: [f64; 3] = [47.0, 20.0, 33.0];

/// The median times of a walk, of building a trie, of filling a filter by a second walk, of filling it by reading the
/// keys back, and of building trie and filter at once.
struct Row {
    walk: f64,
    trie: f64,
    scan: f64,
    by_key: f64,
    both: f64,
}

impl Row {
    fn measure<H: PathHash>(root: impl Node + Clone, keys: usize, rounds: usize) -> Self {
        let [walk, trie, scan, by_key, both] = medians(rounds, || {
            let (of_walk, ()) =
                seconds(|| breadth_first(root.clone(), |_, node| Ok(black_box(node.alphabet()))).expect("memory"));
            let (of_trie, trie) = seconds(|| build(root.clone()));
            let (of_scan, by_scan) = seconds(|| scan::<H>(&trie));
            let (of_keys, by_keys) = seconds(|| scan_keys::<H>(&trie));
            drop(trie);
            let (of_both, (_, at_once)) = seconds(|| build_concurrently::<H>(root.clone(), keys));
            assert!(by_scan == at_once && by_keys == at_once, "the same filter either way");
            [of_walk, of_trie, of_scan, of_keys, of_both]
        });
        Self { walk, trie, scan, by_key, both }
    }

    fn cells(&self) -> [Cell; 10] {
        let share = |part: f64| 100.0 * part / self.both;
        [
            self.trie,
            self.scan,
            self.by_key,
            self.trie + self.by_key,
            self.both,
            self.both / (self.trie + self.by_key),
            self.both / (self.trie + self.scan),
            share(self.walk),
            share(self.trie - self.walk),
            share(self.both - self.trie),
        ]
        .map(Cell::from)
    }
}

fn rows<N: Node + Clone>(table: &mut Table, walk: &str, root: &N, keys: usize, rounds: usize) {
    let measured = [
        (POLYNOMIALS, 1, Row::measure::<PolynomialHashes<1>>(root.clone(), keys, rounds)),
        (POLYNOMIALS, 2, Row::measure::<PolynomialHashes<2>>(root.clone(), keys, rounds)),
        (POLYNOMIALS, 4, Row::measure::<PolynomialHashes<4>>(root.clone(), keys, rounds)),
        (POLYNOMIALS, 8, Row::measure::<PolynomialHashes<8>>(root.clone(), keys, rounds)),
        (ONE_STATE, 4, Row::measure::<OneState<4>>(root.clone(), keys, rounds)),
        (ONE_STATE, 8, Row::measure::<OneState<8>>(root.clone(), keys, rounds)),
    ];
    for (hash, k, row) in measured {
        let names: [Cell; 3] = [walk.into(), hash.into(), Cell::Number(f64::from(k))];
        table.push(names.into_iter().chain(row.cells()));
    }
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let rounds = scale(context, PAPER_ROUNDS, ROUNDS, ROUNDS);
    let mut data = String::new();
    let [table, merging] = context.tables(Source::LoudsTries, ["table2", "merging"], || {
        let tables;
        (tables, data) = measure(context, rounds)?;
        Ok(tables)
    })?;
    let plots = vec![plot(&table)];
    let verdict = verdict(&table, &merging);
    let of_buffer = |hash: &str, k: u64, column: &str| {
        table.number(column, &[("walk", BUFFER.into()), ("hash", hash.into()), ("k", k.into())])
    };
    let added = |hash: &str, k| 100.0 * (of_buffer(hash, k, "at once") / of_buffer(hash, k, "trie") - 1.0);
    let notes = vec![
        format!(
            "The paper's Fig. 3 freezes a dynamic trie on a machine of 2005, under Java 1.6. Here a LOUDS trie is built from \
             a linked trie in {} times the time of the second walk, which is over the LOUDS trie with the hashes (k = 4).",
            brief(of_buffer(POLYNOMIALS, 4, "trie") / of_buffer(POLYNOMIALS, 4, "second walk")),
        ),
        format!(
            "Carrying the hashes is not free: a queue holds k states for each node of a level of the trie, beside a \
             trie that may not fit into the caches. When a dynamic trie is frozen, carrying them adds {} % to the time \
             of the trie at k = 1, 2, 4 and 8; one state of 64 bits for all probes adds {} % at k = 4 and 8.",
            PAPER.map(|(k, ..)| brief(added(POLYNOMIALS, k))).join(", "),
            [4, 8].map(|k| brief(added(ONE_STATE, k))).join(" and "),
        ),
    ];
    Ok(Finding::new(data, verdict, [table, merging], plots).with_notes(notes))
}

/// Measures the tables of the building of tries and filters. Returns them, and a description of the words.
fn measure(context: &Context, rounds: usize) -> Result<([Table; 2], String)> {
    let WordList { words, data: about } =
        WordList::phrases(context, scale(context, PAPER_KEYS, DEFAULT_KEYS, QUICK_KEYS))?;
    let data = format!("{about} The paper has {PAPER_KEYS}, of 34.5 bytes on average.");
    let bar = context.bar(3 + WAYS.len() as u64, "freezing and merging");
    let mut table = Table::new(
        "table2",
        format!("CPU seconds for {} keys, {}", words.len(), rounds_of(rounds)),
        [
            "walk",
            "hash",
            "k",
            "trie",
            "second walk",
            "by key",
            "trie, then by key",
            "at once",
            "at once / then by key",
            "at once / then second walk",
            "walk %",
            "trie %",
            "filter %",
        ],
    );
    let numbered = || words.iter().map(|(word, _)| word.as_slice()).zip(0..);
    let mut buffer = DynamicTrie::new();
    numbered().for_each(|(word, number)| buffer.insert(word, number));
    rows(&mut table, BUFFER, &buffer.root(), words.len(), rounds);
    drop(buffer);
    bar.inc(1);

    let text = sorted_text(&words);
    let entries = dealt(&text, 0, 1);
    rows(&mut table, SORTED, &SortedKeys::new(&entries)?.root(), words.len(), rounds);
    drop(entries);
    bar.inc(1);

    let mut merging = Table::new(
        "merging",
        format!("Merging tries of {} keys in all, k = 4; CPU seconds, {}", words.len(), rounds_of(rounds)),
        ["tries", "virtual nodes", "with the filter", "dynamic trie", "dynamic trie, then the filter by key", "ratio"],
    );
    for ways in WAYS {
        let tries = (0..ways).map(|part| Ok(build(SortedKeys::new(&dealt(&text, part, ways))?.root())));
        let tries = tries.collect::<Result<Vec<LoudsTrie>>>()?;
        let root = Merged::new(tries.iter().map(LoudsTrie::root)).ok_or("no tries")?;
        if ways == 2 {
            rows(&mut table, MERGE, &root, words.len(), rounds);
            bar.inc(1);
        }
        merging.push(merge(&tries, &root, words.len(), rounds));
        bar.inc(1);
    }
    Ok(([table, merging], data))
}

fn rounds_of(rounds: usize) -> String {
    if rounds == 1 { "one round".into() } else { format!("medians of {rounds} rounds") }
}

/// The numbers of tries that are merged into one, each in a row of the table.
const WAYS: [usize; 3] = [2, 4, 8];

/// Merges tries through virtual nodes (`root`), and through a dynamic trie into which all keys are inserted. Returns a
/// row of the table, with the medians of the seconds.
fn merge(tries: &[LoudsTrie], root: &(impl Node + Clone), keys: usize, rounds: usize) -> Vec<Cell> {
    let times = medians(rounds, || {
        let (of_virtual, trie) = seconds(|| build(root.clone()));
        drop(trie);
        let (of_both, both) = seconds(|| build_concurrently::<PolynomialHashes<4>>(root.clone(), keys));
        drop(both);
        let (of_dynamic, trie) = seconds(|| {
            let mut merged = DynamicTrie::new();
            tries.iter().for_each(|trie| merged.insert_all(trie.root()));
            build(merged.root())
        });
        let (of_scan, filter) = seconds(|| scan_keys::<PolynomialHashes<4>>(&trie));
        black_box(&filter);
        [of_virtual, of_both, of_dynamic, of_dynamic + of_scan]
    });
    let ratio = times[1] / times[3];
    std::iter::once(Cell::from(tries.len() as u64)).chain(times.map(Cell::from)).chain([ratio.into()]).collect()
}

/// The concatenation of the words in sorted order, and for each of these words its length and its number. A buffer is
/// frozen from this form.
fn sorted_text(words: &Words) -> (Vec<u8>, Vec<(usize, u32)>) {
    let mut order: Vec<(&[u8], u32)> = words.iter().map(|(word, _)| word.as_slice()).zip(0..).collect();
    order.sort_unstable();
    let text = order.iter().flat_map(|(word, _)| *word).copied().collect();
    (text, order.iter().map(|(word, number)| (word.len(), *number)).collect())
}

/// The words of the part with the number `part`. The words are dealt to `parts` parts in turn, by their numbers.
fn dealt((text, words): &(Vec<u8>, Vec<(usize, u32)>), part: usize, parts: usize) -> Vec<(&[u8], Value)> {
    let mut rest = text.as_slice();
    let entries = words.iter().map(|&(len, number)| {
        let (word, behind) = rest.split_at(len);
        rest = behind;
        (word, number)
    });
    entries.filter(|(_, number)| *number as usize % parts == part).map(|(word, number)| (word, Some(number))).collect()
}

fn plot(table: &Table) -> Plot {
    let relative =
        |walk: &str| table.points("k", "at once / then by key", &[("walk", walk.into()), ("hash", POLYNOMIALS.into())]);
    let paper = PAPER.map(|(k, after, at_once)| (k as f64, at_once / after)).to_vec();
    Plot::new(
        "fig3",
        "Building trie and filter at once, relative to one after the other",
        Axis::log("hash functions k"),
        Axis::linear("share of the time"),
    )
    .line("the paper", paper)
    .line(BUFFER, relative(BUFFER))
    .line(MERGE, relative(MERGE))
    .line(SORTED, relative(SORTED))
}

fn verdict(table: &Table, merging: &Table) -> Verdict {
    let column = "at once / then by key";
    let of = |walk: &str, k: u64| {
        table.number(column, &[("walk", walk.into()), ("hash", POLYNOMIALS.into()), ("k", k.into())])
    };
    let all = [BUFFER, MERGE, SORTED].map(|walk| PAPER.map(|(k, ..)| of(walk, k)));
    let close = PAPER.iter().zip(all[0]).all(|((_, after, at_once), ours)| (at_once / after - ours).abs() < 0.07);
    let grade = match () {
        () if close => Grade::Reproduced,
        () if all.as_flattened().iter().all(|&ratio| ratio < 1.0) && of(MERGE, 4) < 0.85 => Grade::WithinBand,
        () => Grade::NotReproduced,
    };
    let at = |hash: &str, k: u64, column: &str| {
        table.number(column, &[("walk", BUFFER.into()), ("hash", hash.into()), ("k", k.into())])
    };
    let carried = |hash: &str, k: u64| 100.0 * (at(hash, k, "at once") - at(hash, k, "trie")) / at(hash, k, "by key");
    let shares = ["walk %", "trie %", "filter %"].map(|share| at(POLYNOMIALS, 4, share));
    let off = shares.iter().zip(PAPER_SHARES).map(|(ours, paper)| (ours - paper).abs()).fold(0.0, f64::max);
    let of_shares = match off {
        off if off <= 5.0 => Grade::Reproduced,
        off if off <= 15.0 => Grade::WithinBand,
        _ => Grade::NotReproduced,
    };
    let claims = [
        Verdict::new(
            grade,
            format!(
                "The time of building both at once, as a share of the time of building one after the other, is at k = 4: {} \
                 when a dynamic trie is frozen, {} when two tries are merged, {} when sorted keys are frozen; the paper has \
                 0.68.",
                brief(of(BUFFER, 4)),
                brief(of(MERGE, 4)),
                brief(of(SORTED, 4)),
            ),
        ),
        Verdict::new(
            of_shares,
            format!(
                "At k = 4, the walk takes {} % of the time, the trie {} % and the filter {} % (the paper: 47, 20, 33).",
                brief(shares[0]),
                brief(shares[1]),
                brief(shares[2])
            ),
        ),
    ];
    Verdict::all(claims).and(format!(
        "Only the second scan can be saved: when a dynamic trie is frozen, it takes {} % \
         of the time of building one after the other, and in the paper 54 %. Carrying the hashes instead takes {} % \
         of the time of that scan at k = 1 and {} % at k = 8, and {} % with one state for all probes. Merging by virtual \
         nodes with the filter takes {} of the time of a dynamic trie and a scan for 2 tries, {} for 8.",
        brief(100.0 * at(POLYNOMIALS, 4, "by key") / at(POLYNOMIALS, 4, "trie, then by key")),
        brief(carried(POLYNOMIALS, 1)),
        brief(carried(POLYNOMIALS, 8)),
        brief(carried(ONE_STATE, 8)),
        brief(merging.number("ratio", &[("tries", 2.0.into())])),
        brief(merging.number("ratio", &[("tries", 8.0.into())])),
    ))
}
