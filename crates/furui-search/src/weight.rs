use std::fmt;

/// How often a word occurs in a document, and how long the document is: what its postings say for the ranking, in 12 bits.
///
/// Both are rounded down to steps: occurrences up to 8 and lengths up to 31 are exact, others at most 29 % and 6 % less
/// than they were. As a posting is made of the document alone, it is the same whoever publishes it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u16);

/// What the sixteen steps of occurrences stand for.
const OCCURRENCES: [u32; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 19, 25, 33, 45, 64];

impl Weight {
    /// Bytes of one in a message.
    pub const BYTES: usize = 2;
    /// How many steps of occurrences there are.
    pub const STEPS: u8 = OCCURRENCES.len() as u8;
    /// How many steps of lengths there are.
    pub(crate) const LENGTHS: usize = 256;
    /// As many times as in the text counts a word that is in the title.
    pub const TITLE: u32 = 4;

    /// That of a word which occurs so often, at least once, in a document of so many words.
    pub fn new(occurrences: u32, length: u32) -> Self {
        let step = OCCURRENCES.partition_point(|&step| step <= occurrences).saturating_sub(1);
        Self::of_steps(step as u8, length_step(length))
    }

    /// That of these steps; of occurrences those above the last are the last.
    pub fn of_steps(occurrences: u8, length: u8) -> Self {
        Self(u16::from(occurrences.min(Self::STEPS - 1)) << 8 | u16::from(length))
    }

    /// The step of its occurrences, below [`STEPS`](Self::STEPS).
    pub fn step(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The step of its length.
    pub fn length_step(self) -> u8 {
        self.0 as u8
    }

    /// How often the word occurs, about.
    pub fn occurrences(self) -> u32 {
        OCCURRENCES[usize::from(self.step())]
    }

    /// How many words the document has, about.
    pub fn length(self) -> u32 {
        let step = u32::from(self.length_step());
        match step.checked_sub(32) {
            None => step,
            // Sixteen steps from each power of two to the next, from 32 on; the last stands for all above.
            Some(above) => (16 + above % 16) << (1 + above / 16),
        }
    }

    /// Its two bytes, the lesser first.
    pub fn to_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    /// That of two bytes, if they are one's.
    pub fn from_bytes(bytes: [u8; 2]) -> Option<Self> {
        Some(Self(u16::from_le_bytes(bytes))).filter(|weight| weight.step() < Self::STEPS)
    }
}

impl fmt::Debug for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.occurrences(), self.length())
    }
}

fn length_step(length: u32) -> u8 {
    if length < 32 {
        return length as u8;
    }
    let power = length.ilog2();
    (32 + 16 * (power - 5) + (length >> (power - 4) & 15)).min(255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_said_rounded_down_by_a_step() {
        for length in (0..5000).chain([65_535, 1 << 17, (1 << 19) - 1]) {
            for occurrences in [1, 2, 8, 9, 17, 63, 64] {
                let weight = Weight::new(occurrences, length);
                assert!(weight.length() <= length && f64::from(weight.length()) >= f64::from(length) * 0.94);
                assert!(weight.occurrences() <= occurrences);
                assert!(f64::from(weight.occurrences()) >= f64::from(occurrences) * 0.71);
                assert!(length > 31 || weight.length() == length);
                assert_eq!(Weight::from_bytes(weight.to_bytes()), Some(weight));
                assert_eq!(Weight::new(weight.occurrences(), weight.length()), weight);
            }
        }
        assert_eq!(Weight::new(0, 0), Weight::default());
        assert_eq!(Weight::new(u32::MAX, u32::MAX).occurrences(), 64);
        assert_eq!(Weight::new(1, u32::MAX).length(), 31 << 14);
        assert_eq!(Weight::from_bytes([0, 16]), None);
        let lengths: Vec<u32> = (0..=255).map(|step| Weight::of_steps(0, step).length()).collect();
        assert!(lengths.is_sorted_by(|a, b| a < b));
    }
}
