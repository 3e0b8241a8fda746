//! The experiments of the paper on ringed filters.

use super::{Axis, Context, Experiment, Finding, Mark, Plot, Result, Series, Source, Verdict, brief};
use crate::search;

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    source: Source::Seed000,
    name: "fig4",
    title: "Fig. 4: the window of a ringed filter",
    claim: "The longer the window, delta times gamma bits, the lower the false-positive rate; at delta = 1, where every key \
            has a small filter of its own group, it is far higher, at delta = 1000 it is almost that of a Bloom filter.",
    run: fig4,
}];

fn fig4(context: &Context) -> Result<Finding> {
    let table = search::fig4(context.quick)?;
    let mut plot = Plot::new(
        "fig4",
        "Rate of a ringed filter, alpha = 2^-10",
        Axis::log("keys"),
        Axis::log("false-positive rate"),
    );
    for delta in [1u64, 10, 100, 1000, 100_000] {
        let only = [("delta", delta.into())];
        plot = plot
            .with(Series::new(
                format!("delta {delta}, measured"),
                Mark::Points,
                table.points("keys", "measured", &only),
            ))
            .with(Series::new(format!("delta {delta}, eq. 13"), Mark::Formula, table.points("keys", "eq. 13", &only)));
    }
    let of = |delta: u64| {
        let ratios = table.points("keys", "of the Bloom filter's of the same bits", &[("delta", delta.into())]);
        ratios.iter().map(|(_, ratio)| ratio).sum::<f64>() / ratios.len() as f64
    };
    let deltas = [1, 10, 100, 1000, 100_000];
    let falling = deltas.windows(2).all(|pair| of(pair[1]) < of(pair[0]) * 1.02);
    let verdict = Verdict::holds(
        falling && of(1000) < 1.05,
        format!(
            "The rate falls with delta: {} times a Bloom filter's of the same bits.",
            deltas.map(|delta| format!("{} (delta {delta})", brief(of(delta)))).join(", "),
        ),
    );
    Ok(Finding {
        data: "hashes of consecutive numbers.".to_owned(),
        tables: vec![table],
        plots: vec![plot],
        verdict,
        notes: vec![
            "Measured: the mean over many filters of (ones / bits)^k of each window, as the filter states it itself."
                .to_owned(),
            "\"Refined\" counts each key's own window as well, which eq. 13 takes for the mean of its parts."
                .to_owned(),
        ],
    })
}
