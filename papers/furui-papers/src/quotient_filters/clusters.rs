//! The lengths of runs and clusters, compared with theory.

use furui::KeyHash;
use furui::filter::{FilterMut, QuotientFilter};

use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Plot, Result, Table, Verdict, brief};

/// The number of remainder bits: so many that two keys hardly ever have the same fingerprint.
const REMAINDER_BITS: u32 = 32;
/// The loads (shares of used slots) that are measured, in twentieths of the slots.
const LOADS: std::ops::RangeInclusive<u64> = 1..=19;
/// The load (share of used slots), in twentieths of the slots, at which lengths are listed one by one.
const SHOWN: u64 = 15;
/// The largest length of a run or a cluster that is listed in the table.
const LONGEST: usize = 40;

/// The number of runs, or clusters, of each length.
#[derive(Default)]
struct Lengths(Vec<u64>);

impl Lengths {
    fn add(&mut self, length: usize) {
        if self.0.len() <= length {
            self.0.resize(length + 1, 0);
        }
        self.0[length] += 1;
    }

    fn count(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64
    }

    fn mean(&self) -> f64 {
        self.0.iter().zip(0..).map(|(count, length)| count * length).sum::<u64>() as f64 / self.count()
    }

    /// The share of runs or clusters that have this length.
    fn share(&self, length: usize) -> f64 {
        self.0.get(length).copied().unwrap_or_default() as f64 / self.count()
    }

    fn longest(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// The smallest length that 99 % of the runs or clusters do not exceed.
    fn percentile_99(&self) -> usize {
        least_length(|length| self.share(length))
    }
}

fn least_length(share: impl Fn(usize) -> f64) -> usize {
    let mut sum = 0.0;
    (1..1 << 20)
        .find(|&length| {
            sum += share(length);
            sum >= 0.99
        })
        .unwrap_or(usize::MAX)
}

/// ln n!, computed as a sum.
fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|i| (i as f64).ln()).sum()
}

/// The share of runs of this length. The number of keys of a slot is Poisson-distributed, and a run has at least one
/// key.
fn run_share(load: f64, length: usize) -> f64 {
    (length as f64 * load.ln() - load - ln_factorial(length)).exp() / (1.0 - (-load).exp())
}

/// The share of clusters of this length. A cluster is the busy period of a queue that serves the keys of one slot at a
/// time. If B is the generating function of the Borel distribution, the generating function of the lengths of clusters
/// is (1 - e^(-load B)) / (1 - e^(-load)). Lagrange's inversion gives its coefficients.
fn cluster_share(load: f64, length: usize) -> f64 {
    let (t, before) = (length as f64, length as f64 - 1.0);
    let power = if length == 1 { 0.0 } else { before * (load * before).ln() };
    (load.ln() - load * t + power - ln_factorial(length)).exp() / (1.0 - (-load).exp())
}

/// The lengths of a table's runs and of its clusters.
fn lengths(filter: &QuotientFilter) -> [Lengths; 2] {
    let [mut runs, mut clusters] = [Lengths::default(), Lengths::default()];
    let (mut run, mut cluster) = (0, 0);
    let end = |length: &mut usize, lengths: &mut Lengths| {
        if *length > 0 {
            lengths.add(*length);
        }
        *length = 0;
    };
    for slot in (0..).map_while(|i| filter.slot(i)) {
        let empty = !(slot.is_occupied || slot.is_continuation || slot.is_shifted);
        if empty || !slot.is_continuation {
            end(&mut run, &mut runs);
        }
        if empty || !slot.is_shifted {
            end(&mut cluster, &mut clusters);
        }
        run += usize::from(!empty);
        cluster += usize::from(!empty);
    }
    end(&mut run, &mut runs);
    end(&mut cluster, &mut clusters);
    [runs, clusters]
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let slots: u64 = context.size(1 << 23, 1 << 14);
    let mut filter = QuotientFilter::new(slots, REMAINDER_BITS)?;
    let mut table = Table::new(
        "clusters",
        format!("Runs and clusters of a table of {slots} slots: measured, and by theory"),
        [
            "load",
            "mean run",
            "theory: mean run",
            "mean cluster",
            "theory: mean cluster",
            "99 % of clusters",
            "theory: 99 %",
            "longest run",
            "longest cluster",
        ],
    );
    let mut shares = Table::new(
        "lengths",
        format!("Share of runs and clusters by length at a load of {}", SHOWN as f64 / 20.0),
        ["length", "runs", "theory: runs", "clusters", "theory: clusters"],
    );
    let bar = context.bar(LOADS.count() as u64, "loads");
    let mut inserted = 0;
    for twentieths in LOADS {
        let target = slots * twentieths / 20;
        let keys: Vec<KeyHash> = (inserted..target).map(|i| KeyHash::new(mix(i ^ context.seed << 48))).collect();
        filter.insert_all(&keys)?;
        inserted = target;
        let load = twentieths as f64 / 20.0;
        let [runs, clusters] = lengths(&filter);
        let none = (-load).exp();
        table.push(
            [
                load,
                runs.mean(),
                load / (1.0 - none),
                clusters.mean(),
                load * none / ((1.0 - load) * (1.0 - none)),
                clusters.percentile_99() as f64,
                least_length(|length| cluster_share(load, length)) as f64,
                runs.longest() as f64,
                clusters.longest() as f64,
            ]
            .map(Cell::from),
        );
        if twentieths == SHOWN {
            for length in 1..=LONGEST {
                let measured = [runs.share(length), clusters.share(length)];
                let theory = [run_share(load, length), cluster_share(load, length)];
                shares.push([length as f64, measured[0], theory[0], measured[1], theory[1]].map(Cell::from));
            }
        }
        bar.inc(1);
    }
    let plots = vec![means(&table), distribution(&shares)];
    let verdict = verdict(&table);
    Ok(Finding::new("Uniform 64-bit hashes.", verdict, [table, shares], plots))
}

