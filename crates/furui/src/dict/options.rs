use crate::error::{Error, Result};
use crate::filter::FINEST_BLOCKED_RATE;
use crate::hash::HashSpec;

/// How a [`Dict`](super::Dict) works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DictOptions {
    /// How many keys are put before they are frozen: the paper's w. At least 1.
    pub window_keys: usize,
    /// Or how many bytes of keys and values, if those are reached first. Keys that wait to be frozen take as much again.
    pub window_bytes: usize,
    /// How many tries there are at most, when no job is being done: the paper's f. At least 1.
    pub most_tries: usize,
    /// Which tries are merged.
    pub merging: Merging,
    /// The share of tries that are looked into in vain: the false-positive rate of their filters.
    pub filter_rate: f64,
    /// How keys are hashed. What exists keeps what it was made with, and refuses another; `None` takes what there is,
    /// or the rolling hash with a random seed.
    pub hash: Option<HashSpec>,
}

/// Which tries of a [`Dict`](super::Dict) are merged, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// The newest ones, when they have grown to the size of the next older one, so that sizes fall geometrically from
    /// the oldest to the newest: each key is written about log₂(keys / window) times.
    Geometric,
    /// All, when there would be more than the most: the paper's way. Each key is written about keys / (window × most)
    /// times.
    All,
}

impl Default for DictOptions {
    /// Windows of 500,000 keys or 128 MiB, at most 7 tries, merged geometrically, filters of 0.1 %: with six tries a
    /// look-up in vain then takes a fifth less time than with filters of 1 %, for 5 bits a key more.
    fn default() -> Self {
        Self {
            window_keys: 500_000,
            window_bytes: 128 << 20,
            most_tries: 7,
            merging: Merging::Geometric,
            filter_rate: 0.001,
            hash: None,
        }
    }
}

impl DictOptions {
    pub(super) fn check(&self) -> Result<()> {
        let Self { window_keys, window_bytes, most_tries, filter_rate, .. } = *self;
        let counts =
            [(window_keys, "keys of a window"), (window_bytes, "bytes of a window"), (most_tries, "tries at most")];
        if let Some(&(_, what)) = counts.iter().find(|&&(count, _)| count == 0) {
            return Err(Error::OutOfRange { what, given: 0, least: 1, most: usize::MAX as u64 });
        }
        if !(FINEST_BLOCKED_RATE..1.0).contains(&filter_rate) {
            return Err(Error::Rate { given: filter_rate, least: FINEST_BLOCKED_RATE });
        }
        Ok(())
    }
}
