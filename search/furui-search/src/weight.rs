use std::fmt;

use super::words::Form;

/// The weight of a word in a document for the ranking, which a posting states: the number of the word's occurrences,
/// the forms in which the document has it, where its title has it, and the lengths of the document and its title. 24
/// bits.
///
/// The numbers are rounded down to steps. Up to 8 occurrences and lengths up to 31 are exact. Up to the last step,
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight {
    use_: u16,
    size: u16,
}

/// The numbers of occurrences at which the sixteen steps begin.
const OCCURRENCES: [u32; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 19, 25, 33, 45, 64];
/// The place of the forms in the use of a word.
const FORMS: u32 = 4;
/// The place of the title in the use of a word.
const TITLE: u32 = FORMS + Form::BITS;

impl Weight {
    /// The [bits](Self::use_bits) of most words: one occurrence in the text, in the form that names the list.
    pub const PLAIN_USE: u16 = 1 << FORMS;
    /// The size of a weight in a message, in bytes.
    pub const BYTES: usize = 3;
    /// The number of steps to which numbers of occurrences are rounded.
    pub const STEPS: u8 = OCCURRENCES.len() as u8;
    /// The number of steps to which lengths are rounded.
    pub(crate) const LENGTHS: usize = 256;
    /// One occurrence in the title counts as this number of occurrences in the text.
    pub const TITLE: u32 = 2;
    /// The largest number of words of a title that is told from others.
    pub(crate) const TITLE_WORDS: u8 = 15;

    /// The weight of a word that occurs `occurrences` times, at least once, as it is in the name of its list, in the
    /// text of a document of `length` words without a title.
    pub fn new(occurrences: u32, length: u32) -> Self {
        Self { use_: Self::use_of(occurrences, Form::default().bit(), InTitle::NONE), size: Self::size_of(length, 0) }
    }

    /// The part of a weight that differs from word to word.
    pub(crate) fn use_of(occurrences: u32, forms: u8, title: InTitle) -> u16 {
        let step = OCCURRENCES.partition_point(|&step| step <= occurrences).saturating_sub(1);
        step as u16 | u16::from(forms) << FORMS | u16::from(title.0) << TITLE
    }

    /// The part of a weight that all words of a document have in common.
    pub(crate) fn size_of(length: u32, title_words: usize) -> u16 {
        let title_words = title_words.min(Self::TITLE_WORDS.into()) as u16;
        u16::from(length_step(length)) | title_words << 8
    }

    /// Puts a weight together from [`use_bits`](Self::use_bits) and [`size_bits`](Self::size_bits). `None` if no weight
    /// has them.
    pub fn of_bits(use_bits: u16, size_bits: u16) -> Option<Self> {
        let weight = Self { use_: use_bits, size: size_bits };
        (use_bits >> TITLE <= InTitle::MOST.into() && weight.forms() > 0 && size_bits >> 8 <= Self::TITLE_WORDS.into())
            .then_some(weight)
    }

    /// The bits of the weight that differ from word to word: the step of its occurrences, its forms, and where the
    /// title has it.
    pub fn use_bits(self) -> u16 {
        self.use_
    }

    /// The bits of the weight that all words of a document have in common: the lengths of the document and its title.
    pub fn size_bits(self) -> u16 {
        self.size
    }

    /// The step to which the number of occurrences was rounded, below [`STEPS`](Self::STEPS).
    pub fn step(self) -> u8 {
        (self.use_ & 0xf) as u8
    }

    /// The forms in which the document has the word, as a set of bits; see [`Form::bit`].
    pub(crate) fn forms(self) -> u8 {
        (self.use_ >> FORMS) as u8 & ((1 << Form::BITS) - 1)
    }

    /// Where the title of the document has the word.
    pub(crate) fn in_title(self) -> InTitle {
        InTitle((self.use_ >> TITLE) as u8)
    }

