/// What happened to the keys of a [`Seen`](super::Seen) since it was opened, tier by tier.
///
/// Every key is counted once in `keys` and once in one of `recent_hits`, `lru_hits`, `stable_hits`, `set_repeats` and
/// `new`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Keys observed.
    pub keys: u64,
    /// Keys that were new.
    pub new: u64,
    /// Keys answered by the recent cache: repeats, certainly.
    pub recent_hits: u64,
    /// Keys answered by the LRU: repeats, certainly.
    pub lru_hits: u64,
    /// Keys the stable filter claimed to have seen and that were believed: repeats, but for a few
    /// [dropped](Self::dropped_measured).
    pub stable_hits: u64,
    /// Keys that came as far as the exact set and were in it.
    pub set_repeats: u64,
    /// Of those, keys the stable filter did not know: its false negatives, and keys of earlier runs of a store, which
    /// it never met.
    pub stable_forgotten: u64,
    /// The stable filter's claims that were not believed but checked against the exact set: one in
    /// [`AUDIT`](Self::AUDIT).
    pub audited: u64,
    /// Of those, the claims that were wrong: false positives, saved from being dropped.
    pub audited_false: u64,
}

impl Counters {
    /// One in so many claims of the stable filter is checked.
    pub const AUDIT: u64 = 32;

    /// Keys that were repeats, or dropped as such.
    pub fn repeats(&self) -> u64 {
        self.keys - self.new
    }

    /// How many new keys were dropped, estimated from the audited claims: the share of them that was wrong, times the
    /// claims that were believed.
    pub fn dropped_measured(&self) -> f64 {
        if self.audited == 0 {
            return 0.0;
        }
        self.audited_false as f64 / self.audited as f64 * self.stable_hits as f64
    }

    /// How many new keys a filter with this false-positive rate should have dropped: it claims to know that share of
    /// the new keys, and all its claims but the audited ones are believed. So the new keys that came through are the
    /// rest. A filter begins empty and comes to its rate after some rounds; until then it drops fewer.
    pub fn dropped_expected(&self, rate: f64) -> f64 {
        let believed = rate * (1.0 - 1.0 / Self::AUDIT as f64);
        self.new as f64 * believed / (1.0 - believed)
    }
}
