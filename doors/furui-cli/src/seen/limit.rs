use std::collections::HashSet;

use furui::KeyHash;
use furui::seen::Verdict;

use crate::error::Error;

/// The number of lines that a run may still print (`--limit`).
#[derive(Clone, Copy)]
pub struct Limit {
    /// The verdict of the lines that are subtracted from the limit.
    wanted: Verdict,
    /// The number of lines with this verdict that are still to be printed.
    pub left: u64,
}

impl Limit {
    /// Makes the limit of `--limit`: at most `lines` lines are printed, which are those with the verdict `wanted`.
    pub fn new(wanted: Verdict, lines: u64) -> Self {
        Self { wanted, left: lines }
    }

    /// Subtracts the lines of a block that have the wanted verdict. Returns true if no more lines are to be printed.
    pub fn take(&mut self, verdicts: &[Verdict]) -> bool {
        let printed = verdicts.iter().filter(|&&verdict| verdict == self.wanted).count();
        self.left = self.left.saturating_sub(printed as u64);
        self.left == 0
    }

    /// Returns the number of keys of a block up to the last line that is to be printed. `None` if the block does not
    /// exhaust the limit. `there` tells for each key if it is in the set.
    pub fn reach(&self, keys: &[KeyHash], there: &[bool]) -> Result<Option<usize>, Error> {
        let mut earlier = HashSet::new();
        let no_memory = |_| furui::Error::NoMemory { what: "the keys of a block", bytes: size_of_val(keys) };
        earlier.try_reserve(keys.len()).map_err(no_memory)?;
        let wants_repeats = self.wanted == Verdict::Repeat;
        let is_wanted = |&index: &usize| (there[index] || !earlier.insert(keys[index])) == wants_repeats;
        let before = usize::try_from(self.left - 1).unwrap_or(usize::MAX);
        Ok((0..keys.len()).filter(is_wanted).nth(before).map(|last| last + 1))
    }
}
