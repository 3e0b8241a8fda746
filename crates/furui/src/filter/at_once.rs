//! Keys of which many bits are tested at once, where the processor has a [`Gather`](crate::bits::arch::Gather).
//!
//! A key's bits are tested by a function of it, of the first probe and of the number of probes, at most [`LANES`].

use crate::bits::arch::LANES;

/// How many bits of a key are tested first where the table is far: nearly all of those who are not in lack one of them, and
/// the others' lines need not come.
const FIRST: u32 = 4;

/// The same in batches: there no branch can be foreseen wrongly.
const FIRST_OF_BATCH: u32 = 3;

/// How many keys of a batch are under way at a time.
const BATCH: usize = 128;

/// Whether all bits of a key are set. The table is near if a bit more costs little.
#[inline(always)]
pub(super) fn contains(probes: u32, near: bool, test: impl Fn(u32, u32) -> bool) -> bool {
    let first = if near { LANES as u32 } else { FIRST };
    test(0, probes.min(first)) && rest(probes, first, test)
}

/// The rest of it after the first bits.
#[inline(always)]
fn rest(probes: u32, tested: u32, test: impl Fn(u32, u32) -> bool) -> bool {
    (tested..probes).step_by(LANES).all(|probe| test(probe, (probes - probe).min(LANES as u32)))
}

/// [`contains`] for every key, in a table that is far. `answers` are as many, all false.
///
/// Of all keys of a batch the first bits are tested before the rest of any; those that lack one drop out without a branch.
#[inline(always)]
pub(super) fn contains_all<K: Copy>(
    probes: u32,
    mut keys: impl Iterator<Item = K>,
    answers: &mut [bool],
    test: impl Fn(K, u32, u32) -> bool,
) {
    let mut alive: Vec<(K, usize)> = Vec::with_capacity(BATCH);
    for answers in answers.chunks_mut(BATCH) {
        alive.clear();
        alive.extend(keys.by_ref().take(answers.len()).enumerate().map(|(i, key)| (key, i)));
        let mut count = 0;
        for i in 0..alive.len() {
            let (key, _) = alive[i];
            alive[count] = alive[i];
            count += usize::from(test(key, 0, probes.min(FIRST_OF_BATCH)));
        }
        for &(key, i) in &alive[..count] {
            answers[i] = rest(probes, FIRST_OF_BATCH, |at, count| test(key, at, count));
        }
    }
}
