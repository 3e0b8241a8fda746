//! Recent caches outside of the set, for threads that hash keys.

use super::Verdict;
use super::pipeline::Seen;
use super::tiers::Tiers;
use crate::error::Result;
use crate::filter::Mismatch;
use crate::hash::Hashes;
use crate::store::Storage;

impl<S: Storage> Seen<S> {
    /// The capacity, in keys, of the recent cache in front of the set. It grows when the set outgrows its memory.
    /// `None` if the set has another cache or none, or if the set has a window, because its cache must then observe
    /// every key in order.
    pub fn recent_keys(&self) -> Option<usize> {
        match &self.tiers {
            Tiers::Recent(recent) if self.set.manifest().window.is_none() => Some(recent.capacity()),
            _ => None,
        }
    }

    /// Works as [`observe_all`](Self::observe_all), but looks up only the keys at the indices `misses`, which ascend,
    /// and takes all other keys for repeats. So each of several threads can hash a part of the stream and look its keys
    /// up in a [`Recent`](super::Recent) cache of its own. Only the keys that these caches do not know are left for the
    /// set. A cache may know only keys of earlier batches, and earlier keys of this batch. Where
    /// [`recent_keys`](Self::recent_keys) is `None`, all keys are looked up.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    ///
    /// # Panics
    /// If an index is not that of a key.
    ///
    /// ```
    /// use furui::seen::{Recent, Seen, SeenOptions, Verdict};
    /// use furui::store::Memory;
    ///
    /// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
    /// let mut recent = Recent::<u64, 1>::new(1000)?;
    /// let keys = seen.hash_spec().hasher().hash_all(["a", "b", "a"]);
    /// let (mut misses, mut verdicts) = (vec![], vec![]);
    /// recent.observe_all(keys.as_slice(), &mut misses);
    /// assert_eq!(misses, [0, 1]);
    /// seen.observe_missed(&keys, &misses, &mut verdicts)?;
    /// assert_eq!(verdicts, [Verdict::New, Verdict::New, Verdict::Repeat]);
    /// # Ok::<(), furui::Error>(())
    /// ```
    pub fn observe_missed(&mut self, keys: &Hashes, misses: &[u32], verdicts: &mut Vec<Verdict>) -> Result<()> {
        if self.recent_keys().is_none() {
            return self.observe_all(keys, verdicts);
        }
        let keys = Mismatch::check(self.hash_spec(), keys)?;
        self.make_room(keys.len(), verdicts)?;
        verdicts.resize(keys.len(), Verdict::Repeat);
        self.asked.clear();
        self.misses.clear();
        self.misses.extend_from_slice(misses);
        self.counters.recent_hits += (keys.len() - misses.len()) as u64;
        self.observe_misses(keys, verdicts)
    }
}
