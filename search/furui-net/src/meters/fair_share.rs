use std::hash::Hash;
use std::time::Duration;

use super::{Limit, Meters, Used};

/// When several parties have used up everything, all together may use this many times as much: each one that has not
/// yet used its part gets it. Chosen.
const MOST: f64 = 2.0;

/// A limit that all parties share, beside the limit of each.
///
/// When all together have reached it, each party is left an equal part, which it gets if it has used less: so no few
/// parties keep others out.
pub(crate) struct FairShare<K> {
    parties: Meters<K>,
    limit: Limit,
    all: Used,
}

impl<K: Clone + Eq + Hash> FairShare<K> {
    /// Makes a share of `all`. Each party may use `own` as long as all together have not reached `all`.
    pub(crate) fn new(own: Limit, all: Limit) -> Self {
        Self { parties: Meters::new(own), limit: all, all: Used::default() }
    }

    /// True if the party may use this amount, as far as its own limit matters.
    pub(crate) fn allows_own(&self, key: &K, amount: u64, now: Duration) -> bool {
        self.parties.allows(key, amount, now)
    }

    /// True if the party may use this amount, as far as the limit of all matters.
    pub(crate) fn allows(&self, key: &K, amount: u64, now: Duration) -> bool {
        let of_all = self.all.at(now, self.limit) + amount as f64;
        let part = || self.limit.amount / (1 + self.parties.others(key, now)) as f64;
        of_all <= self.limit.amount
            || of_all <= MOST * self.limit.amount && self.parties.used(key, now) + amount as f64 <= part()
    }

    /// Counts an amount as used.
    pub(crate) fn charge(&mut self, key: &K, amount: u64, now: Duration) {
        self.parties.charge(key, amount, now);
        self.all.charge(amount, now, self.limit);
    }

    /// Notes that the party no longer holds this amount.
    pub(crate) fn give_back(&mut self, key: &K, amount: u64) {
        self.parties.give_back(key, amount);
        self.all.give_back(amount);
    }
}
