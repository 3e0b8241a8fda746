//! Table 3 and Fig. 4: a dictionary that grows with a stream. Each word of the stream is looked up, and inserted if it
//! is unknown.

use furui::dict::{LoudsTrie, Merged, Node};
use furui::hash::PolynomialHashes;

use super::dynamic::DynamicTrie;
use super::path_hash::{PathHash, build, build_concurrently, scan_keys};
use super::words::{Corpus, Words, stream};
use crate::clock::{median, thread_ns};
use crate::papers::{Axis, Context, Finding, Grade, Mark, Plot, Result, Series, Verdict, brief};
use crate::table::{Cell, Table};

/// The paper's hash: four functions.
type Hash = PolynomialHashes<4>;

const ROUNDS: usize = 3;

/// The number of words in the stream for each distinct one. At this number 97.44 % are known.
const OCCURRENCES: usize = 39;

/// The number of buffers that are frozen. With so many, building takes about the same share of the time as in the paper
/// (41 % with one trie and the filters by a second scan).
const WINDOWS: usize = 52;

/// The maximum number of tries, and the seconds of Table 3: for building and in all, with filters built after the tries
/// and at once with them.
const PAPER: [(usize, [f64; 2], [f64; 2]); 4] = [
    (1, [5151.0, 12691.0], [3624.0, 11281.0]),
    (3, [1815.0, 9656.0], [1296.0, 9140.0]),
    (5, [1114.0, 9294.0], [838.0, 8986.0]),
    (7, [840.0, 9266.0], [633.0, 8977.0]),
];

/// A dictionary: a buffer, and the frozen tries with their filters, oldest first.
struct Online {
    buffer: DynamicTrie,
    frozen: Vec<(LoudsTrie, <Hash as PathHash>::Filter)>,
    window: usize,
    most_tries: usize,
    /// True if filters are built in the same walk as the tries; false if by reading the keys back out of the tries.
    concurrent: bool,
    build_ns: u64,
}

