//! Limits for strangers: how much each peer, each address prefix, and all of them together may use.

mod accounts;
mod fair_share;

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

pub(crate) use accounts::{ACCOUNTS, Accounts};
pub(crate) use fair_share::FairShare;

/// A minute, over which most uses are counted.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// Makes room for the entry `new` in a map of at most `most` entries: the entry with the least `rank` is removed. So a
/// crowd of others does not empty the map.
pub(crate) fn make_room<K: Clone + Eq + Hash, V, R: Ord>(
    map: &mut HashMap<K, V>,
    new: &K,
    most: usize,
    rank: impl Fn(&V) -> R,
) {
    if map.len() >= most && !map.contains_key(new) {
        let least = map.iter().min_by_key(|(_, value)| rank(value)).map(|(key, _)| key.clone());
        least.and_then(|least| map.remove(&least));
    }
}

/// How much may be used, and when it counts as used no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    amount: f64,
    period: Option<Duration>,
}

impl Limit {
    /// This amount may be used in a period on average, and at once after a pause.
    pub(crate) const fn per(amount: u64, period: Duration) -> Self {
        Self { amount: amount as f64, period: Some(period) }
    }

    /// This amount may be held at the same time. What is held counts until it is given back.
    pub(crate) const fn held(amount: u64) -> Self {
        Self { amount: amount as f64, period: None }
    }
}

/// An amount used that decays with time: a token bucket, of which the missing tokens are counted.
#[derive(Clone, Copy, Default)]
struct Used {
    amount: f64,
    at: Duration,
}

impl Used {
    /// The amount that still counts at the time `now`.
    fn at(&self, now: Duration, limit: Limit) -> f64 {
        let decayed = limit
            .period
            .map_or(0.0, |period| limit.amount * now.saturating_sub(self.at).as_secs_f64() / period.as_secs_f64());
        (self.amount - decayed).max(0.0)
    }

    fn charge(&mut self, amount: u64, now: Duration, limit: Limit) {
        *self = Self { amount: self.at(now, limit) + amount as f64, at: now };
    }

    fn give_back(&mut self, amount: u64) {
        self.amount = (self.amount - amount as f64).max(0.0);
    }
}

/// A token bucket for each of some parties: peers or address prefixes. [`Accounts`] bounds their number.
///
/// Times are those since some beginning, which is the same for all calls.
pub(crate) struct Meters<K> {
    limit: Limit,
    accounts: Accounts<K, Used>,
}

impl<K: Clone + Eq + Hash> Meters<K> {
    /// Makes meters on which nobody has used anything. Each party has this limit.
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, accounts: Accounts::default() }
    }

    /// True if the party may use this amount.
    pub(crate) fn allows(&self, key: &K, amount: u64, now: Duration) -> bool {
        self.used(key, now) + amount as f64 <= self.limit.amount
    }

    /// Counts an amount as used, even if it is more than the party may use.
    pub(crate) fn charge(&mut self, key: &K, amount: u64, now: Duration) {
        let limit = self.limit;
        self.accounts.entry(key, |_, used| used.at(now, limit)).charge(amount, now, limit);
    }

    /// Notes that the party no longer holds this amount.
    pub(crate) fn give_back(&mut self, key: &K, amount: u64) {
        if let Some(used) = self.accounts.get_mut(key) {
            used.give_back(amount);
        }
    }

    /// What counts as used by the party.
    fn used(&self, key: &K, now: Duration) -> f64 {
        self.accounts.get(key).map_or(0.0, |used| used.at(now, self.limit))
    }

    /// The number of other parties that have used something.
    fn others(&self, key: &K, now: Duration) -> usize {
        let others = self.accounts.iter().filter(|(other, _)| *other != key);
        others.filter(|(_, used)| used.at(now, self.limit) > 0.0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_comes_back_with_time_and_what_is_held_when_it_is_given_back() {
        let start = Duration::from_secs(5);
        let mut meters = Meters::new(Limit::per(10, MINUTE));
        meters.charge(&1, 10, start);
        assert!(!meters.allows(&1, 1, start) && meters.allows(&2, 10, start));
        // Many small steps are not lost.
        let later = (1..=60_000).map(|step| start + Duration::from_millis(step));
        assert_eq!(
            later.filter(|now| meters.allows(&1, 1, *now).then(|| meters.charge(&1, 1, *now)).is_some()).count(),
            10
        );
        let mut held = Meters::new(Limit::held(10));
        held.charge(&1, 10, start);
        assert!(!held.allows(&1, 1, start + 100 * MINUTE));
        held.give_back(&1, 4);
        assert!(held.allows(&1, 4, start) && !held.allows(&1, 5, start));
    }
}
