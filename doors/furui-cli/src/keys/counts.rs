use crate::error::Error;
use crate::say::number::counted;

/// The numbers of lines that had no key, by what became of them.
#[derive(Default)]
pub struct Counts {
    pub(super) kept: u64,
    pub(super) dropped: u64,
}

impl Counts {
    /// Adds the counts of other lines to these.
    pub fn add(&mut self, others: Self) {
        self.kept += others.kept;
        self.dropped += others.dropped;
    }

    /// The total number of lines without a key.
    pub fn lines(&self) -> u64 {
        self.kept + self.dropped
    }

    /// Prints on standard error how many lines had no key, if there were any. `kept` says what became of those that
    /// were not dropped.
    pub fn report(&self, kept: &str) {
        for (count, what) in [(self.kept, kept), (self.dropped, "dropped")] {
            if count > 0 {
                let said = format!("{} had no key: {what}", counted(count, "line"));
                crate::complain(&Error::Message(said));
            }
        }
    }
}
