use crate::filter::probes::MULTIPLIER;
use crate::hash::KeyHash;

/// The maximum number of probes of a [`BlockedBloom`](super::BlockedBloom): one in each lane of two lines.
pub const MAX_BLOCKED_PROBES: u32 = 16;

/// The number of lanes (64-bit words) of a line of a blocked filter.
const LANES: u32 = 8;

/// The layout of a key's bits in its own cache line and in the neighbouring line, whose index is line ⊕ 1:
///
/// | number k of probes | its own line | the neighbouring line |
/// |--:|---|---|
/// | 1 to 8 | one bit in each of k consecutive lanes | none |
/// | 9 to 16 | one bit in each of the 8 lanes | one bit in each of k - 8 consecutive lanes |
///
/// For a key h, the second hash h · M chooses the bits in its own line. From bit 16 on, 6 bits for each lane choose a
/// bit of that lane. The 3 bits below bit 16 choose the first lane of a row. The hash h · M² chooses the bits in the
/// neighbouring line in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) struct Layout(u8);

/// A word for each lane: 1 if a key has a bit in the lane, and 0 otherwise. The second hash of the key says by how much
/// the bit of each lane is rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Row(pub(super) [u64; 8]);

/// A row for each number of consecutive lanes, from 0 to 8, and each first lane.
static ROWS: [[Row; 8]; 9] = rows();

impl Layout {
    pub(super) const LINE: Self = Self(LANES as u8);

    /// The layout with `probes` probes; `None` if no filter has that many.
    pub(super) fn of(probes: u32) -> Option<Self> {
        (1..=MAX_BLOCKED_PROBES).contains(&probes).then_some(Self(probes as u8))
    }

    /// The layout for each number of probes, the fewest first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (1..=MAX_BLOCKED_PROBES).filter_map(Self::of)
    }

    /// The number of bits that belong to each key.
    #[inline(always)]
    pub(super) fn probes(self) -> u32 {
        self.0.into()
    }

    /// True if keys have bits in two lines, so that the number of lines must be even.
    #[inline(always)]
    pub(in crate::filter) fn is_pair(self) -> bool {
        self.probes() > LANES
    }

    /// The row of lanes in which a key has bits in its own line; `choice`, the second hash of the key, determines the
    /// row's first lane.
    #[inline(always)]
    pub(super) fn own(self, choice: u64) -> &'static Row {
        // If there is a bit in each lane, the row is a constant, which a loop over keys need not load.
        if self.probes() < LANES { Row::of(self.probes(), choice) } else { &Row::FULL }
    }

    /// The row of lanes in which a key has bits in the neighbouring line; `choice`, a hash of the key, determines the
    /// row's first lane.
    #[inline(always)]
    pub(super) fn other(self, choice: u64) -> &'static Row {
        Row::of(self.probes() - LANES, choice)
    }

    /// The second hash of a key, which chooses its bits in its own line.
    #[inline(always)]
    pub(super) fn choice(key: KeyHash) -> u64 {
        key.get().wrapping_mul(MULTIPLIER)
    }

    /// The hash that chooses the bits of a key in the neighbouring line, from the `choice` for its own line.
    #[inline(always)]
    pub(super) fn other_choice(choice: u64) -> u64 {
        choice.wrapping_mul(MULTIPLIER)
    }
}

impl Row {
    /// The row with a bit in each of the eight lanes.
    const FULL: Self = Self([1; 8]);

    /// The row of `lanes` consecutive lanes, at most 8; `choice`, a hash of the key, determines the first of them.
    #[inline(always)]
    fn of(lanes: u32, choice: u64) -> &'static Self {
        &ROWS[lanes.min(LANES) as usize][(choice >> 13) as usize & 7]
    }

    /// The bits that a key has in each lane of a line; `choice`, a hash of the key, determines them.
    #[inline(always)]
    pub(super) fn bits(&self, choice: u64) -> [u64; 8] {
        std::array::from_fn(|lane| self.0[lane] << (choice >> (16 + 6 * lane) & 63))
    }
}

const fn rows() -> [[Row; 8]; 9] {
    let mut rows = [[Row([0; 8]); 8]; 9];
    let mut lanes = 0;
    while lanes < 9 {
        let mut first = 0;
        while first < 8 {
            let mut i = 0;
            while i < lanes {
                rows[lanes][first].0[(first + i) % 8] = 1;
                i += 1;
            }
            first += 1;
        }
        lanes += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lanes_in_a_row_from_the_chosen_one_on() {
        let layout = |probes| Layout::of(probes).unwrap();
        assert_eq!(layout(8).own(3 << 13).0, [1; 8]);
        assert_eq!(layout(3).own(6 << 13).0, [1, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!((layout(11).own(6 << 13).0, layout(11).other(6 << 13).0), ([1; 8], [1, 0, 0, 0, 0, 0, 1, 1]));
        assert_eq!(layout(2).own(5 << 22).bits(5 << 22), [1, 1 << 5, 0, 0, 0, 0, 0, 0]);
    }
}
