//! Limits the use of resources by strangers: by each peer, by each address prefix, and by all of them together.

mod accounts;
mod fair_share;

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

pub(crate) use accounts::{ACCOUNTS, Accounts};
pub(crate) use fair_share::FairShare;

/// The period over which most rates are averaged.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// If a map has `most` entries and lacks the key `new`, removes the entry with the least `rank`. Important entries thus
/// remain however many others are added.
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

/// The maximum amount that a party may use, and the period in which used amounts decay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    amount: f64,
    period: Option<Duration>,
}

impl Limit {
    /// Makes a limit on a rate: a party may use the amount per period on average, and all of it at once after a pause.
    pub(crate) const fn per(amount: u64, period: Duration) -> Self {
        Self { amount: amount as f64, period: Some(period) }
    }

    /// Makes a limit on the amount that a party holds at a time. Held amounts count until they are given back.
    pub(crate) const fn held(amount: u64) -> Self {
        Self { amount: amount as f64, period: None }
    }
}

/// The amount that a party has used, which decays with time: the missing tokens of a token bucket.
#[derive(Clone, Copy, Default)]
struct Used {
    amount: f64,
    at: Duration,
}

impl Used {
    /// The part of the used amount that still counts at the time `now`.
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

/// A token bucket for each party, which is a peer or an address prefix. [`Accounts`] bounds the number of parties.
///
/// Times are durations since an arbitrary origin, which is the same for all calls.
pub(crate) struct Meters<K> {
    limit: Limit,
    accounts: Accounts<K, Used>,
}

impl<K: Clone + Eq + Hash> Meters<K> {
    /// Makes empty meters with this limit for each party.
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, accounts: Accounts::default() }
    }

    /// True if the limit for each party allows this further amount for the party `key`.
    pub(crate) fn allows(&self, key: &K, amount: u64, now: Duration) -> bool {
        self.used(key, now) + amount as f64 <= self.limit.amount
    }

    /// Counts an amount as used by the party `key`, even if it exceeds the limit.
    pub(crate) fn charge(&mut self, key: &K, amount: u64, now: Duration) {
        let limit = self.limit;
        self.accounts.entry(key, |_, used| used.at(now, limit)).charge(amount, now, limit);
    }

    /// Subtracts an amount that the party `key` held and has released.
    pub(crate) fn give_back(&mut self, key: &K, amount: u64) {
        if let Some(used) = self.accounts.get_mut(key) {
            used.give_back(amount);
        }
    }

    /// The amount that counts as used by the party `key` at the time `now`.
    fn used(&self, key: &K, now: Duration) -> f64 {
        self.accounts.get(key).map_or(0.0, |used| used.at(now, self.limit))
    }

    /// The number of parties other than `key` of which some amount still counts as used at the time `now`.
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
        // Decay over many small steps loses nothing to rounding.
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
