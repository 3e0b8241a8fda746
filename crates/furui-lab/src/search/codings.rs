//! All codings on the same queries, every message equal to its prediction.

use std::error::Error;

use furui::filter::Gamma;
use furui::search::Coding;

use super::Options;
use super::corpus::Corpus;
use super::exchange::{Choice, Order, measure};
use super::traffic::{kbit, tuned_for};
use crate::table::Table;

/// What sizes would take if they did not come with the look-up that is kept.
const SIZES_BITS: f64 = 40.0;

/// The traffic of each coding, and its ratio to that of the paper's ringed filter.
pub(crate) fn codings(corpora: &[Corpus], options: &Options) -> Result<Table, Box<dyn Error>> {
    let columns = [
        "corpus",
        "coding",
        "mean kbit",
        "max kbit",
        "mean, to ringed 2^-7",
        "with 40 bits for sizes",
        "max, to ringed 2^-7",
        "mean bytes",
        "in three messages",
        "repeated",
    ];
    let title = format!("Codings, {} queries, every message as predicted", options.queries);
    let mut table = Table::new("codings", title, columns);
    for corpus in corpora {
        let seven = Choice::ringed(7, Gamma::Whole, 100_000);
        let ways = [
            ("ringed 2^-7", (Order::Drawn, seven)),
            ("naive", (Order::Drawn, Choice::Always(Coding::Ids))),
            ("naive, smaller first", (Order::SmallerFirst, Choice::Always(Coding::Ids))),
            ("fixed 2^-5", (Order::Drawn, Choice::fixed(5, tuned_for(corpus)[4]))),
            ("ringed 2^-7, delta 1000", (Order::Drawn, Choice::ringed(7, Gamma::Whole, 1000))),
            ("ringed 2^-7, smaller first", (Order::SmallerFirst, seven)),
            (
                "ringed, eq. 18, smaller first",
                (Order::SmallerFirst, Choice::BestRinged { gamma: Gamma::Exact, delta: 1000 }),
            ),
            ("Golomb in two messages, smaller first", (Order::SmallerFirst, Choice::Two)),
            ("Golomb in three messages, smaller first", (Order::SmallerFirst, Choice::Three)),
            ("default", (Order::SmallerFirst, Choice::Default)),
        ];
        let workload = options.workload(corpus, corpus.documents(), 2);
        let traffic = measure(&workload, &ways.map(|(_, way)| way), true)?;
        let (base, base_max) = (traffic[0].mean(), traffic[0].max as f64);
        for ((name, (order, _)), of_way) in ways.iter().zip(&traffic) {
            let sizes = match order {
                Order::Drawn => 0.0,
                Order::SmallerFirst => SIZES_BITS,
            };
            table.push([
                corpus.name.as_str().into(),
                (*name).into(),
                kbit(of_way.mean()),
                kbit(of_way.max as f64),
                (of_way.mean() / base).into(),
                ((of_way.mean() + sizes) / base).into(),
                (of_way.max as f64 / base_max).into(),
                of_way.mean_bytes().into(),
                of_way.in_three.into(),
                of_way.repeated.into(),
            ]);
        }
    }
    Ok(table)
}
