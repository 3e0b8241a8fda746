//! The traffic of a search over a distributed hash table: the experiments of Sei, Matsuzaki and Honiden with this
//! project's filters, and with its better codings. Messages are encoded and counted, but not sent.
//!
//! Each experiment is a function that returns tables.

mod all_pairs;
mod best_rate;
mod check_time;
mod codings;
mod corpus;
mod debian;
mod exchange;
mod random;
mod rates;
mod three;
mod traffic;
mod workload;
mod zipf;

use std::ops::RangeInclusive;

use indicatif::ProgressBar;

pub(crate) use best_rate::{best, best_rates, eq18};
pub(crate) use check_time::{fig6, keys_kept};
pub(crate) use codings::{coded_sets, codings};
pub(crate) use corpus::Corpus;
pub(crate) use rates::{eq5, fig2, fig4, fig5};
pub(crate) use three::three;
pub(crate) use traffic::{PAPER_BITS, cuts, cuts_smaller_first, fig7, fig8_and_9, table1};
pub(crate) use zipf::Shape;

/// The numbers k of the paper's rates α = 2⁻ᵏ, from 2⁻¹ to 2⁻¹¹.
const RATES: RangeInclusive<u32> = 1..=11;

/// The options of a measurement.
pub(crate) struct Options {
    /// Whether to measure in few rounds.
    pub(crate) quick: bool,
    pub(crate) seed: u64,
    /// The number of queries in a round.
    pub(crate) queries: usize,
    /// The progress of the longer experiments.
    pub(crate) bar: ProgressBar,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fig. 5, averaged over 1 to 1000 keys: the rate of a fixed filter made for 500 keys is 9.37 times that of a
    /// variable filter. The rate of a ringed filter of the same size is hardly higher than that of a variable filter.
    #[test]
    fn the_ratios_of_fig_5_are_those_of_the_paper() {
        let table = fig5(true).expect("filters that can be");
        let mean = |column: &str| table.number(column, &[("keys", "1 to 1000, mean".into())]);
        assert!((mean("fixed / variable") - 9.37).abs() < 0.01);
        assert!((mean("ringed / variable") - 1.000_000_4).abs() < 1e-6);
    }

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
