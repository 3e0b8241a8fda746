//! Table 1, and the traffic of two-word queries: Figs. 7 to 9, and eq. 18.

use std::error::Error;

use furui::filter::{Gamma, RingedParams};
use furui_search::Coding;

use super::all_pairs::AllPairs;
use super::corpus::Corpus;
use super::exchange::{Choice, Order, Traffic, Way, measure};
use super::workload::Workload;
use super::{Options, RATES};
use crate::clock::median;
use crate::table::{Cell, Table};

/// The window δ of the paper's ringed filters, in groups of bits.
pub(super) const DELTA: u32 = 100_000;

/// The size of the paper's fixed filters, in bits. By eq. 4 it is the size for 300 keys at α = 2⁻⁵.
pub(crate) const PAPER_BITS: u64 = 2164;

/// The number of rounds of queries over all documents. Queries are drawn anew in each round, to see how much the
/// results vary. Over a part of the documents, about a quarter as many rounds are run.
const CUT_ROUNDS: u64 = 12;

/// The columns with the reductions of traffic ("cuts") that were measured over rounds of queries.
const CUTS: [&str; 8] = [
    "mean, all rounds",
    "mean, median round",
    "mean, least",
    "mean, most",
    "cut of the max %, all rounds",
    "max, median round",
    "max, least",
    "max, most",
];

/// A function that computes a figure of the traffic of a round.
type Figure = fn(&Traffic) -> f64;
/// A function that combines the figures of two rounds.
type Join = fn(f64, f64) -> f64;

/// Table 1: documents and words.
pub(crate) fn table1(corpora: &[Corpus]) -> Table {
    let columns =
        ["corpus", "documents", "words", "words a document", "documents a word", "documents of the commonest word"];
    let mut table = Table::new("table1", "Table 1: the corpora".to_owned(), columns);
    for corpus in corpora {
        let words = corpus.words(corpus.documents());
        let sizes = || words.iter().map(|&word| corpus.size(word, corpus.documents()));
        let postings: u64 = sizes().sum();
        table.push([
            corpus.name.as_str().into(),
            u64::from(corpus.documents()).into(),
            (words.len() as u64).into(),
            (postings as f64 / f64::from(corpus.documents())).into(),
            (postings as f64 / words.len() as f64).into(),
            sizes().max().unwrap_or(0).into(),
        ]);
    }
    table
}

/// Fig. 7: the traffic of the Naive algorithm by the number of documents, in kilobits.
pub(crate) fn fig7(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = ["corpus", "documents", "mean kbit", "max kbit", "smaller first, mean", "max"];
    let mut table = Table::new("fig7", "Fig. 7: traffic of the Naive algorithm".to_owned(), columns);
    for corpus in corpora {
        for documents in steps(corpus) {
            let workload = options.workload(corpus, documents, 2);
            let traffic = measure(
                &workload,
                &[(Order::Drawn, Choice::Always(Coding::Ids)), (Order::SmallerFirst, Choice::Always(Coding::Ids))],
                false,
            )?;
            let mut row = vec![corpus.name.as_str().into(), u64::from(documents).into()];
            row.extend(traffic.iter().flat_map(|traffic| [kbit(traffic.mean()), kbit(traffic.max as f64)]));
            table.push(row);
        }
    }
    Ok(table)
}

/// Figs. 8 and 9: the mean and maximum traffic of the paper's algorithm (TFA) with fixed and ringed filters, by the
/// number of documents and α. There are two kinds of fixed filters. The first kind is made for the same number of keys
/// at each α, as the paper's filters must be. The second kind has, at each α, the size with the least mean
/// traffic for half of the documents. The list of the first word is sent, as in the paper; in the last two columns the
/// smaller list is sent, as nodes do.
pub(crate) fn fig8_and_9(corpora: &[Corpus], options: &Options) -> Result<[Table; 2], Box<dyn Error>> {
    let columns = [
        "corpus",
        "documents",
        "k",
        "fixed, bits",
        "fixed",
        "bits of each alpha",
        "fixed with them",
        "ringed",
        "fixed, smaller first",
        "ringed, smaller first",
    ];
    let mut tables = [("fig8", "Fig. 8: mean"), ("fig9", "Fig. 9: maximum")]
        .map(|(name, what)| Table::new(name, format!("{what} traffic in kbit, alpha = 2^-k"), columns));
    options.bar.set_length(corpora.iter().map(|corpus| steps(corpus).len() as u64).sum());
    for corpus in corpora {
        let tuned = tuned_for(corpus);
        let made = RATES.map(|probes| bits_of_keys(corpus, &tuned, probes)).collect::<Vec<_>>();
        let ways = RATES.zip(made.iter().zip(&tuned)).flat_map(|(probes, (&made, &tuned))| {
            let (made, ringed) = (Choice::fixed(probes, made), Choice::ringed(probes, Gamma::Whole, DELTA));
            let drawn = [made, Choice::fixed(probes, tuned), ringed].map(|choice| (Order::Drawn, choice));
            drawn.into_iter().chain([made, ringed].map(|choice| (Order::SmallerFirst, choice)))
        });
        let ways: Vec<Way> = ways.collect();
        for documents in steps(corpus) {
            let traffic = measure(&options.workload(corpus, documents, 2), &ways, false)?;
            options.bar.inc(1);
            for (i, probes) in RATES.enumerate() {
                let figures: [Figure; 2] = [Traffic::mean, |traffic| traffic.max as f64];
                for (table, figure) in tables.iter_mut().zip(figures) {
                    let [fixed, with_tuned, ringed, fixed_ours, ringed_ours] =
                        [0, 1, 2, 3, 4].map(|way| kbit(figure(&traffic[5 * i + way])));
                    let head = [corpus.name.as_str().into(), u64::from(documents).into(), u64::from(probes).into()];
                    let drawn = [made[i].into(), fixed, tuned[i].into(), with_tuned, ringed];
                    table.push(head.into_iter().chain(drawn).chain([fixed_ours, ringed_ours]));
                }
            }
        }
    }
    Ok(tables)
}

