//! The cost of a large set: bytes written and stored, runs, and memory. Rivals are not measured, because each would
//! take many minutes at this size.

use std::path::Path;

use furui::store::Directory;

use crate::clock::timed;
use crate::keys::mix;
use crate::ours::peak_bytes;
use crate::report::Result;
use crate::store::{ours, stored};

const KEYS: u64 = 100_000_000;
const MEMORY: u64 = 64 << 20;

pub(super) fn run(directory: &Path) -> Result<()> {
    let directory = directory.join("set");
    println!("{KEYS} uniform keys, all new, with {} MiB", MEMORY >> 20);
    let mut set = ours::open(Directory::open(&directory)?.mapped(false), MEMORY)?;
    let (ns, most_runs) = timed(KEYS as usize, || ours::insert(&mut set, KEYS, mix));
    let most_runs = most_runs?;
    let floor = 64.0 - (KEYS as f64).log2() + std::f64::consts::LOG2_E;
    println!("insert-if-absent      {ns:8.1} ns of CPU a key");
    println!("runs a miss checks    {:8} at most; {} in the end", most_runs, set.runs().len());
    let written = set.written();
    println!("written               {:8.3} bytes a key", written as f64 / KEYS as f64);
    let before = stored(&directory)?;
    println!("stored                {:8.3} bytes a key", before as f64 / KEYS as f64);
    println!("peak of memory        {:8.1} MiB", peak_bytes() as f64 / f64::from(1 << 20));

    let (ns, compacted) = timed(KEYS as usize, || set.compact());
    compacted?;
    println!(
        "compaction            {ns:8.1} ns of CPU a key, {:.3} bytes written",
        (set.written() - written) as f64 / KEYS as f64
    );
    let after = stored(&directory)? as f64 / KEYS as f64;
    println!(
        "stored                {after:8.3} bytes a key, {:.4} times the floor of {:.3}",
        after * 8.0 / floor,
        floor / 8.0
    );
    println!("peak of memory        {:8.1} MiB", peak_bytes() as f64 / f64::from(1 << 20));
    Ok(())
}
