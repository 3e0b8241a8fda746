//! Many bits of a key, tested by one instruction.

use super::probes::{MAX_PROBES, MULTIPLIER};
use crate::bits::arch::{Gather, LANES, Lanes, Windows};
use crate::hash::KeyHash;

/// Tables of so many words are in a cache near enough for the processor to overlap lookups by itself.
pub(super) const NEAR: usize = (4 << 20) / 8;

/// Fewer keys than these are looked up one by one: a batch takes as long to begin as thirty of them.
const FEW: usize = 64;

/// How many bits of a key are tested first in a table that is far: nearly all keys that are not in lack one of them, and the
/// lines of the others need not come.
const FIRST_IF_FAR: u32 = 4;

/// The [`MULTIPLIER`]'s powers: what the hash is multiplied by for each probe.
static POWERS: [u64; MAX_PROBES as usize] = {
    let mut powers = [1u64; MAX_PROBES as usize];
    let mut probe = 1;
    while probe < powers.len() {
        powers[probe] = powers[probe - 1].wrapping_mul(MULTIPLIER);
        probe += 1;
    }
    powers
};

/// How the bits of each key are tested in a table, where a [`Gather`] does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtOnce {
    gather: Gather,
    probes: u32,
    /// How many are tested first.
    first: u32,
    /// In which lanes these are.
    lanes: Lanes,
}

impl AtOnce {
    /// For so many probes a key in so many bits.
    pub(super) fn new(gather: Gather, probes: u32, bits: u64) -> Self {
        let near = bits <= 64 * NEAR as u64;
        let first = probes.min(if near { LANES as u32 } else { FIRST_IF_FAR });
        Self { gather, probes, first, lanes: Lanes::first(first) }
    }

    /// Whether all bits of a key are set in a table of so many.
    #[inline(always)]
    pub(super) fn contains(self, words: &[[u8; 8]], bits: u32, key: KeyHash) -> bool {
        let gather = self.gather;
        self.all_set(key, move |state, lanes| gather.scaled(words, bits, state, factors(), lanes))
    }

    /// The same of each key, in as many `answers`.
    pub(super) fn contains_all(self, words: &[[u8; 8]], bits: u32, keys: &[KeyHash], answers: &mut [bool]) {
        if keys.len() < FEW {
            answers.iter_mut().zip(keys).for_each(|(answer, &key)| *answer = self.contains(words, bits, key));
            return;
        }
        self.gather.scaled_batch(words, bits, (self.probes, MULTIPLIER), keys, answers);
    }

    /// The same where they are in a window of a ring: of this kind, and from this bit on.
    #[inline(always)]
    pub(super) fn contains_around(self, words: &[[u8; 8]], window: (&Windows, u32), key: KeyHash) -> bool {
        let gather = self.gather;
        self.all_set(key, move |state, lanes| gather.ring(words, window, state, factors(), lanes))
    }

    /// The same where the bits are at these offsets behind a bit of a ring of so many.
    #[inline(always)]
    pub(super) fn contains_at(self, words: &[[u8; 8]], window: (u32, u32), offsets: &[u32]) -> bool {
        let (first, rest) = offsets.split_at(self.first as usize);
        self.gather.ring_at(words, window, first)
            && rest.chunks(LANES).all(|offsets| self.gather.ring_at(words, window, offsets))
    }

    /// Whether all probes find their bits set, by `test`s of those in some lanes, the first of which has this state.
    #[inline(always)]
    fn all_set(self, key: KeyHash, test: impl Fn(u64, Lanes) -> bool) -> bool {
        let rest_set = || {
            (self.first..self.probes).step_by(LANES).all(|probe| {
                let lanes = Lanes::first((self.probes - probe).min(LANES as u32));
                test(key.get().wrapping_mul(POWERS[probe as usize]), lanes)
            })
        };
        // Mostly there is no rest, which a loop over keys is then told once.
        test(key.get(), self.lanes) && (self.first == self.probes || rest_set())
    }
}

/// What the state of the probe in the first lane is multiplied by for those in all.
#[inline(always)]
fn factors() -> &'static [u64; LANES] {
    POWERS.first_chunk().expect("there are more probes than lanes")
}

/// Says that bits are not tested at once here: compilers then spend registers on the loops where they are. For the other
/// loops, which have more to do for a key, no loss is seen.
#[cold]
pub(super) fn without_gather() {}
