//! Golomb-coded sets compared with ringed filters.

use super::super::ringed::{corpora, options};
use super::super::{Axis, Context, Experiment, Finding, Grade, Mark, Plot, Result, Series, Source, Verdict, brief};
use crate::search;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        source: Source::Ours,
        name: "codings",
        title: "Golomb-coded sets against ringed filters: the traffic of a search",
        claim: "How much less traffic does one exchange of two lists cause with furui's codings than with the paper's ringed \
                filters? (A whole query has six exchanges, and requests, results and checks.)",
        run: codings,
    },
    Experiment {
        source: Source::Ours,
        name: "coded-sets",
        title: "Golomb-coded sets against ringed filters: the bits of a set",
        claim: "How many bits an id does a set of ids take at each false-positive rate, and how near is that to the \
            theoretical minimum?",
        run: coded_sets,
    },
];

fn codings(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = search::codings(&corpora, &options(context))?;
    let first = [("corpus", corpora[0].name.as_str().into())];
    let names: Vec<&str> = table.only(&first).filter_map(|row| row[1].text()).collect();
    let axes = (Axis::log("mean traffic, to ringed 2^-7"), Axis::names("", names.iter().copied()));
    let mut plot = Plot::new("codings", "Mean traffic of a query of two words, by coding", axes.0, axes.1);
    let ratio = |corpus: &str, coding: &str| {
        table.number("mean, to ringed 2^-7", &[("corpus", corpus.into()), ("coding", coding.into())])
    };
    for corpus in &corpora {
        let bars = names.iter().zip(0u32..).map(|(name, i)| (ratio(&corpus.name, name), f64::from(i)));
        plot = plot.with(Series::new(corpus.name.as_str(), Mark::Bar, bars.collect()));
    }
    let says: Vec<String> = corpora
        .iter()
        .map(|corpus| {
            let of = |coding| brief(ratio(&corpus.name, coding));
            format!(
                "{}: {} times the mean traffic of ringed filters at 2^-7; ringed filters with the best alpha and the \
                 smaller list first take {} times.",
                corpus.name,
                of("default"),
                of("ringed, eq. 18, smaller first")
            )
        })
        .collect();
    Ok(Finding {
        data,
        verdict: Verdict::new(Grade::Measured, says.join(" ")),
        tables: vec![table],
        plots: vec![plot],
        notes: vec![
            "Every message is coded, read, matched and settled; its size is compared with the prediction, and the \
             answer with the true one."
                .to_owned(),
            "Sending the smaller list first saves most; then the short names of matches in the answer (a rank and a \
             few check bits instead of 160 bits); then the coding of the set."
                .to_owned(),
            "\"With 40 bits for sizes\" adds the bits for asking for the sizes of lists; a node gets them with the \
                look-up."
                .to_owned(),
        ],
    })
}

fn coded_sets(context: &Context) -> Result<Finding> {
    let table = search::coded_sets(&options(context))?;
    let axes = (Axis::log("false-positive rate"), Axis::linear("bits an id"));
    let points = |rate: &str, bits: &str| table.points(rate, bits, &[]);
    let plot = Plot::new("coded-sets", "Bits an id of a set, by false-positive rate", axes.0, axes.1)
        .with(Series::new("ringed, whole gamma", Mark::Line, points("ringed 2^-k, rate", "ringed, bits an id")))
        .with(Series::new(
            "ringed, exact gamma",
            Mark::Line,
            points("ringed, exact gamma, rate", "ringed, exact gamma, bits an id"),
        ))
        .with(Series::new("Golomb-coded", Mark::Line, points("Golomb, rate", "Golomb, bits an id")))
        .with(Series::new("log2 of 1 / rate, the least", Mark::Formula, points("Golomb, rate", "log2 of 1 / rate")));
    let k = context.size(10u64, 4);
    let of = |column: &str| table.number(column, &[("k", k.into())]);
    let (golomb, bloom, least) = (of("Golomb, bits an id"), of("Bloom of that rate"), of("log2 of 1 / rate"));
    Ok(Finding {
        data: "ids drawn from the seed.".to_owned(),
        verdict: Verdict::new(
            Grade::Measured,
            format!(
                "At a rate of 2^-{k} a Golomb-coded set takes {} bits an id, {} more than the theoretical minimum; a \
                 Bloom filter, which is at best equalled by a ringed one, takes {}.",
                brief(golomb),
                brief(golomb - least),
                brief(bloom)
            ),
        ),
        tables: vec![table],
        plots: vec![plot],
        notes: vec![
            "A ringed filter answers for one id with k accesses. A Golomb-coded set is read in order and compared \
             with a list in order, as it is in a search."
                .to_owned(),
        ],
    })
}
