//! Decodes any bytes as a manifest, and reads back any manifest that was written: the result is the same manifest, or
//! an error if the manifest breaks a rule. A valid manifest whose bytes were changed is an error. Any bytes are also
//! read as the table of a pack that says that they are its own.
#![no_main]

use furui::HashSpec;
use furui::format::Seal;
use furui::store::shared::{PackEntry, PackTable, SharedManifest};
use furui::store::{Manifest, RunEntry, StoreKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, Vec<(u64, u64, u64, u64)>, Vec<(u32, u8)>, &[u8])| {
    let (seed, runs, changes, raw) = input;
    let _ = Manifest::decode(raw, "fuzz");
    let _ = SharedManifest::decode(raw, "fuzz");
    let table_checksum = HashSpec::default().hash(raw).get();
    let table_length = raw.len() as u64;
    let (table, length, keys) = (seed, seed.saturating_add(table_length), 1 << 40);
    let pack = PackEntry { id: [1; 16], length, keys, table, table_length, table_checksum };
    let _ = PackTable::read(raw, &pack, "fuzz");
    let mut manifest = Manifest::new(StoreKind::Seen, HashSpec { seed, ..HashSpec::default() });
    for (number, keys, length, checksum) in runs {
        let _ = manifest.take_number();
        manifest.runs.push(RunEntry { number: number % 16, keys, seal: Seal { length, checksum }, slice: 0 });
    }
    let mut bytes = Vec::new();
    manifest.encode(&mut bytes).expect("memory takes all bytes");
    let good = bytes.clone();
    for (at, value) in changes {
        let at = at as usize % bytes.len();
        bytes[at] = value;
    }
    match Manifest::decode(bytes.as_slice(), "fuzz") {
        Ok(read) => assert!(read == manifest && bytes == good),
        Err(_) if bytes == good => {
            let mut numbers: Vec<u64> = manifest.runs.iter().map(|run| run.number).collect();
            numbers.sort_unstable();
            let repeated = numbers.windows(2).any(|pair| pair[0] == pair[1]);
            let unknown = numbers.last().is_some_and(|&last| last >= manifest.runs.len() as u64);
            let many = manifest.runs.iter().try_fold(0u64, |sum, run| sum.checked_add(run.keys)).is_none();
            assert!(repeated || unknown || many, "a sound manifest was refused");
        }
        Err(_) => {}
    }
});
