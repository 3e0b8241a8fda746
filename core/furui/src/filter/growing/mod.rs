mod file;

use std::ops::Deref;

use super::error::Meaning;
use super::{Bloom, ConfigError, Filter, FilterMut, Full, Mismatch, sizing};
use crate::bits::Buffer;
use crate::hash::{HashSpec, KeyHash};

/// The maximum number of parts of a [`GrowingBloom`]. If their capacities double, beginning with 4096 keys, all parts
/// together hold 2.7 · 10¹¹ keys.
pub const MAX_PARTS: usize = 26;

/// The capacity of the first part, in keys, if nothing is known of the number of keys. At a rate of 1 % its table has 8
/// KiB.
const FIRST: u64 = 4096;

/// The number of first parts that are equally large if the expansion is 1. Later parts double, or a filter that was
/// made for few keys would be full with [`MAX_PARTS`] times as many.
const EQUAL_PARTS: usize = MAX_PARTS / 2;

/// The least number of keys for which a table is sized: the formulas for sizes do not hold for a few keys, and their
/// tables would hardly be smaller.
const MIN_SIZED: u64 = 64;

/// The default expansion: each part has room for this many times the keys of the part before it.
const EXPANSION: u32 = 2;

/// The tightening (ratio of the rates of successive parts) of a filter whose number of keys is not known in advance.
/// Most keys are then in the last parts, so their rates must not be much finer than those of the first parts.
const UNKNOWN_SIZE: f64 = 0.9;

/// The tightening (ratio of the rates of successive parts) of a filter whose first part is expected to hold all keys.
/// This part gets half of the filter's rate.
const EXPECTED_SIZE: f64 = 0.5;

/// The number of keys of a batch that are looked up in the parts at a time: few enough to stay in the nearest cache.
const BATCH: usize = 512;

/// A filter for a set whose final size nobody knows: a chain of [`Bloom`] filters, to which a larger one with a finer
/// rate is added whenever the last one is full.
///
/// ```text
///   room for 4096   8192        16384                  32768
///   ┌──────┐ ┌────────────┐ ┌────────────────────────┐ ┌───────────────────── ─ ─
///   │ full │ │    full    │ │ ▒▒▒▒▒▒ new keys        │ │  not made yet
///   └──────┘ └────────────┘ └────────────────────────┘ └───────────────────── ─ ─
///    rate/10  rate/10 · 0.9  rate/10 · 0.9²             ...                    sum ≤ rate
/// ```
///
/// A key may be in the set if it may be in any part. Such a key is not inserted again, so a stream with repetitions
/// takes only the space of its distinct keys.
///
/// **Rate.** For any number of keys, the false-positive rate is at most the required one, because the rates of all
/// parts together do not exceed it: part i has (1 - r) rⁱ of it. The *tightening* r is 0.9, or 0.5 if the filter was
/// [made for a number of keys](Self::for_keys).
///
/// **Cost.** There are log₂(n/4096) + 1 parts, so eight at a million keys. A miss queries all of them, and tests at
/// least three bits in each; half of all hits query only the last one. With n from 10⁶ to 10⁹ keys the filter takes
/// more space than a [`Bloom`] filter that was sized for n. At 1 % it takes 1.7 times as much just before it grows, 3.7
/// times just after, and 2.5 times in the mean. At 10⁻⁶ these factors are 1.2, 2.6 and 1.8. So use a [`Bloom`] filter
/// if n is known.
///
/// **Source.** Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom Filters", 2007. **Differs** in its parts,
/// which are not sliced into one range for each probe. The paper leaves expansion and tightening open: 2 and 0.9 take
/// the least space beyond 10⁶ keys. Tightening by 0.5 takes 1.6 times as much at 1 %; an expansion of 4 takes 1.4 times
/// as much, with five parts instead of eight at a million keys.
///
/// ```
/// use furui::filter::GrowingBloom;
///
/// let mut seen = GrowingBloom::with_rate(0.001)?;
/// for i in 0..100_000u32 {
///     seen.insert(i.to_le_bytes())?;
/// }
/// assert!(seen.contains(99_999u32.to_le_bytes()));
/// assert!(seen.false_positive_rate() < 0.001);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GrowingBloom<M = Buffer> {
    /// The parts, at least one; new keys go into the last one.
    parts: Vec<Part<M>>,
    rate: f64,
    /// The capacity of a new part divided by that of the largest part. With 0, the first part is the only one.
    expansion: u32,
    /// The tightening r of the rates: part i, counted from 0, has (1 - r) rⁱ of the filter's false-positive rate.
    tightening: f64,
    hash: HashSpec,
}

