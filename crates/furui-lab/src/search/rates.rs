//! False-positive rates by size of the set: Figs. 4 and 5.

use furui::filter::{Bloom, FilterMut, Gamma, RingedBloom, RingedParams, ringed_rate, ringed_rate_refined, sizing};
use furui::{KeyHash, Result};

use crate::keys::mix;
use crate::table::{Cell, Table};

/// The number of probes for α = 2⁻¹⁰, the rate of both figures.
const PROBES: u32 = 10;

/// The number of keys for one point of a measured curve, over all its filters.
const KEYS: u64 = 300_000;

/// Fig. 4: the rate of a ringed filter by its number of keys, for short and long windows: by eq. 13, by a more accurate
/// formula, and measured on real filters.
pub(crate) fn fig4(quick: bool) -> Result<Table> {
    let mut table = Table::new(
        "fig4",
        "Fig. 4: the rate of a ringed filter, alpha = 2^-10".to_owned(),
        ["keys", "delta", "eq. 13", "refined", "measured", "of the Bloom filter's of the same bits"],
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
                (measured / bloom).into(),
            ]);
        }
    }
    Ok(table)
}

/// Fig. 5: the rates of fixed, variable and ringed filters (δ = 100,000) by the number of keys, where the fixed filter
/// is made for 500 keys, the mean number. The last row is the mean of the ratios to the variable filter.
pub(crate) fn fig5(quick: bool) -> Result<Table> {
    let mut table = Table::new(
        "fig5",
        "Fig. 5: the rates of the filters, alpha = 2^-10, and their means from 1 to 1000 keys".to_owned(),
        [
            "keys",
            "fixed",
            "variable",
            "ringed",
            "fixed, measured",
            "ringed, measured",
            "fixed / variable",
            "ringed / Bloom of its bits",
        ],
    );
    let params = RingedParams::new(PROBES, Gamma::Whole, 100_000)?;
    let gamma = params.gamma();
    let bits = sizing::bits(sizing::rate_half_full(PROBES), 500);
    // The rates by formula of the fixed, the variable and the ringed filter, and of a Bloom filter with the ringed
    // one's bits.
    let rates = |keys: u64| {
        let variable = sizing::rate(PROBES, keys, sizing::bits(sizing::rate_half_full(PROBES), keys));
        let bloom = (-(-f64::from(PROBES) / gamma).exp_m1()).powi(PROBES as i32);
        [sizing::rate(PROBES, keys, bits), variable, ringed_rate(PROBES, keys, 100_000, gamma), bloom]
    };
    let mut push = |keys: Cell, [fixed, variable, ringed, bloom]: [f64; 4], measured: [f64; 2]| {
        let measured = measured.map(|rate| if rate.is_nan() { "".into() } else { rate.into() });
        let [of_fixed, of_ringed] = measured;
        table.push([
            keys,
            fixed.into(),
            variable.into(),
            ringed.into(),
            of_fixed,
            of_ringed,
            (fixed / variable).into(),
            (ringed / bloom).into(),
        ]);
    };
    for keys in (100..=1000).step_by(100) {
        let filters = if quick { 10 } else { KEYS / keys };
        let mut measured = [0.0; 2];
        for set in 0..filters {
            let hashes: Vec<_> = (0..keys).map(|i| KeyHash::new(mix(set << 32 | i))).collect();
            let mut fixed = Bloom::from_parts(bits, PROBES)?;
            fixed.insert_all(&hashes).expect("a Bloom filter is never full");
            let mut ringed = RingedBloom::with_size(params, keys)?;
            ringed.insert_all(&hashes).expect("a Bloom filter is never full");
            measured[0] += fixed.false_positive_rate() / filters as f64;
            measured[1] += ringed.false_positive_rate() / filters as f64;
        }
        push(keys.into(), rates(keys), measured);
    }
    let mut means = [0.0; 4];
    for keys in 1..=1000 {
        means.iter_mut().zip(rates(keys)).for_each(|(mean, rate)| *mean += rate / 1000.0);
    }
    push("1 to 1000, mean".into(), means, [f64::NAN; 2]);
    Ok(table)
}
