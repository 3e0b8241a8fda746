use std::collections::HashMap;
use std::time::Duration;

use crate::net::Prefix;
use crate::node::used::{MINUTE, Used};

/// What may be checked for all addresses together.
const ALL: Limits = Limits { bytes: 256 << 20, documents: 1 << 16, waiting: 128, waiting_bytes: 48 << 20 };
/// What may be checked for one address prefix.
const A_PREFIX: Limits = Limits { bytes: 96 << 20, documents: 1 << 15, waiting: 64, waiting_bytes: 24 << 20 };
/// The maximum number of address prefixes that are remembered.
const PREFIXES: usize = 4096;

/// When several addresses have used up everything, all addresses together may use so many times as much: each one that
/// has not yet used its part gets it.
const MOST: usize = 2;

/// Limits what checks of other nodes' messages cost this node: the traffic, the work, and the memory.
///
/// One address has a limit. If all addresses together reach theirs, each is left the same part of it, so that no few
/// addresses keep others from storing.
#[derive(Default)]
pub(in crate::node) struct Budget {
    all: Spent,
    prefixes: HashMap<Prefix, Spent>,
}

struct Limits {
    /// The maximum mean number of bytes of records that are checked in a minute.
    bytes: u64,
    /// The maximum mean number of documents that are looked up and checked in a minute.
    documents: u64,
    /// The maximum number of messages that wait for their check.
    waiting: usize,
    /// The maximum size of these messages, in bytes.
    waiting_bytes: usize,
}

impl Limits {
    /// One of so many equal parts.
    fn part(&self, of: usize) -> Self {
        Self {
            bytes: self.bytes / of as u64,
            documents: self.documents / of as u64,
            waiting: self.waiting / of,
            waiting_bytes: self.waiting_bytes / of,
        }
    }

