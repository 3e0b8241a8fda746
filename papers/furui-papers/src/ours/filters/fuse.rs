//! The fuse filter beside a Bloom filter of its rate; and what it costs a quotient filter to be made for ten doublings.

use std::hint::black_box;

use furui::filter::{Bloom, Filter, FilterMut, Fuse, QuotientFilter};
use furui::{HashSpec, KeyHash, Result};

use super::{BATCH, ROUNDS};
use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::report::{Cell, Table};

const RATE: f64 = 1.0 / 256.0;

/// The quotient filter is full at .9 of its slots, where insertions are as slow as a user will see them for long.
const FULL: f64 = 0.9;

pub(super) fn run(n: usize) -> Result<()> {
    let keys: Vec<KeyHash> = (0..2 * n as u64).map(|i| KeyHash::new(mix(i))).collect();
    let (known, others) = keys.split_at(n);
    let mut bits = [0; 2];
    let mut samples = [const { [const { Vec::new() }; 3] }; 2];
    for _ in 0..ROUNDS {
        let mut bloom = Bloom::with_rate(n as u64, RATE)?;
        samples[0][0].push(ns_each(n, || {
            for batch in known.chunks(BATCH) {
                _ = bloom.insert_all(batch);
            }
        }));
        let (taken, mut fuse) = (known.to_vec(), None);
        samples[1][0].push(ns_each(n, || fuse = Some(Fuse::from_hashes(HashSpec::default(), taken, RATE))));
        let fuse = fuse.expect("it was built")?;
        bits = [bloom.bits(), fuse.bits()];
        for (of, list) in [(1, known), (2, others)] {
            samples[0][of].push(look_up(&bloom, list));
            samples[1][of].push(look_up(&fuse, list));
        }
    }
    let columns = ["filter", "bits a key", "build, ns", "hit, ns", "miss, ns", "hit, to Bloom", "miss, to it"];
    let mut table = Table::new("", format!("fuse, rate 1/256, batches, {n} keys"), columns);
    let base = samples[0].clone();
    for ((name, bits), mut times) in ["Bloom", "Fuse"].into_iter().zip(bits).zip(samples) {
        let ratio = |of: usize| {
            Cell::from(median(&mut times[of].iter().zip(&base[of]).map(|(own, base)| own / base).collect::<Vec<_>>()))
        };
        let ratios = [ratio(1), ratio(2)];
        let head = [Cell::from(name), (bits as f64 / n as f64).into()];
        table.push(head.into_iter().chain(times.each_mut().map(|times| median(times).into())).chain(ratios));
    }
    println!("\n## {}\n\n{}", table.title, table.markdown());
    doublings(known)
}

/// The time of a look-up in batches.
fn look_up(filter: &impl Filter, keys: &[KeyHash]) -> f64 {
    let mut answers = vec![];
    ns_each(keys.len(), || {
        for batch in keys.chunks(BATCH) {
            filter.contains_all(batch, &mut answers);
            black_box(&answers);
        }
    })
}

/// Insertions, key by key and in batches, into quotient filters that are made for no doublings and for ten.
fn doublings(keys: &[KeyHash]) -> Result<()> {
    let n = keys.len();
    let mut samples = [const { [const { Vec::new() }; 2] }; 2];
    let mut bits = [0; 2];
    for _ in 0..ROUNDS {
        for (i, doublings) in [0, 10].into_iter().enumerate() {
            let empty = QuotientFilter::growing((n as f64 / FULL * 0.97) as u64, 0.01, doublings)?;
            bits[i] = empty.bits();
            let mut filter = empty.clone();
            samples[i][0].push(ns_each(n, || {
                for &key in keys {
                    _ = black_box(filter.insert_hash(key));
                }
            }));
            let mut filter = empty;
            samples[i][1].push(ns_each(n, || {
                for batch in keys.chunks(1 << 16) {
                    _ = black_box(filter.insert_all(batch));
                }
            }));
        }
    }
    let columns = ["doublings", "bits a key", "insert, ns", "to none", "insert in batches, ns", "to none"];
    let mut table = Table::new("", format!("quotient filter, 1 %, {n} keys, filled to 90 %"), columns);
    let base = samples[0].clone();
    for ((doublings, bits), mut times) in ["0", "10"].into_iter().zip(bits).zip(samples) {
        let mut row = vec![Cell::from(doublings), (bits as f64 / n as f64).into()];
        for (times, base) in times.iter_mut().zip(&base) {
            let ratio = median(&mut times.iter().zip(base).map(|(own, base)| own / base).collect::<Vec<_>>());
            row.extend([Cell::from(median(times)), ratio.into()]);
        }
        table.push(row);
    }
    println!("\n## {}\n\n{}", table.title, table.markdown());
    Ok(())
}
