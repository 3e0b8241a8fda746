use crate::bits::arch::Pattern;
use crate::hash::KeyHash;

/// In which lines, and in how many lanes of them, the bits of a key lie:
///
/// | probes | lanes |
/// |--:|---|
/// | 1 to 7 | as many in a row of one line |
/// | 8 | all of one line |
/// | 8, straddling | the upper four of one line, and the lower four of it or, for a quarter of the keys, of its neighbour |
/// | 9, patterned | two bits in each of four lanes of one line, and one in a fifth, as one of 128 patterns has them |
/// | 9 to 16 | all of one line, and the others in a row of its neighbour |
//
// One byte and not an enum: compilers make a jump table of that, in the midst of a loop over keys, where with this they compare
// once what is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread(u8);

/// The most probes of a [`BlockedBloom`](super::BlockedBloom): one in each lane of two lines.
pub const MAX_BLOCKED_PROBES: u32 = 16;

impl Spread {
    pub(super) const LINE: Self = Self(8);
    pub(super) const STRADDLING: Self = Self(MAX_BLOCKED_PROBES as u8 + 1);
    pub(super) const PATTERNED: Self = Self(MAX_BLOCKED_PROBES as u8 + 2);

    /// How many numbers [`index`](Self::index) goes through.
    pub(super) const COUNT: usize = MAX_BLOCKED_PROBES as usize + 3;

    /// A number of its own for each.
    pub(super) fn index(self) -> usize {
        self.0.into()
    }

    /// All that there are.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (1..=MAX_BLOCKED_PROBES).filter_map(Self::of).chain([Self::STRADDLING, Self::PATTERNED])
    }

    /// With so many probes, of keys that neither straddle nor have patterns. `None` for numbers of probes that no filter has.
    pub(super) fn of(probes: u32) -> Option<Self> {
        (1..=MAX_BLOCKED_PROBES).contains(&probes).then_some(Self(probes as u8))
    }

    /// How many bits a key has.
    #[inline(always)]
    pub(super) fn probes(self) -> u32 {
        match self {
            Self::STRADDLING => 8,
            Self::PATTERNED => 9,
            Self(probes) => probes.into(),
        }
    }

    #[inline(always)]
    pub(super) fn straddles(self) -> bool {
        self == Self::STRADDLING
    }

    #[inline(always)]
    pub(super) fn patterned(self) -> bool {
        self == Self::PATTERNED
    }

    /// The windows that keys have in the line that they belong to, or in its neighbour.
    #[inline(always)]
    pub(super) fn windows(self) -> &'static [Pattern; 8] {
        Pattern::windows(if self.is_pair() { self.probes() - 8 } else { self.probes() })
    }

    /// The bits of a key in the line that it belongs to.
    #[inline(always)]
    pub(super) fn pattern(self, key: KeyHash, choice: u64) -> &'static Pattern {
        match self {
            Self::PATTERNED => Pattern::of_nine(key),
            _ if self.is_window() => Pattern::window(self.windows(), choice),
            _ => &Pattern::LINE,
        }
    }

    /// Whether all lanes of one line have a bit.
    #[inline(always)]
    pub(super) fn is_line(self) -> bool {
        self == Self::LINE
    }

    /// Whether one line has all bits, as many lanes in a row as there are probes.
    #[inline(always)]
    pub(super) fn is_window(self) -> bool {
        self.0 < 8
    }

    /// Whether all keys have bits in two lines.
    #[inline(always)]
    pub(super) fn is_pair(self) -> bool {
        (self.0 > 8) & (self.0 <= MAX_BLOCKED_PROBES as u8)
    }

    /// Whether keys may have bits in two lines, so that there must be an even number of them.
    #[inline(always)]
    pub(super) fn is_of_pairs(self) -> bool {
        self.0 > 8 && !self.patterned()
    }
}
