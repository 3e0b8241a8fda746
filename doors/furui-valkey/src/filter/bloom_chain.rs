//! The Bloom filters of the commands `BF.*`.

use furui::filter::{AnyFilter, Bloom, Filter as _, FilterMut as _, sizing};
use furui::{HashSpec, KeyHash};

use super::settings::{Dialect, SETTINGS, Settings, damaged};
use crate::files::Files;
use crate::refusal::Refusal;

/// A chain of Bloom filters: if the last one is full, a new one takes the keys that come, which has `expansion` times its
/// capacity. A filter with the expansion 0 refuses keys that come when it is full.
///
/// **Rate.** Part i of the chain, from 0 on, has the rate ε · 6/π² / (i + 1)², or ε if there is no expansion. The sum of
/// all parts is at most ε, however many there are.
///
/// **Source.** Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom Filters", 2007. **Differs**: rates fall with the
/// square of the place in the chain instead of as a power. So the first part, which is often the only one, has 61 % of
/// the rate; and a chain of many equal parts, as of an expansion of 1, never needs a rate that hashes cannot have.
#[derive(Clone)]
pub struct BloomChain {
    rate: f64,
    expansion: u32,
    hash: HashSpec,
    /// The filters, of which only the last one takes keys. There is at least one.
    parts: Vec<Part>,
}

#[derive(Clone)]
struct Part {
    filter: Bloom,
    /// How many keys the part takes: at most the capacity of its filter.
    capacity: u64,
    /// How many keys were inserted.
    keys: u64,
}

/// The maximum expansion.
pub const MAX_EXPANSION: u32 = 32_768;

/// The maximum number of filters of a chain. A lookup of a key that is not there asks all of them.
const MAX_PARTS: usize = 1024;

/// The minimum number of keys for which a filter is made. Filters for a few keys would exceed their rate, as sizes are
/// computed for many, and they would hardly be smaller.
const MIN_KEYS: u64 = 64;

/// The maximum capacity of a filter of a chain, of which the memory can still be computed.
const MAX_PART_CAPACITY: u64 = 1 << 40;

impl BloomChain {
    /// An empty filter.
    ///
    /// # Errors
    /// If there is no such filter.
    pub fn new(capacity: u64, rate: f64, expansion: u32) -> Result<Self, Refusal> {
        let mut chain = Self { rate, expansion, hash: HashSpec::default(), parts: vec![] };
        chain.parts.push(chain.part(capacity)?);
        Ok(chain)
    }

    /// The memory of an empty filter, in bytes.
    pub fn bytes_of(capacity: u64, rate: f64, expansion: u32) -> usize {
        Self { rate, expansion, hash: HashSpec::default(), parts: vec![] }.part_bytes(capacity)
    }

    /// The rate of the next part.
    fn part_rate(&self) -> f64 {
        if self.expansion == 0 {
            return self.rate;
        }
        let place = (self.parts.len() + 1) as f64;
        self.rate * 6.0 / std::f64::consts::PI.powi(2) / place.powi(2)
    }

    /// The next part, for so many keys.
    fn part(&self, capacity: u64) -> Result<Part, Refusal> {
        let filter = Bloom::with_rate(capacity.max(MIN_KEYS), self.part_rate())?.hashed_by(self.hash);
        Ok(Part { filter, capacity, keys: 0 })
    }

    /// The memory of the next part, in bytes.
    fn part_bytes(&self, capacity: u64) -> usize {
        let (bits, _) = sizing::few_probes(self.part_rate(), capacity.max(MIN_KEYS));
        usize::try_from(bits / 8).unwrap_or(usize::MAX).saturating_add(size_of::<Part>() + 16)
    }

    fn last(&self) -> Result<&Part, Refusal> {
        self.parts.last().ok_or_else(damaged)
    }

