/// The numbers of keys that a [`Seen`](super::Seen) has observed since it was opened, by the tier that answered for
/// them.
///
/// Every key is counted once in `keys`, and once in one of `recent_hits`, `lru_hits`, `stable_hits`, `set_repeats` and
/// `new`.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
///
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
/// seen.extend(["a", "b", "a"])?;
/// assert_eq!((seen.counters().keys, seen.counters().new), (3, 2));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenCounters {
    /// The number of keys that were observed, repeats included.
    pub keys: u64,
    /// The number of keys whose verdict was that they are new.
    pub new: u64,
    /// The number of keys that were in the recent cache. They are certainly repeats.
    pub recent_hits: u64,
    /// The number of keys that were in the LRU. They are certainly repeats.
    pub lru_hits: u64,
    /// The number of keys that the stable filter claimed to know, if the claim was not audited. These keys are repeats,
    /// except for a few new keys that were [dropped](Self::dropped_measured).
    pub stable_hits: u64,
    /// The number of keys that reached the exact set and were in it.
    pub set_repeats: u64,
    /// The number of keys among the `set_repeats` that the stable filter did not know: its false negatives, and keys
    /// that the store had before, which the filter never met.
    pub stable_forgotten: u64,
    /// The number of claims of the stable filter that were checked against the exact set instead of being accepted: one
    /// in [`AUDIT`](Self::AUDIT).
    pub audited: u64,
    /// The number of `audited` claims that were wrong: false positives, whose keys were not dropped.
    pub audited_false: u64,
}

impl SeenCounters {
    /// The sampling interval of the audit: one claim of the stable filter in this many is checked against the exact
    /// set.
    pub const AUDIT: u64 = 32;

    /// The number of keys that were repeats, or were dropped as repeats.
    pub fn repeats(&self) -> u64 {
        self.keys - self.new
    }

    /// An estimate of the number of times that a new key was dropped: the share of the audited claims that was wrong,
    /// times the number of claims that were accepted unchecked. A key that is dropped, and occurs again, counts each
    /// time, and is not lost if it is let through once. So fewer keys are lost than this.
    pub fn dropped_measured(&self) -> f64 {
        if self.audited == 0 {
            return 0.0;
        }
        self.audited_false as f64 / self.audited as f64 * self.stable_hits as f64
    }

    /// The expected number of times that a filter with this false-positive rate drops a new key. The filter claims to
    /// know that share of the new keys, and drops them unless the claim is audited. A filter begins empty and takes
    /// some time to reach its rate; until then it drops fewer keys.
    pub fn dropped_expected(&self, rate: f64) -> f64 {
        let believed = rate * (1.0 - 1.0 / Self::AUDIT as f64);
        self.new as f64 * believed / (1.0 - believed)
    }
}