#[derive(Clone, Debug, PartialEq)]
struct Part<M> {
    /// The filter of the part. It has the part's rate when it holds as many keys as its capacity.
    filter: Bloom<M>,
    /// The number of keys that were inserted into the part, at most the capacity of its filter.
    keys: u64,
}

impl<M> Part<M> {
    fn room(&self) -> u64 {
        self.filter.capacity() - self.keys
    }
}

impl<M: Deref<Target = [u8]>> Part<M> {
    fn copy(&self) -> Result<Part<Buffer>, ConfigError> {
        Ok(Part { filter: self.filter.copy()?, keys: self.keys })
    }
}

impl GrowingBloom {
    /// An empty filter whose false-positive rate is at most `rate` for any number of keys.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or finer than 64-bit hashes of the keys of the first part allow.
    pub fn with_rate(rate: f64) -> Result<Self, ConfigError> {
        Self::without_parts(rate, EXPANSION, UNKNOWN_SIZE).begin(FIRST)
    }

    /// An empty filter as of [`with_rate`](Self::with_rate), whose first part has room for about `keys` keys: if no
    /// more come, it has only this part, and takes less time and room.
    ///
    /// # Errors
    /// Those of [`with_rate`](Self::with_rate); also if there is not enough memory for the first part.
    pub fn for_keys(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        Self::with_expansion(keys.max(FIRST), rate, EXPANSION)
    }

