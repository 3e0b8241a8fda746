//! The cascade, used in the same way as by the command `furui seen --store`.

use furui::KeyHash;
use furui::store::Storage;
use furui::store::cascade::{Cascade, CascadeOptions};

use crate::report::Result;

/// The number of lines, of 60 bytes each, in a block of 512 KiB. The command reads such blocks while the set is in RAM.
const BATCH: u64 = 8 << 10;
/// The maximum number of lines in a batch once the set has runs on storage.
const LARGE_BATCH: u64 = 128 << 10;

/// Opens the set in `storage`, or an empty one.
pub(crate) fn open<S: Storage>(storage: S, memory: u64) -> Result<Cascade<S>> {
    Ok(Cascade::open(storage, CascadeOptions { memory, ..Default::default() })?)
}

/// Inserts the first `count` keys of a sequence and makes them durable. Returns the maximum number of runs that there
/// were at any time. The look-up of an absent key has to query all runs.
pub(crate) fn insert<S: Storage>(set: &mut Cascade<S>, count: u64, key: impl Fn(u64) -> u64) -> Result<usize> {
    let (mut batch, mut new) = (vec![], vec![]);
    let (mut next, mut most_runs) = (0, 0);
    while next < count {
        let limit = if set.runs().is_empty() { BATCH } else { LARGE_BATCH };
        let end = count.min(next + limit);
        batch.clear();
        batch.extend((next..end).map(|i| KeyHash::new(key(i))));
        new.clear();
        set.insert_all(&batch, &mut new)?;
        assert_eq!(new.len(), batch.len(), "every key is new");
        most_runs = most_runs.max(set.runs().len());
        next = end;
    }
    set.sync()?;
    Ok(most_runs.max(set.runs().len()))
}
