use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::meters::make_room;

/// The maximum number of entries in the log of refusals. At the maximum, the entry whose last refusal is the oldest is
/// evicted. Chosen: more than a person reads.
const MAX_ENTRIES: usize = 256;

/// The log of recent refusals, which tells the owner of the node which peers were refused and for which reasons.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<Entries>);

/// For each pair of a refused peer or address and a reason, the number of refusals and the time of the last one.
type Entries = HashMap<(String, &'static str), (u64, SystemTime)>;

/// One reason for which one peer or address was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The refused peer or address prefix.
    pub who: String,
    /// The reason: the rest of a sentence that begins with "refused because".
    pub why: &'static str,
    /// The number of times that this peer or address was refused for this reason.
    pub count: u64,
    /// The time of the last refusal, in seconds since 1970.
    pub last: u64,
}

impl Refusals {
    /// Records that the peer or address `who` was refused. `why` is the rest of a sentence that begins with "refused
    /// because".
    pub fn note(&self, who: impl ToString, why: &'static str) {
        let mut entries = self.entries();
        let key = (who.to_string(), why);
        make_room(&mut entries, &key, MAX_ENTRIES, |(_, last)| *last);
        let is_new = !entries.contains_key(&key);
        if is_new {
            tracing::info!(peer = key.0, reason = why, "refused");
        }
        let entry = entries.entry(key).or_insert((0, SystemTime::now()));
        *entry = (entry.0 + 1, SystemTime::now());
    }

    /// The entries of the log, the latest refusal first.
    pub fn latest(&self) -> Vec<Refusal> {
        let entries = self.entries();
        let mut all: Vec<_> = entries.iter().collect();
        all.sort_by(|(a, (_, last_a)), (b, (_, last_b))| last_b.cmp(last_a).then_with(|| a.cmp(b)));
        let seconds = |last: SystemTime| last.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        all.into_iter()
            .map(|((who, why), &(count, last))| Refusal { who: who.clone(), why, count, last: seconds(last) })
            .collect()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_and_a_crowd_does_not_fill_the_memory() {
        let refusals = Refusals::default();
        for number in 0..3 * MAX_ENTRIES {
            refusals.note(number, "it is one of a crowd");
            refusals.note("stranger", "it asks too much");
        }
        let latest = refusals.latest();
        assert_eq!(latest.len(), MAX_ENTRIES);
        let stranger = latest.iter().find(|entry| entry.who == "stranger").expect("it was refused last");
        assert_eq!(stranger.count, 3 * MAX_ENTRIES as u64);
    }
}