    /// An empty filter whose first part has room for exactly `keys` keys, and each further part for `expansion` times
    /// the keys of the part before it; if it is 1, from the 14th part on for twice as many. If `expansion` is 0, the
    /// first part has the whole rate and is the only one: then the filter is full with `keys` keys.
    ///
    /// ```
    /// use furui::filter::{Full, GrowingBloom};
    ///
    /// let mut fixed = GrowingBloom::with_expansion(100, 0.01, 0)?;
    /// let full = (0..200u32).find_map(|key| fixed.insert(key.to_le_bytes()).err());
    /// assert_eq!(full, Some(Full::AtCapacity { capacity: 100 }));
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`for_keys`](Self::for_keys).
    pub fn with_expansion(keys: u64, rate: f64, expansion: u32) -> Result<Self, ConfigError> {
        Self::before_first_part(rate, expansion).begin(keys)
    }

    /// The memory in bytes of the empty filter that [`with_expansion`](Self::with_expansion) makes.
    pub fn bytes_with_expansion(keys: u64, rate: f64, expansion: u32) -> u64 {
        Self::before_first_part(rate, expansion).part_bytes(keys)
    }

    fn before_first_part(rate: f64, expansion: u32) -> Self {
        Self::without_parts(rate, expansion, if expansion == 0 { 0.0 } else { EXPECTED_SIZE })
    }

    fn without_parts(rate: f64, expansion: u32, tightening: f64) -> Self {
        Self { parts: Vec::new(), rate, expansion, tightening, hash: HashSpec::default() }
    }

    /// This filter, which has no part yet, with a first part for `keys` keys.
    fn begin(mut self, keys: u64) -> Result<Self, ConfigError> {
        let rate = self.rate;
        if !(rate > 0.0 && rate < 1.0) {
            return Err(ConfigError::Rate { given: rate, finest: 0.0 });
        }
        self.grow(keys.max(1)).map_err(|error| {
            let finest = keys.max(MIN_SIZED) as f64 * 2f64.powi(-64) / (1.0 - self.tightening);
            if rate > finest { error } else { ConfigError::Rate { given: rate, finest } }
        })?;
        Ok(self)
    }

    /// This filter, for keys that are hashed by `hash` instead of by [`HashSpec::default`]. Keys that are already in
    /// the filter must have been hashed by `hash` too.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        let parts = self.parts.into_iter().map(|part| Part { filter: part.filter.hashed_by(hash), ..part }).collect();
        Self { parts, hash, ..self }
    }

    /// Appends a part with room for `keys` keys.
    fn grow(&mut self, keys: u64) -> Result<(), ConfigError> {
        let filter = Bloom::with_rate(keys.max(MIN_SIZED), self.next_rate())?;
        self.parts.push(Part { filter: filter.with_capacity(keys).hashed_by(self.hash), keys: 0 });
        Ok(())
    }

    /// The memory in bytes by which the next new key makes the filter grow: 0 if there is room for it, or if there can
    /// be no more room. A caller that limits memory asks before it inserts.
    pub fn growth(&self) -> u64 {
        let is_full = self.parts.iter().all(|part| part.room() == 0);
        if is_full && self.parts.len() < MAX_PARTS { self.part_bytes(self.next_capacity()) } else { 0 }
    }

    /// The memory in bytes that the next part of the filter takes if it has room for `keys` keys; 0 if `keys` is 0,
    /// which means that there is no next part.
    fn part_bytes(&self, keys: u64) -> u64 {
        if keys == 0 { 0 } else { sizing::few_probes(self.next_rate(), keys.max(MIN_SIZED)).0.div_ceil(8) }
    }

    fn next_rate(&self) -> f64 {
        self.rate * (1.0 - self.tightening) * self.tightening.powi(self.parts.len() as i32)
    }

    /// The capacity of the next part, in keys; 0 if the expansion is 0, so that the first part is the only one.
    fn next_capacity(&self) -> u64 {
        let largest = self.parts.iter().map(|part| part.filter.capacity()).max();
        let is_one = self.expansion == 1 && self.parts.len() >= EQUAL_PARTS;
        largest.unwrap_or(0).saturating_mul(if is_one { EXPANSION } else { self.expansion }.into())
    }

    /// Ensures that the last part has room for a key, and returns that part.
    fn with_room(&mut self) -> Result<&mut Part<Buffer>, Full> {
        let is_full = |parts: &[Part<Buffer>]| parts.last().is_none_or(|last| last.room() == 0);
        if is_full(&self.parts) {
            // After a union, other parts may have room too.
            self.parts.sort_by_key(Part::room);
        }
        if is_full(&self.parts) {
            let (full, keys) = (Full::AtCapacity { capacity: self.capacity() }, self.next_capacity());
            if self.parts.len() == MAX_PARTS || keys == 0 {
                return Err(full);
            }
            self.grow(keys).map_err(|_| full)?;
        }
        Ok(self.parts.last_mut().expect("there is a part"))
    }

    /// Adds the keys of `other` by copying its parts. The [`rate`](Self::rate) that the filter does not exceed is then
    /// the sum of both filters' rates, and its expansion is the smaller one.
    ///
    /// Keys that are in both filters count twice in [`len`](Self::len). Cost: a copy of `other`.
    ///
    /// # Errors
    /// If the hashes differ, if there would be more than [`MAX_PARTS`] parts or a rate of 1, or if there is no memory;
    /// the filter is unchanged then.
    pub fn union_with(&mut self, other: &GrowingBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        Meaning { sizes: [], hash: self.hash }.check(Meaning { sizes: [], hash: other.hash })?;
        let parts = self.parts.len() + other.parts.len();
        if parts > MAX_PARTS {
            return Err(Mismatch::Parts { parts, most: MAX_PARTS });
        }
        if self.rate + other.rate >= 1.0 {
            return Err(Mismatch::Rates { ours: self.rate, theirs: other.rate });
        }
        let parts =
            other.parts.iter().map(Part::copy).collect::<Result<Vec<_>, _>>().map_err(|_| Mismatch::NoMemory)?;
        self.parts.extend(parts);
        self.parts.sort_by_key(Part::room);
        self.rate += other.rate;
        self.expansion = self.expansion.min(other.expansion);
        // With the greater one, the rates of further parts could exceed what the finer filter has left for them.
        self.tightening = self.tightening.min(other.tightening);
        Ok(())
    }
}

