//! Encodes ascending numbers by their gaps in Rice code.

use super::bit_reader::BitReader;
use super::bit_writer::{BitWriter, low_bits};

/// The Rice parameter for `count` numbers whose sum is `sum`: ⌊log₂ of their mean⌋.
///
/// Both sides know the count and the sum, so the parameter is not sent. For numbers of a geometric distribution this is
/// the best parameter, except for means just below 2 (0.15 bits lost), just below 4 (0.06), and just above powers of
/// two (0.04).
pub(super) fn parameter(sum: u64, count: u64) -> u32 {
    sum.checked_div(count).and_then(u64::checked_ilog2).unwrap_or(0)
}

/// The expected length in bits of the Rice code of a geometrically distributed number with this mean, if the
/// [`parameter`] was computed from the mean.
pub(crate) fn expected_len(mean: f64) -> f64 {
    if mean.is_infinite() {
        return 0.0;
    }
    let rice = mean.max(1.0).log2().floor();
    // The probability that a number is at least 2ʳ is (mean / (mean + 1))^(2ʳ).
    let below = -(-rice.exp2() * (1.0 / mean).ln_1p()).exp_m1();
    rice + 1.0 / below
}

/// The length of a number's Rice code in bits.
pub(super) fn len(number: u64, rice: u32) -> u64 {
    (number >> rice).saturating_add(1 + u64::from(rice))
}

/// Appends the Rice code of a number.
#[inline]
pub(super) fn push(writer: &mut BitWriter, number: u64, rice: u32) {
    writer.push_zeros(number >> rice);
    writer.push_bits(1, 1);
    writer.push_bits(number & low_bits(rice), rice);
}

/// The gaps of strictly ascending numbers: the first number, then the difference between each number and its
/// predecessor, less 1.
pub(super) fn gaps(numbers: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut least = 0;
    numbers.map(move |number| {
        let gap = number - least;
        // No number follows the largest one.
        least = number.wrapping_add(1);
        gap
    })
}

/// Decodes strictly ascending numbers one after the other from their encoded gaps. The caller passes the bits at each
/// step, so that this state can be stored next to them.
#[derive(Clone, Debug)]
pub(super) struct Ascending {
    rice: u32,
    left: u64,
    at: u64,
    /// The minimum of the next number; `None` after `u64::MAX`.
    least: Option<u64>,
}

impl Ascending {
    /// Starts to decode `count` numbers with the Rice parameter `rice`.
    pub(super) fn new(count: u64, rice: u32) -> Self {
        Self { rice, left: count, at: 0, least: Some(0) }
    }

    /// The number of bits that were decoded.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    /// The number of numbers that are not decoded yet.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Decodes the next number. `None` after the last one, and if the bits are invalid.
    #[inline]
    pub(super) fn next(&mut self, bits: &[u8]) -> Option<u64> {
        let left = self.left.checked_sub(1)?;
        let mut reader = BitReader::new(bits, self.at);
        let number = self.least?.checked_add(reader.rice(self.rice)?)?;
        (self.left, self.at, self.least) = (left, reader.position(), number.checked_add(1));
        Some(number)
    }

    /// True if all numbers and all bits were decoded.
    pub(super) fn is_done(&self, bits: &[u8]) -> bool {
        self.left == 0 && BitReader::new(bits, self.at).is_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascending_numbers_come_back_in_the_bits_that_len_says() {
        let numbers = [0, 1, 2, 77, 78, 1000, 1 << 20, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        for rice in [56, 60, 63] {
            let mut writer = BitWriter::default();
            gaps(numbers.into_iter()).for_each(|gap| push(&mut writer, gap, rice));
            assert_eq!(writer.len(), gaps(numbers.into_iter()).map(|gap| len(gap, rice)).sum::<u64>());
            let bits = &writer.finish()[..];
            let mut read = Ascending::new(numbers.len() as u64, rice);
            assert_eq!(numbers.map(|_| read.next(bits)), numbers.map(Some));
            assert!(read.is_done(bits) && read.next(bits).is_none());
            let mut beyond = Ascending::new(numbers.len() as u64 + 1, rice);
            assert!((0..numbers.len()).all(|_| beyond.next(bits).is_some()));
            assert!(beyond.next(bits).is_none() && !beyond.is_done(bits));
        }
    }

    #[test]
    fn the_parameter_is_the_best_or_nearly() {
        for (mean, most) in
            [(0.1, 0.0), (1.0, 0.0), (1.9, 0.15), (3.9, 0.06), (3.0, 0.0), (100.0, 0.02), (127.0, 0.04), (1e6, 0.04)]
        {
            // The mean length of Rice code for a geometric distribution.
            let bits = |rice: u32| {
                let q: f64 = mean / (mean + 1.0);
                f64::from(rice) + 1.0 / (1.0 - q.powf(2f64.powi(rice as i32)))
            };
            let best = (0..40).map(bits).fold(f64::INFINITY, f64::min);
            let ours = bits(parameter((mean * 1e6) as u64, 1_000_000));
            assert!(ours - best <= most, "{mean}: {ours}, best {best}");
        }
        assert_eq!((parameter(0, 0), parameter(5, 0), parameter(0, 5), parameter(u64::MAX, 1)), (0, 0, 0, 63));
    }
}
