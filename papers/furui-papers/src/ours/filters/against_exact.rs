//! A blocked Bloom filter compared with an ordinary one of equal size, called exact here: how much higher the rate of
//! the blocked filter is, and how much time it saves.

use furui::KeyHash;
use furui::filter::{BlockedBloom, Bloom, FilterMut, sizing};

use super::{both, fills, measure};
use crate::keys::mix;
use crate::report::{Axis, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};

/// The size of a cache line in bits, which is the block size of a blocked filter.
const LINE: u64 = 512;

pub(crate) fn blocked(context: &Context) -> Result<Finding> {
    let (keys, asked) = context.size((1_000_000, 10_000_000), (10_000, 10_000));
    let rates = rates(keys, asked)?;
    let small = times("blocked-small", context.size(100_000, 1000), 0.01, context.quick)?;
    let large = times("blocked-large", context.size(20_000_000, 4000), 0.01, context.quick)?;
    let axes = (Axis::linear("bits a key"), Axis::log("false-positive rate"));
    let mut rate = Plot::new("blocked-rates", "Rates of Bloom filters of the same bits", axes.0, axes.1);
    for kind in ["exact", "blocked"] {
        let points = |column: String| rates.points("bits a key", &column, &[]);
        rate = rate
            .dots(format!("{kind}, measured"), points(format!("{kind}, measured")))
            .formula(format!("{kind}, formula"), points(format!("{kind}, rate by formula")));
    }
    let work = ["insert", "hit", "miss"];
    let mut time = Plot::new("blocked-times", large.title.clone(), Axis::names("", work), Axis::linear("ns a key"));
    for row in large.rows.iter().filter_map(|row| row[0].text()) {
        let ns = |work: &str| large.number(&format!("{work}, ns"), &[("filter", row.into())]);
        time = time.bars(row, work.map(ns));
    }
    let of = |column: &str, kind: &str| large.number(column, &[("filter", format!("{kind}, batches").into())]);
    let at_ten = rates.number("blocked / exact, formula", &[("bits a key", 10u64.into())]);
    let more = 100.0 * (of("bits a key", "blocked") / of("bits a key", "exact") - 1.0);
    let ratio = |work| brief(of(&format!("{work}, ns"), "blocked") / of(&format!("{work}, ns"), "exact"));
    let verdict = Verdict::new(
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
    );
    Ok(Finding::new("keys are the numbers from 0 on, mixed.", verdict, [rates, small, large], [rate, time]))
}

/// Measures the false-positive rates of blocked and exact filters at several numbers of bits a key, and computes them
/// by formula. Each filter has the k that is best for it.
fn rates(keys: u64, asked: u64) -> Result<Table> {
    let columns = [
        "bits a key",
        "exact, k",
        "exact, rate by formula",
        "exact, measured",
        "blocked, k",
        "blocked, rate by formula",
        "blocked, measured",
        "blocked / exact, formula",
    ];
    let title = format!("False-positive rates of {keys} keys in the same bits, {asked} asked");
    let mut table = Table::new("blocked-rates", title, columns);
    let set: Vec<KeyHash> = (0..keys).map(|i| KeyHash::new(mix(i))).collect();
    let others: Vec<KeyHash> = (0..asked).map(|i| KeyHash::new(mix(1 << 40 | i))).collect();
    for bits_each in [4, 6, 8, 10, 12, 14, 16, 20] {
        let lines = (keys * bits_each).div_ceil(LINE);
        let measured = |filter: &mut dyn FilterMut| -> Result<f64> {
            filter.insert_all(&set)?;
            Ok(others.iter().filter(|&&key| filter.contains_hash(key)).count() as f64 / asked as f64)
        };
        let of_bloom = |k: u32| sizing::rate(k, keys, LINE * lines);
        let k = least(1..=24, of_bloom);
        let mut bloom = Bloom::from_parts(LINE * lines, k)?;
        let of_blocked = |k: u32| BlockedBloom::from_parts(lines, k).map_or(1.0, |filter| filter.expected_rate(keys));
        let k_blocked = least(1..=16, of_blocked);
        let mut blocked = BlockedBloom::from_parts(lines, k_blocked)?;
        table.push([
            bits_each.into(),
            u64::from(k).into(),
            of_bloom(k).into(),
            measured(&mut bloom)?.into(),
            u64::from(k_blocked).into(),
            of_blocked(k_blocked).into(),
            measured(&mut blocked)?.into(),
            (of_blocked(k_blocked) / of_bloom(k)).into(),
        ]);
    }
    Ok(table)
}

/// Measures the times of blocked and exact filters at one false-positive rate. A quick run fills each filter once.
fn times(name: &str, keys: usize, rate: f64, quick: bool) -> Result<Table> {
    let title = format!("Both kinds at {} %", 100.0 * rate);
    let fills = if quick { 1 } else { fills(keys) };
    Ok(measure(name, &title, (keys, fills), "exact, batches", || {
        let exact = both(["exact, batches", "exact, single"], Bloom::with_rate(keys as u64, rate)?, Bloom::bits);
        let filter = BlockedBloom::with_rate(keys as u64, rate)?;
        let blocked = both(["blocked, batches", "blocked, single"], filter, BlockedBloom::bits);
        Ok(exact.into_iter().chain(blocked).collect())
    })?)
}

fn least(all: impl Iterator<Item = u32>, rate: impl Fn(u32) -> f64) -> u32 {
    all.min_by(|&a, &b| rate(a).total_cmp(&rate(b))).expect("some numbers of probes")
}