    /// True if the title has the word, or a word of which it is a part.
    pub fn is_in_title(self) -> bool {
        self.in_title() != InTitle::NONE
    }

    /// The step to which the document's length was rounded.
    pub fn length_step(self) -> u8 {
        self.size as u8
    }

    /// The approximate number of the word's occurrences: the lowest of the step.
    pub fn occurrences(self) -> u32 {
        OCCURRENCES[usize::from(self.step())]
    }

    /// The approximate number of words of the document.
    pub fn length(self) -> u32 {
        length_of(self.length_step())
    }

    /// The base-2 logarithm of the document's length in units of 1/16, linear between powers of two; 80 for all lengths
    /// below 32.
    pub fn log_length(self) -> u64 {
        u64::from(self.length_step().max(32)) + 48
    }

    /// Encodes the weight as three bytes.
    pub fn to_bytes(self) -> [u8; 3] {
        let [first, second] = self.use_.to_le_bytes();
        let [length, title_words] = self.size.to_le_bytes();
        [first, second | title_words << 4, length]
    }

    /// Decodes a weight from its three bytes; `None` if they are invalid.
    pub fn from_bytes([first, second, length]: [u8; 3]) -> Option<Self> {
        Self::of_bits(u16::from_le_bytes([first, second & 0xf]), u16::from_le_bytes([length, second >> 4]))
    }
}

/// Where a title has a word. Of several places, the greatest one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InTitle(u8);

impl InTitle {
    /// The title does not have the word.
    pub(crate) const NONE: Self = Self(0);
    /// The title has the word, but only as a part of a longer one, or outside of what is about the document alone, as
    /// `java` in `HashMap (Java SE 17)`.
    pub(crate) const BESIDE: Self = Self(1);
    const MOST: u8 = 1 + Form::ALL;

    /// The part of the title that is about the document alone has the word, in this form.
    pub(crate) fn own(form: Form) -> Self {
        Self(Self::MOST - form.number())
    }

    /// The title has a word in the form of this [bit](Form::bit), in the part that is about the document alone if
    /// `is_own` is true.
    pub(crate) fn of(form: u8, is_own: bool) -> Self {
        // A part follows the forms, and so becomes `BESIDE`.
        if is_own { Self(Self::MOST - form.trailing_zeros() as u8) } else { Self::BESIDE }
    }
}

impl Default for Weight {
    /// The smallest weight: one occurrence in a document of no length.
    fn default() -> Self {
        Self::new(1, 0)
    }
}

impl fmt::Debug for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = if self.is_in_title() { ", in the title" } else { "" };
        write!(f, "{} of {} as {:05b}{title}", self.occurrences(), self.length(), self.forms())
    }
}

/// The lowest length of a step.
pub(crate) fn length_of(step: u8) -> u32 {
    let step = u32::from(step);
    match step.checked_sub(32) {
        None => step,
        // From 32 on, there are sixteen steps between each power of two and the next. The last step is unbounded.
        Some(above) => (16 + above % 16) << (1 + above / 16),
    }
}

/// The lowest number of occurrences of a step.
pub(crate) fn occurrences_of(step: u8) -> u32 {
    OCCURRENCES[usize::from(step)]
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
        assert_eq!(Weight::from_bytes([0, 0, 0]), None);
        let full = Weight::of_bits(0xbff, 0xfff).unwrap();
        assert_eq!((Weight::from_bytes(full.to_bytes()), full.is_in_title(), full.forms()), (Some(full), true, 31));
        assert_eq!((Weight::of_bits(0xc10, 0), Weight::of_bits(0x200, 0)), (None, None));
        let lengths: Vec<u32> = (0..=255).map(length_of).collect();
        assert!(lengths.is_sorted_by(|a, b| a < b));
        for (length, sixteenths) in [(0, 80), (31, 80), (32, 80), (64, 96), (96, 104), (4096, 192)] {
            assert_eq!(Weight::new(1, length).log_length(), sixteenths);
        }
    }
}