    fn times(&self, times: usize) -> Self {
        Self {
            bytes: self.bytes * times as u64,
            documents: self.documents * times as u64,
            waiting: self.waiting * times,
            waiting_bytes: self.waiting_bytes * times,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Spent {
    bytes: Used,
    documents: Used,
    waiting: usize,
    waiting_bytes: usize,
}

impl Spent {
    fn is_idle(&self, now: Duration) -> bool {
        let Self { bytes, documents, waiting, .. } = self;
        *waiting == 0
            && bytes.within(MINUTE, now, A_PREFIX.bytes) + documents.within(MINUTE, now, A_PREFIX.documents) == 0
    }
}

impl Budget {
    /// True if a message of this size may wait for the check of so many documents. The documents then count as checked.
    pub(in crate::node) fn grants(&mut self, prefix: Prefix, documents: usize, message: usize, now: Duration) -> bool {
        if self.prefixes.len() >= PREFIXES && !self.prefixes.contains_key(&prefix) {
            self.prefixes.retain(|_, spent| !spent.is_idle(now));
            if self.prefixes.len() >= PREFIXES {
                return false;
            }
        }
        let of_prefix = self.prefixes.get(&prefix).copied().unwrap_or_default();
        let has_room = |spent: &Spent, decays: &Limits, within: &Limits| {
            spent.bytes.within(MINUTE, now, decays.bytes) < within.bytes
                && spent.documents.within(MINUTE, now, decays.documents) < within.documents
                && spent.waiting < within.waiting
                && spent.waiting_bytes + message <= within.waiting_bytes
        };
        // Connections within a process have no address, so they have no limit of their own.
        if prefix != Prefix::Local && !has_room(&of_prefix, &A_PREFIX, &A_PREFIX) {
            return false;
        }
        if !has_room(&self.all, &ALL, &ALL) {
            let others = self.prefixes.iter().filter(|(other, spent)| **other != prefix && !spent.is_idle(now)).count();
            let part = ALL.part(others + 1);
            if !has_room(&of_prefix, &A_PREFIX, &part) || !has_room(&self.all, &ALL, &ALL.times(MOST)) {
                return false;
            }
        }
        self.each(prefix, |spent, _, most_documents| {
            spent.documents = spent.documents.plus(documents as u64, MINUTE, now, most_documents);
            spent.waiting += 1;
            spent.waiting_bytes += message;
        });
        true
    }

    /// Counts the bytes of the records for a check that was granted, which is over now.
    pub(in crate::node) fn charge(&mut self, prefix: Prefix, bytes: u64, message: usize, now: Duration) {
        self.each(prefix, |spent, most_bytes, _| {
            spent.bytes = spent.bytes.plus(bytes, MINUTE, now, most_bytes);
            spent.waiting = spent.waiting.saturating_sub(1);
            spent.waiting_bytes = spent.waiting_bytes.saturating_sub(message);
        });
    }

    fn each(&mut self, prefix: Prefix, change: impl Fn(&mut Spent, u64, u64)) {
        change(&mut self.all, ALL.bytes, ALL.documents);
        change(self.prefixes.entry(prefix).or_default(), A_PREFIX.bytes, A_PREFIX.documents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: u32) -> Prefix {
        Prefix::V4(number.to_le_bytes())
    }

    /// The number of messages whose checks are granted at once.
    fn granted(budget: &mut Budget, prefix: Prefix, documents: usize, message: usize, now: Duration) -> usize {
        let count = (0..1 << 20).take_while(|_| budget.grants(prefix, documents, message, now)).count();
        (0..count).for_each(|_| budget.charge(prefix, 0, message, now));
        count
    }

    #[test]
    fn one_address_has_its_share_and_all_have_theirs() {
        let (mut budget, start) = (Budget::default(), Duration::from_secs(5));
        assert_eq!(granted(&mut budget, host(1), 0, 0, start), A_PREFIX.waiting);
        assert_eq!(granted(&mut budget, host(1), 0, 1 << 20, start), A_PREFIX.waiting_bytes >> 20);
        assert_eq!(granted(&mut budget, host(1), A_PREFIX.documents as usize, 0, start), 1);
        assert_eq!(granted(&mut budget, host(1), 1, 0, start), 0);
        assert!(budget.grants(host(2), 1, 0, start));
        budget.charge(host(2), A_PREFIX.bytes, 0, start);
        assert_eq!(granted(&mut budget, host(2), 0, 0, start), 0);
        assert!(budget.grants(host(1), 1, 0, start + MINUTE) && budget.grants(host(2), 1, 0, start + MINUTE));
        budget.charge(host(1), MOST as u64 * ALL.bytes, 0, start + MINUTE);
        assert!(!budget.grants(host(3), 1, 0, start + MINUTE) && budget.grants(host(3), 1, 0, start + 4 * MINUTE));
    }

    #[test]
    fn a_few_addresses_that_use_everything_leave_others_their_part() {
        let (mut budget, start) = (Budget::default(), Duration::from_secs(5));
        for number in 1..=2 {
            assert_eq!(granted(&mut budget, host(number), A_PREFIX.documents as usize, 0, start), 1);
        }
        let of_third = ALL.documents as usize / 3;
        assert_eq!(granted(&mut budget, host(3), of_third, 0, start), 1);
        assert!(!budget.grants(host(3), 1, 0, start) && !budget.grants(host(1), 1, 0, start));

        let mut budget = Budget::default();
        for number in 1..=2 {
            assert_eq!((0..100).filter(|_| budget.grants(host(number), 0, 1, start)).count(), A_PREFIX.waiting);
        }
        assert_eq!((0..100).filter(|_| budget.grants(host(3), 0, 1, start)).count(), ALL.waiting / 3);
        // All together have a limit, too.
        let many = (4..2000).map(|number| (0..100).filter(|_| budget.grants(host(number), 0, 1, start)).count());
        assert_eq!(many.sum::<usize>(), (MOST - 1) * ALL.waiting - ALL.waiting / 3);
    }

    #[test]
    fn addresses_that_store_nothing_are_forgotten() {
        let mut budget = Budget::default();
        for number in 0..3 * PREFIXES as u32 {
            let now = Duration::from_secs(number.into());
            assert!(budget.grants(host(number), 1, 9, now));
            budget.charge(host(number), 1, 9, now);
        }
        assert!(budget.prefixes.len() <= PREFIXES);
    }
}
