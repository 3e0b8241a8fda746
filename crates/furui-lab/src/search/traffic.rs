//! Table 1 and the traffic of queries of two words: Figs. 7 to 9, and eq. 18.

use std::ops::Add;

use furui::filter::Gamma;

use super::corpus::Corpus;
use super::exchange::{Coding, Order, Traffic, measure};
use super::fixed::{PAPER_BITS, tuned_bits};
use super::table::{Cell, Table};
use super::workload::Workload;
use super::{Options, RATES};
use crate::clock::median;

/// The windows of ringed filters: the paper's, and one that is about as good.
const DELTAS: [u32; 2] = [100_000, 1000];

/// How often the queries are drawn again to see the spread of what they say.
const CUT_ROUNDS: u64 = 20;

/// Table 1: documents and words.
pub(super) fn table1(corpora: &[Corpus]) -> Table {
    let columns = ["corpus", "documents", "words", "words a document", "documents a word", "documents of the commonest word"];
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

/// Fig. 7: the Naive algorithm, by the number of documents, in kilobits.
pub(super) fn fig7(corpora: &[Corpus], options: &Options) -> Table {
    let columns = ["corpus", "documents", "mean kbit", "max kbit", "smaller first, mean", "max"];
    let mut table = Table::new("fig7", "Fig. 7: traffic of the Naive algorithm".to_owned(), columns);
    for corpus in corpora {
        for documents in steps(corpus) {
            let workload = options.workload(corpus, documents, 2);
            let traffic = measure(&workload, &[(Order::Drawn, Coding::Ids), (Order::SmallerFirst, Coding::Ids)]);
            let mut row = vec![corpus.name.as_str().into(), u64::from(documents).into()];
            row.extend(traffic.iter().flat_map(|traffic| [kbit(traffic.mean()), kbit(traffic.max as f64)]));
            table.push(row);
        }
    }
    table
}

/// Figs. 8 and 9: TFA with fixed and ringed filters, mean and max, by the number of documents and α. The fixed filters
/// have, for each α, the bits with the least mean traffic at half of the paper's documents (50,000), as the paper chose
/// them, and beside it the paper's 2164.
pub(super) fn fig8_and_9(corpora: &[Corpus], options: &Options) -> [Table; 2] {
    let names = ["fixed, bits of each alpha", "fixed, 2164 bits", "ringed, delta 100,000", "ringed, delta 1000"];
    let columns = ["corpus", "documents", "alpha", "bits"].into_iter().chain(names);
    let mut tables = [("fig8", "Fig. 8: mean"), ("fig9", "Fig. 9: maximum")]
        .map(|(name, what)| Table::new(name, format!("{what} traffic in kbit"), columns.clone()));
    for corpus in corpora {
        let tuned = tuned_for(corpus);
        for documents in steps(corpus) {
            let traffic = measure(&options.workload(corpus, documents, 2), &paper_ways(&tuned));
            for (i, probes) in RATES.enumerate() {
                let of_rate = &traffic[4 * i..4 * i + 4];
                let head = [corpus.name.as_str().into(), u64::from(documents).into(), format!("2^-{probes}").into(), tuned[i].into()];
                tables[0].push(head.iter().cloned().chain(of_rate.iter().map(|traffic| kbit(traffic.mean()))));
                tables[1].push(head.into_iter().chain(of_rate.iter().map(|traffic| kbit(traffic.max as f64))));
            }
        }
    }
    tables
}

/// The cuts the paper reports, of all documents. One large pair of lists outweighs hundreds of others, so what 5000
/// queries say is a matter of luck: here are many rounds of them, the means of all, and the middle and the range of
/// what one round says.
pub(super) fn cuts(corpora: &[Corpus], options: &Options) -> Table {
    let columns = [
        "corpus",
        "ringed",
        "fixed",
        "cut of the mean %, all rounds",
        "median of the rounds",
        "least",
        "most",
        "cut of the max %, all rounds",
        "median of the rounds",
        "least",
        "most",
    ];
    let rounds = if options.quick { 3 } else { CUT_ROUNDS };
    let title = format!(
        "Cuts by ringed filters, {rounds} rounds of {} queries (paper: 39 % of the mean, 73 % of the maximum)",
        options.queries
    );
    let mut table = Table::new("cuts", title, columns);
    for corpus in corpora {
        let tuned = tuned_for(corpus);
        let seven = |gamma, delta| Coding::Ringed { probes: 7, gamma, delta };
        let ringed = [
            ("2^-7", seven(Gamma::Whole, 100_000)),
            ("2^-7, delta 1000", seven(Gamma::Whole, 1000)),
            ("2^-7, gamma exact, delta 1000", seven(Gamma::Exact, 1000)),
            ("2^-6", Coding::Ringed { probes: 6, gamma: Gamma::Whole, delta: 100_000 }),
        ];
        let fixed = [(5, tuned[4]), (2, tuned[1]), (5, PAPER_BITS)];
        let fixed_ways = fixed.map(|(probes, bits)| Coding::Fixed { bits, probes });
        let ways: Vec<_> = ringed.iter().map(|&(_, coding)| coding).chain(fixed_ways).map(|coding| (Order::Drawn, coding)).collect();
        let traffic: Vec<_> = (0..rounds)
            .map(|round| {
                let seed = options.seed + round;
                measure(&Workload::new(corpus, corpus.documents(), 2, options.queries, seed), &ways)
            })
            .collect();
        for (i, (ringed, _)) in ringed.iter().enumerate() {
            for (j, (probes, bits)) in fixed.iter().enumerate() {
                let cut = |ringed: f64, fixed: f64| 100.0 * (1.0 - ringed / fixed);
                let row = [Traffic::mean, |traffic: &Traffic| traffic.max as f64].into_iter().zip([f64::add, f64::max]).flat_map(|(figure, join)| {
                    let of = |way: usize| traffic.iter().map(move |round| figure(&round[way]));
                    let all = |way| of(way).fold(0.0, join);
                    let mut cuts: Vec<f64> = of(i).zip(of(4 + j)).map(|(ringed, fixed)| cut(ringed, fixed)).collect();
                    let median = median(&mut cuts);
                    [cut(all(i), all(4 + j)), median, cuts[0], cuts[cuts.len() - 1]]
                });
                let head = [corpus.name.as_str().into(), (*ringed).into(), format!("2^-{probes}, {bits} bits").into()];
                table.push(head.into_iter().chain(row.map(Cell::from)));
            }
        }
    }
    table
}

/// Eq. 18: the best rate for each pair instead of one for all, and the smaller list first.
pub(super) fn best(corpora: &[Corpus], options: &Options) -> Table {
    let columns = ["corpus", "ringed filters", "mean kbit", "max kbit", "mean, to 2^-7", "max, to 2^-7"];
    let mut table = Table::new("best", "Eq. 18: the best rate for each pair of lists".to_owned(), columns);
    let delta = 100_000;
    let seven = |gamma| Coding::Ringed { probes: 7, gamma, delta };
    let ways = [
        ("2^-7", Order::Drawn, seven(Gamma::Whole)),
        ("2^-7, gamma exact", Order::Drawn, seven(Gamma::Exact)),
        ("eq. 18", Order::Drawn, Coding::RingedBest { gamma: Gamma::Whole, delta }),
        ("eq. 18, gamma exact", Order::Drawn, Coding::RingedBest { gamma: Gamma::Exact, delta }),
        ("2^-7, smaller first", Order::SmallerFirst, seven(Gamma::Whole)),
        ("2^-7, gamma exact, smaller first", Order::SmallerFirst, seven(Gamma::Exact)),
        ("eq. 18, smaller first", Order::SmallerFirst, Coding::RingedBest { gamma: Gamma::Whole, delta }),
        ("eq. 18, gamma exact, smaller first", Order::SmallerFirst, Coding::RingedBest { gamma: Gamma::Exact, delta }),
    ];
    for corpus in corpora {
        let workload = options.workload(corpus, corpus.documents(), 2);
        let traffic = measure(&workload, &ways.map(|(_, order, coding)| (order, coding)));
        for ((name, ..), of_way) in ways.iter().zip(&traffic) {
            table.push([
                corpus.name.as_str().into(),
                (*name).into(),
                kbit(of_way.mean()),
                kbit(of_way.max as f64),
                (of_way.mean() / traffic[0].mean()).into(),
                (of_way.max as f64 / traffic[0].max as f64).into(),
            ]);
        }
    }
    table
}

/// For each rate: fixed with its own bits, fixed with the paper's, ringed with both windows.
fn paper_ways(tuned: &[u64]) -> Vec<(Order, Coding)> {
    let of_rate = |(probes, &bits): (u32, &u64)| {
        let fixed = [bits, PAPER_BITS].map(|bits| Coding::Fixed { bits, probes });
        let ringed = DELTAS.map(|delta| Coding::Ringed { probes, gamma: Gamma::Whole, delta });
        fixed.into_iter().chain(ringed)
    };
    RATES.zip(tuned).flat_map(of_rate).map(|coding| (Order::Drawn, coding)).collect()
}

/// The bits of fixed filters, chosen when the corpus has half of its documents: in the paper, at 50,000 of 100,000.
pub(super) fn tuned_for(corpus: &Corpus) -> Vec<u64> {
    tuned_bits(corpus, corpus.documents() / 2)
}

/// The numbers of documents of the figures: ten steps up to 100,000 or so.
fn steps(corpus: &Corpus) -> Vec<u32> {
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
    fn workload<'a>(&self, corpus: &'a Corpus, documents: u32, words: usize) -> Workload<'a> {
        Workload::new(corpus, documents, words, self.queries, self.seed)
    }
}
