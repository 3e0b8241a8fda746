//! The experiments for the column that explains Bloom filters. The column has no figures; these experiments test its
//! statements.

mod secrecy;

use std::ops::Range;

use furui::filter::{Bloom, Filter, FilterMut, sizing};
use furui::{HashSpec, KeyHash, KeyHasher};

use crate::report::{Axis, Context, Finding, Plot, Result, Run, Table, Verdict, brief};

pub(crate) const EXPERIMENTS: &[(&str, Run)] =
    &[("rate", rate), ("similarity", similarity), ("or", or), ("secrecy", secrecy::run)];

const DATA: &str = "keys are numbers, hashed by XXH3 with the seed.";

/// The keys that an experiment inserts into a filter and looks up in it.
struct Keys(KeyHasher);

impl Keys {
    fn new(context: &Context) -> Self {
        Self(HashSpec { seed: context.seed, ..HashSpec::default() }.hasher())
    }

    fn key(&self, i: u64) -> KeyHash {
        self.0.hash(&i.to_le_bytes())
    }

    fn set(&self, range: Range<u64>) -> Vec<KeyHash> {
        range.map(|i| self.key(i)).collect()
    }

    /// The measured false-positive rate: the share of `asked` absent keys that a filter reports as present.
    fn measured(&self, filter: &Bloom, asked: u64) -> f64 {
        (0..asked).filter(|i| filter.contains_hash(self.key(1 << 40 | i))).count() as f64 / asked as f64
    }
}

fn rate(context: &Context) -> Result<Finding> {
    const BITS_EACH: [u64; 5] = [2, 4, 8, 12, 16];
    let (n, asked) = context.size((100_000, 2_000_000), (2000, 20_000));
    let keys = Keys::new(context);
    let set = keys.set(0..n);
    let columns = ["bits a key", "k", "ones %", "rate by formula", "measured", "off by sigmas"];
    let title = format!("False-positive rates of {n} keys, {asked} asked");
    let mut table = Table::new("rate", title, columns);
    let bar = context.bar(BITS_EACH.len() as u64, "bits a key");
    for bits_each in BITS_EACH {
        for k in 1..=16 {
            let mut filter = Bloom::from_parts(n * bits_each, k)?;
            filter.insert_all(&set)?;
            let (formula, found) = (sizing::rate(k, n, filter.bits()), keys.measured(&filter, asked));
            // Two variances are added. One is that of the number of false positives among the lookups. The other comes
            // from the number of bits that the inserted keys happen to set.
            let ones = 1.0 - (-(f64::from(k) / bits_each as f64)).exp();
            let spread = f64::from(k) * ((1.0 - ones) / ones / filter.bits() as f64).sqrt() * formula;
            let sigma = (formula * (1.0 - formula) / asked as f64 + spread * spread).sqrt();
            table.push([
                bits_each.into(),
                u64::from(k).into(),
                (100.0 * filter.ones() as f64 / filter.bits() as f64).into(),
                formula.into(),
                found.into(),
                ((found - formula) / sigma).into(),
            ]);
        }
        bar.inc(1);
    }
    let axes = (Axis::linear("k"), Axis::log("false-positive rate"));
    let mut plot = Plot::new("rate", "The false-positive rate by k, for some bits a key (m / n)", axes.0, axes.1);
    let mut best = vec![];
    let mut inside = true;
    for bits_each in BITS_EACH {
        let only = [("bits a key", bits_each.into())];
        let points = table.points("k", "measured", &only);
        let (k, _) = points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).expect("some k");
        let theory = bits_each as f64 * std::f64::consts::LN_2;
        inside &= (k - theory).abs() <= 2.0;
        best.push(format!("{k} for {bits_each} bits a key ({} by theory)", brief(theory)));
        plot = plot
            .dots(format!("{bits_each} bits a key, measured"), points)
            .formula("formula", table.points("k", "rate by formula", &only));
    }
    let off = table.range("off by sigmas", &[]);
    let off = off.1.max(-off.0);
    let full = table.number("rate by formula", &[("bits a key", 2u64.into()), ("k", 16u64.into())]);
    let verdict = Verdict::all([
        Verdict::holds(
            off < 4.5,
            format!("No measured rate is further than {} standard deviations from (1 - e^(-kn/m))^k.", brief(off)),
        ),
        Verdict::holds(inside, format!("The best k is {}.", best.join(", "))),
        Verdict::holds(
            full > 0.99,
            format!("With 2 bits a key and k = 16, the filter says yes to {} % of all keys.", brief(100.0 * full)),
        ),
    ]);
    Ok(Finding::new(DATA, verdict, [table], [plot]))
}

