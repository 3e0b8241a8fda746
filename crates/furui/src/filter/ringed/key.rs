use super::RingedParams;
use crate::filter::probes::positions;
use crate::hash::KeyHash;

/// The number of words of the hash, which stand before the offsets; the low half is first.
const HASH_WORDS: usize = 2;

/// All that a ringed filter of any size needs of a key, computed before the size is known: the hash h₀ and the k
/// offsets in the key's window.
///
/// It is borrowed from [`RingedKeys`]. A lookup then costs one remainder, by two multiplications, and an addition for
/// each probe.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{Gamma, RingedBloom, RingedKeys, RingedParams};
///
/// let params = RingedParams::with_rate(0.01, Gamma::Exact, 1000)?;
/// let mut keys = RingedKeys::new(params);
/// keys.push(HashSpec::default().hash("以前".as_bytes()));
/// let key = keys.iter().next().expect("one key");
///
/// let mut filter = RingedBloom::with_size(params, 50)?;
/// filter.insert_key(key);
/// assert!(filter.contains_key(key) && filter.contains("以前"));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingedKey<'a> {
    words: &'a [u32],
}

impl<'a> RingedKey<'a> {
    /// The hash from which the key was made.
    #[inline(always)]
    pub fn hash(self) -> KeyHash {
        KeyHash::new(u64::from(self.words[0]) | u64::from(self.words[1]) << 32)
    }

    /// The offsets of the key's bits from the start of its window.
    #[inline(always)]
    pub fn offsets(self) -> &'a [u32] {
        &self.words[HASH_WORDS..]
    }
}

/// A list of precomputed keys: 8 + 4 k bytes each, 36 at k = 7. It is low level: nothing checks how the caller hashed
/// the keys.
///
/// ```
/// use furui::HashSpec;
/// use furui::filter::{Gamma, RingedBloom, RingedKeys, RingedParams};
///
/// let params = RingedParams::with_rate(0.01, Gamma::Exact, 1000)?;
/// let mut keys = RingedKeys::new(params);
/// keys.extend((0..5000u32).map(|id| HashSpec::default().hash(&id.to_le_bytes())));
///
/// // The filter of any subset needs no hashing.
/// let even = RingedBloom::build(params, keys.iter().step_by(2))?;
/// let first = RingedBloom::build(params, keys.iter().take(10))?;
/// assert!(keys.iter().step_by(2).all(|key| even.contains_key(key)));
/// assert!(keys.iter().take(10).all(|key| first.contains_key(key)));
/// assert_eq!((even.bits(), first.bits()), (25_248, 101));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingedKeys {
    params: RingedParams,
    /// The hash and the offsets of each key.
    words: Vec<u32>,
}

impl RingedKeys {
    /// An empty list of keys for filters of these parameters.
    pub fn new(params: RingedParams) -> Self {
        Self { params, words: Vec::new() }
    }

    /// The parameters of the filters for which the keys are made.
    pub fn params(&self) -> RingedParams {
        self.params
    }

    /// Computes the offsets of `key`, and appends the key.
    pub fn push(&mut self, key: KeyHash) {
        let hash = key.get();
        self.words.extend([hash as u32, (hash >> 32) as u32]);
        self.words.extend(offsets(key, self.params));
    }

    /// Removes all keys, and keeps the memory for later ones.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The key that was pushed as number `index`, from 0 on.
    pub fn get(&self, index: usize) -> Option<RingedKey<'_>> {
        let stride = self.stride();
        let words = self.words.get(index.checked_mul(stride)?..)?.get(..stride)?;
        Some(RingedKey { words })
    }

    /// All keys, in the order in which they were pushed.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RingedKey<'_>> + Clone {
        self.words.chunks_exact(self.stride()).map(|words| RingedKey { words })
    }

    fn stride(&self) -> usize {
        HASH_WORDS + self.params.probes() as usize
    }
}

impl Extend<KeyHash> for RingedKeys {
    fn extend<I: IntoIterator<Item = KeyHash>>(&mut self, keys: I) {
        let keys = keys.into_iter();
        self.words.reserve(keys.size_hint().0.saturating_mul(self.stride()));
        keys.for_each(|key| self.push(key));
    }
}

/// The offsets of a key in its window: the probes of its second hash, [`mixed`].
#[inline(always)]
pub(super) fn offsets(key: KeyHash, params: RingedParams) -> impl Iterator<Item = u32> {
    positions(mixed(key), params.probes(), params.window() as usize).map(|offset| offset as u32)
}

/// The second hash of a key, mixed from `key`: the first one chooses the window, and the offsets in the window must be
/// independent of it.
#[inline(always)]
pub(super) fn mixed(key: KeyHash) -> KeyHash {
    const MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;
    let hash = key.get();
    let mixed = (hash ^ hash >> 32).wrapping_mul(MULTIPLIER);
    KeyHash::new(mixed ^ mixed >> 32)
}
