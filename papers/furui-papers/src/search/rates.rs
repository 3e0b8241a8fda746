//! False-positive rates by size of the set: eq. 5, and Figs. 2, 4 and 5.

use furui::filter::{Bloom, FilterMut, Gamma, RingedBloom, RingedParams, sizing};
use furui::raw::{ringed_rate, ringed_rate_refined};
use furui::{KeyHash, Result};

use crate::keys::mix;
use crate::table::{Cell, Table};

/// The number of probes for α = 2⁻¹⁰, the rate in Figs. 4 and 5.
const PROBES: u32 = 10;

/// For one point of a curve, filters with this number of keys in all are measured.
const KEYS: u64 = 300_000;

/// Fig. 4: the rate of a ringed filter by its number of keys, for short and long windows: by eq. 13, by a more accurate
/// formula, and measured on real filters.
pub(crate) fn fig4(quick: bool) -> Result<Table> {
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
            let mut measured = 0.0;
            for set in 0..filters {
                let hashes: Vec<_> = (0..keys).map(|i| KeyHash::new(mix(set << 32 | i))).collect();
                let mut filter = RingedBloom::with_size(params, keys)?;
                filter.insert_all(&hashes).expect("a Bloom filter is never full");
                measured += filter.false_positive_rate() / filters as f64;
            }
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

/// Section 3, before eq. 6: a set is stored in n filters of one element each, and a key is looked up in all of them. At
/// n = 1 the rate is α. The paper's α′ = 1 - (1 - α)ⁿ assumes that the filters are independent. The table also has the
/// rates of an n-divided filter and of a ringed filter, both with the same number of bits.
pub(crate) fn eq5(quick: bool) -> Result<Table> {
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
            let members: Vec<_> = (0..n).map(|i| KeyHash::new(mix(set << 32 | i))).collect();
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

/// Fig. 2: how much the rates of the windows of one filter vary, depending on the length of a window. With δ = 1 the
/// windows are the groups of the n-divided filter.
pub(crate) fn fig2() -> Result<Table> {
    let n: u64 = 10_000;
    let columns = ["delta", "mean", "least", "at 10 %", "median", "at 90 %", "greatest", "spread / mean"];
    let mut table = Table::new("fig2", format!("Fig. 2: the rates of the windows of a filter of {n} keys"), columns);
    let members: Vec<_> = (0..n).map(|i| KeyHash::new(mix(i))).collect();
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

/// Fig. 5: the rates of fixed, variable and ringed filters (δ = 100,000) by the number of keys. The fixed filter is
/// made for 500 keys, the mean number. The ringed filter has as many bits as the variable one, m = M(α, n) (eq. 7), or
/// a whole number of bits a key, γ = M(α, 1) (eq. 6), which is more. The last row has the means of the rates, and their
/// ratios.
pub(crate) fn fig5(quick: bool) -> Result<Table> {
    let columns = [
        "keys",
        "fixed",
        "variable",
        "ringed",
        "ringed, gamma whole",
        "fixed, measured",
        "variable, measured",
        "ringed, measured",
        "ringed, gamma whole, measured",
        "fixed / variable",
        "ringed / variable",
        "ringed, gamma whole / variable",
    ];
    let title = "Fig. 5: the rates of the filters, alpha = 2^-10, and their means from 1 to 1000 keys";
    let mut table = Table::new("fig5", title.to_owned(), columns);
    let variable_bits = |keys: u64| sizing::bits(sizing::rate_half_full(PROBES), keys);
    let whole = RingedParams::new(PROBES, Gamma::Whole, 100_000)?;
    // The rates by formula, of the fixed filter, the variable filter, and the two ringed filters.
    let rates = |keys: u64| {
        let ringed = |gamma: f64| ringed_rate(PROBES, keys, 100_000, gamma);
        [
            sizing::rate(PROBES, keys, variable_bits(500)),
            sizing::rate(PROBES, keys, variable_bits(keys)),
            ringed(variable_bits(keys) as f64 / keys as f64),
            ringed(whole.gamma()),
        ]
    };
    let mut push = |keys: Cell, formula: [f64; 4], measured: [Cell; 4]| {
        let ratios = [0, 2, 3].map(|i| Cell::from(formula[i] / formula[1]));
        table.push([keys].into_iter().chain(formula.map(Cell::from)).chain(measured).chain(ratios));
    };
    for keys in (100..=1000).step_by(100) {
        let filters = if quick { 10 } else { KEYS / keys };
        let mut measured = [0.0; 4];
        for set in 0..filters {
            let hashes: Vec<_> = (0..keys).map(|i| KeyHash::new(mix(set << 32 | i))).collect();
            for (bits, measured) in [variable_bits(500), variable_bits(keys)].into_iter().zip(&mut measured[..2]) {
                let mut bloom = Bloom::from_parts(bits, PROBES)?;
                bloom.insert_all(&hashes)?;
                *measured += bloom.false_positive_rate() / filters as f64;
            }
            for (gamma, measured) in [Gamma::Exact, Gamma::Whole].into_iter().zip(&mut measured[2..]) {
                let mut ringed = RingedBloom::with_size(RingedParams::new(PROBES, gamma, 100_000)?, keys)?;
                ringed.insert_all(&hashes)?;
                *measured += ringed.false_positive_rate() / filters as f64;
            }
        }
        push(keys.into(), rates(keys), measured.map(Cell::from));
    }
    let mut means = [0.0; 4];
    for keys in 1..=1000 {
        means.iter_mut().zip(rates(keys)).for_each(|(mean, rate)| *mean += rate / 1000.0);
    }
    push("1 to 1000, mean".into(), means, [(); 4].map(|()| "".into()));
    Ok(table)
}
