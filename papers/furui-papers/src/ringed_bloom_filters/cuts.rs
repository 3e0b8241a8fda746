//! The cuts of 39 % and 73 %: how much less traffic ringed filters cause than fixed ones, according to the paper on
//! ringed filters.

use furui::filter::{Gamma, RingedParams};
use furui_search::Coding;

use super::all_pairs::{AllPairs, tuned_for};
use super::corpus::Corpus;
use super::exchange::{Choice, Order, Traffic, Way, measure};
use super::workload::{Workload, queries};
use super::{DELTA, PAPER_BITS, corpora};
use crate::clock::median;
use crate::report::{Axis, Cell, Context, Finding, Plot, Result, Source, Table, Verdict, brief};

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

/// The name of the column with the reduction ("cut") of the mean traffic over all pairs of words.
const ALL_PAIRS: &str = "cut of the mean %, all pairs, formula";

/// A function that computes one number from the traffic of a round, such as its mean.
type Figure = fn(&Traffic) -> f64;

/// A function that combines the numbers of two rounds.
type Join = fn(f64, f64) -> f64;

pub(super) fn cuts(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let [table, smaller_first] = context.tables(Source::RingedBloomFilters, ["cuts", "cuts-smaller-first"], || {
        Ok([by_documents(&corpora, context)?, smaller_first(&corpora, context)?])
    })?;
    let ways: Vec<[&str; 2]> = table.rows.iter().filter_map(|row| Some([row[2].text()?, row[3].text()?])).collect();
    let draw = |name: &str, what: &str, column: &str, paper: f64| {
        let title = format!("Cut of the {what}, by ringed filters against fixed ones at 2^-5");
        let mut plot = Plot::new(name, title, Axis::linear("documents"), Axis::linear("cut, %"));
        for (i, &[ringed, fixed]) in ways.iter().enumerate().filter(|(i, way)| !ways[..*i].contains(way)) {
            let cells = [("ringed", ringed.into()), ("fixed", fixed.into()), ("corpus", table.rows[i][0].clone())];
            let corpus = table.rows[i][0].text().unwrap_or_default();
            plot = plot.line(
                format!("{corpus}, {ringed}, {}", fixed.trim_start_matches("2^-5, ")),
                table.points("documents", column, &cells),
            );
        }
        let ends = [0.0, f64::from(corpora[0].documents())];
        plot.line("the paper", ends.map(|at| (at, paper)).into())
    };
    let least = |figure: &str| brief(smaller_first.range(figure, &[]).0);
    let plots = vec![
        draw("cuts", "mean over all pairs", ALL_PAIRS, 39.0),
        draw("cuts-max", "maximum, the median round", "max, median round", 73.0),
    ];
    let notes = vec![format!(
        "The paper sends the list of the word that is drawn first. If the smaller list is sent, as by a \
                 node, ringed filters cut the mean of every round by {} % or more, whatever the length of the fixed \
                 ones, and the maximum of the median round by {} % or more.",
        least("mean, least"),
        least("max, median round"),
    )];
    Ok(Finding::new(data, verdict(&table, &smaller_first, &ways, &corpora[0]), [table, smaller_first], plots)
        .with_notes(notes))
}

