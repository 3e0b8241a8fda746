//! Table 1 and the traffic of queries of two words: Figs. 7 to 9, and eq. 18.

use std::error::Error;

use furui::filter::{Gamma, RingedParams};
use furui::search::{Coding, plan};

use super::all_pairs::AllPairs;
use super::corpus::{Corpus, ids};
use super::exchange::{Choice, Order, Traffic, Way, exchange, measure};
use super::workload::Workload;
use super::{Options, RATES};
use crate::clock::median;
use crate::table::{Cell, Table};

/// The windows of ringed filters: the paper's, and one that is about as good.
const DELTAS: [u32; 2] = [100_000, 1000];

/// The size of the paper's fixed filters, in bits.
const PAPER_BITS: u64 = 2164;

/// How often the queries over all documents are drawn again to see the spread of what they say; over fewer, a quarter.
const CUT_ROUNDS: u64 = 20;

/// What is read of the traffic of a round, and what joins those of all rounds.
type Figure = fn(&Traffic) -> f64;
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

/// Fig. 7: the Naive algorithm, by the number of documents, in kilobits.
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

/// Figs. 8 and 9: TFA with fixed and ringed filters, mean and max, by the number of documents and α. The fixed filters
/// have, for each α, the bits with the least mean traffic at half of the paper's documents (50,000), as the paper chose
/// them, and beside it the paper's 2164.
pub(crate) fn fig8_and_9(corpora: &[Corpus], options: &Options) -> Result<[Table; 2], Box<dyn Error>> {
    let names = ["fixed, bits of each alpha", "fixed, 2164 bits", "ringed, delta 100,000", "ringed, delta 1000"];
    let columns = ["corpus", "documents", "k", "fixed, bits"].into_iter().chain(names);
    let mut tables = [("fig8", "Fig. 8: mean"), ("fig9", "Fig. 9: maximum")]
        .map(|(name, what)| Table::new(name, format!("{what} traffic in kbit, alpha = 2^-k"), columns.clone()));
    options.bar.set_length(corpora.iter().map(|corpus| steps(corpus).len() as u64).sum());
    for corpus in corpora {
        let tuned = tuned_for(corpus);
        for documents in steps(corpus) {
            let traffic = measure(&options.workload(corpus, documents, 2), &paper_ways(&tuned), false)?;
            options.bar.inc(1);
            for (i, probes) in RATES.enumerate() {
                let of_rate = &traffic[4 * i..4 * i + 4];
                let head = [
                    corpus.name.as_str().into(),
                    u64::from(documents).into(),
                    u64::from(probes).into(),
                    tuned[i].into(),
                ];
                tables[0].push(head.iter().cloned().chain(of_rate.iter().map(|traffic| kbit(traffic.mean()))));
                tables[1].push(head.into_iter().chain(of_rate.iter().map(|traffic| kbit(traffic.max as f64))));
            }
        }
    }
    Ok(tables)
}