impl<M> GrowingBloom<M> {
    /// The upper bound of the filter's false-positive rate, for any number of keys.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The capacity of a new part divided by that of the largest part before it. If it is 0, no part is added.
    pub fn expansion(&self) -> u32 {
        self.expansion
    }

    /// The number of inserted keys that were certainly new.
    pub fn len(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.keys))
    }

    /// True if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of parts of the filter, from 1 to [`MAX_PARTS`].
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The size of all parts of the filter together, in bits.
    pub fn bits(&self) -> u64 {
        self.parts.iter().map(|part| part.filter.bits()).sum()
    }

    /// The number of keys that the existing parts can hold together.
    pub fn capacity(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.filter.capacity()))
    }
}

/// Removes from `keys` all keys that may be in `filter`, so that the certainly new ones remain.
fn keep_new(filter: &Bloom, keys: &mut Vec<KeyHash>, answers: &mut Vec<bool>) {
    filter.contains_all(keys, answers);
    let mut answers = answers.iter();
    keys.retain(|_| answers.next() == Some(&false));
}

impl<M: Deref<Target = [u8]>> Filter for GrowingBloom<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    fn contains_hash(&self, key: KeyHash) -> bool {
        self.parts.iter().rev().any(|part| part.filter.contains_hash(key))
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        let (mut asked, mut places, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (keys, out) in keys.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            asked.clear();
            asked.extend_from_slice(keys);
            places.clear();
            places.extend(0..keys.len());
            for part in self.parts.iter().rev() {
                part.filter.contains_all(&asked, &mut answers);
                let mut kept = 0;
                for (i, &answer) in answers.iter().enumerate() {
                    out[places[i]] = answer;
                    (asked[kept], places[kept]) = (asked[i], places[i]);
                    kept += usize::from(!answer);
                }
                asked.truncate(kept);
                places.truncate(kept);
            }
        }
    }

    /// The false-positive rate 1 - ∏ (1 - rateᵢ), where rateᵢ is the present rate of part i. Cost: one pass over all
    /// bits.
    fn false_positive_rate(&self) -> f64 {
        -self.parts.iter().map(|part| (-part.filter.false_positive_rate()).ln_1p()).sum::<f64>().exp_m1()
    }
}

impl FilterMut for GrowingBloom {
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        if self.contains_hash(key) {
            return Ok(false);
        }
        let part = self.with_room()?;
        part.filter.insert_hash(key)?;
        part.keys += 1;
        Ok(true)
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        let (mut left, mut answers) = (Vec::new(), Vec::new());
        let mut new = 0;
        for batch in keys.chunks(BATCH) {
            left.clear();
            left.extend_from_slice(batch);
            for part in self.parts.iter().rev() {
                keep_new(&part.filter, &mut left, &mut answers);
            }
            // The last part may become full. Keys that it then holds are not passed on to the next part.
            while !left.is_empty() {
                let part = self.with_room()?;
                let now = left.len().min(usize::try_from(part.room()).unwrap_or(usize::MAX));
                let of_these = part.filter.insert_all(&left[..now])?;
                part.keys += of_these;
                new += of_these;
                left.drain(..now);
                keep_new(&part.filter, &mut left, &mut answers);
            }
        }
        Ok(new)
    }
}
