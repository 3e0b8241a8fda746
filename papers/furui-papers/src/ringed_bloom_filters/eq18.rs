//! Eqs. 18 and 19 of the paper on ringed filters: the false-positive rate with the least traffic for a pair of lists.

use furui::filter::Gamma;
use furui_search::plan;

use super::corpus::{Corpus, ids};
use super::exchange::{Choice, Order, exchange, kbit, measure};
use super::workload::Workload;
use super::{DELTA, corpora};
use crate::report::{Axis, Context, Finding, Plot, Result, Source, Table, Verdict, brief};

pub(super) fn eq18(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let [alone, best] = context
        .tables(Source::RingedBloomFilters, ["eq18", "best"], || Ok([pairs(context)?, best(&corpora, context)?]))?;
    let axes = (Axis::log("ids of the second list over those of the first"), Axis::linear("log2 of alpha"));
    let ratio = |column: &str| -> Vec<(f64, f64)> {
        let of = |y| alone.points("ids of the first", y, &[("in both", 0u64.into())]);
        of("of the second").iter().zip(of(column)).map(|(&(first, second), (_, y))| (second / first, y)).collect()
    };
    let plot = Plot::new("eq18", "The best alpha for two lists", axes.0, axes.1)
        .dots("least traffic measured", ratio("log2 of the best alpha"))
        .formula("eq. 18", ratio("its log2"));
    let nothing = [("in both", 0u64.into())];
    let equal = alone.only(&nothing).find_map(|row| (row[0] == row[1]).then(|| row[3].number())).flatten();
    let apart = alone.range("ratio", &nothing).1;
    let with_common = alone.rows.iter().filter(|row| row[2].number() > Some(0.0));
    let last = alone.columns.len() - 1;
    let worst_of = |column: usize| with_common.clone().filter_map(|row| row[column].number()).fold(0.0, f64::max);
    let (common, unknown) = (worst_of(last - 1), worst_of(last));
    let gain = |corpus: &Corpus| {
        best.number("mean, to 2^-7", &[("corpus", corpus.name.as_str().into()), ("ringed filters", "eq. 18".into())])
    };
    let gains = corpora.iter().map(|corpus| format!("{} ({})", brief(gain(corpus)), corpus.name)).collect::<Vec<_>>();
    let verdict = Verdict::all([
            Verdict::near("alpha for lists of one size", 0.013, equal.unwrap_or(f64::NAN), 0.01, 0.1),
            Verdict::holds(
                apart < 1.02,
                format!(
                    "The whole k nearest to the alpha of eq. 18 takes at most {} % more bits than the best k, measured \
                     on lists with nothing in common.",
                    brief(100.0 * (apart - 1.0))
                ),
            ),
            Verdict::holds(
                common < 1.02,
                format!(
                    "On lists with common ids it takes at most {} % more, if their number is known; if it is taken for 0 (eq. \
                     19), as a node must do, up to {} %.",
                    brief(100.0 * (common - 1.0)),
                    brief(100.0 * (unknown - 1.0))
                ),
            ),
        ])
        .and(format!(
            "One alpha for each pair of lists, which the paper leaves to future work, takes {} times the mean \
                traffic of 2^-7 for all pairs.",
            gains.join(" and ")
        ));
    Ok(Finding::new(
        format!("for single pairs, ids drawn from the seed; for queries, {data}"),
        verdict,
        [alone, best],
        [plot],
    ))
}

/// Compares the best rate for each pair (eq. 18) with one rate for all, and with sending the smaller list first.
fn best(corpora: &[Corpus], context: &Context) -> Result<Table> {
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
        let workload = Workload::new(context, corpus, corpus.documents(), 2);
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
fn pairs(context: &Context) -> Result<Table> {
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
    let (size, rounds) = if context.quick { (400, 1) } else { (8000, 20) };
    let apart =
        [(8, 64), (8, 32), (8, 16), (8, 8), (16, 8), (32, 8), (64, 8)].map(|(first, second)| (first, second, 0));
    let overlapping = [(8, 64, 4), (8, 16, 4), (8, 8, 2), (8, 8, 4), (8, 8, 7), (16, 8, 4), (64, 8, 6)];
    for (first, second, both) in apart.into_iter().chain(overlapping) {
        let [first, second, both] = [first, second, both].map(|eighths| eighths * size / 8);
        let best = plan::best_rate(first, second, both);
        let mut bits = [0; 16];
        for round in 0..rounds {
            let ids = ids((first + second - both) as u32, context.seed + round);
            let (mut own, mut other) = (ids[..first as usize].to_vec(), ids[(first - both) as usize..].to_vec());
            own.sort_unstable();
            other.sort_unstable();
            for (probes, bits) in (1..).zip(&mut bits) {
                let choice = Choice::ringed(probes, Gamma::Exact, DELTA);
                *bits += exchange(&own, &other, choice, round as u32, false)?.bits;
            }
        }
        let least = (0..bits.len()).min_by_key(|&i| bits[i]).expect("some rates");
        // Eq. 18 is the same formula as eq. 19, for a second list that lacks the common ids.
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
