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
pub(crate) use rates::{fig4, fig5};
pub(crate) use three::three;
pub(crate) use traffic::{cuts, cuts_smaller_first, fig7, fig8_and_9, table1};
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
    use crate::table::Cell;

    /// Fig. 5: a fixed filter made for 500 keys has 9.37 times the rate of a variable one, on average up to 1000 keys.
    #[test]
    fn the_ratio_of_fig_5_is_that_of_the_paper() {
        let table = fig5(true).expect("valid filters");
        let mean = table.rows.last().expect("the row of means");
        assert!(matches!(mean[6], Cell::Number(ratio) if (ratio - 9.37).abs() < 0.01), "{mean:?}");
        assert!(matches!(mean[7], Cell::Number(ratio) if (ratio - 1.0).abs() < 1e-6), "{mean:?}");
    }
}
