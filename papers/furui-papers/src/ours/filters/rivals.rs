//! The rival filters. All take hashes except bloomfilter and growable-bloom-filter, which hash their keys. Where an
//! insertion tells whether a key was new, new keys are counted, as for this project's filters.

use std::fmt::{self, Write};
use std::hint::black_box;

use furui::KeyHash;

use super::{Contestant, Row};

/// The rivals of these names, for `n` keys. A rival whose name does not state its size is sized for `rate`.
pub(super) fn rows(names: &[&'static str], n: usize, rate: f64) -> Vec<Row> {
    let of = |name| -> Box<dyn Contestant> {
        match name {
            "sbbf, 10 bits" => Box::new(sbbf_rs_safe::Filter::new(10, n)),
            "sbbf, 15 bits" => Box::new(sbbf_rs_safe::Filter::new(15, n)),
            "sbbf, 17 bits" => Box::new(sbbf_rs_safe::Filter::new(17, n)),
            "fastbloom, atomic" => Box::new(fastbloom::AtomicBloomFilter::with_false_pos(rate).expected_items(n)),
            "bloomfilter" => Box::new(bloomfilter::Bloom::new_for_fp_rate(n, rate).expect("valid sizes")),
            "growable-bloom-filter" => Box::new(growable_bloom_filter::GrowableBloom::new(rate, 4096)),
            _ => Box::new(fastbloom::BloomFilter::with_false_pos(rate).expected_items(n)),
        }
    };
    names.iter().map(|&name| (name, of(name))).collect()
}

impl Contestant for sbbf_rs_safe::Filter {
    fn insert(&mut self, keys: &[KeyHash]) {
        black_box(keys.iter().filter(|key| self.insert_hash(key.get())).count());
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
        black_box(keys.iter().filter(|key| self.insert_hash(key.get())).count());
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        keys.iter().filter(|key| self.contains_hash(key.get())).count()
    }

    fn bits(&self) -> u64 {
        self.num_bits() as u64
    }
}

impl Contestant for fastbloom::AtomicBloomFilter {
    fn insert(&mut self, keys: &[KeyHash]) {
        black_box(keys.iter().filter(|key| self.insert_hash(key.get())).count());
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

impl Contestant for growable_bloom_filter::GrowableBloom {
    fn insert(&mut self, keys: &[KeyHash]) {
        for key in keys {
            self.insert(key.get());
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        keys.iter().filter(|key| self.contains(key.get())).count()
    }

    /// The size in bits. The filter has no method for it, but its debug output lists its bytes.
    fn bits(&self) -> u64 {
        struct Commas(u64);
        impl Write for Commas {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0 += text.bytes().filter(|&byte| byte == b',').count() as u64;
                Ok(())
            }
        }
        let mut commas = Commas(0);
        write!(commas, "{self:?}").expect("counting does not fail");
        8 * commas.0
    }
}
