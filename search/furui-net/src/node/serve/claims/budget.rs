use std::time::Duration;

use crate::meters::{FairShare, Limit, MINUTE};
use crate::net::Prefix;

/// The maximum average rate of records fetched for checks, in bytes per minute: for one address prefix, and for all
/// prefixes together. Chosen: a quarter of the bytes that may be stored in this time.
const BYTES: [u64; 2] = [96 << 20, 256 << 20];
/// The maximum average rate of documents that are looked up and checked, per minute: for one address prefix, and for
/// all. Chosen: about a thousand a second for all.
const DOCUMENTS: [u64; 2] = [1 << 15, 1 << 16];
/// The maximum number of messages that wait until their postings are checked: for one address prefix, and for all. The
/// value is a choice, not a measurement.
const WAITING: [u64; 2] = [64, 128];
/// The maximum total size of the messages that wait until their postings are checked, in bytes: for one address prefix,
/// and for all. Chosen: in addition to the memory for requests that are being read.
const WAITING_BYTES: [u64; 2] = [24 << 20, 48 << 20];

/// Limits the traffic, the work and the memory for checking other nodes' messages.
///
/// Each address prefix has a limit. If all prefixes together reach their common limit, each may still use an equal
/// share of it, so that a few prefixes cannot keep others from storing.
pub(in crate::node) struct Budget {
    bytes: FairShare<Prefix>,
    documents: FairShare<Prefix>,
    waiting: FairShare<Prefix>,
    waiting_bytes: FairShare<Prefix>,
}

impl Default for Budget {
    fn default() -> Self {
        let per_minute = |[own, all]: [u64; 2]| FairShare::new(Limit::per(own, MINUTE), Limit::per(all, MINUTE));
        let held = |[own, all]: [u64; 2]| FairShare::new(Limit::held(own), Limit::held(all));
        Self {
            bytes: per_minute(BYTES),
            documents: per_minute(DOCUMENTS),
            waiting: held(WAITING),
            waiting_bytes: held(WAITING_BYTES),
        }
    }
}

impl Budget {
    /// Returns true if a message of `message` bytes may wait for the check of `documents` documents. These documents
    /// then count as checked.
    pub(in crate::node) fn grants(&mut self, prefix: Prefix, documents: usize, message: usize, now: Duration) -> bool {
        let Self { bytes, documents: checked, waiting, waiting_bytes } = self;
        // The number of bytes that a check takes is known only afterwards, so one byte is requested. The same holds for
        // documents, because a message may have more of them than are left.
        let wanted = [(bytes, 1), (checked, 1), (waiting, 1), (waiting_bytes, message as u64)];
        // A connection within the process has no address, so only the common limits apply to it.
        let grants = wanted.iter().all(|(share, amount)| {
            (prefix == Prefix::Local || share.allows_own(&prefix, *amount, now)) && share.allows(&prefix, *amount, now)
        });
        if grants {
            self.documents.charge(&prefix, documents as u64, now);
            self.waiting.charge(&prefix, 1, now);
            self.waiting_bytes.charge(&prefix, message as u64, now);
        }
        grants
    }

    /// Counts the bytes of the records that were fetched for a granted check, which has ended, and releases the
    /// message's place and memory.
    pub(in crate::node) fn charge(&mut self, prefix: Prefix, bytes: u64, message: usize, now: Duration) {
        self.bytes.charge(&prefix, bytes, now);
        self.waiting.give_back(&prefix, 1);
        self.waiting_bytes.give_back(&prefix, message as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: u32) -> Prefix {
        Prefix::V4(number.to_le_bytes())
    }

    /// The number of equal messages that are granted one after the other before one is refused.
    fn granted(budget: &mut Budget, prefix: Prefix, documents: usize, message: usize, now: Duration) -> usize {
        let count = (0..1 << 20).take_while(|_| budget.grants(prefix, documents, message, now)).count();
        (0..count).for_each(|_| budget.charge(prefix, 0, message, now));
        count
    }

    #[test]
    fn one_address_has_its_share_and_all_have_theirs() {
        let (mut budget, start) = (Budget::default(), Duration::from_secs(5));
        assert_eq!(granted(&mut budget, host(1), 0, 0, start), WAITING[0] as usize);
        assert_eq!(granted(&mut budget, host(1), 0, 1 << 20, start), (WAITING_BYTES[0] >> 20) as usize);
        assert_eq!(granted(&mut budget, host(1), DOCUMENTS[0] as usize, 0, start), 1);
        assert_eq!(granted(&mut budget, host(1), 1, 0, start), 0);
        assert!(budget.grants(host(2), 1, 0, start));
        budget.charge(host(2), BYTES[0], 0, start);
        assert_eq!(granted(&mut budget, host(2), 0, 0, start), 0);
        assert!(budget.grants(host(1), 1, 0, start + MINUTE) && budget.grants(host(2), 1, 0, start + MINUTE));
        budget.charge(host(1), 2 * BYTES[1], 0, start + MINUTE);
        assert!(!budget.grants(host(3), 1, 0, start + MINUTE) && budget.grants(host(3), 1, 0, start + 4 * MINUTE));
    }

    #[test]
    fn a_few_addresses_that_use_everything_leave_others_their_part() {
        let (mut budget, start) = (Budget::default(), Duration::from_secs(5));
        for number in 1..=2 {
            assert_eq!(granted(&mut budget, host(number), DOCUMENTS[0] as usize, 0, start), 1);
        }
        let of_third = DOCUMENTS[1] as usize / 3;
        assert_eq!(granted(&mut budget, host(3), of_third, 0, start), 1);
        assert!(!budget.grants(host(3), 1, 0, start) && !budget.grants(host(1), 1, 0, start));

        let mut budget = Budget::default();
        for number in 1..=2 {
            assert_eq!((0..100).filter(|_| budget.grants(host(number), 0, 1, start)).count(), WAITING[0] as usize);
        }
        assert_eq!((0..100).filter(|_| budget.grants(host(3), 0, 1, start)).count(), WAITING[1] as usize / 3);
        // The sum over all prefixes is limited, too.
        let many = (4..2000).map(|number| (0..100).filter(|_| budget.grants(host(number), 0, 1, start)).count());
        assert_eq!(many.sum::<usize>(), WAITING[1] as usize - WAITING[1] as usize / 3);
    }
}
