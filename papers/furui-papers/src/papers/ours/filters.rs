//! The blocked Bloom filter compared with the ordinary one.

use super::super::{Axis, Context, Experiment, Finding, Grade, Mark, Plot, Result, Series, Source, Verdict, brief};
use crate::filters;

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    source: Source::Ours,
    name: "blocked",
    title: "Blocked against exact Bloom filters",
    claim: "If all bits of a key lie in one cache line, how many more false positives are there, and how much time \
        is saved?",
    run: blocked,
}];

fn blocked(context: &Context) -> Result<Finding> {
    let (keys, asked) = context.size((1_000_000, 10_000_000), (10_000, 10_000));
    let rates = filters::blocked_rates(keys, asked)?;
    let small = filters::blocked_times("blocked-small", context.size(100_000, 1000), 0.01, context.quick)?;
    let large = filters::blocked_times("blocked-large", context.size(20_000_000, 4000), 0.01, context.quick)?;
    let axes = (Axis::linear("bits a key"), Axis::log("false-positive rate"));
    let mut rate = Plot::new("blocked-rates", "Rates of Bloom filters of the same bits", axes.0, axes.1);
    for kind in ["exact", "blocked"] {
        let points = |column: String| rates.points("bits a key", &column, &[]);
        rate = rate
            .with(Series::new(format!("{kind}, measured"), Mark::Points, points(format!("{kind}, measured"))))
            .with(Series::new(format!("{kind}, formula"), Mark::Formula, points(format!("{kind}, rate by formula"))));
    }
    let work = ["insert", "hit", "miss"];
    let mut time = Plot::new("blocked-times", large.title.clone(), Axis::names("", work), Axis::linear("ns a key"));
    for row in large.rows.iter().filter_map(|row| row[0].text()) {
        let ns = |work: &str| large.number(&format!("{work}, ns"), &[("filter", row.into())]);
        let bars = work.iter().zip(0u32..).map(|(work, i)| (f64::from(i), ns(work)));
        time = time.with(Series::new(row, Mark::Bar, bars.collect()));
    }
    let of = |column: &str, kind: &str| large.number(column, &[("filter", format!("{kind}, batches").into())]);
    let at_ten = rates.number("blocked / exact, formula", &[("bits a key", 10u64.into())]);
    let more = 100.0 * (of("bits a key", "blocked") / of("bits a key", "exact") - 1.0);
    let ratio = |work| brief(of(&format!("{work}, ns"), "blocked") / of(&format!("{work}, ns"), "exact"));
    Ok(Finding {
        data: "keys are the numbers from 0 on, mixed.".to_owned(),
        verdict: Verdict::new(
            Grade::Measured,
            format!(
                "With 10 bits a key, a blocked filter has {} times the false positives of an exact one; at a rate of \
                 1 % it takes {} % more bits. If the filter is larger than the cache, an insertion in batches takes \
                 {} times the time, a hit {}, a miss {}.",
                brief(at_ten),
                brief(more),
                ratio("insert"),
                ratio("hit"),
                ratio("miss")
            ),
        ),
        tables: vec![rates, small, large],
        plots: vec![rate, time],
        notes: vec![
            "Each kind has the k that is best for its bits. Times are the processor time of one thread, \
            medians of 7 rounds in turn."
                .to_owned(),
        ],
    })
}
