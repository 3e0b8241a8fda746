use std::hash::Hash;
use std::time::Duration;

use super::{Limit, Meters, Used};

/// The multiple of the common limit that all parties together may reach: when the limit is used up, each party that has
/// not yet used its equal share may still use it. The value is a choice, not a measurement.
const MOST: f64 = 2.0;

/// A common limit of all parties, in addition to the limit of each.
///
/// When all parties together have reached it, a party may still use an equal share of it if it has used less, so a few
/// parties cannot keep others out.
pub(crate) struct FairShare<K> {
    parties: Meters<K>,
    limit: Limit,
    all: Used,
}

impl<K: Clone + Eq + Hash> FairShare<K> {
    /// Makes a limit of `own` for each party (a peer or an address prefix), and of `all` for all parties together.
    pub(crate) fn new(own: Limit, all: Limit) -> Self {
        Self { parties: Meters::new(own), limit: all, all: Used::default() }
    }

    /// True if the limit for each party, which `key` identifies, allows this further amount.
    pub(crate) fn allows_own(&self, key: &K, amount: u64, now: Duration) -> bool {
        self.parties.allows(key, amount, now)
    }

    /// True if the common limit of all parties allows this further amount for the party `key`.
    pub(crate) fn allows(&self, key: &K, amount: u64, now: Duration) -> bool {
        let of_all = self.all.at(now, self.limit) + amount as f64;
        let part = || self.limit.amount / (1 + self.parties.others(key, now)) as f64;
        of_all <= self.limit.amount
            || of_all <= MOST * self.limit.amount && self.parties.used(key, now) + amount as f64 <= part()
    }

    /// Counts an amount as used by the party `key`, which is a peer or an address prefix.
    pub(crate) fn charge(&mut self, key: &K, amount: u64, now: Duration) {
        self.parties.charge(key, amount, now);
        self.all.charge(amount, now, self.limit);
    }

    /// Subtracts an amount that the party `key` held and has released.
    pub(crate) fn give_back(&mut self, key: &K, amount: u64) {
        self.parties.give_back(key, amount);
        self.all.give_back(amount);
    }
}