/// The verdict on the synthetic documents. `ways` are the names of the filters that each row of the table compares.
fn verdict(table: &Table, smaller_first: &Table, ways: &[[&str; 2]], corpus: &Corpus) -> Verdict {
    // For the synthetic documents, the first three rows compare ringed filters with the tuned fixed filter, ringed
    // filters with the paper's fixed filter, and ringed filters of an exact gamma with the tuned one.
    let at = |documents: Cell, way: usize, column: &str| {
        let [ringed, fixed] = ways[way];
        let name = ("corpus", corpus.name.as_str().into());
        let cells = [name, ("documents", documents), ("ringed", ringed.into()), ("fixed", fixed.into())];
        table.number(column, &cells)
    };
    let over_sizes = |way: usize, column: &str| at("mean".into(), way, column);
    let at_all = |way: usize, column: &str| at(u64::from(corpus.documents()).into(), way, column);
    let (of_rounds, max_of_rounds) = ("mean, all rounds", "cut of the max %, all rounds");
    let ours = |column: &str| {
        let bits = PAPER_BITS.into();
        smaller_first.number(column, &[("corpus", corpus.name.as_str().into()), ("bits of the fixed filter", bits)])
    };
    let (our_mean, our_max) = (ours(of_rounds), ours(max_of_rounds));
    Verdict::all([
        Verdict::near(
            "The cut of the mean, in %, over all numbers of documents and all rounds, against fixed filters of 2164 \
             bits, in the paper's order",
            39.0,
            over_sizes(1, of_rounds),
            0.05,
            0.3,
        ),
        Verdict::near("The cut of the maximum, in %, likewise", 73.0, over_sizes(1, max_of_rounds), 0.05, 0.3),
    ])
    .and(format!(
        "In our order, where the smaller list is sent, the cut is {} % of the mean and {} % of the maximum, at all documents.",
        brief(our_mean),
        brief(our_max)
    ))
    .and(format!(
        "By formula, over all pairs of words, the cut of the mean is {} % over all numbers of documents, and {} % at \
         all documents; against fixed filters whose bits are the best for 2^-5, {} % and {} %. The cut of a single \
         round depends on chance, because a few pairs of long lists determine it: at all documents it is from {} to {} \
         % for the mean, and from {} to {} % for the maximum.",
        brief(over_sizes(1, ALL_PAIRS)),
        brief(at_all(1, ALL_PAIRS)),
        brief(over_sizes(0, ALL_PAIRS)),
        brief(at_all(0, ALL_PAIRS)),
        brief(at_all(1, "mean, least")),
        brief(at_all(1, "mean, most")),
        brief(at_all(1, "max, least")),
        brief(at_all(1, "max, most")),
    ))
}

/// The reduction of traffic by ringed filters at 2⁻⁷ compared with fixed ones at 2⁻⁵, by the number of documents. For
/// each pair of filters, the last row is the mean of the other rows, which is one reading of the 39 % of Sei et al.
///
/// One large pair of lists outweighs hundreds of others, so the result of 5000 queries depends on chance. The table
/// therefore has the mean over all pairs of words, by formula, and the mean over many rounds of queries, with the
/// median and the range of single rounds.
fn by_documents(corpora: &[Corpus], context: &Context) -> Result<Table> {
    let rounds = if context.quick { 3 } else { CUT_ROUNDS };
    let title =
        format!("Cuts by ringed filters, up to {rounds} rounds of {} queries (paper: 39 % and 73 %)", queries(context));
    let columns = ["corpus", "documents", "ringed", "fixed", ALL_PAIRS];
    let mut table = Table::new("cuts", title, columns.into_iter().chain(CUTS));
    let bar = context.bar(corpora.iter().map(|corpus| corpus.steps().len() as u64).sum(), "cuts");
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
        let steps = corpus.steps();
        let mut sums = [[0.0; 9]; 3];
        for &documents in &steps {
            let all_pairs = AllPairs::new(corpus, documents);
            let rounds = if documents == corpus.documents() { rounds } else { rounds / 4 + 1 };
            let traffic = rounds_of(corpus, documents, rounds, context, &ways)?;
            bar.inc(1);
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
fn smaller_first(corpora: &[Corpus], context: &Context) -> Result<Table> {
    let rounds = if context.quick { 3 } else { CUT_ROUNDS };
    let title = format!("Cuts where the smaller list is sent, {rounds} rounds of {} queries", queries(context));
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
        let traffic = rounds_of(corpus, corpus.documents(), rounds, context, &ways)?;
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
    context: &Context,
    ways: &[Way],
) -> Result<Vec<Vec<Traffic>>> {
    (0..rounds)
        .map(|round| {
            let workload = Workload::of_round(context, corpus, documents, 2, round);
            Ok(measure(&workload, ways, false)?)
        })
        .collect()
}

/// The reduction of traffic from `fixed` to `ringed`, in per cent of `fixed`.
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
