use crate::hash::KeyHash;

/// The outcome of observing a key in an exact cache.
///
/// ```
/// use furui::KeyHash;
/// use furui::raw::Lru;
/// use furui::seen::Observed;
///
/// let mut lru = Lru::new(2)?;
/// let evicted: Vec<u64> = [1, 2, 1, 3, 4]
///     .into_iter()
///     .filter_map(|key| match lru.observe(KeyHash::new(key)) {
///         Observed::Miss { evicted } => evicted.map(KeyHash::get),
///         Observed::Hit => None,
///     })
///     .collect();
/// assert_eq!(evicted, [2, 1]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The key was in the cache.
    Hit,
    /// The key was not in the cache, and was inserted.
    Miss {
        /// The key that was evicted to make room, if one was.
        evicted: Option<KeyHash>,
    },
}
