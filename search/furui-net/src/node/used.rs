use std::time::Duration;

/// A minute, over which most uses are counted.
pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// An amount used, for example in bytes, which decays to zero within a period.
#[derive(Clone, Copy, Default)]
pub(super) struct Used {
    amount: u64,
    at: Duration,
}

impl Used {
    /// What counts as used at the time `now`, if `allowed` is forgotten in a period.
    pub(super) fn within(self, period: Duration, now: Duration, allowed: u64) -> u64 {
        let forgotten = allowed as f64 * now.saturating_sub(self.at).as_secs_f64() / period.as_secs_f64();
        self.amount.saturating_sub(forgotten as u64)
    }

    /// What is used after this amount more.
    pub(super) fn plus(self, amount: u64, period: Duration, now: Duration, allowed: u64) -> Self {
        Self { amount: self.within(period, now, allowed).saturating_add(amount), at: now }
    }
}
