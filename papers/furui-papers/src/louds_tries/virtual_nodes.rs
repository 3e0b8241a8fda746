//! The use of virtual nodes: the number of lines and the time of a walk over two tries, with and without virtual nodes.
//! Also the number of keys that the LEAF flags of Koyanagi et al. would lose.

use furui::raw::{LoudsTrie, Merged, Node, SortedKeys, Value, breadth_first};

use super::pairs::{Pair, breadth_first_pairs};
use super::path_hash::build;
use super::words::{WordList, Words};
use crate::clock::{medians, seconds};
use crate::report::{Cell, Context, Finding, Result, Source, Table, Verdict, brief};

const ROUNDS: usize = 5;

/// Four source files, whose lines are counted: the walk over one trie (or over virtual nodes), the walk over pairs of
/// nodes, the virtual nodes, and this file.
const WALK: &str = include_str!("../../../../core/furui/src/dict/walk.rs");
const PAIRS: &str = include_str!("pairs.rs");
const MERGED: &str = include_str!("../../../../core/furui/src/dict/merged.rs");
const HERE: &str = include_str!("virtual_nodes.rs");

/// The numbers of statements in the two walks of Koyanagi et al., each `end` included: with virtual nodes (section
/// 4.1), and without them (appendix A.1).
const PAPER: [u64; 2] = [11, 35];

/// The lines of code of the two ways to walk two tries as one.
struct Lines {
    /// The number of lines of code of the walk over virtual nodes, which is also the walk over one trie.
    walk: u64,
    /// The number of lines of code of the type of virtual nodes, and of its methods.
    merged: u64,
    /// The number of lines of code of the walk over pairs of nodes.
    pairs: u64,
    /// The number of lines of code for the cases that a visit of a pair has to tell apart.
    visit: u64,
}

impl Lines {
    fn count() -> Self {
        Self {
            walk: body_lines(WALK, "breadth_first"),
            merged: code(MERGED.lines().filter(|line| !line.starts_with("use "))),
            pairs: body_lines(PAIRS, "breadth_first_pairs"),
            visit: body_lines(HERE, "of_pair"),
        }
    }

    fn with(&self) -> u64 {
        self.walk + self.merged
    }

    fn without(&self) -> u64 {
        self.pairs + self.visit
    }

    fn table(&self) -> Table {
        let mut table = Table::new(
            "lines",
            "Statements in the paper, and lines of code here".to_owned(),
            ["to walk two tries as one", "statements in the paper", "lines here"],
        );
        let [with, without] = PAPER.map(Cell::from);
        let not_counted = || Cell::from("not counted");
        table.push(["with virtual nodes: the walk".into(), with, self.walk.into()]);
        table.push(["with virtual nodes: the node (`Merged`)".into(), not_counted(), self.merged.into()]);
        table.push(["with virtual nodes: in all".into(), not_counted(), self.with().into()]);
        table.push(["without: the walk (appendix A.1)".into(), without, self.pairs.into()]);
        table.push(["without: the cases of a visit".into(), not_counted(), self.visit.into()]);
        table.push(["without: in all".into(), not_counted(), self.without().into()]);
        table
    }
}

/// The number of lines of code, without comments, attributes and blank lines.
fn code<'a>(lines: impl Iterator<Item = &'a str>) -> u64 {
    lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#[")).count()
        as u64
}

/// The number of lines of a function's body, including closing braces, as Koyanagi et al. count each `end`.
fn body_lines(source: &str, function: &str) -> u64 {
    let from = source.lines().skip_while(|line| !line.contains(&format!("fn {function}<")));
    code(from.skip_while(|line| !line.ends_with('{')).skip(1).take_while(|line| *line != "}"))
}

/// The nodes in the order of the walk, each with the number of its parent, its byte and its value. They determine the
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

/// The byte and the value of a pair of nodes, which a visit needs. To find them takes more case distinctions, which the
/// paper does not count.
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
    let corpora = [("phrases", WordList::phrases(context, count)?), ("paths", WordList::paths(context, count)?)];
    let lines = Lines::count();
    let [walks, flags] = context.tables(Source::LoudsTries, ["walks", "flags"], || {
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
        for (name, WordList { words, .. }) in &corpora {
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
            let (mut nodes, mut kept) = (0, 0);
            let [merged, pairs] = medians(ROUNDS, || {
                let (of_merged, by_merged) = seconds(|| by_virtual_nodes(&tries, capacity));
                let (of_pairs, by_pairs) = seconds(|| by_pairs(&tries, capacity));
                assert!(by_merged == by_pairs, "the same trie either way");
                nodes = by_merged.len() as u64;
                kept = by_merged.iter().filter(|(.., value)| value.is_some()).count() as u64;
                [of_merged, of_pairs].map(|seconds| 1e9 * seconds / nodes as f64)
            });
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
        Ok([walks, flags])
    })?;
    let verdict = verdict(&lines, &walks, &flags);
    let data = corpora.iter().map(|(_, corpus)| corpus.data.as_str()).collect::<Vec<_>>().join(" ");
    Ok(Finding::new(data, verdict, [lines.table(), walks, flags], []))
}

fn verdict(lines: &Lines, walks: &Table, flags: &Table) -> Verdict {
    let of = |table: &Table, column: &str, keys: &str| table.number(column, &[("keys", Cell::from(keys))]);
    let [paper, ours] = [PAPER[0] as f64 / PAPER[1] as f64, lines.walk as f64 / lines.pairs as f64];
    let fewer = lines.with() < lines.without();
    let claims = [
        Verdict::near("The lines of the walk with virtual nodes, to those without them", paper, ours, 0.1, 0.5),
        Verdict::holds(
            fewer,
            format!(
                "With the lines of the virtual node itself, and those for the cases that a visit has to tell apart without it, {} \
                 against {}: for one walk over two tries, virtual nodes are {} code.",
                lines.with(),
                lines.without(),
                if fewer { "less" } else { "more" },
            ),
        ),
    ];
    Verdict::all(claims).and(format!(
        "The walk has {} lines with virtual nodes, and {} without them (in the paper: {} and {} statements). With virtual nodes it takes \
         {} times as long on phrases, and {} times on paths. The paper's flags would lose {} % of the phrases and {} % of the paths.",
        lines.walk,
        lines.pairs,
        PAPER[0],
        PAPER[1],
        brief(of(walks, "ratio", "phrases")),
        brief(of(walks, "ratio", "paths")),
        brief(of(flags, "lost %", "phrases")),
        brief(of(flags, "lost %", "paths")),
    ))
}