fn similarity(context: &Context) -> Result<Finding> {
    let (table, worst) = similarities(context)?;
    let x = || Axis::linear("Jaccard's similarity of the sets");
    let mut errors =
        Plot::new("similarity", "How far an estimate of Jaccard's similarity is off", x(), Axis::linear("sigma"));
    let mut xor = Plot::new("similarity-xor", "The bits in which two filters differ", x(), Axis::linear("%"));
    for bits in [2u64, 10] {
        let points = |column| table.points("Jaccard, true", column, &[("bits a key", bits.into())]);
        let name = format!("{bits} bits a key");
        errors = errors
            .dots(format!("{name}, deviation"), points("deviation"))
            .formula("the deviation predicted", points("deviation predicted"));
        xor = xor.line(name, points("bits that differ %"));
    }
    let falls = [2u64, 10].iter().all(|&bits| {
        let points = table.points("keys in common", "bits that differ %", &[("bits a key", bits.into())]);
        points.is_sorted_by(|a, b| a.1 > b.1)
    });
    let error = [2u64, 10].map(|bits| table.range("deviation", &[("bits a key", bits.into())]).1);
    let verdict = Verdict::all([
            Verdict::holds(falls, "The more two sets have in common, the fewer bits differ."),
            Verdict::holds(
                worst < 4.0,
                format!(
                    "Jaccard's similarity is estimated without bias (no mean is further than {} of its standard errors from the \
                     truth), to within {} (one standard deviation, the largest) with 2 bits a key, and {} with 10.",
                    brief(worst),
                    brief(error[0]),
                    brief(error[1])
                ),
            ),
        ])
        .and("That both stay secret is not graded: nothing here measures it.");
    Ok(Finding::new(DATA, verdict, [table], [errors, xor]))
}

/// Measures filters of pairs of sets. Returns the table, and the largest distance of a mean estimate from its true
/// value, in standard errors of the mean.
fn similarities(context: &Context) -> Result<(Table, f64)> {
    let keys = Keys::new(context);
    let (n, trials) = context.size((10_000u64, 50u64), (500, 5));
    let columns = [
        "bits a key",
        "keys in common",
        "Jaccard, true",
        "mean estimate",
        "deviation",
        "deviation predicted",
        "bits that differ %",
    ];
    let title = format!("Two sets of {n} keys, {trials} times");
    let mut table = Table::new("similarity", title, columns);
    let mut worst: f64 = 0.0;
    for (bits_each, probes) in [(2, 1), (10, 7)] {
        for percent in [0, 5, 10, 25, 50, 75, 90, 99, 100] {
            let common = n * percent / 100;
            let truth = common as f64 / (2 * n - common) as f64;
            let (mut values, mut error, mut differ) = (vec![], 0.0, 0.0);
            for trial in 0..trials {
                let set = |from: u64| -> Result<Bloom> {
                    let first = (trial << 32) + from;
                    let mut filter = Bloom::from_parts(n * bits_each, probes)?;
                    filter.insert_all(&keys.set(first..first + n))?;
                    Ok(filter)
                };
                let found = set(0)?.similarity(&set(n - common)?)?;
                values.push(found.jaccard.value);
                error += found.jaccard.error / trials as f64;
                differ += 100.0 * found.differing_bits as f64 / (n * bits_each) as f64 / trials as f64;
            }
            let mean = values.iter().sum::<f64>() / trials as f64;
            let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (trials - 1) as f64).sqrt();
            if spread > 1e-9 {
                worst = worst.max((mean - truth).abs() / (spread / (trials as f64).sqrt()));
            }
            table.push([
                bits_each.into(),
                common.into(),
                truth.into(),
                mean.into(),
                spread.into(),
                error.into(),
                differ.into(),
            ]);
        }
    }
    Ok((table, worst))
}

fn or(context: &Context) -> Result<Finding> {
    let keys = Keys::new(context);
    let (each, asked) = context.size((1000u64, 1_000_000), (100, 10_000));
    let columns = ["sets", "keys", "ones %", "rate by formula", "measured", "keys lost", "the filter of the union"];
    let title = format!("OR of filters of {each} keys, made for {} at 1 %", 10 * each);
    let mut table = Table::new("or", title, columns);
    let made = || Bloom::with_rate(10 * each, 0.01);
    let mut all = made()?;
    let mut direct = made()?;
    let mut sets = 0;
    for until in [1, 2, 5, 10, 20, 50, 100, 200] {
        while sets < until {
            let set = keys.set(sets * each..(sets + 1) * each);
            let mut one = made()?;
            one.insert_all(&set)?;
            direct.insert_all(&set)?;
            all.union_with(&one)?;
            sets += 1;
        }
        let lost = (0..sets * each).filter(|&i| !all.contains_hash(keys.key(i))).count() as u64;
        let same = all.similarity(&direct)?.differing_bits == 0;
        table.push([
            sets.into(),
            (sets * each).into(),
            (100.0 * all.ones() as f64 / all.bits() as f64).into(),
            sizing::rate(all.probes(), sets * each, all.bits()).into(),
            keys.measured(&all, asked).into(),
            lost.into(),
            if same { "yes" } else { "no" }.into(),
        ]);
    }
    let axes = (Axis::log("sets in the OR"), Axis::log("false-positive rate"));
    let plot = Plot::new("or", table.title.clone(), axes.0, axes.1)
        .dots("measured", table.points("sets", "measured", &[]))
        .formula("formula", table.points("sets", "rate by formula", &[]));
    let same = table.rows.iter().all(|row| row[6].text() == Some("yes"));
    let lost = table.range("keys lost", &[]).1;
    let full = table.range("measured", &[]).1;
    let verdict = Verdict::all([
        Verdict::holds(same, "The OR has exactly the bits of the filter that is built from all keys."),
        Verdict::holds(
            lost == 0.0 && full > 0.99,
            format!(
                "No key is ever lost. The OR of {} sets, which is too many, lets {} % of all keys pass.",
                brief(table.range("sets", &[]).1),
                brief(100.0 * full)
            ),
        ),
    ]);
    Ok(Finding::new(DATA, verdict, [table], [plot]))
}
