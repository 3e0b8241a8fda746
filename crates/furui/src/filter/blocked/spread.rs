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
// Fields and not an enum of five: compilers make a jump table of that, in the midst of a loop over keys, where with these
// they make a loop for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    probes: u32,
    straddles: bool,
    patterned: bool,
}

/// The most probes of a [`BlockedBloom`](super::BlockedBloom): one in each lane of two lines.
pub const MAX_BLOCKED_PROBES: u32 = 16;

impl Spread {
    pub(super) const LINE: Self = Self { probes: 8, straddles: false, patterned: false };
    pub(super) const STRADDLING: Self = Self { probes: 8, straddles: true, patterned: false };
    pub(super) const PATTERNED: Self = Self { probes: 9, straddles: false, patterned: true };

    /// All that there are.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (1..=MAX_BLOCKED_PROBES).filter_map(Self::of).chain([Self::STRADDLING, Self::PATTERNED])
    }

    /// With so many probes, of keys that neither straddle nor have patterns. `None` for numbers of probes that no filter has.
    pub(super) fn of(probes: u32) -> Option<Self> {
        (1..=MAX_BLOCKED_PROBES).contains(&probes).then_some(Self { probes, straddles: false, patterned: false })
    }

    /// How many bits a key has.
    #[inline(always)]
    pub(super) fn probes(self) -> u32 {
        self.probes
    }

    #[inline(always)]
    pub(super) fn straddles(self) -> bool {
        self.straddles
    }

    #[inline(always)]
    pub(super) fn patterned(self) -> bool {
        self.patterned
    }

    /// Whether all bits are in one line, as [`pattern`](Self::pattern) says.
    #[inline(always)]
    pub(super) fn has_pattern(self) -> bool {
        (self.probes < 8) | self.patterned
    }

    /// The bits of a key in the line that it belongs to.
    #[inline(always)]
    pub(super) fn pattern(self, key: KeyHash, choice: u64) -> &'static Pattern {
        if self.patterned { Pattern::of_nine(key) } else { Pattern::window(self.probes, choice) }
    }

    /// Whether all lanes of one line have a bit.
    #[inline(always)]
    pub(super) fn is_line(self) -> bool {
        (self.probes == 8) & !self.straddles
    }

    /// Whether keys may have bits in two lines, so that there must be an even number of them.
    pub(super) fn is_of_pairs(self) -> bool {
        self.straddles || (self.probes > 8 && !self.patterned)
    }
}
