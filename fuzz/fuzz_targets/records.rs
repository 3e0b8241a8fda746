//! The readers of CSV and JSON in the command: any bytes give records, fields and keys, or a reason; never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The command is no library, so its two readers, which need nothing else of it, are compiled here.
#[allow(dead_code)]
#[path = "../../crates/furui-cli/src/split.rs"]
mod split;
#[allow(dead_code)]
#[path = "../../crates/furui-cli/src/keys/csv.rs"]
mod csv;
#[allow(dead_code)]
#[path = "../../crates/furui-cli/src/keys/json.rs"]
mod json;

fuzz_target!(|input: (u8, String, Vec<u8>)| {
    let (step, pointer, bytes) = input;
    let step = usize::from(step).max(1);
    // The same records, however the input arrives.
    let (mut whole, mut pieces) = (vec![], vec![]);
    split::Splitter::new(split::Split::Csv(b',')).find(&bytes, &mut whole);
    let mut splitter = split::Splitter::new(split::Split::Csv(b','));
    for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
        splitter.find(&bytes[..end], &mut pieces);
    }
    assert_eq!(whole, pieces);
    let mut start = 0;
    for &end in &whole {
        let record = &bytes[start..end as usize];
        for field in csv::fields(record, b',', true) {
            // A record that has ended has no open quote, unless a byte order mark hid its first one.
            let Ok(field) = field else { break };
            let mut value = vec![];
            field.append(&mut value);
            assert!(value.len() <= field.bytes.len());
        }
        start = end as usize + 1;
    }
    let pointer = json::Pointer::parse(&pointer).unwrap_or_default();
    if let Ok(Some(value)) = pointer.find(&bytes) {
        let mut key = vec![];
        json::append_key(value, |text, out| out.extend_from_slice(text), &mut key);
        assert!(key.len() <= value.get().len() + 60);
    }
});
