use std::collections::HashMap;
use std::time::Duration;

use crate::net::Prefix;
use crate::node::used::{MINUTE, Used};

/// The maximum mean number of bytes of records that are checked in a minute.
const ALL_BYTES: u64 = 256 << 20;
/// The maximum mean number of bytes of records that are checked in a minute for one address prefix.
const PREFIX_BYTES: u64 = 96 << 20;
/// The maximum mean number of documents that are looked up and checked in a minute.
const ALL_DOCUMENTS: u64 = 1 << 16;
/// The maximum mean number of documents that are looked up and checked in a minute for one address prefix.
const PREFIX_DOCUMENTS: u64 = 1 << 15;
/// The maximum number of messages that wait for their check.
const WAITING: usize = 128;
/// The maximum number of messages of one address prefix that wait for their check.
const WAITING_A_PREFIX: usize = 64;
/// The maximum size of all messages that wait for their check, in bytes.
const WAITING_BYTES: usize = 48 << 20;
/// The maximum size of the messages of one address prefix that wait for their check, in bytes.
const WAITING_BYTES_A_PREFIX: usize = 24 << 20;
/// The maximum number of address prefixes that are remembered.
const PREFIXES: usize = 4096;

/// Limits what checks of other nodes' messages cost this node: the traffic, the work, and the memory.
#[derive(Default)]
pub(in crate::node) struct Budget {
    all: Spent,
    prefixes: HashMap<Prefix, Spent>,
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
        *waiting == 0 && bytes.within(MINUTE, now, PREFIX_BYTES) + documents.within(MINUTE, now, PREFIX_DOCUMENTS) == 0
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
        let bounded = |spent: &Spent, bytes: u64, documents: u64, waiting: usize, waiting_bytes: usize| {
            spent.bytes.within(MINUTE, now, bytes) < bytes
                && spent.documents.within(MINUTE, now, documents) < documents
                && spent.waiting < waiting
                && spent.waiting_bytes + message <= waiting_bytes
        };
        let of_prefix = self.prefixes.get(&prefix).copied().unwrap_or_default();
        // Connections within a process have no address, so they have no limit of their own.
        let is_bounded = prefix == Prefix::Local
            || bounded(&of_prefix, PREFIX_BYTES, PREFIX_DOCUMENTS, WAITING_A_PREFIX, WAITING_BYTES_A_PREFIX);
        if !is_bounded || !bounded(&self.all, ALL_BYTES, ALL_DOCUMENTS, WAITING, WAITING_BYTES) {
            return false;
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
        change(&mut self.all, ALL_BYTES, ALL_DOCUMENTS);
        change(self.prefixes.entry(prefix).or_default(), PREFIX_BYTES, PREFIX_DOCUMENTS);
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
        assert_eq!(granted(&mut budget, host(1), 0, 0, start), WAITING_A_PREFIX);
        assert_eq!(granted(&mut budget, host(1), 0, 1 << 20, start), WAITING_BYTES_A_PREFIX >> 20);
        assert_eq!(granted(&mut budget, host(1), PREFIX_DOCUMENTS as usize, 0, start), 1);
        assert_eq!(granted(&mut budget, host(1), 1, 0, start), 0);
        assert!(budget.grants(host(2), 1, 0, start));
        budget.charge(host(2), PREFIX_BYTES, 0, start);
        assert_eq!(granted(&mut budget, host(2), 0, 0, start), 0);
        assert!(budget.grants(host(1), 1, 0, start + MINUTE) && budget.grants(host(2), 1, 0, start + MINUTE));
        budget.charge(host(1), ALL_BYTES, 0, start + MINUTE);
        assert!(!budget.grants(host(3), 1, 0, start + MINUTE) && budget.grants(host(3), 1, 0, start + 3 * MINUTE));
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