    /// Records a key. True if it is certainly new. If another filter is needed, `admit` is asked first: whether a chain of
    /// so many bytes may grow by so many.
    ///
    /// # Errors
    /// If the chain is full, or `admit` refuses.
    pub fn insert(
        &mut self,
        key: KeyHash,
        admit: impl FnOnce(usize, usize) -> Result<(), Refusal>,
    ) -> Result<bool, Refusal> {
        if self.contains(key) {
            return Ok(false);
        }
        let last = self.last()?;
        if last.keys >= last.capacity {
            if self.expansion == 0 {
                return Err(Refusal::because("non scaling filter is full"));
            }
            if self.parts.len() == MAX_PARTS {
                return Err(Refusal::because("max number of scaling filters reached"));
            }
            let capacity = last.capacity.saturating_mul(self.expansion.into()).min(MAX_PART_CAPACITY);
            admit(self.bytes(), self.part_bytes(capacity))?;
            self.parts.push(self.part(capacity)?);
        }
        if let Some(part) = self.parts.last_mut() {
            part.filter.insert_hash(key)?;
            part.keys += 1;
        }
        Ok(true)
    }

    /// True if a key may be in the filter.
    pub fn contains(&self, key: KeyHash) -> bool {
        self.parts.iter().rev().any(|part| part.filter.contains_hash(key))
    }

    pub fn hash(&self) -> HashSpec {
        self.hash
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// How many times larger the next filter of the chain is. `None` if there is no next one.
    pub fn expansion(&self) -> Option<u32> {
        (self.expansion != 0).then_some(self.expansion)
    }

    /// The number of filters.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The number of keys that were certainly new.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.keys).sum()
    }

    /// How many keys the filters of the chain were made for.
    pub fn capacity(&self) -> u64 {
        self.parts.iter().map(|part| part.capacity).sum()
    }

    /// The memory of the chain, in bytes.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.filter.as_bytes().len() + size_of::<Part>()).sum()
    }

    /// The rate at which the chain says yes to a key that is not in it, now.
    pub fn false_positive_rate(&self) -> f64 {
        1.0 - self.parts.iter().map(|part| 1.0 - part.filter.false_positive_rate()).product::<f64>()
    }

    /// The files of the chain: the settings, and the filters in order.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn files(&self) -> Result<Files, Refusal> {
        let mut settings = Settings::new(Dialect::Bf).with("error", self.rate).with("expansion", self.expansion);
        for part in &self.parts {
            settings = settings.with("capacity", part.capacity).with("keys", part.keys);
        }
        let mut files = Files::of(SETTINGS, settings.text().into_bytes());
        for (i, part) in self.parts.iter().enumerate() {
            let mut bytes = vec![];
            AnyFilter::from(part.filter.clone()).write_to(&mut bytes)?;
            files.append(&format!("{i:04}.filter"), &bytes)?;
        }
        Ok(files)
    }

    /// The chain of these files.
    ///
    /// # Errors
    /// If one of them is damaged or missing.
    pub fn open(files: &Files, settings: &Settings) -> Result<Self, Refusal> {
        let (rate, expansion): (f64, u32) = (settings.value("error")?, settings.value("expansion")?);
        let (capacities, keys): (Vec<u64>, Vec<u64>) = (settings.values("capacity")?, settings.values("keys")?);
        let mut sizes = capacities.iter().zip(&keys);
        let mut parts = vec![];
        for (name, bytes) in files.iter().filter(|(name, _)| *name != SETTINGS) {
            let AnyFilter::Bloom(filter) = AnyFilter::copy_of_bytes(bytes, name)? else { return Err(damaged()) };
            let (&capacity, &keys) = sizes.next().ok_or_else(damaged)?;
            parts.push(Part { filter, capacity, keys });
        }
        let hash = parts.first().ok_or_else(damaged)?.filter.hash_spec();
        let is_sound = |part: &Part| {
            part.keys <= part.capacity
                && (1..=part.filter.capacity()).contains(&part.capacity)
                && part.capacity <= MAX_PART_CAPACITY
                && part.filter.hash_spec() == hash
        };
        let count = if expansion == 0 { 1 } else { MAX_PARTS };
        let are_sound =
            [capacities.len(), keys.len()] == [parts.len(); 2] && parts.len() <= count && parts.iter().all(is_sound);
        // This is false for NaN.
        let has_rate = rate > 0.0 && rate < 1.0;
        if !(has_rate && are_sound && expansion <= MAX_EXPANSION) {
            return Err(damaged());
        }
        Ok(Self { rate, expansion, hash, parts })
    }
}
