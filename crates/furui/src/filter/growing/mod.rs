mod file;

use std::ops::Deref;

use super::error::Meaning;
use super::{Bloom, ConfigError, Filter, FilterMut, Full, Mismatch};
use crate::bits::Buffer;
use crate::hash::{HashSpec, KeyHash};

/// The most parts of a [`GrowingBloom`]. As they double from 4096 keys on, that is 2.7 · 10¹¹ keys.
pub const MAX_PARTS: usize = 26;

/// How many keys the first part has room for. At 1 % that is 8 KiB.
const FIRST: u64 = 4096;

/// How many times as large as the largest part the next one is.
const GROWTH: u64 = 2;

/// How the rates tighten: part i has (1 - r) rⁱ of the rate of all, which sums up to no more than all of it.
const TIGHTENING: f64 = 0.9;

/// How many keys of a batch pass through the parts at a time: few enough to stay in the nearest cache.
const BATCH: usize = 512;

/// "Is it in this set?" when nobody knows how large the set will be: a chain of [`Bloom`] filters that gets another,
/// larger and stricter, whenever the last one is full.
///
/// ```text
///   room for 4096   8192        16384                  32768
///   ┌──────┐ ┌────────────┐ ┌────────────────────────┐ ┌───────────────────── ─ ─
///   │ full │ │    full    │ │ ▒▒▒▒▒▒ new keys        │ │  not made yet
///   └──────┘ └────────────┘ └────────────────────────┘ └───────────────────── ─ ─
///    rate/10  rate/10 · 0.9  rate/10 · 0.9²             ...                    sum ≤ rate
/// ```
///
/// A key may be in the set if it may be in any part. One that may be is not inserted again, so a stream with
/// repetitions takes the room of its distinct keys only.
///
/// **Rate.** With n keys, whatever n is, at most the one asked for: the false-positive rates of the parts sum up to it.
///
/// **Cost.** log₂(n/4096) + 1 parts, so eight at a million keys. A miss asks all of them, for three bits each at least; half
/// of all hits ask the last one only. With n from 10⁶ to 10⁹ keys the space is, against a [`Bloom`] filter that was sized
/// for n: 1.7 times at 1 % and 1.2 times at 10⁻⁶ just before the filter grows, 3.7 and 2.6 times just after, 2.5 and
/// 1.8 in the mean. Who knows n takes a [`Bloom`] filter.
///
/// **Source.** Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom Filters", 2007. **Differs** in its parts, which
/// are not sliced into one range for each probe. Of the growth and tightening that it leaves to choose, 2 and 0.9 take the
/// least space beyond 10⁶ keys: 0.5 takes 1.6 times as much at 1 %, growth by 4 takes 1.4 times as much, with five parts
/// instead of eight to ask at a million keys.
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
    /// New keys go into the last one; at least one.
    parts: Vec<Part<M>>,
    rate: f64,
    hash: HashSpec,
}

#[derive(Clone, Debug, PartialEq)]
struct Part<M> {
    /// Has its rate at its capacity.
    filter: Bloom<M>,
    /// How many keys were inserted; no more than its capacity.
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
    /// An empty filter that has the false-positive `rate`, or a better one, whatever it will hold.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or so fine that the hashes of the first part's keys could not be told apart.
    pub fn with_rate(rate: f64) -> Result<Self, ConfigError> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(ConfigError(format!("a false-positive rate of {rate}: it is more than 0 and less than 1")));
        }
        let mut filter = Self { parts: Vec::new(), rate, hash: HashSpec::default() };
        filter.grow(FIRST).map_err(|error| {
            let finest = FIRST as f64 * 2f64.powi(-64) / (1.0 - TIGHTENING);
            if rate > finest {
                return error;
            }
            ConfigError(format!(
                "a false-positive rate of {rate:e}: the 64-bit hashes of the first {FIRST} keys of a growing filter meet more \
                 often than the tenth of it that is theirs; ask for more than {finest:.1e}"
            ))
        })?;
        Ok(filter)
    }

    /// The same filter for keys that are hashed like `hash`, instead of as [`HashSpec::default`] says. What is in it
    /// must have been hashed so.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        let parts = self.parts.into_iter().map(|part| Part { filter: part.filter.hashed_by(hash), ..part }).collect();
        Self { parts, hash, ..self }
    }

    /// Appends a part with room for `keys` keys.
    fn grow(&mut self, keys: u64) -> Result<(), ConfigError> {
        let rate = self.rate * (1.0 - TIGHTENING) * TIGHTENING.powi(self.parts.len() as i32);
        let filter = Bloom::with_rate(keys, rate)?.hashed_by(self.hash);
        self.parts.push(Part { filter, keys: 0 });
        Ok(())
    }

    /// The last part, which has room for a key.
    fn with_room(&mut self) -> Result<&mut Part<Buffer>, Full> {
        let is_full = |parts: &[Part<Buffer>]| parts.last().is_none_or(|last| last.room() == 0);
        if is_full(&self.parts) {
            // After a union others may have room too.
            self.parts.sort_by_key(Part::room);
        }
        if is_full(&self.parts) {
            let full = Full::AtCapacity { capacity: self.capacity() };
            if self.parts.len() == MAX_PARTS {
                return Err(full);
            }
            let largest = self.parts.iter().map(|part| part.filter.capacity()).max().unwrap_or(0);
            self.grow(largest.saturating_mul(GROWTH).max(FIRST)).map_err(|_| full)?;
        }
        Ok(self.parts.last_mut().expect("there is a part"))
    }

    /// Takes in what `other` holds, by taking over its parts. The rate that is kept from now on is the sum of both.
    ///
    /// Keys that are in both count twice in [`len`](Self::len). Cost: a copy of `other`.
    ///
    /// # Errors
    /// If the hashes differ, if there would be more than [`MAX_PARTS`] parts or a rate of 1, or if there is no memory; the
    /// filter is unchanged then.
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
        Ok(())
    }
}

impl<M> GrowingBloom<M> {
    /// The false-positive rate that it keeps below.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// How many insertions were of keys that were certainly new.
    pub fn len(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.keys))
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many parts there are, from 1 to [`MAX_PARTS`].
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// How many bits all parts have.
    pub fn bits(&self) -> u64 {
        self.parts.iter().map(|part| part.filter.bits()).sum()
    }

    /// How many keys the parts that there are have room for.
    pub fn capacity(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.filter.capacity()))
    }
}

/// Keeps those of `keys` that are certainly not in `filter`.
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

    /// 1 - ∏ (1 - rateᵢ) over the parts as they are filled. Cost: one pass over all bits.
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
        part.filter.insert_hash(key);
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
            // The last part may fill: what it took in is not new to the next one.
            while !left.is_empty() {
                let part = self.with_room()?;
                let now = left.len().min(usize::try_from(part.room()).unwrap_or(usize::MAX));
                let of_these = part.filter.insert_all(&left[..now]);
                part.keys += of_these;
                new += of_these;
                left.drain(..now);
                keep_new(&part.filter, &mut left, &mut answers);
            }
        }
        Ok(new)
    }
}
