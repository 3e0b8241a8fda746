//! The readers of CSV and JSON in the command: any bytes give records, fields and keys, or a reason; never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The command is no library, so its two readers, which need little else of it, are compiled here.
#[allow(dead_code)]
#[path = "../../doors/furui-cli/src/error.rs"]
mod error;
#[allow(dead_code)]
#[path = "../../doors/furui-cli/src/keys/fields.rs"]
mod fields;
#[allow(dead_code)]
#[path = "../../doors/furui-cli/src/keys/json.rs"]
mod json;
#[allow(dead_code)]
#[path = "../../doors/furui-cli/src/input/split.rs"]
mod split;

/// JSON pointers that find a value in many of the random texts.
const POINTERS: [&str; 7] = ["", "/a", "/0", "/a/0", "/a/a", "/a/~1~0", "/"];

fuzz_target!(|input: (u8, u8, String, Vec<u8>)| {
    let (step, choice, pointer, bytes) = input;
    let step = usize::from(step).max(1);
    // The records are the same, whatever the pieces in which the input arrives.
    let (mut whole, mut pieces) = (vec![], vec![]);
    split::Splitter::new(split::Split::Csv(b',')).find(&bytes, true, &mut whole);
    let mut splitter = split::Splitter::new(split::Split::Csv(b','));
    for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
        splitter.find(&bytes[..end], end == bytes.len(), &mut pieces);
    }
    assert_eq!(whole, pieces);
    let mut start = 0;
    for &end in &whole {
        let record = &bytes[start..end as usize];
        let fields: Vec<_> = fields::fields(record, b',', true).collect();
        let mut joined: Vec<u8> = vec![];
        for field in fields.iter().flatten() {
            let mut value = vec![];
            field.append(&mut value);
            assert!(value.len() <= field.bytes.len());
            joined.extend_from_slice(field.bytes);
            joined.push(b',');
        }
        // A record that has ended has no open quote, unless a byte order mark hid its first one.
        if fields.iter().all(Result::is_ok) {
            assert_eq!(joined, [record, b","].concat());
        } else {
            assert!(record.starts_with(split::BOM));
        }
        start = end as usize + 1;
    }
    // The pointers are some of the above, and any other. The text is an object with the name "a", or any bytes.
    let texts = [&POINTERS[usize::from(choice % 8)..], &[pointer.as_str()]].concat();
    let bytes = if choice < 128 { [b"{\"a\":", bytes.as_slice(), b"}"].concat() } else { bytes };
    let Ok(pointers) = json::Pointers::parse(&texts) else { return };
    let found = pointers.find(&bytes);
    // If another reader of JSON can read all of the text, it finds the same values.
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(&bytes) {
        for (text, found) in texts.iter().zip(found.as_ref().expect("it is JSON").as_ref()) {
            let found = found.map(|raw| serde_json::from_str(raw.get()).expect("a part"));
            assert_eq!(found.as_ref(), value.pointer(text));
        }
    }
    for value in found.iter().flat_map(|found| found.as_ref()).flatten() {
        let key = json_key(value);
        assert!(key.len() <= value.get().len() + 60);
        // The key of a number is the number in another form.
        if value.get().starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
            let same = serde_json::from_slice(&key[1..]).expect("a number");
            assert_eq!(json_key(same), key);
        }
    }
});

fn json_key(value: &serde_json::value::RawValue) -> Vec<u8> {
    let mut key = vec![];
    json::append_key(value, true, |text, out| out.extend_from_slice(text), &mut key);
    key.clear();
    json::append_key(value, false, |text, out| out.extend_from_slice(text), &mut key);
    key
}
