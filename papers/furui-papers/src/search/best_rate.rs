//! The best false-positive rate: eq. 18, and the minima of Fig. 8.

use std::error::Error;

use furui::filter::{Gamma, RingedParams};
use furui_search::plan;

use super::all_pairs::AllPairs;
use super::corpus::{Corpus, ids};
use super::exchange::{Choice, Order, exchange, measure};
use super::traffic::{DELTA, bits_of_keys, kbit, steps, tuned_for};
use super::{Options, RATES};
use crate::table::{Cell, Table};

/// Compares the best rate for each pair (eq. 18) with one rate for all, and with sending the smaller list first.
pub(crate) fn best(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = ["corpus", "ringed filters", "mean kbit", "max kbit", "mean, to 2^-7", "max, to 2^-7"];
    let mut table = Table::new("best", "Eq. 18: the best rate for each pair of lists".to_owned(), columns);
    let delta = DELTA;
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

/// Applies eq. 18 to lists of two sizes, which have no ids or many ids in common. The table has the rate by eq. 18, and
/// the rate whose filter causes the least real traffic, returned ids included. The last column is for the rate by eq.
/// 19, which a node would take, because it does not know how many ids are common.
pub(crate) fn eq18(options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = [
        "ids of the first",
        "of the second",
        "in both",
        "alpha by eq. 18",
        "its log2",
        "log2 of the best alpha",
        "kbit at the best",
        "kbit at that of eq. 18",
        "ratio",
        "ratio of eq. 19",
    ];
    let mut table = Table::new("eq18", "Eq. 18 on single pairs of lists".to_owned(), columns);
    let (size, rounds) = if options.quick { (400, 1) } else { (8000, 20) };
    let apart =
        [(8, 64), (8, 32), (8, 16), (8, 8), (16, 8), (32, 8), (64, 8)].map(|(first, second)| (first, second, 0));
    let overlapping = [(8, 64, 4), (8, 16, 4), (8, 8, 2), (8, 8, 4), (8, 8, 7), (16, 8, 4), (64, 8, 6)];
    for (first, second, both) in apart.into_iter().chain(overlapping) {
        let [first, second, both] = [first, second, both].map(|eighths| eighths * size / 8);
        let best = plan::best_rate(first, second, both);
        let mut bits = [0; 16];
        for round in 0..rounds {
            let ids = ids((first + second - both) as u32, options.seed + round);
            let (mut own, mut other) = (ids[..first as usize].to_vec(), ids[(first - both) as usize..].to_vec());
            own.sort_unstable();
            other.sort_unstable();
            for (probes, bits) in (1..).zip(&mut bits) {
                let choice = Choice::ringed(probes, Gamma::Exact, DELTA);
                *bits += exchange(&own, &other, choice, round as u32, false)?.bits;
            }
        }
        let least = (0..bits.len()).min_by_key(|&i| bits[i]).expect("some rates");
        // Eq. 18 is eq. 19 for a second list without the common ids.
        let [named, unknown] =
            [second - both, second].map(|other| bits[usize::from(plan::ringed_probes(first, other).min(16)) - 1]);
        let each = |bits: u64| kbit(bits as f64 / rounds as f64);
        table.push([
            first.into(),
            second.into(),
            both.into(),
            best.into(),
            best.log2().into(),
            (-(least as f64 + 1.0)).into(),
            each(bits[least]),
            each(named),
            (named as f64 / bits[least] as f64).into(),
            (unknown as f64 / bits[least] as f64).into(),
        ]);
    }
    Ok(table)
}

/// The rates whose filters have the least mean traffic over all pairs of words, by formula, for each number of
/// documents. The last row of each corpus has the rates that are best for the mean over all numbers of documents.
pub(crate) fn best_rates(corpora: &[Corpus]) -> Result<Table, Box<dyn Error>> {
    let columns = [
        "corpus",
        "documents",
        "best k, fixed",
        "kbit of it",
        "kbit, fixed 2^-5",
        "best k, bits of each alpha",
        "best k, one size",
        "best k, ringed",
        "kbit of the best ringed",
        "kbit, ringed 2^-7",
    ];
    let title = "The best rates, 2^-k, over all pairs of words, by formula".to_owned();
    let mut table = Table::new("best-rates", title, columns);
    for corpus in corpora {
        let tuned = tuned_for(corpus);
        let at_five = bits_of_keys(corpus, &tuned, 5);
        let steps = steps(corpus);
        let mut sums = [[0.0; 11]; 4];
        for &documents in &steps {
            let all_pairs = AllPairs::new(corpus, documents);
            let made = |probes| all_pairs.fixed(probes, bits_of_keys(corpus, &tuned, probes));
            let ringed = |probes| -> Result<f64, Box<dyn Error>> {
                Ok(all_pairs.ringed(probes, RingedParams::new(probes, Gamma::Whole, DELTA)?.gamma()))
            };
            let costs: [Vec<f64>; 4] = [
                RATES.map(made).collect(),
                RATES.zip(&tuned).map(|(probes, &bits)| all_pairs.fixed(probes, bits)).collect(),
                RATES.map(|probes| all_pairs.fixed(probes, at_five)).collect(),
                RATES.map(ringed).collect::<Result<_, _>>()?,
            ];
            for (sums, costs) in sums.iter_mut().zip(&costs) {
                sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost / steps.len() as f64);
            }
            table.push(best_row(corpus, u64::from(documents).into(), costs.each_ref().map(Vec::as_slice)));
        }
        table.push(best_row(corpus, "mean".into(), sums.each_ref().map(<[f64; 11]>::as_slice)));
    }
    Ok(table)
}

/// The row of best rates. Each slice of `costs` has the traffic for each k: of fixed filters made for one number of
/// keys, of fixed filters with the bits that are best for each α, of fixed filters of one size, and of ringed filters.
fn best_row(corpus: &Corpus, documents: Cell, costs: [&[f64]; 4]) -> [Cell; 10] {
    let least = |costs: &[f64]| (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).expect("some rates");
    let best = |costs: &[f64]| Cell::from(least(costs) as u64 + u64::from(*RATES.start()));
    let [made, tuned, one_size, ringed] = costs;
    [
        corpus.name.as_str().into(),
        documents,
        best(made),
        kbit(made[least(made)]),
        kbit(made[4]),
        best(tuned),
        best(one_size),
        best(ringed),
        kbit(ringed[least(ringed)]),
        kbit(ringed[6]),
    ]
}