impl Online {
    fn new(window: usize, most_tries: usize, concurrent: bool) -> Self {
        Self { buffer: DynamicTrie::new(), frozen: Vec::new(), window, most_tries, concurrent, build_ns: 0 }
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
            if self.frozen.len() > self.most_tries {
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
        let filter = scan_keys::<Hash>(&trie);
        (trie, filter)
    }
}

/// Looks up every word of the stream, and inserts the unknown ones. Returns the number of distinct words.
fn number(words: &Words, stream: &[u32], mut get: impl FnMut(&[u8], u32) -> u32) -> u32 {
    let mut known = 0;
    for &index in stream {
        known = known.max(get(&words[index as usize].0, known) + 1);
    }
    known
}

/// Measures the seconds of all queries, of all building and of both. Returns them with the number of distinct words.
fn measure(words: &Words, stream: &[u32], most_tries: usize, concurrent: bool) -> ([f64; 3], u32) {
    let mut dictionary = Online::new((words.len() / WINDOWS).max(1), most_tries, concurrent);
    let start = thread_ns();
    let distinct = number(words, stream, |word, next| {
        dictionary.get(word).unwrap_or_else(|| {
            dictionary.put(word, next);
            next
        })
    });
    let all = thread_ns() - start;
    ([all - dictionary.build_ns, dictionary.build_ns, all].map(|ns| ns as f64 / 1e9), distinct)
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let Corpus { words, data } = Corpus::phrases(context, context.size(40_000, 150))?;
    let occurrences = stream(&words, context.seed, words.len() * OCCURRENCES);
    let mut table = Table::new(
        "table3",
        format!("CPU seconds for {} occurrences, medians of {ROUNDS} rounds", occurrences.len()),
        [
            "tries at most",
            "after each other: query",
            "build",
            "all",
            "at once: query",
            "build at once",
            "all at once",
            "build ratio",
            "ratio",
            "paper's build ratio",
            "paper's ratio",
        ],
    );
    let bar = context.bar((PAPER.len() * ROUNDS) as u64, "the dictionary");
    let mut distinct = 0;
    for (most_tries, after, at_once) in PAPER {
        let mut times = [const { [const { Vec::new() }; 3] }; 2];
        for _ in 0..ROUNDS {
            for (concurrent, times) in [false, true].into_iter().zip(&mut times) {
                let (measured, met) = measure(&words, &occurrences, most_tries, concurrent);
                times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
                distinct = met;
            }
            bar.inc(1);
        }
        let query = median(&mut times.iter().flat_map(|[query, ..]| query).copied().collect::<Vec<_>>());
        let [sequential, concurrent] = times.map(|of| of.map(|mut times| median(&mut times)));
        let ratios = [0.0, query].map(|query| (query + concurrent[1]) / (query + sequential[1])).into_iter();
        let papers = [0, 1].map(|i| at_once[i] / after[i]);
        let cells = sequential.into_iter().chain(concurrent).chain(ratios).chain(papers).map(Cell::from);
        table.push(std::iter::once(Cell::from(most_tries as u64)).chain(cells));
    }
    let known = 100.0 * (1.0 - f64::from(distinct) / occurrences.len() as f64);
    let data = format!(
        "{data} A stream of {} of them, drawn by their frequency, of which {distinct} are distinct, so {known:.2} % \
         of the look-ups find their word (the paper: 97.44 %); buffers of {} words, so that {WINDOWS} buffers would \
         hold all.",
        occurrences.len(),
        (words.len() / WINDOWS).max(1),
    );
    let notes = vec![
        "As in the paper, the buffer is a dynamic trie, k is 4, a filter that is not built with its trie is built \
         from the keys read out of the trie, and when there are too many tries, all are merged into one."
            .into(),
        "Queries run the same code either way, so their times differ by chance only. The ratio of all time therefore \
         uses the median of all query times."
            .into(),
        #[cfg(feature = "rivals")]
        rebuilt::run(&words, context.seed),
        #[cfg(not(feature = "rivals"))]
        "Without the feature `rivals`: the comparison with a trie that is built anew at every window is left out."
            .into(),
    ];
    let (plots, verdict) = (vec![plot(&table)], verdict(&table));
    Ok(Finding { data, tables: vec![table], plots, verdict, notes })
}

fn plot(table: &Table) -> Plot {
    let of = |column: &str| {
        let points = table.points("tries at most", column, &[]);
        (0..).map(f64::from).zip(points).map(|(i, (_, y))| (i, y)).collect::<Vec<_>>()
    };
    Plot::new(
        "fig4",
        "The dictionary grows: CPU time of building and in all",
        Axis::names("tries at most", PAPER.map(|(tries, ..)| tries.to_string())),
        Axis::linear("seconds"),
    )
    .with(Series::new("all, filter after the trie", Mark::Bar, of("all")))
    .with(Series::new("all, at once", Mark::Bar, of("all at once")))
    .with(Series::new("building, filter after the trie", Mark::Bar, of("build")))
    .with(Series::new("building, at once", Mark::Bar, of("build at once")))
}

fn verdict(table: &Table) -> Verdict {
    let ratio = |tries: usize| table.number("ratio", &[("tries at most", (tries as u64).into())]);
    let ours = PAPER.map(|(tries, ..)| ratio(tries));
    let papers = PAPER.map(|(_, after, at_once)| at_once[1] / after[1]);
    let close = ours.iter().zip(papers).all(|(ours, paper)| (ours - paper).abs() <= 0.03);
    let grade = match () {
        () if close => Grade::Reproduced,
        () if ours.iter().all(|&ratio| ratio < 1.0) => Grade::WithinBand,
        () => Grade::NotReproduced,
    };
    let list = |ratios: [f64; 4]| ratios.map(|ratio| format!("{ratio:.2}")).join(", ");
    let text = format!(
        "All time with filters built at once, divided by all time with filters built after the tries, for 1, 3, 5 \
         and 7 tries: {}; the paper has {}. Building alone with one trie: {} of the time (the paper: 0.70).",
        list(ours),
        list(papers),
        brief(table.number("build ratio", &[("tries at most", 1.0.into())])),
    );
    Verdict::new(grade, text)
}

/// The way for users of an immutable trie: build it anew at every window.
#[cfg(feature = "rivals")]
mod rebuilt {
    use std::collections::HashMap;

    use super::*;

    /// The share of the words with which the experiment is run on trie-rs, which is too slow for more.
    const SHARE: usize = 8;

    pub(super) fn run(words: &Words, seed: u64) -> String {
        let words: Words = words.iter().take(words.len() / SHARE).cloned().collect();
        let occurrences = stream(&words, seed, words.len() * OCCURRENCES);
        let ([.., ours], distinct) = measure(&words, &occurrences, 1, true);
        let window = (words.len() / WINDOWS).max(1);
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
        format!(
            "A trie that cannot be merged has to be built anew: trie-rs 0.4 at the same windows, with a hash map as the buffer, \
             takes {:.1} times as long as one LOUDS trie with its filter ({} occurrences of {distinct} words).",
            theirs / ours,
            occurrences.len(),
        )
    }
}
