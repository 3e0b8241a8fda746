//! The use of virtual nodes: the lines of a walk with and without them, and its time; and the keys that the paper's
//! LEAF flags would lose.

use furui::dict::{LoudsTrie, Merged, Node, SortedKeys, Value, breadth_first};

use super::pairs::{Pair, breadth_first_pairs};
use super::path_hash::build;
use super::words::{Corpus, Words};
use crate::clock::{median, seconds};
use crate::papers::{Context, Finding, Result, Verdict, brief};
use crate::table::{Cell, Table};

const ROUNDS: usize = 5;

/// The source code of the two walks.
const WALK: &str = include_str!("../../../../furui/src/dict/walk.rs");
const PAIRS: &str = include_str!("pairs.rs");

/// The numbers of statements in the paper's two walks, including their ends: section 4.1 and appendix A.1.
const PAPER: [u64; 2] = [11, 35];

/// The number of lines of a function's body, including closing braces, as the paper counts each `end`.
fn body_lines(source: &str, function: &str) -> u64 {
    let from = source.lines().skip_while(|line| {
        !line.starts_with(&format!("pub fn {function}")) && !line.contains(&format!("fn {function}<"))
    });
    let body = from.skip(1).take_while(|line| *line != "}");
    body.filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count() as u64
}

/// The nodes in the order of the walk: the number of the parent, the byte, and the value of each. They determine the
/// trie.
type Nodes = Vec<(u32, u8, Option<Value>)>;

fn by_virtual_nodes(tries: &[LoudsTrie; 2], capacity: usize) -> Nodes {
    let mut nodes = Nodes::with_capacity(capacity);
    let Some(root) = Merged::new(tries.iter().map(LoudsTrie::root)) else { return nodes };
    breadth_first(root, |parent: Option<&u32>, node| {
        nodes.push((parent.copied().unwrap_or_default(), node.alphabet(), node.value()));
        Ok(nodes.len() as u32 - 1)
    })
    .expect("memory for a queue");
    nodes
}

fn by_pairs(tries: &[LoudsTrie; 2], capacity: usize) -> Nodes {
    let mut nodes = Nodes::with_capacity(capacity);
    breadth_first_pairs((Some(tries[0].root()), Some(tries[1].root())), |parent: Option<&u32>, pair| {
        let (alphabet, value) = of_pair(pair);
        nodes.push((parent.copied().unwrap_or_default(), alphabet, value));
        nodes.len() as u32 - 1
    });
    nodes
}

/// The facts about a pair that a visit needs: three more case distinctions, which the paper does not count.
fn of_pair<N: Node>(pair: &Pair<N>) -> (u8, Option<Value>) {
    match pair {
        (Some(n1), Some(n2)) if n1.alphabet() == n2.alphabet() => (n1.alphabet(), n1.value().or_else(|| n2.value())),
        (Some(n1), Some(n2)) if n1.alphabet() > n2.alphabet() => (n2.alphabet(), n2.value()),
        (Some(n1), _) => (n1.alphabet(), n1.value()),
        (None, Some(n2)) => (n2.alphabet(), n2.value()),
        (None, None) => (0, None),
    }
}

