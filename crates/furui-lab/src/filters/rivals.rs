//! The rivals: all take hashes, but for bloomfilter, which hashes what it is given.

use furui::KeyHash;

use super::Contestant;

impl Contestant for sbbf_rs_safe::Filter {
    fn insert(&mut self, keys: &[KeyHash]) {
        for key in keys {
            self.insert_hash(key.get());
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        keys.iter().filter(|key| self.contains_hash(key.get())).count()
    }

    fn bits(&self) -> u64 {
        8 * self.as_bytes().len() as u64
    }
}

impl Contestant for fastbloom::BloomFilter {
    fn insert(&mut self, keys: &[KeyHash]) {
        for key in keys {
            self.insert_hash(key.get());
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        keys.iter().filter(|key| self.contains_hash(key.get())).count()
    }

    fn bits(&self) -> u64 {
        self.num_bits() as u64
    }
}

impl Contestant for bloomfilter::Bloom<u64> {
    fn insert(&mut self, keys: &[KeyHash]) {
        for key in keys {
            self.set(&key.get());
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        keys.iter().filter(|key| self.check(&key.get())).count()
    }

    fn bits(&self) -> u64 {
        self.len()
    }
}
