use std::fmt;

/// The weight of a word in a document for the ranking: the number of the word's occurrences, and the length of the
/// document, in 12 bits.
///
/// Both numbers are rounded down to steps. Up to 8 occurrences and lengths up to 31 are exact. Up to the last step,
/// larger numbers of occurrences lose at most 29 %, and larger lengths at most 6 %. A weight depends on the document
/// alone, so all publishers of a document agree.
///
/// ```
/// use furui_search::Weight;
///
/// let weight = Weight::new(3, 20);
/// assert_eq!((weight.occurrences(), weight.length()), (3, 20));
/// assert_eq!(Weight::new(11, 20).occurrences(), 10, "large numbers are rounded down to a step");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u16);

/// The numbers of occurrences at which the sixteen steps begin.
const OCCURRENCES: [u32; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 19, 25, 33, 45, 64];

impl Weight {
    /// The size of a weight in a message, in bytes.
    pub const BYTES: usize = 2;
    /// The number of steps to which numbers of occurrences are rounded.
    pub const STEPS: u8 = OCCURRENCES.len() as u8;
    /// The number of steps to which lengths are rounded.
    pub(crate) const LENGTHS: usize = 256;
    /// One occurrence in the title counts as this number of occurrences in the text.
    pub const TITLE: u32 = 2;

    /// The weight of a word that occurs `occurrences` times, at least once, in a document of `length` words.
    pub fn new(occurrences: u32, length: u32) -> Self {
        let step = OCCURRENCES.partition_point(|&step| step <= occurrences).saturating_sub(1);
        Self::of_steps(step as u8, length_step(length))
    }

    /// The weight with these steps of occurrences and length (see [`Weight`]). If the step `occurrences` does not
    /// exist, the last one is used.
    pub fn of_steps(occurrences: u8, length: u8) -> Self {
        Self(u16::from(occurrences.min(Self::STEPS - 1)) << 8 | u16::from(length))
    }

    /// The step to which the number of occurrences was rounded, below [`STEPS`](Self::STEPS).
    pub fn step(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The step to which the document's length was rounded.
    pub fn length_step(self) -> u8 {
        self.0 as u8
    }

    /// The approximate number of the word's occurrences: the lowest of the step.
    pub fn occurrences(self) -> u32 {
        OCCURRENCES[usize::from(self.step())]
    }

    /// The approximate number of words of the document.
    pub fn length(self) -> u32 {
        let step = u32::from(self.length_step());
        match step.checked_sub(32) {
            None => step,
            // From 32 on, there are sixteen steps between each power of two and the next. The last step is unbounded.
            Some(above) => (16 + above % 16) << (1 + above / 16),
        }
    }

    /// The base-2 logarithm of the document's length in units of 1/16, linear between powers of two; 80 for all lengths
    /// below 32.
    pub fn log_length(self) -> u64 {
        u64::from(self.length_step().max(32)) + 48
    }

    /// Encodes the weight as two bytes, least significant first.
    pub fn to_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    /// Decodes a weight from its two bytes; `None` if they are invalid.
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
        for (length, sixteenths) in [(0, 80), (31, 80), (32, 80), (64, 96), (96, 104), (4096, 192)] {
            assert_eq!(Weight::new(1, length).log_length(), sixteenths);
        }
    }
}
