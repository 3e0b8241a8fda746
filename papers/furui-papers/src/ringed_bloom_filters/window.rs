//! Fig. 4, and eq. 5 and Fig. 2 before it, of the paper on ringed filters: the rates of ringed filters by the length of
//! their windows.

use furui::KeyHash;
use furui::filter::{Bloom, FilterMut, Gamma, RingedBloom, RingedParams, sizing};
use furui::raw::{ringed_rate, ringed_rate_refined};

use super::{KEYS, PROBES, SYNTHETIC, members};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};

const DELTAS: [u64; 5] = [1, 10, 100, 1000, 100_000];

pub(super) fn fig4(context: &Context) -> Result<Finding> {
    let table = windows(context.quick)?;
    let axes = (Axis::log("keys"), Axis::log("false-positive rate"));
    let mut plot = Plot::new("fig4", "The rate of a ringed filter, alpha = 2^-10", axes.0, axes.1);
    for delta in DELTAS {
        let only = [("delta", delta.into())];
        let points = |y| table.points("keys", y, &only);
        plot = plot.dots(format!("delta {delta}, measured"), points("measured")).formula("eq. 13", points("eq. 13"));
    }
    let mean = |delta: u64, column: &str| {
        let points = table.points("keys", column, &[("delta", delta.into())]);
        points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64
    };
    let ratio = |delta: u64| mean(delta, "of the Bloom filter's of the same bits");
    // The means of so few filters vary by about 1 % by chance.
    let falls = DELTAS.windows(2).all(|pair| ratio(pair[1]) < 1.01 * ratio(pair[0]));
    let ratios = DELTAS.map(|delta| format!("{} (delta {delta})", brief(ratio(delta)))).join(", ");
    let off = |delta: u64| mean(delta, "eq. 13 / measured");
    let grade = match DELTAS.map(|delta| (off(delta) - 1.0).abs()).into_iter().fold(0.0, f64::max) {
        most if most <= 0.05 => Grade::Reproduced,
        most if most <= 0.5 => Grade::WithinBand,
        _ => Grade::NotReproduced,
    };
    let offs = DELTAS.map(|delta| format!("{} (delta {delta})", brief(off(delta)))).join(", ");
    let (eq5, fig2) = (eq5(context.quick)?, fig2()?);
    let many = eq5.points("n", "measured", &[]);
    let spreads = fig2.points("delta", "spread / mean", &[]);
    let verdict = Verdict::all([
        Verdict::holds(
            falls,
            format!(
                "The measured rate falls with delta, as a multiple of that of a Bloom filter of the same bits: {ratios}."
            ),
        ),
        Verdict::new(
            grade,
            format!(
                "Eq. 13, which the figure plots, misses what small windows do: it is {offs} times the measured rate. It leaves out \
                 that a group of a few bits errs more often than eq. 1 says, and takes all groups of a window for equally full."
            ),
        ),
        Verdict::holds(
            many.iter().all(|(n, rate)| *n <= 1.0 || *n > 20.0 || (0.5..=1.5).contains(&(rate / many[0].1 / n))),
            format!(
                "n filters of one element each err about n times as often as one (eq. 5): {} times at n = 10.",
                brief(eq5.number("measured", &[("n", 10u64.into())]) / many[0].1)
            ),
        ),
        Verdict::holds(
            spreads.is_sorted_by(|short, long| short.1 > long.1),
            format!(
                "The rates of the groups of an n-divided filter differ as in Fig. 2 (standard deviation {} times the mean), those of \
                 the ring's windows hardly ({} times at delta = 100,000).",
                brief(spreads[0].1),
                brief(spreads[spreads.len() - 1].1)
            ),
        ),
    ]);
    Ok(Finding::new(SYNTHETIC, verdict, [table, eq5, fig2], [plot]))
}

/// Fig. 4 of the paper on ringed filters: the rate of a ringed filter by its number of keys, for short and long
/// windows: by eq. 13, by a more accurate formula, and measured on real filters.
fn windows(quick: bool) -> Result<Table> {
    let mut table = Table::new(
        "fig4",
        "Fig. 4: the rate of a ringed filter, alpha = 2^-10".to_owned(),
        [
            "keys",
            "delta",
            "eq. 13",
            "refined",
            "measured",
            "eq. 13 / measured",
            "of the Bloom filter's of the same bits",
        ],
    );
    let sizes: &[u64] =
        if quick { &[100, 1000] } else { &[100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000] };
    for delta in [1, 10, 100, 1000, 100_000] {
        let params = RingedParams::new(PROBES, Gamma::Whole, delta)?;
        let gamma = params.gamma();
        for &keys in sizes {
            let filters = (KEYS / keys).clamp(1, 1000);
            let rate = |set| -> Result<f64> {
                let mut filter = RingedBloom::with_size(params, keys)?;
                filter.insert_all(&members(set, keys))?;
                Ok(filter.false_positive_rate() / filters as f64)
            };
            let measured: f64 = (0..filters).map(rate).sum::<Result<_>>()?;
            let bloom = sizing::rate(PROBES, keys, params.bits(keys)?);
            let [paper, refined] =
                [ringed_rate, ringed_rate_refined].map(|rate| rate(PROBES, keys, delta.into(), gamma));
            table.push([
                keys.into(),
                u64::from(delta).into(),
                paper.into(),
                refined.into(),
                measured.into(),
                (paper / measured).into(),
                (measured / bloom).into(),
            ]);
        }
    }
    Ok(table)
}