/// The bits of a fixed filter of rate 2^-`probes`. It is made for the number of keys with which a filter of 2164 bits,
/// the paper's size, has the rate 2⁻⁵. For a corpus other than the paper's, the size that is best at 2⁻⁵ takes the
/// place of 2164 bits.
pub(super) fn bits_of_keys(corpus: &Corpus, tuned: &[u64], probes: u32) -> u64 {
    let at_five = if corpus.has_shape_of_the_paper() { PAPER_BITS } else { tuned[4] };
    at_five * u64::from(probes) / 5
}

/// The reduction of traffic by ringed filters at 2⁻⁷ compared with fixed ones at 2⁻⁵, by the number of documents. For
/// each pair of filters, the last row is the mean of the other rows, which is one reading of the paper's 39 %.
///
/// One large pair of lists outweighs hundreds of others, so the result of 5000 queries depends on chance. The table
/// therefore has the mean over all pairs of words, by formula, and the mean over many rounds of queries, with the
/// median and the range of single rounds.
pub(crate) fn cuts(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let rounds = if options.quick { 3 } else { CUT_ROUNDS };
    let title =
        format!("Cuts by ringed filters, up to {rounds} rounds of {} queries (paper: 39 % and 73 %)", options.queries);
    let columns = ["corpus", "documents", "ringed", "fixed", "cut of the mean %, all pairs, formula"];
    let mut table = Table::new("cuts", title, columns.into_iter().chain(CUTS));
    options.bar.set_length(corpora.iter().map(|corpus| steps(corpus).len() as u64).sum());
    for corpus in corpora {
        let tuned = tuned_for(corpus)[4];
        let gammas = [Gamma::Whole, Gamma::Exact].map(|gamma| RingedParams::new(7, gamma, DELTA));
        let gammas = gammas.into_iter().collect::<Result<Vec<_>, _>>()?;
        let fixed = [tuned, PAPER_BITS];
        let ways: Vec<Way> = gammas
            .iter()
            .map(|&params| Choice::Always(Coding::Ringed(params)))
            .chain(fixed.map(|bits| Choice::fixed(5, bits)))
            .map(|choice| (Order::Drawn, choice))
            .collect();
        let pairs = [("2^-7", 0, 2), ("2^-7", 0, 3), ("2^-7, gamma exact", 1, 2)];
        let steps = steps(corpus);
        let mut sums = [[0.0; 9]; 3];
        for &documents in &steps {
            let all_pairs = AllPairs::new(corpus, documents);
            let rounds = if documents == corpus.documents() { rounds } else { rounds / 4 + 1 };
            let traffic = rounds_of(corpus, documents, rounds, options, &ways)?;
            options.bar.inc(1);
            for ((name, ringed, fixed_way), sums) in pairs.into_iter().zip(&mut sums) {
                let bits = fixed[fixed_way - 2];
                let of_all = cut(all_pairs.ringed(7, gammas[ringed].gamma()), all_pairs.fixed(5, bits));
                let row: Vec<f64> = [of_all].into_iter().chain(cuts_of_rounds(&traffic, ringed, fixed_way)).collect();
                sums.iter_mut().zip(&row).for_each(|(sum, cut)| *sum += cut / steps.len() as f64);
                let head = [
                    corpus.name.as_str().into(),
                    u64::from(documents).into(),
                    name.into(),
                    format!("2^-5, {bits} bits").into(),
                ];
                table.push(head.into_iter().chain(row.into_iter().map(Cell::from)));
            }
        }
        for ((name, _, fixed_way), sums) in pairs.into_iter().zip(sums) {
            let fixed = format!("2^-5, {} bits", fixed[fixed_way - 2]);
            let head = [corpus.name.as_str().into(), "mean".into(), name.into(), fixed.into()];
            table.push(head.into_iter().chain(sums.map(Cell::from)));
        }
    }
    Ok(table)
}

