//! Measures the Bloom filter, which takes the least space for its rate.

use std::hint::black_box;

use furui::filter::{Bloom, Concurrent};
use furui::{Hashes, KeyHash, Result};

use super::{Contestant, both, insert_shared, report, rivals};

pub(super) fn run(n: usize) -> Result<()> {
    for (title, rival, rate) in [("1 %", "fastbloom, 1 %", 0.01), ("0.1 %", "fastbloom, 0.1 %", 0.001)] {
        report(title, n, rival, || {
            let filter = Bloom::with_rate(n as u64, rate)?;
            let mut rows = both(["Bloom, batches", "Bloom, single"], filter.clone(), Bloom::bits);
            for (name, single) in [("Bloom, shared, batches", false), ("Bloom, shared, single, with its hash", true)] {
                let shared = Shared { bits: filter.bits(), filter: Concurrent::new(filter.clone())?, single };
                rows.push((name, Box::new(shared)));
            }
            rows.extend(rivals::rows(&[rival, "fastbloom, atomic", "bloomfilter"], n, rate));
            Ok(rows)
        })?;
    }
    Ok(())
}

/// A concurrent Bloom filter of this project, filled through `&self`, as several threads would fill it.
struct Shared {
    filter: Concurrent<Bloom>,
    bits: u64,
    single: bool,
}

/// The number of hashes that are copied into a batch at a time.
const BATCH: usize = 10_000;

impl Contestant for Shared {
    fn insert(&mut self, keys: &[KeyHash]) {
        match self.single {
            true => keys.iter().for_each(|&key| _ = black_box(self.filter.insert(bytes(key)))),
            false => keys.chunks(BATCH).for_each(|keys| insert_shared(&self.filter, keys)),
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        if self.single {
            return keys.iter().filter(|&&key| self.filter.contains(bytes(key))).count();
        }
        let (mut batch, mut answers) = (Hashes::new(&self.filter.hash_spec().hasher()), vec![]);
        keys.iter().for_each(|&key| batch.push_hash(key));
        self.filter.contains_hashes(&batch, &mut answers).expect("a batch of its own spec");
        answers.into_iter().filter(|&found| found).count()
    }

    fn bits(&self) -> u64 {
        self.bits
    }
}

/// The eight bytes of a key, for a filter that hashes its keys itself.
fn bytes(key: KeyHash) -> [u8; 8] {
    key.get().to_le_bytes()
}
