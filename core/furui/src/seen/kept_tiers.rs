use super::replacement::Replacement;
use super::tiers_file::{self, Kept};
use crate::error::Result;
use crate::filter::StableBloomLight;
use crate::store::Storage;
use crate::store::cascade::Cascade;

/// The tiers that a store keeps in the file `TIERS`, as the last process left them: an exact cache and a stable filter.
///
/// ```
/// use furui::seen::{Cache, KeptTiers, Seen, SeenOptions};
/// use furui::store::Memory;
///
/// let storage = Memory::new();
/// let options =
///     SeenOptions { cache: Cache::LruStable { rate: 1e-5 }, memory: 1 << 20, ..SeenOptions::default() };
/// let mut seen = Seen::open_with(storage.clone(), options)?;
/// seen.extend(["a", "b"])?;
/// seen.publish()?;
/// let tiers = KeptTiers::of(seen.set())?.expect("kept by publish");
/// assert!(tiers.is_current && tiers.keys == 2);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptTiers {
    /// The number of keys in the exact cache.
    pub keys: u64,
    /// The number of keys for which the exact cache had room.
    pub capacity: u64,
    /// The policy by which the exact cache chose the keys that it evicted.
    pub replacement: Replacement,
    /// The number of counters of the stable filter (m).
    pub counters: u64,
    /// The number of counters that belong to each key (k).
    pub probes: u32,
    /// The number of counters that an insertion decrements (P).
    pub decrements: u64,
    /// The share of counters that are above 0, from 0 to 1.
    pub filled: f64,
    /// True if the next [`Seen`](super::Seen) with tiers of these sizes begins with the kept tiers; false if the set
    /// was changed without its tiers.
    pub is_current: bool,
}

impl KeptTiers {
    /// Reads and checks the tiers in the storage of a set; `None` if it has none. Cost: the whole file of the tiers is
    /// read, and meanwhile the stable filter is in memory.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the file is damaged; [`Error::Io`](crate::Error::Io).
    pub fn of(set: &Cascade<impl Storage>) -> Result<Option<Self>> {
        let Some(Kept { file, envelope, head }) = tiers_file::open(set.storage())? else { return Ok(None) };
        envelope.verify(&file)?;
        let filter = StableBloomLight::read_sections(&file, &envelope)?;
        Ok(Some(Self {
            keys: head.keys,
            capacity: head.capacity,
            replacement: head.replacement,
            counters: filter.counters() as u64,
            probes: filter.probes(),
            decrements: filter.decrements() as u64,
            filled: filter.false_positive_rate().powf(1.0 / f64::from(filter.probes())),
            is_current: head.belongs_to(set.manifest()) && envelope.hash() == set.hash_spec(),
        }))
    }
}
