//! Reads a journal of any content: it is accepted or refused. A valid journal that was changed has only keys that were
//! there, or is an error.
#![no_main]

use std::sync::Arc;

use furui::KeyHash;
use furui::store::cascade::{Cascade, CascadeOptions, Journal};
use furui::store::{Bytes, JOURNAL, Memory, Storage};
use libfuzzer_sys::fuzz_target;

fn keys(bytes: &[u8]) -> furui::Result<Vec<u64>> {
    let mut all = Vec::new();
    Journal::open(Bytes::from(Arc::<[u8]>::from(bytes)), "fuzz")?.for_each(|_, keys| {
        all.extend_from_slice(keys);
        Ok(())
    })?;
    Ok(all)
}

fuzz_target!(|input: (Vec<Vec<u64>>, Vec<(u32, u8)>, u16, &[u8])| {
    let (records, changes, cut, raw) = input;
    let _ = keys(raw);
    let storage = Memory::new();
    let options = CascadeOptions { journal: true, ..CascadeOptions::default() };
    let mut set = Cascade::open(storage.clone(), options).expect("memory");
    let mut all = Vec::new();
    for record in records {
        let hashes: Vec<KeyHash> = record.iter().map(|&key| KeyHash::new(key)).collect();
        let mut new = Vec::new();
        set.insert_all(&hashes, &mut new).expect("memory");
        new.sort_unstable();
        all.extend(new.iter().map(|&i| record[i as usize].max(1)));
        set.sync().expect("memory");
    }
    let Ok(file) = storage.open(JOURNAL) else { return };
    let mut bytes = file.to_vec();
    assert_eq!(keys(&bytes).expect("it was just written"), all);
    for (at, value) in changes {
        let at = at as usize % bytes.len();
        bytes[at] = value;
    }
    bytes.truncate(bytes.len() - cut as usize % bytes.len());
    if let Ok(keys) = keys(&bytes) {
        assert!(all.starts_with(&keys));
    }
});
