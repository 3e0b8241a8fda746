//! The recent cache on a stream of lines: the number of keys that pass it and the time for each key, depending on the
//! number of ways and the size.

use std::hint::black_box;

use furui::raw::RecentTag;
use furui::seen::Recent;
use furui::{HashSpec, KeyHash};

use crate::clock::{median, ns_each};

const ROUNDS: usize = 5;
const BATCH: usize = 4096;

pub(crate) fn run(file: Option<&str>) {
    let Some(file) = file else {
        eprintln!("usage: furui-papers recent FILE (each line of the file is a key)");
        return;
    };
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {file}: {error}");
            return;
        }
    };
    let keys: Vec<KeyHash> = text.split(|&byte| byte == b'\n').map(|line| HashSpec::default().hash(line)).collect();
    drop(text);
    println!("{} keys in batches of {BATCH}; ns a key, and % of the keys that pass", keys.len());
    println!("entries      1 way           2 ways          4 ways          8 ways          8 ways, 16-bit tags");
    for bits in [8, 10, 12, 14, 16, 18, 20] {
        print!("2^{bits:<6}");
        one::<u64, 1>(&keys, 1 << bits);
        one::<u64, 2>(&keys, 1 << bits);
        one::<u64, 4>(&keys, 1 << bits);
        one::<u64, 8>(&keys, 1 << bits);
        one::<u16, 8>(&keys, 1 << bits);
        println!();
    }
}

fn one<T: RecentTag, const WAYS: usize>(keys: &[KeyHash], entries: usize) {
    let mut passed = 0;
    let mut misses = Vec::with_capacity(BATCH);
    let mut samples: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut recent = Recent::<T, WAYS>::new(entries).expect("valid parameters");
            passed = 0;
            ns_each(keys.len(), || {
                for batch in keys.chunks(BATCH) {
                    misses.clear();
                    recent.observe_all(batch, &mut misses);
                    passed += black_box(&misses).len();
                }
            })
        })
        .collect();
    print!("  {:5.2} {:7.3}", median(&mut samples), 100.0 * passed as f64 / keys.len() as f64);
}
