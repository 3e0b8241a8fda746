//! The write buffer compared with a hash map of boxed keys: the times of inserting a key, looking it up, and sorting
//! all keys.

use std::error::Error;
use std::hint::black_box;

use furui::raw::Rolling;
use furui::raw::{Found, WriteBuffer};

use crate::clock::{median, ns_each};
use crate::keys::mix;

const ROUNDS: usize = 7;
const KEYS: usize = 500_000;
const KEY_BYTES: usize = 64;

pub(crate) fn run(file: Option<&str>) -> Result<(), Box<dyn Error>> {
    let text = match file {
        Some(file) => std::fs::read(file)?,
        None => vec![],
    };
    let random: Vec<[u8; KEY_BYTES]> = (0..KEYS as u64).map(random_key).collect();
    let mut keys: Vec<&[u8]> = match file {
        Some(_) => text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect(),
        None => random.iter().map(<[u8; KEY_BYTES]>::as_slice).collect(),
    };
    // Keys are looked up in random order, not in the order of memory.
    for i in (1..keys.len()).rev() {
        keys.swap(i, (mix(i as u64) % (i as u64 + 1)) as usize);
    }
    keys.truncate(KEYS);
    let bytes: usize = keys.iter().map(|key| key.len()).sum();
    println!(
        "{} keys of {:.1} bytes; ns a key, median of {ROUNDS} rounds",
        keys.len(),
        bytes as f64 / keys.len() as f64
    );

    let hasher = Rolling::spec(0).hasher();
    let mut ours = Times::default();
    let mut theirs = Times::default();
    let (mut order, mut sort) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        let mut buffer = WriteBuffer::new();
        ours.insert.push(ns_each(keys.len(), || {
            for (i, key) in keys.iter().enumerate() {
                buffer.put(key, hasher.hash(key), Found::Value(i as u32));
            }
        }));
        ours.hit.push(ns_each(keys.len(), || {
            for key in keys.iter().rev() {
                black_box(buffer.get(key, hasher.hash(key)));
            }
        }));
        order.push(ns_each(keys.len(), || {
            black_box(buffer.nth(0));
        }));
        rivals(&keys, &mut theirs);
        sort.push(ns_each(keys.len(), || {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            black_box(sorted);
        }));
        println!(
            "one round: {} bytes of records, {:.1} a key beyond the key",
            buffer.bytes(),
            (buffer.bytes() as f64 - bytes as f64) / keys.len() as f64
        );
    }
    println!("write buffer   insert {:.0}, hit {:.0}", median(&mut ours.insert), median(&mut ours.hit));
    if !theirs.insert.is_empty() {
        println!("hashbrown      insert {:.0}, hit {:.0}", median(&mut theirs.insert), median(&mut theirs.hit));
        let rate = median(&mut theirs.insert) / median(&mut ours.insert);
        println!("insertion: {rate:.2} times the rate of hashbrown");
    }
    println!("order          {:.0}; sort_unstable of slices {:.0}", median(&mut order), median(&mut sort));
    Ok(())
}

#[derive(Default)]
struct Times {
    insert: Vec<f64>,
    hit: Vec<f64>,
}

#[cfg(feature = "rivals")]
fn rivals(keys: &[&[u8]], times: &mut Times) {
    let mut map: hashbrown::HashMap<Box<[u8]>, u32> = hashbrown::HashMap::new();
    times.insert.push(ns_each(keys.len(), || {
        for (i, &key) in keys.iter().enumerate() {
            map.insert(key.into(), i as u32);
        }
    }));
    times.hit.push(ns_each(keys.len(), || {
        for &key in keys.iter().rev() {
            black_box(map.get(key));
        }
    }));
}

#[cfg(not(feature = "rivals"))]
fn rivals(_: &[&[u8]], _: &mut Times) {}

fn random_key(i: u64) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    for (j, part) in key.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *part = mix(i * (KEY_BYTES / 8) as u64 + j as u64).to_le_bytes();
    }
    key
}