fn means(table: &Table) -> Plot {
    let of = |column| table.points("load", column, &[]);
    Plot::new("clusters", "Lengths by load", Axis::linear("load"), Axis::log("slots"))
        .dots("mean run", of("mean run"))
        .formula("theory", of("theory: mean run"))
        .dots("mean cluster", of("mean cluster"))
        .formula("theory", of("theory: mean cluster"))
        .dots("99 % of clusters", of("99 % of clusters"))
        .formula("theory", of("theory: 99 %"))
        .dots("longest cluster", of("longest cluster"))
}

fn distribution(table: &Table) -> Plot {
    let of = |column| table.points("length", column, &[]);
    Plot::new(
        "lengths",
        format!("Share of lengths at a load of {}", SHOWN as f64 / 20.0),
        Axis::linear("length"),
        Axis::log("share"),
    )
    .dots("runs", of("runs"))
    .formula("theory", of("theory: runs").into_iter().filter(|(_, y)| *y > 1e-7).collect())
    .dots("clusters", of("clusters"))
    .formula("theory", of("theory: clusters"))
}

fn verdict(table: &Table) -> Verdict {
    let of = |column: &str, load: f64| table.number(column, &[("load", load.into())]);
    let off = |column: &str| {
        let theory = format!("theory: {column}");
        let off = LOADS.map(|load| load as f64 / 20.0).map(|load| (of(column, load) / of(&theory, load) - 1.0).abs());
        off.fold(0.0, f64::max)
    };
    let (runs, clusters) = (off("mean run"), off("mean cluster"));
    let text = format!(
        "Means differ from theory by at most {} % (runs) and {} % (clusters) over all loads. At loads of 50, 75, 90 \
         and 95 % a cluster has {}, {}, {} and {} slots on average; 99 of 100 clusters have no more than {}, {}, {} \
         and {}.",
        brief(100.0 * runs),
        brief(100.0 * clusters),
        brief(of("mean cluster", 0.5)),
        brief(of("mean cluster", 0.75)),
        brief(of("mean cluster", 0.9)),
        brief(of("mean cluster", 0.95)),
        of("99 % of clusters", 0.5),
        of("99 % of clusters", 0.75),
        of("99 % of clusters", 0.9),
        of("99 % of clusters", 0.95),
    );
    Verdict::holds(runs < 0.02 && clusters < 0.1, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares are distributions, and have the means that the table lists.
    #[test]
    fn shares_add_up_to_one_and_have_their_means() {
        for load in [0.1_f64, 0.5, 0.75] {
            for (share, mean) in [
                (run_share as fn(f64, usize) -> f64, load / (1.0 - (-load).exp())),
                (cluster_share, load * (-load).exp() / ((1.0 - load) * (1.0 - (-load).exp()))),
            ] {
                let sum: f64 = (1..600).map(|length| share(load, length)).sum();
                let found: f64 = (1..600).map(|length| length as f64 * share(load, length)).sum();
                assert!(
                    (sum - 1.0).abs() < 1e-6 && (found / mean - 1.0).abs() < 1e-4,
                    "{load}: {sum}, {found} for {mean}"
                );
            }
        }
    }
}
