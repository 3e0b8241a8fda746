//! Golomb-coded sets compared with ringed filters. Every message must equal its prediction.

use furui::filter::{Gamma, RingedParams, sizing};
use furui::raw::ringed_rate_refined;
use furui_search::{CodedSet, Coding, Golomb};

use crate::report::{Axis, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};
use crate::ringed_bloom_filters::{Choice, Corpus, Order, Workload, corpora, ids, kbit, measure, queries, tuned_for};

pub(super) fn codings(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = traffic(&corpora, context)?;
    let first = [("corpus", corpora[0].name.as_str().into())];
    let names: Vec<&str> = table.only(&first).filter_map(|row| row[1].text()).collect();
    let axes = (Axis::log("mean traffic, to ringed 2^-7"), Axis::names("", names.iter().copied()));
    let mut plot = Plot::new("codings", "Mean traffic of a query of two words, by coding", axes.0, axes.1);
    let ratio = |corpus: &str, coding: &str| {
        table.number("mean, to ringed 2^-7", &[("corpus", corpus.into()), ("coding", coding.into())])
    };
    for corpus in &corpora {
        plot = plot.bars(corpus.name.as_str(), names.iter().map(|name| ratio(&corpus.name, name)));
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
    Ok(Finding::new(data, Verdict::new(Grade::Measured, says.join(" ")), [table], [plot]))
}

pub(super) fn coded_sets(context: &Context) -> Result<Finding> {
    let table = bits_of_sets(context)?;
    let axes = (Axis::log("false-positive rate"), Axis::linear("bits an id"));
    let points = |rate: &str, bits: &str| table.points(rate, bits, &[]);
    let plot = Plot::new("coded-sets", "Bits an id of a set, by false-positive rate", axes.0, axes.1)
        .line("ringed, whole gamma", points("ringed 2^-k, rate", "ringed, bits an id"))
        .line("ringed, exact gamma", points("ringed, exact gamma, rate", "ringed, exact gamma, bits an id"))
        .line("Golomb-coded", points("Golomb, rate", "Golomb, bits an id"))
        .formula("log2 of 1 / rate, the least", points("Golomb, rate", "log2 of 1 / rate"));
    let k = context.size(10u64, 4);
    let of = |column: &str| table.number(column, &[("k", k.into())]);
    let (golomb, bloom, least) = (of("Golomb, bits an id"), of("Bloom of that rate"), of("log2 of 1 / rate"));
    let verdict = Verdict::new(
        Grade::Measured,
        format!(
            "At a rate of 2^-{k} a Golomb-coded set takes {} bits an id, {} more than the theoretical minimum; a \
                 Bloom filter, which is at best equalled by a ringed one, takes {}.",
            brief(golomb),
            brief(golomb - least),
            brief(bloom)
        ),
    );
    Ok(Finding::new("ids drawn from the seed.", verdict, [table], [plot]))
}

/// The number of bits that a message with the sizes of the lists would take. A node needs no such message: it gets the
/// sizes with the look-up of the words, whose result is cached.
const SIZES_BITS: f64 = 40.0;

/// Measures the traffic of each coding, and its ratio to that of the ringed filter of Sei et al.
fn traffic(corpora: &[Corpus], context: &Context) -> Result<Table> {
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
    let title = format!("Codings, {} queries, every message as predicted", queries(context));
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
            ("default", (Order::SmallerFirst, Choice::Default)),
            ("default, but in the order drawn", (Order::Drawn, Choice::Default)),
        ];
        let workload = Workload::new(context, corpus, corpus.documents(), 2);
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

/// Measures the bits for each id of one set at several false-positive rates: of the encoded Golomb-Rice coded set, and
/// of filters.
fn bits_of_sets(context: &Context) -> Result<Table> {
    /// The number of ids: a power of two, so that coded sets can have the rate 2^-k.
    const IDS: u32 = 1 << 13;
    let columns = [
        "k",
        "Golomb, rate",
        "Golomb, bits an id",
        "log2 of 1 / rate",
        "Bloom of that rate",
        "ringed 2^-k, rate",
        "ringed, bits an id",
        "ringed, exact gamma, rate",
        "ringed, exact gamma, bits an id",
    ];
    let mut table = Table::new("coded-sets", format!("Bits an id of a set of {IDS}"), columns);
    let mut ids = ids(IDS, context.seed);
    ids.sort_unstable();
    let each = |bits: u64| bits as f64 / f64::from(IDS);
    for k in 1..=if context.quick { 4 } else { 20 } {
        let cell_bits = IDS.ilog2() as u8 + k;
        let golomb = Golomb { cell_bits, check_bits: furui_search::plan::CHECK_BITS, salt: 0, three_messages: false };
        let bits = CodedSet::encode(&ids, Coding::Golomb(golomb))?.bits;
        // A cell that contains an id answers yes for all ids of the cell.
        let occupied = ids.chunk_by(|a, b| a.head() >> (64 - cell_bits) == b.head() >> (64 - cell_bits)).count();
        let rate = occupied as f64 / f64::from(cell_bits).exp2();
        let (bloom, _) = sizing::least(rate, IDS.into());
        let ringed = |gamma| -> Result<[f64; 2]> {
            let params = RingedParams::new(k.into(), gamma, 1000)?;
            let bits = CodedSet::encode(&ids, Coding::Ringed(params))?.bits;
            Ok([ringed_rate_refined(k.into(), IDS.into(), params.delta().into(), params.gamma()), each(bits)])
        };
        let head = [u64::from(k).into(), rate.into(), each(bits).into(), (-rate.log2()).into(), each(bloom).into()];
        let rings = [ringed(Gamma::Whole)?, ringed(Gamma::Exact)?];
        table.push(head.into_iter().chain(rings.into_iter().flatten().map(Into::into)));
    }
    Ok(table)
}