/// The number of words that are prefixes of others. Their nodes have children, so a flag for nodes without children
/// does not mark them.
fn inner_keys(words: &Words) -> u64 {
    let mut sorted: Vec<&[u8]> = words.iter().map(|(word, _)| word.as_slice()).collect();
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[1].starts_with(pair[0])).count() as u64
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let count = context.size(1_000_000, 300);
    let corpora = [("phrases", Corpus::phrases(context, count)?), ("paths", Corpus::paths(context, count)?)];
    let lines = [body_lines(WALK, "breadth_first"), body_lines(PAIRS, "breadth_first_pairs")];
    let mut code = Table::new(
        "lines",
        "Statements of the walk, lines of its body".to_owned(),
        ["walk over two tries", "statements in the paper", "lines here"],
    );
    for ((name, paper), ours) in ["with virtual nodes", "without (appendix A.1)"].into_iter().zip(PAPER).zip(lines) {
        code.push([name.into(), paper.into(), ours.into()]);
    }
    let mut walks = Table::new(
        "walks",
        format!("Walking two tries as one; ns of CPU a node, medians of {ROUNDS} rounds"),
        ["keys", "nodes", "virtual nodes", "pairs", "ratio"],
    );
    let mut flags = Table::new(
        "flags",
        "Keys that are at the beginning of other keys".to_owned(),
        ["keys", "all", "lost by flags for nodes without children", "lost by flags for ends of keys", "lost %"],
    );
    for (name, Corpus { words, .. }) in &corpora {
        let mut sorted: Vec<(&[u8], Value)> =
            words.iter().zip(0..).map(|((word, _), i)| (word.as_slice(), Some(i))).collect();
        sorted.sort_unstable();
        let half = |half: usize| -> Result<LoudsTrie> {
            let entries: Vec<_> =
                sorted.iter().copied().filter(|(_, value)| value.is_some_and(|i| i as usize % 2 == half)).collect();
            Ok(build(SortedKeys::new(&entries)?.root()))
        };
        let tries = [half(0)?, half(1)?];
        let capacity = (tries[0].nodes() + tries[1].nodes()) as usize;
        let (mut merged, mut pairs) = (vec![], vec![]);
        let (mut nodes, mut kept) = (0, 0);
        for _ in 0..ROUNDS {
            let (of_merged, by_merged) = seconds(|| by_virtual_nodes(&tries, capacity));
            let (of_pairs, by_pairs) = seconds(|| by_pairs(&tries, capacity));
            assert!(by_merged == by_pairs, "the same trie either way");
            nodes = by_merged.len() as u64;
            kept = by_merged.iter().filter(|(.., value)| value.is_some()).count() as u64;
            merged.push(1e9 * of_merged / nodes as f64);
            pairs.push(1e9 * of_pairs / nodes as f64);
        }
        let [merged, pairs] = [merged, pairs].map(|mut times| median(&mut times));
        walks.push([(*name).into(), nodes.into(), merged.into(), pairs.into(), (merged / pairs).into()]);
        let (all, inner) = (words.len() as u64, inner_keys(words));
        flags.push([
            (*name).into(),
            all.into(),
            inner.into(),
            (all - kept).into(),
            (100.0 * inner as f64 / all as f64).into(),
        ]);
    }
    let verdict = verdict(lines, &walks, &flags);
    let data = corpora.iter().map(|(_, corpus)| corpus.data.as_str()).collect::<Vec<_>>().join(" ");
    let notes = vec![
        "The walk with virtual nodes is `breadth_first` of the crate, which freezes, merges and scans every trie. \
         The walk without them is written for this comparison, with Rust's `match` for the appendix's outer \
         conditions."
            .into(),
        "The virtual node itself (the paper's Table 1) is code too: `Merged`, for any number of tries. It is written \
         once; without it, every visit must distinguish the three cases as well."
            .into(),
        "In the paper, LEAF marks nodes without children, so a key that is a prefix of another key has no number. \
         Here it marks the ends of keys."
            .into(),
    ];
    Ok(Finding { data, tables: vec![code, walks, flags], plots: vec![], verdict, notes })
}

fn verdict(lines: [u64; 2], walks: &Table, flags: &Table) -> Verdict {
    let of = |table: &Table, column: &str, keys: &str| table.number(column, &[("keys", Cell::from(keys))]);
    let text = format!(
        "{} lines with virtual nodes, {} without them (the paper: {} and {} statements). The walk with virtual nodes \
         takes {} (phrases) and {} (paths) of the time of the walk without them. The paper's flags would lose {} % \
         of the phrases and {} % of the paths.",
        lines[0],
        lines[1],
        PAPER[0],
        PAPER[1],
        brief(of(walks, "ratio", "phrases")),
        brief(of(walks, "ratio", "paths")),
        brief(of(flags, "lost %", "phrases")),
        brief(of(flags, "lost %", "paths")),
    );
    Verdict::holds(lines[0] == PAPER[0] && lines[1] > 2 * lines[0], text)
}
