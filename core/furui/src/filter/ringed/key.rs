use crate::filter::probes::MULTIPLIER;
use crate::hash::KeyHash;

/// The number of fractions of a window that a key holds. If a filter has more probes, a lookup computes the other
/// fractions; few misses need them.
pub(super) const HELD: usize = 8;

/// A key for lookups in many ringed filters: all that they need of the key, computed before anything is known about a
/// filter. It has the hash h₀, which chooses the window, and h₁, h₂, … as fractions of a window.
///
/// One key serves ringed filters of every number of keys n and of every [`RingedParams`](super::RingedParams): a filter
/// with k probes takes the first k fractions, and multiplies them by the length of its window. So a program that looks
/// up the same keys in many filters computes them once, even if every filter has another size and another rate.
///
/// Size: 40 bytes. Cost of a lookup: two multiplications for a remainder, one multiplication for each of the first 8
/// probes, and two for each later probe.
///
/// **Source.** Sei, Matsuzaki and Honiden, "Using Ringed Bloom Filters to Reduce the Communication Traffic on a
/// Distributed Hash Table", section 3, where the hashes do not depend on n. **Differs:** in the paper the hashes depend
/// on k, δ and γ, so that all nodes must agree on one rate. A rate that each node chooses is called future work there
/// (section 7).
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{FilterMut, Gamma, RingedBloom, RingedKey, RingedParams};
///
/// let hashes: Vec<_> = (0..5000u32).map(|id| HashSpec::default().hash(&id.to_le_bytes())).collect();
/// let keys: Vec<RingedKey> = hashes.iter().map(|&hash| RingedKey::new(hash)).collect();
///
/// // Filters of other sizes and rates, which arrive later.
/// for (rate, members) in [(0.3, 5000), (0.01, 1000), (1e-6, 10)] {
///     let params = RingedParams::with_rate(rate, Gamma::Exact, 1000)?;
///     let mut filter = RingedBloom::with_size(params, members as u64)?;
///     filter.insert_all(&hashes[..members])?;
///     assert!(keys[..members].iter().all(|key| filter.contains_key(key)));
/// }
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingedKey {
    hash: KeyHash,
    fractions: [u32; HELD],
}

impl RingedKey {
    /// Computes the fractions of the key with this hash.
    #[inline]
    pub fn new(hash: KeyHash) -> Self {
        let mut fractions = Fractions::of(hash);
        Self { hash, fractions: std::array::from_fn(|_| fractions.next()) }
    }

    /// The hash from which the fractions were computed. It also chooses the window.
    #[inline(always)]
    pub fn hash(&self) -> KeyHash {
        self.hash
    }

    /// The first `probes` fractions, or all that are held if these are fewer, in units of 2⁻³² windows.
    #[inline(always)]
    pub(super) fn first(&self, probes: u32) -> &[u32] {
        &self.fractions[..(probes as usize).min(HELD)]
    }
}

/// The positions of a key's bits in the key's window, as fractions of the window in units of 2⁻³².
///
/// The state is mixed from the hash, because the hash chooses the window, and the fractions must be independent of that
/// choice. The state is then multiplied from probe to probe, as in a Bloom filter.
#[derive(Clone, Copy)]
pub(super) struct Fractions(u64);

impl Fractions {
    #[inline(always)]
    pub(super) fn of(key: KeyHash) -> Self {
        const MIX: u64 = 0xD6E8_FEB8_6659_FD93;
        let hash = key.get();
        let mixed = (hash ^ hash >> 32).wrapping_mul(MIX);
        Self(mixed ^ mixed >> 32)
    }

    /// Returns the next fraction of the window, in units of 2⁻³².
    #[inline(always)]
    pub(super) fn next(&mut self) -> u32 {
        let fraction = (self.0 >> 32) as u32;
        self.0 = self.0.wrapping_mul(MULTIPLIER);
        fraction
    }

    /// The next `count` fractions of the window.
    #[inline(always)]
    pub(super) fn take(mut self, count: u32) -> impl Iterator<Item = u32> {
        (0..count).map(move |_| self.next())
    }
}
