//! Lookups that test many bits of a key at once, where the processor has a [`Gather`](crate::bits::arch::Gather).
//!
//! The bits are tested by a function of the first probe and of the number of probes, at most [`LANES`].

use crate::bits::arch::LANES;

/// How many bits of a key are tested first where the table is far: nearly all of those who are not in lack one of them, and
/// the others' lines need not come.
const FIRST: u32 = 4;

/// Whether all bits of a key are set. The table is near if a bit more costs little.
#[inline(always)]
pub(super) fn contains(probes: u32, near: bool, test: impl Fn(u32, u32) -> bool) -> bool {
    let first = if near { LANES as u32 } else { FIRST };
    test(0, probes.min(first))
        && (first..probes).step_by(LANES).all(|probe| test(probe, (probes - probe).min(LANES as u32)))
}
