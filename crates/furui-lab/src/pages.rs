//! The storage level of the cascade: space of pages, and the time to encode, decode, search and merge them.

use std::hint::black_box;

use furui::store::cascade::{Merge, PAGE_BYTES, Page, RemainderBits, SortedKeys};

use crate::clock::{median, ns_each};

const ROUNDS: usize = 7;

pub(crate) fn run() {
    page(5_000_000);
    if std::env::args().count() > 2 { return; }
    for ways in [1, 2, 4, 8] {
        merge(4_000_000, ways);
    }
}

/// Sorted, distinct, uniform keys: those of a splitmix64 sequence.
fn keys(count: usize, seed: u64) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count as u64).map(|i| mix(i.wrapping_add(seed << 40))).collect();
    keys.sort_unstable();
    keys
}

fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn encode(keys: &[u64], bits: RemainderBits, pages: &mut Vec<[u8; PAGE_BYTES]>) -> usize {
    let (mut done, mut used) = (0, 0);
    while done < keys.len() {
        if pages.len() == used {
            pages.push([0; PAGE_BYTES]);
        }
        done += Page::encode(&keys[done..], bits, &mut pages[used]);
        used += 1;
    }
    used
}

fn page(count: usize) {
    let keys = keys(count, 0);
    let bits = RemainderBits::for_keys(count as u64);
    let mut pages = vec![];
    let used = encode(&keys, bits, &mut pages);
    let floor = 64.0 - (count as f64).log2() + std::f64::consts::LOG2_E;
    println!("{count} keys: {:.3} bits a key, floor {floor:.3}", (used * PAGE_BYTES * 8) as f64 / count as f64);
    let (mut e, mut d, mut c, mut l) = (vec![], vec![], vec![], vec![]);
    let mut out = vec![];
    for _ in 0..ROUNDS {
        e.push(ns_each(count, || {
            black_box(encode(&keys, bits, &mut pages));
        }));
        d.push(ns_each(count, || {
            for page in &pages {
                let page = Page::new(page, bits).unwrap();
                page.decode(&mut out).unwrap();
                black_box(&out);
            }
        }));
        c.push(ns_each(count, || {
            for page in &pages {
                let page = Page::new(page, bits).unwrap();
                page.check().unwrap();
            }
        }));
        // 200 pages stay in the cache.
        l.push(ns_each(2_000_000, || {
            let mut hits = 0;
            for i in 0..2_000_000u64 {
                let key = mix(i) % 150_000;
                let p = mix(i) as usize % 180;
                let page = Page::new(&pages[p], bits).unwrap();
                hits += usize::from(page.contains(keys[key as usize]));
            }
            black_box(hits);
        }));
    }
    println!(
        "encode {:.2}, decode {:.2}, check {:.2}, contains {:.2}",
        median(&mut e),
        median(&mut d),
        median(&mut c),
        median(&mut l)
    );
}

struct Pages<'a> {
    pages: &'a [[u8; PAGE_BYTES]],
    bits: RemainderBits,
    buffer: Vec<u64>,
    page: Vec<u64>,
    start: usize,
}

impl SortedKeys for Pages<'_> {
    fn fill(&mut self) -> furui::Result<&[u64]> {
        if self.buffer.len() - self.start < 2048 {
            self.buffer.drain(..self.start);
            self.start = 0;
            while self.buffer.len() < 3000 {
                let Some((page, rest)) = self.pages.split_first() else { break };
                let page = Page::new(page, self.bits).unwrap();
                page.check().unwrap();
                page.decode(&mut self.page).unwrap();
                self.buffer.extend_from_slice(&self.page);
                self.pages = rest;
            }
        }
        Ok(&self.buffer[self.start..])
    }
    fn consume(&mut self, count: usize) {
        self.start += count;
    }
}

fn merge(count: usize, ways: usize) {
    let all = keys(count, 0);
    let bits = RemainderBits::for_keys((count / ways) as u64);
    let mut sources = vec![vec![]; ways];
    for key in &all {
        sources[mix(*key) as usize % ways].push(*key);
    }
    let encoded: Vec<Vec<_>> = sources
        .iter()
        .map(|keys| {
            let mut pages = vec![];
            encode(keys, bits, &mut pages);
            pages
        })
        .collect();
    let (mut whole, mut bare) = (vec![], vec![]);
    let out_bits = RemainderBits::for_keys(count as u64);
    for _ in 0..ROUNDS {
        bare.push(ns_each(count, || {
            let mut merge = Merge::new(sources.iter().map(|s| &s[..]).collect());
            let mut n = 0;
            loop {
                let keys = merge.next_keys().unwrap();
                if keys.is_empty() {
                    break;
                }
                n += keys.len();
            }
            assert_eq!(n, count);
        }));
        whole.push(ns_each(count, || {
            let mut merge = Merge::new(
                encoded
                    .iter()
                    .map(|pages| Pages { pages, bits, buffer: vec![], page: vec![], start: 0 })
                    .collect(),
            );
            let mut pending: Vec<u64> = vec![];
            let mut page = [0; PAGE_BYTES];
            let mut n = 0;
            loop {
                let keys = merge.next_keys().unwrap();
                if keys.is_empty() {
                    break;
                }
                pending.extend_from_slice(keys);
                let mut done = 0;
                while pending.len() - done > out_bits.most_keys() {
                    done += Page::encode(&pending[done..], out_bits, &mut page);
                    black_box(&page);
                }
                n += done;
                pending.drain(..done);
            }
            assert!(n <= count);
        }));
    }
    println!("{ways} ways: merge only {:.2}, whole {:.2}", median(&mut bare), median(&mut whole));
}