/// Section 3 of the paper on ringed filters, before eq. 6: a set is stored in n filters of one element each, and a key
/// is looked up in all of them. At n = 1 the rate is α. The paper's α′ = 1 - (1 - α)ⁿ assumes that the filters are
/// independent. The table also has the rates of an n-divided filter and of a ringed filter, both with the same number
/// of bits.
fn eq5(quick: bool) -> Result<Table> {
    let asked: u64 = if quick { 100_000 } else { 1_000_000 };
    let columns =
        ["n", "1 - (1 - alpha)^n", "measured", "measured / formula", "n-divided, measured", "ringed, measured"];
    let mut table = Table::new("eq5", format!("Eq. 5: n filters of one element each, {asked} keys asked"), columns);
    let gamma = sizing::bits(sizing::rate_half_full(PROBES), 1);
    let sets = if quick { 100 } else { 500 };
    let mut alpha = 0.0;
    let sizes: &[u64] = if quick { &[1, 10] } else { &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] };
    for &n in sizes {
        let (mut yes, mut rates) = (0, [0.0; 2]);
        for set in 0..sets {
            let members = members(set, n);
            // All filters have the same hash functions, so a key has the same bits in all of them.
            let of = |key: &KeyHash| -> Result<u64> {
                let mut filter = Bloom::from_parts(gamma, PROBES)?;
                filter.insert_hash(*key)?;
                Ok(filter.as_bytes().iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
            };
            let filters: Vec<u64> = members.iter().map(of).collect::<Result<_>>()?;
            for i in 0..asked / sets {
                let key = of(&KeyHash::new(mix(1 << 60 | set << 32 | i)))?;
                yes += u64::from(filters.iter().any(|filter| key & !filter == 0));
            }
            for (rate, delta) in rates.iter_mut().zip([1, 100_000]) {
                let mut filter = RingedBloom::with_size(RingedParams::new(PROBES, Gamma::Whole, delta)?, n)?;
                filter.insert_all(&members)?;
                *rate += filter.false_positive_rate() / sets as f64;
            }
        }
        let measured = yes as f64 / (asked / sets * sets) as f64;
        if n == 1 {
            alpha = measured;
        }
        let formula = 1.0 - (1.0 - alpha).powf(n as f64);
        table.push([
            n.into(),
            formula.into(),
            measured.into(),
            (measured / formula).into(),
            rates[0].into(),
            rates[1].into(),
        ]);
    }
    Ok(table)
}

/// Fig. 2 of the paper on ringed filters: how much the rates of the windows of one filter vary, depending on the length
/// of a window. With δ = 1 the windows are the groups of the n-divided filter.
fn fig2() -> Result<Table> {
    let n: u64 = 10_000;
    let columns = ["delta", "mean", "least", "at 10 %", "median", "at 90 %", "greatest", "spread / mean"];
    let mut table = Table::new("fig2", format!("Fig. 2: the rates of the windows of a filter of {n} keys"), columns);
    let members = members(0, n);
    for delta in [1, 10, 100, 1000, 100_000] {
        let params = RingedParams::new(PROBES, Gamma::Whole, delta)?;
        let mut filter = RingedBloom::with_size(params, n)?;
        filter.insert_all(&members)?;
        let bytes = filter.as_bytes();
        let (bits, window) = (filter.bits(), u64::from(params.window()));
        let mut before = vec![0u64; bits as usize + 1];
        for bit in 0..bits as usize {
            before[bit + 1] = before[bit] + u64::from(bytes[bit / 8] >> (bit % 8) & 1);
        }
        // The number of ones before a position. The position may be beyond the end, and then continues around the ring.
        let ones = |to: u64| to / bits * before[bits as usize] + before[(to % bits) as usize];
        let rate = |group: u64| {
            let start = group * (bits / n);
            ((ones(start + window) - ones(start)) as f64 / window as f64).powi(PROBES as i32)
        };
        let mut rates: Vec<f64> = (0..n).map(rate).collect();
        rates.sort_by(f64::total_cmp);
        let mean = rates.iter().sum::<f64>() / n as f64;
        let spread = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        let at = |percent: u64| Cell::from(rates[((n - 1) * percent / 100) as usize]);
        let row = [0, 10, 50, 90, 100].map(at);
        table.push([u64::from(delta).into(), mean.into()].into_iter().chain(row).chain([(spread / mean).into()]));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eq. 5: n filters of one element each err about n times as often as one such filter. Fig. 2: the longer the
    /// windows of a ring, the less their rates vary.
    #[test]
    fn one_filter_for_each_element_errs_n_times_as_often_and_long_windows_are_even() {
        let table = eq5(true).expect("filters that can be");
        let measured = |n: u64| table.number("measured", &[("n", n.into())]);
        assert!((5.0..20.0).contains(&(measured(10) / measured(1))));
        let spreads = fig2().expect("filters that can be").points("delta", "spread / mean", &[]);
        assert!(spreads.is_sorted_by(|short, long| short.1 > long.1), "{spreads:?}");
    }
}
