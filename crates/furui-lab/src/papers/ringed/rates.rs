//! Figs. 4 to 6: the rates and times of single filters.

use super::super::{Axis, Context, Finding, Grade, Mark, Plot, Result, Series, Verdict, brief};
use crate::search;

const DELTAS: [u64; 5] = [1, 10, 100, 1000, 100_000];

const SYNTHETIC: &str = "keys are the numbers from 0 on, hashed.";

pub(super) fn fig4(context: &Context) -> Result<Finding> {
    let table = search::fig4(context.quick)?;
    let axes = (Axis::log("keys"), Axis::log("false-positive rate"));
    let mut plot = Plot::new("fig4", "The rate of a ringed filter, alpha = 2^-10", axes.0, axes.1);
    for delta in DELTAS {
        let only = [("delta", delta.into())];
        let points = |y| table.points("keys", y, &only);
        plot = plot
            .with(Series::new(format!("delta {delta}, measured"), Mark::Points, points("measured")))
            .with(Series::new("eq. 13", Mark::Formula, points("eq. 13")));
    }
    let ratio = |delta: u64| {
        let points = table.points("keys", "of the Bloom filter's of the same bits", &[("delta", delta.into())]);
        points.iter().map(|(_, ratio)| ratio).sum::<f64>() / points.len() as f64
    };
    // Differences of a hundredth are chance with so few filters.
    let falls = DELTAS.windows(2).all(|pair| ratio(pair[1]) < 1.01 * ratio(pair[0]));
    let ratios = DELTAS.map(|delta| format!("{} (delta {delta})", brief(ratio(delta)))).join(", ");
    Ok(Finding {
        data: SYNTHETIC.to_owned(),
        tables: vec![table],
        plots: vec![plot],
        verdict: Verdict::holds(
            falls,
            format!(
                "The measured rate falls with delta, as a multiple of that of a Bloom filter of the same bits: {ratios}."
            ),
        ),
        notes: vec![
            "\"Measured\" is the mean over many filters of the rate that follows from their bits.".to_owned(),
            "Eq. 13 assumes that all groups of a window have the same load, and that a group has many bits. \
             \"Refined\" makes neither assumption, and is more accurate if delta is less than the number of keys; \
             see `ringed_rate_refined`."
                .to_owned(),
            "A delta of 1000 is enough: 100,000 gains only a hundredth, and its window does not fit into the \
                processor's nearest cache."
                .to_owned(),
        ],
    })
}

pub(super) fn fig5(context: &Context) -> Result<Finding> {
    let table = search::fig5(context.quick)?;
    let axes = (Axis::linear("keys"), Axis::log("false-positive rate"));
    let mut plot = Plot::new("fig5", "The rates of the filters, alpha = 2^-10", axes.0, axes.1);
    let points = |y: &str| table.points("keys", y, &[]);
    for (name, measured, formula) in
        [("fixed-size, 500 keys", "fixed, measured", "fixed"), ("ringed", "ringed, measured", "ringed")]
    {
        plot = plot.with(Series::new(format!("{name}, measured"), Mark::Points, points(measured))).with(Series::new(
            format!("{name}, formula"),
            Mark::Formula,
            points(formula),
        ));
    }
    plot = plot.with(Series::new("variable-size, formula", Mark::Line, points("variable")));
    let mean = [("keys", "1 to 1000, mean".into())];
    let fixed = table.number("fixed / variable", &mean);
    let excess = table.number("ringed / Bloom of its bits", &mean) - 1.0;
    let ringed = table.number("ringed", &mean) / table.number("variable", &mean);
    Ok(Finding {
        data: SYNTHETIC.to_owned(),
        tables: vec![table],
        plots: vec![plot],
        verdict: Verdict::all([
            Verdict::near(
                "The mean rate of the fixed-size filter over that of the variable-size one",
                9.37,
                fixed,
                0.005,
                0.1,
            ),
            Verdict::near(
                "The ringed filter's over that of a Bloom filter of its bits, less 1, by eq. 13",
                4e-7,
                excess,
                0.5,
                10.0,
            )
            .and("So small a difference depends on which numbers of keys are averaged."),
        ]),
        notes: vec![
            "The means are of the rates for every number of keys from 1 to 1000; the fixed-size filter is made for \
             500, so that all kinds have equal bits in total."
                .to_owned(),
            format!(
                "A ringed filter rounds its bits a key up, so it has more bits than the variable-size one, and {} \
                 times its rate.",
                brief(ringed)
            ),
        ],
    })
}

pub(super) fn fig6(context: &Context) -> Result<Finding> {
    let table = search::fig6(context.quick)?;
    let axes = (Axis::linear("k, alpha = 2^-k"), Axis::log("ms"));
    let mut plot = Plot::new("fig6", table.title.clone(), axes.0, axes.1);
    for (name, column) in [
        ("fixed-size", "fixed, ms"),
        ("ringed, hashes computed before", "ringed, hashes computed before, ms"),
        ("ringed, from the id", "ringed, from the id, ms"),
        ("variable-size, k SHA-1", "variable, hashing by k SHA-1, ms"),
    ] {
        plot = plot.with(Series::new(name, Mark::Line, table.points("k", column, &[])));
    }
    let (ringed, variable) = (table.range("ringed before / fixed", &[]), table.range("variable by SHA-1 / fixed", &[]));
    let near = match ringed.1 {
        most if most <= 1.5 => Grade::Reproduced,
        most if most <= 0.25 * variable.0 => Grade::WithinBand,
        _ => Grade::NotReproduced,
    };
    let between = |(least, most)| format!("{} to {}", brief(least), brief(most));
    Ok(Finding {
        data: SYNTHETIC.to_owned(),
        tables: vec![table, search::keys_kept(context.quick)?],
        plots: vec![plot],
        verdict: Verdict::all([
            Verdict::holds(
                variable.0 > 5.0,
                format!("The variable-size filter takes {} times as long as the fixed-size one.", between(variable)),
            ),
            Verdict::new(
                near,
                format!(
                    "The ringed one takes {} times as long, because the fixed-size one needs only a multiplication \
                     for each bit, and a window of delta = 100,000 covers this whole ring.",
                    between(ringed)
                ),
            ),
        ]),
        notes: vec![
            "Processor time of one thread, medians of 5 rounds in turn.".to_owned(),
            "The variable-size filter hashes as in the paper, by SHA-1 for each of the k functions. Our filters \
             derive all k from one hash of the id, so \"from the id\" takes hardly longer than \"computed before\"."
                .to_owned(),
        ],
    })
}
