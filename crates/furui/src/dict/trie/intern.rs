use crate::hash::HashSpec;

/// Numbers for distinct byte strings, in the order in which they first come, and how often each came.
#[derive(Clone, Debug)]
pub(super) struct Interner {
    /// Where a string is in `text`: start · 2¹⁶ + length.
    places: Vec<u64>,
    counts: Vec<u32>,
    text: Vec<u8>,
    /// Open addressing: the upper half of a hash, and the number + 1; 0 is free.
    slots: Vec<u64>,
    hash: HashSpec,
}

impl Default for Interner {
    /// Hashed with a random seed: the strings are parts of keys that strangers choose.
    fn default() -> Self {
        Self { places: vec![], counts: vec![], text: vec![], slots: vec![0; 64], hash: HashSpec::random() }
    }
}

impl Interner {
    /// The number of `string`, which is shorter than 64 KiB.
    pub(super) fn intern(&mut self, string: &[u8]) -> u32 {
        if self.places.len() * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let tag = self.hash.hash(string).get() >> 32;
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

    /// The string of this number came again.
    #[inline(always)]
    pub(super) fn count_again(&mut self, number: u32) {
        self.counts[number as usize] += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u8] {
        let place = self.places[number as usize];
        &self.text[(place >> 16) as usize..][..place as usize & 0xFFFF]
    }

    /// How often the string of this number came.
    pub(super) fn count(&self, number: u32) -> u32 {
        self.counts[number as usize]
    }

    /// Where the search for a tag begins: the slots are a power of two, 2³² at most.
    fn home(&self, tag: u64) -> usize {
        (tag >> (32 - self.slots.len().trailing_zeros().min(32))) as usize
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![0; old.len() * 2];
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            let mut at = self.home(slot >> 32);
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }
}
