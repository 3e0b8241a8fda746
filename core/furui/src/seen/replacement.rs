use super::clock::{self, Clock};
use super::lru::{self, Lru};
use super::observed::Observed;
use crate::error::Result;
use crate::hash::KeyHash;

/// The policy by which an exact cache chooses the key that it evicts: the two that Kubota, Ueda and Yamana name in
/// section 3.1.
///
/// ```
/// use furui::seen::{Cache, Replacement, Seen, SeenOptions, TierSizes};
/// use furui::store::Memory;
///
/// let sizes = TierSizes { replacement: Replacement::Clock, ..TierSizes::default() };
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions { cache: Cache::Lru, sizes, ..SeenOptions::default() })?;
/// assert_eq!(seen.extend(["a", "b", "a"])?, 2);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// Evicts the least recently used key: an [`Lru`], 21 bytes a key.
    #[default]
    Lru,
    /// Evicts the next key on the circle that was not seen since the hand last passed it: a [`Clock`], 14 bytes a key.
    Clock,
}

impl Replacement {
    /// The memory that a cache with this policy takes, in bytes a key, rounded up.
    pub(super) fn key_bytes(self) -> usize {
        match self {
            Self::Lru => lru::KEY_BYTES,
            Self::Clock => clock::KEY_BYTES,
        }
    }
}

/// The exact cache that is the first tier in front of the set.
pub(super) enum Front {
    Lru(Lru),
    Clock(Clock),
}

impl Front {
    /// Makes an empty cache with this policy and room for `capacity` keys.
    ///
    /// # Errors
    /// Those of [`Lru::new`] and [`Clock::new`]: another capacity than 1 to 2³⁰, or no memory.
    pub(super) fn new(replacement: Replacement, capacity: usize) -> Result<Self> {
        Ok(match replacement {
            Replacement::Lru => Self::Lru(Lru::new(capacity)?),
            Replacement::Clock => Self::Clock(Clock::new(capacity)?),
        })
    }

    #[inline]
    pub(super) fn observe(&mut self, key: KeyHash) -> Observed {
        match self {
            Self::Lru(lru) => lru.observe(key),
            Self::Clock(clock) => clock.observe(key),
        }
    }

    pub(super) fn replacement(&self) -> Replacement {
        match self {
            Self::Lru(_) => Replacement::Lru,
            Self::Clock(_) => Replacement::Clock,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Lru(lru) => lru.capacity(),
            Self::Clock(clock) => clock.capacity(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Lru(lru) => lru.len(),
            Self::Clock(clock) => clock.len(),
        }
    }

    /// Calls `work` with each key, in the order of eviction. For a [`Clock`], this is the order without marks.
    ///
    /// # Errors
    /// Those of `work`, of which the first ends the walk.
    pub(super) fn for_each<E>(
        &self,
        work: impl FnMut(KeyHash) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Self::Lru(lru) => lru.keys().try_for_each(work),
            Self::Clock(clock) => clock.keys().try_for_each(work),
        }
    }
}
