use super::TrieError;
use super::room::{collected, filled, reserve};
use crate::bits::prefetch;
use crate::hash::{HashSpec, KeyHasher};

/// Gives numbers to distinct byte strings, in the order of their first occurrences, and counts the occurrences of each.
#[derive(Clone, Debug)]
pub(super) struct Interner {
    /// The place of each string in `text`, as 2¹⁶ · start + length.
    places: Vec<u64>,
    counts: Vec<u32>,
    text: Vec<u8>,
    /// A hash table with open addressing. A slot holds the upper half of a string's hash, and the string's number plus
    /// one; 0 in an empty slot. The table has no slots before the first string.
    slots: Vec<u64>,
    hasher: KeyHasher,
}

/// A batch of strings that get their numbers together, so that the cache misses of their look-ups overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    items: Vec<Item>,
    text: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Item {
    tag: u64,
    end: usize,
    key: u32,
}

impl Batch {
    /// The number of strings after which a batch is full. While it is filled, the slots that its strings need are
    /// fetched from memory.
    const FULL: usize = 64;

    /// Adds a string to the batch. The caller finds it again by `key`, when it gets its number.
    #[inline]
    pub(super) fn push(&mut self, interner: &Interner, string: &[u8], key: u32) {
        let tag = interner.tag(string);
        interner.slots.get(interner.home(tag)).into_iter().for_each(prefetch);
        self.text.extend_from_slice(string);
        self.items.push(Item { tag, end: self.text.len(), key });
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= Self::FULL
    }
}

impl Default for Interner {
    /// Creates an empty table with a random seed, because the strings are parts of keys that an adversary may choose.
    fn default() -> Self {
        Self { places: vec![], counts: vec![], text: vec![], slots: vec![], hasher: HashSpec::random().hasher() }
    }
}

impl Interner {
    /// Gives numbers to the strings of a batch, each shorter than 64 KiB, in order, and empties the batch. `each` is
    /// called with the key and the number of each string.
    pub(super) fn intern_all(&mut self, batch: &mut Batch, mut each: impl FnMut(u32, u32)) -> Result<(), TrieError> {
        self.reserve(batch.items.len(), batch.text.len())?;
        for item in &batch.items {
            if let Some(number) = self.likely(item.tag) {
                prefetch(&self.places[number]);
                prefetch(&self.counts[number]);
            }
        }
        for item in &batch.items {
            if let Some(number) = self.likely(item.tag) {
                self.text.get((self.places[number] >> 16) as usize).into_iter().for_each(prefetch);
            }
        }
        let mut start = 0;
        for item in &batch.items {
            each(item.key, self.intern_tagged(&batch.text[start..item.end], item.tag));
            start = item.end;
        }
        batch.items.clear();
        batch.text.clear();
        Ok(())
    }

    #[inline]
    fn tag(&self, string: &[u8]) -> u64 {
        self.hasher.hash(string).get() >> 32
    }

    /// The number in the first slot that a look-up probes; `None` if that slot does not hold `tag` (the upper half of a
    /// hash).
    #[inline]
    fn likely(&self, tag: u64) -> Option<usize> {
        let slot = *self.slots.get(self.home(tag))?;
        (slot != 0 && slot >> 32 == tag).then(|| slot as u32 as usize - 1)
    }

    /// Makes room for this many more strings, which have this many bytes in total.
    fn reserve(&mut self, strings: usize, bytes: usize) -> Result<(), TrieError> {
        reserve(&mut self.places, strings)?;
        reserve(&mut self.counts, strings)?;
        reserve(&mut self.text, bytes)?;
        while (self.places.len() + strings) * 8 > self.slots.len() * 5 {
            self.grow()?;
        }
        Ok(())
    }

    /// Returns the number of a string whose hash has the upper half `tag`; a new string gets the next number. There
    /// must be room for it.
    fn intern_tagged(&mut self, string: &[u8], tag: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            let number = slot as u32 - 1;
            if slot >> 32 == tag && self.get(number) == string {
                self.counts[number as usize] += 1;
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.places.len() as u32;
        self.slots[at] = tag << 32 | u64::from(number + 1);
        self.places.push((self.text.len() as u64) << 16 | string.len() as u64);
        self.counts.push(1);
        self.text.extend_from_slice(string);
        number
    }

    /// Frees the hash table. The caller does this when further strings are unlikely.
    pub(super) fn close(&mut self) {
        self.slots = vec![];
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u8] {
        let place = self.places[number as usize];
        &self.text[(place >> 16) as usize..][..place as usize & 0xFFFF]
    }

    /// The number of occurrences of the string with this number.
    pub(super) fn count(&self, number: u32) -> u32 {
        self.counts[number as usize]
    }

    /// The slot at which the probe sequence for a tag (the upper half of a hash) begins. The number of slots is a power
    /// of two, at most 2³².
    fn home(&self, tag: u64) -> usize {
        (tag >> (32 - self.slots.len().trailing_zeros().min(32))) as usize
    }

    fn grow(&mut self) -> Result<(), TrieError> {
        let mut old = std::mem::take(&mut self.slots);
        let size = if old.is_empty() { (self.places.len() * 2).next_power_of_two().max(64) } else { old.len() * 2 };
        if old.is_empty() {
            let slot = |number: u32| self.tag(self.get(number)) << 32 | u64::from(number + 1);
            old = collected((0..self.places.len() as u32).map(slot))?;
        }
        self.slots = filled(0, size)?;
        let mask = size - 1;
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            let mut at = self.home(slot >> 32);
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
        Ok(())
    }
}
