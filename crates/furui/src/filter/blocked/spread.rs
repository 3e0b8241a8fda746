/// In which lines, and in how many lanes of them, the bits of a key lie:
///
/// | probes | lanes |
/// |--:|---|
/// | 1 to 7 | as many in a row of one line |
/// | 8 | all of one line |
/// | 8, straddling | the upper four of one line, and the lower four of it or, for a quarter of the keys, of its neighbour |
/// | 9 to 16 | all of one line, and the others in a row of its neighbour |
//
// Two fields and not an enum of four: compilers make a jump table of that, in the midst of a loop over keys, where with these
// they make a loop for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    probes: u32,
    straddles: bool,
}

/// The most probes of a [`BlockedBloom`](super::BlockedBloom): one in each lane of two lines.
pub const MAX_BLOCKED_PROBES: u32 = 16;

impl Spread {
    pub(super) const LINE: Self = Self { probes: 8, straddles: false };
    pub(super) const STRADDLING: Self = Self { probes: 8, straddles: true };

    /// All that there are.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (1..=MAX_BLOCKED_PROBES).filter_map(Self::of).chain([Self::STRADDLING])
    }

    /// With so many probes, of keys that do not straddle. `None` for numbers of probes that no filter has.
    pub(super) fn of(probes: u32) -> Option<Self> {
        (1..=MAX_BLOCKED_PROBES).contains(&probes).then_some(Self { probes, straddles: false })
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

    /// Whether all lanes of one line have a bit.
    #[inline(always)]
    pub(super) fn is_line(self) -> bool {
        (self.probes == 8) & !self.straddles
    }

    /// Whether keys may have bits in two lines, so that there must be an even number of them.
    pub(super) fn is_of_pairs(self) -> bool {
        self.straddles || self.probes > 8
    }
}
