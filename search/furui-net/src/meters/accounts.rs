use std::collections::HashMap;
use std::hash::Hash;

/// The maximum number of parties (peers or address prefixes) that are remembered for each kind of limit. Chosen: some
/// hundred kilobytes for each kind, and six times the connections that a node accepts.
pub(crate) const ACCOUNTS: usize = 4096;

/// A map with one value for each party (a peer or an address prefix), bounded because strangers may be very many.
///
/// When there are `MOST` parties and another one is added, the half that has used the least is evicted. Nobody is
/// refused because others are many; and to make this node forget one party's use, an attacker needs thousands of
/// parties each of which has used more.
pub(crate) struct Accounts<K, V, const MOST: usize = ACCOUNTS> {
    all: HashMap<K, V>,
}

impl<K, V, const MOST: usize> Default for Accounts<K, V, MOST> {
    fn default() -> Self {
        Self { all: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash, V: Default, const MOST: usize> Accounts<K, V, MOST> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.all.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.all.get_mut(key)
    }

    /// The value of a party, added if it is missing. `used` returns the amount that a party has used, which decides
    /// which parties are evicted.
    pub(crate) fn entry(&mut self, key: &K, used: impl Fn(&K, &V) -> f64) -> &mut V {
        if self.all.len() >= MOST && !self.all.contains_key(key) {
            let mut by_use: Vec<(f64, K, V)> =
                self.all.drain().map(|(party, account)| (used(&party, &account), party, account)).collect();
            by_use.sort_unstable_by(|(one, ..), (other, ..)| other.total_cmp(one));
            by_use.truncate(MOST / 2);
            self.all.extend(by_use.into_iter().map(|(_, party, account)| (party, account)));
        }
        self.all.entry(key.clone()).or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_makes_nobody_forget_who_has_used_much() {
        let mut accounts = Accounts::<usize, u64>::default();
        *accounts.entry(&0, |_, used| *used as f64) = 9;
        for party in 1..3 * ACCOUNTS {
            *accounts.entry(&party, |_, used| *used as f64) += 1;
            assert_eq!((accounts.get(&0), accounts.get(&party)), (Some(&9), Some(&1)));
            assert!(accounts.all.len() <= ACCOUNTS);
        }
    }
}
