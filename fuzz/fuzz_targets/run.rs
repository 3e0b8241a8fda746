//! Reads a run (a file of sorted keys) whose bytes were changed anywhere: look-ups give answers or errors, and if the
//! run passes `verify`, the answers are right.
#![no_main]

use std::sync::Arc;

use furui::HashSpec;
use furui::raw::RunWriter;
use furui::store::cascade::Run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u64>, Vec<(u32, u8)>, u64)| {
    let (mut keys, changes, asked) = input;
    keys.sort_unstable();
    keys.dedup();
    let mut bytes = Vec::new();
    let mut writer = RunWriter::new(&mut bytes, "fuzz", HashSpec::default(), keys.len() as u64).expect("memory");
    writer.push(&keys).expect("memory");
    writer.finish().expect("memory");
    let good = bytes.clone();
    for (at, value) in changes {
        let at = at as usize % bytes.len();
        bytes[at] = value;
    }
    let changed = bytes != good;
    let Ok(run) = Run::open(Arc::<[u8]>::from(bytes), "fuzz", HashSpec::default()) else {
        assert!(changed);
        return;
    };
    let verified = run.verify().is_ok();
    assert_eq!(verified, !changed, "every change is damage");
    match run.contains(asked) {
        Ok(found) => assert!(!verified || found == keys.binary_search(&asked).is_ok()),
        Err(_) => assert!(changed),
    }
    let mut found = vec![false; keys.len()];
    if run.contains_sorted(&keys, &mut found).is_ok() {
        assert!(!verified || found.iter().all(|&found| found));
    }
});