/// The cuts by ringed filters at 2⁻⁷ against fixed ones at 2⁻⁵, by the number of documents; the last row of each pair is the
/// mean of the others, which is how the paper's 39 % can be read.
///
/// One large pair of lists outweighs hundreds of others, so what 5000 queries say is a matter of luck: here are the means of
/// all pairs of words, by formula, and of many rounds of queries, with the middle and the range of what one round says.
pub(crate) fn cuts(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = [
        "corpus",
        "documents",
        "ringed",
        "fixed",
        "cut of the mean %, all pairs, formula",
        "mean, all rounds",
        "mean, median round",
        "mean, least",
        "mean, most",
        "cut of the max %, all rounds",
        "max, median round",
        "max, least",
        "max, most",
    ];
    let rounds = if options.quick { 3 } else { CUT_ROUNDS };
    let title =
        format!("Cuts by ringed filters, up to {rounds} rounds of {} queries (paper: 39 % and 73 %)", options.queries);
    let mut table = Table::new("cuts", title, columns);
    options.bar.set_length(corpora.iter().map(|corpus| steps(corpus).len() as u64).sum());
    for corpus in corpora {
        let tuned = tuned_for(corpus)[4];
        let gammas = [Gamma::Whole, Gamma::Exact].map(|gamma| RingedParams::new(7, gamma, 100_000));
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
            let traffic: Vec<_> = (0..rounds)
                .map(|round| {
                    let workload = Workload::new(corpus, documents, 2, options.queries, options.seed + round);
                    measure(&workload, &ways, false)
                })
                .collect::<Result<_, _>>()?;
            options.bar.inc(1);
            for ((name, ringed, fixed_way), sums) in pairs.into_iter().zip(&mut sums) {
                let bits = fixed[fixed_way - 2];
                let cut = |ringed: f64, fixed: f64| 100.0 * (1.0 - ringed / fixed);
                let mut row = vec![cut(all_pairs.ringed(7, gammas[ringed].gamma()), all_pairs.fixed(5, bits))];
                let figures: [(Figure, Join); 2] =
                    [(Traffic::mean, |a, b| a + b), (|traffic| traffic.max as f64, f64::max)];
                for (figure, join) in figures {
                    let of = |way: usize| traffic.iter().map(move |round| figure(&round[way]));
                    let mut cuts: Vec<f64> = of(ringed).zip(of(fixed_way)).map(|(a, b)| cut(a, b)).collect();
                    let median = median(&mut cuts);
                    let all = |way| of(way).fold(0.0, join);
                    row.extend([cut(all(ringed), all(fixed_way)), median, cuts[0], cuts[cuts.len() - 1]]);
                }
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

/// Eq. 18: the best rate for each pair instead of one for all, and the smaller list first.
pub(crate) fn best(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = ["corpus", "ringed filters", "mean kbit", "max kbit", "mean, to 2^-7", "max, to 2^-7"];
    let mut table = Table::new("best", "Eq. 18: the best rate for each pair of lists".to_owned(), columns);
    let delta = 100_000;
    let seven = |gamma| Choice::ringed(7, gamma, delta);
    let ways = [
        ("2^-7", Order::Drawn, seven(Gamma::Whole)),
        ("2^-7, gamma exact", Order::Drawn, seven(Gamma::Exact)),
        ("eq. 18", Order::Drawn, Choice::BestRinged { gamma: Gamma::Whole, delta }),
        ("eq. 18, gamma exact", Order::Drawn, Choice::BestRinged { gamma: Gamma::Exact, delta }),
        ("2^-7, smaller first", Order::SmallerFirst, seven(Gamma::Whole)),
        ("2^-7, gamma exact, smaller first", Order::SmallerFirst, seven(Gamma::Exact)),
        ("eq. 18, smaller first", Order::SmallerFirst, Choice::BestRinged { gamma: Gamma::Whole, delta }),
        ("eq. 18, gamma exact, smaller first", Order::SmallerFirst, Choice::BestRinged { gamma: Gamma::Exact, delta }),
    ];
    for corpus in corpora {
        let workload = options.workload(corpus, corpus.documents(), 2);
        let traffic = measure(&workload, &ways.map(|(_, order, coding)| (order, coding)), false)?;
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
    Ok(table)
}

/// Eq. 18 on lists of two sizes that have nothing in common: the rate it names, and the one whose filter takes the least real
/// traffic, ids back included.
pub(crate) fn eq18(options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = [
        "ids of the first",
        "of the second",
        "alpha by eq. 18",
        "its log2",
        "log2 of the best alpha",
        "kbit at the best",
        "kbit at that of eq. 18",
        "ratio",
    ];
    let mut table = Table::new("eq18", "Eq. 18 on lists with nothing in common".to_owned(), columns);
    let (size, rounds) = if options.quick { (400, 1) } else { (8000, 20) };
    for (first, second) in [(1, 8), (1, 4), (1, 2), (1, 1), (2, 1), (4, 1), (8, 1)] {
        let (first, second) = (first * size, second * size);
        let best = plan::best_rate(first, second, 0);
        let mut bits = [0; 16];
        for round in 0..rounds {
            let ids = ids((first + second) as u32, options.seed + round);
            let (own, other) = ids.split_at(first as usize);
            let (mut own, mut other) = (own.to_vec(), other.to_vec());
            own.sort_unstable();
            other.sort_unstable();
            for (probes, bits) in (1..).zip(&mut bits) {
                let choice = Choice::ringed(probes, Gamma::Exact, DELTAS[0]);
                *bits += exchange(&own, &other, choice, round as u32, false)?.bits;
            }
        }
        let least = (0..bits.len()).min_by_key(|&i| bits[i]).expect("some rates");
        let named = bits[usize::from(plan::ringed_probes(first, second)) - 1];
        let each = |bits: u64| kbit(bits as f64 / rounds as f64);
        table.push([
            first.into(),
            second.into(),
            best.into(),
            best.log2().into(),
            (-(least as f64 + 1.0)).into(),
            each(bits[least]),
            each(named),
            (named as f64 / bits[least] as f64).into(),
        ]);
    }
    Ok(table)
}

/// The rates whose filters have the least mean traffic over all pairs of words, by formula, for each number of documents.
pub(crate) fn best_rates(corpora: &[Corpus]) -> Result<Table, Box<dyn Error>> {
    let columns = [
        "corpus",
        "documents",
        "k of the best fixed",
        "kbit of it",
        "fixed 2^-5 / the best",
        "k of the best of 2164 bits",
        "k of the best ringed",
        "kbit of the best ringed",
        "ringed 2^-7 / the best",
    ];
    let title = "The best rates, 2^-k, over all pairs of words, by formula".to_owned();
    let mut table = Table::new("best-rates", title, columns);
    for corpus in corpora {
        let tuned = tuned_for(corpus);
        for documents in steps(corpus) {
            let all_pairs = AllPairs::new(corpus, documents);
            let cost_of_ringed = |probes: u32| -> Result<f64, Box<dyn Error>> {
                Ok(all_pairs.ringed(probes, RingedParams::new(probes, Gamma::Whole, DELTAS[0])?.gamma()))
            };
            let fixed: Vec<f64> = RATES.zip(&tuned).map(|(probes, &bits)| all_pairs.fixed(probes, bits)).collect();
            let paper: Vec<f64> = RATES.map(|probes| all_pairs.fixed(probes, PAPER_BITS)).collect();
            let ringed = RATES.map(cost_of_ringed).collect::<Result<Vec<_>, _>>()?;
            let best = |costs: &[f64]| -> usize {
                (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).expect("some rates")
            };
            let probes = |costs: &[f64]| Cell::from(best(costs) as u64 + u64::from(*RATES.start()));
            table.push([
                corpus.name.as_str().into(),
                u64::from(documents).into(),
                probes(&fixed),
                kbit(fixed[best(&fixed)]),
                (fixed[4] / fixed[best(&fixed)]).into(),
                probes(&paper),
                probes(&ringed),
                kbit(ringed[best(&ringed)]),
                (ringed[6] / ringed[best(&ringed)]).into(),
            ]);
        }
    }
    Ok(table)
}

/// For each rate: fixed with its own bits, fixed with the paper's, ringed with both windows.
fn paper_ways(tuned: &[u64]) -> Vec<Way> {
    let of_rate = |(probes, &bits): (u32, &u64)| {
        let fixed = [bits, PAPER_BITS].map(|bits| Choice::fixed(probes, bits));
        let ringed = DELTAS.map(|delta| Choice::ringed(probes, Gamma::Whole, delta));
        fixed.into_iter().chain(ringed)
    };
    RATES.zip(tuned).flat_map(of_rate).map(|coding| (Order::Drawn, coding)).collect()
}

/// The bits of fixed filters, chosen when the corpus has half of its documents: in the paper, at 50,000 of 100,000.
pub(super) fn tuned_for(corpus: &Corpus) -> Vec<u64> {
    AllPairs::new(corpus, corpus.documents() / 2).tuned_bits()
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
    pub(super) fn workload<'a>(&self, corpus: &'a Corpus, documents: u32, words: usize) -> Workload<'a> {
        Workload::new(corpus, documents, words, self.queries, self.seed)
    }
}