/// The reduction of traffic compared with fixed filters of several sizes, over all documents. The smaller list is sent,
/// as nodes do.
pub(crate) fn cuts_smaller_first(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let rounds = if options.quick { 3 } else { CUT_ROUNDS };
    let title = format!("Cuts where the smaller list is sent, {rounds} rounds of {} queries", options.queries);
    let mut table =
        Table::new("cuts-smaller-first", title, ["corpus", "bits of the fixed filter"].into_iter().chain(CUTS));
    for corpus in corpora {
        let mut fixed = [64, 128, 256, 1024, PAPER_BITS, 4096, tuned_for(corpus)[4]];
        fixed.sort_unstable();
        let choices = fixed.iter().map(|&bits| Choice::fixed(5, bits));
        let ways: Vec<Way> = std::iter::once(Choice::ringed(7, Gamma::Whole, DELTA))
            .chain(choices)
            .map(|choice| (Order::SmallerFirst, choice))
            .collect();
        let traffic = rounds_of(corpus, corpus.documents(), rounds, options, &ways)?;
        for (i, &bits) in fixed.iter().enumerate() {
            let cuts = cuts_of_rounds(&traffic, 0, i + 1).map(Cell::from);
            table.push([corpus.name.as_str().into(), bits.into()].into_iter().chain(cuts));
        }
    }
    Ok(table)
}

/// Measures the traffic of rounds of queries, each drawn anew, for each of several ways.
fn rounds_of(
    corpus: &Corpus,
    documents: u32,
    rounds: u64,
    options: &Options,
    ways: &[Way],
) -> Result<Vec<Vec<Traffic>>, Box<dyn Error>> {
    (0..rounds)
        .map(|round| {
            let workload = Workload::new(corpus, documents, 2, options.queries, options.seed + round);
            Ok(measure(&workload, ways, false)?)
        })
        .collect()
}

/// The reduction from `fixed` to `ringed`, in %.
fn cut(ringed: f64, fixed: f64) -> f64 {
    100.0 * (1.0 - ringed / fixed)
}

/// The reductions of the mean and of the maximum traffic by ringed filters compared with fixed ones. There are four
/// figures of each: over all rounds together, the median of the rounds, the least, and the greatest.
fn cuts_of_rounds(traffic: &[Vec<Traffic>], ringed: usize, fixed: usize) -> [f64; 8] {
    let figures: [(Figure, Join); 2] = [(Traffic::mean, |a, b| a + b), (|traffic| traffic.max as f64, f64::max)];
    let [mean, max] = figures.map(|(figure, join)| {
        let of = |way: usize| traffic.iter().map(move |round| figure(&round[way]));
        let mut cuts: Vec<f64> = of(ringed).zip(of(fixed)).map(|(a, b)| cut(a, b)).collect();
        let median = median(&mut cuts);
        let all = |way| of(way).fold(0.0, join);
        [cut(all(ringed), all(fixed)), median, cuts[0], cuts[cuts.len() - 1]]
    });
    std::array::from_fn(|i| if i < 4 { mean[i] } else { max[i - 4] })
}

/// The sizes in bits of fixed filters, one for each number of probes, that are best for half of the documents of the
/// corpus. The paper chose its size for 50,000 of 100,000 documents.
pub(super) fn tuned_for(corpus: &Corpus) -> Vec<u64> {
    AllPairs::new(corpus, corpus.documents() / 2).tuned_bits()
}

/// The numbers of documents in the figures: the multiples of 10,000 and all documents; or, of a small corpus, half of
/// the documents and all documents.
pub(super) fn steps(corpus: &Corpus) -> Vec<u32> {
    let all = corpus.documents();
    let step = if all >= 50_000 { 10_000 } else { all.div_ceil(2) };
    let mut steps: Vec<u32> = (1..=all / step).map(|i| i * step).collect();
    if steps.last() != Some(&all) {
        steps.push(all);
    }
    steps
}

pub(super) fn kbit(bits: f64) -> Cell {
    (bits / 1000.0).into()
}

impl Options {
    pub(super) fn workload<'a>(&self, corpus: &'a Corpus, documents: u32, words: usize) -> Workload<'a> {
        Workload::new(corpus, documents, words, self.queries, self.seed)
    }
}
