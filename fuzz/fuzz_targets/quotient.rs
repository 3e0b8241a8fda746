//! Runs random operations on a quotient filter of any shape, and compares it with a plain multiset of fingerprints.
#![no_main]

use std::collections::BTreeMap;

use furui::KeyHash;
use furui::filter::{Filter, FilterMut, QuotientFilter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, bool, Vec<(bool, u64)>)| {
    let (slots, remainder_bits, counting, operations) = input;
    let Ok(filter) = QuotientFilter::new(u64::from(slots), u32::from(remainder_bits)) else { return };
    let mut filter = if counting { filter.counting() } else { filter };
    let mut model: BTreeMap<u64, u64> = BTreeMap::new();
    for (insert, hash) in operations {
        let key = KeyHash::new(hash);
        let fingerprint = filter.fingerprint(key);
        let there = model.get(&fingerprint).copied().unwrap_or(0);
        if insert {
            match filter.insert_hash(key) {
                Ok(new) => {
                    assert_eq!(new, there == 0);
                    model.insert(fingerprint, if counting { there + 1 } else { 1 });
                }
                Err(_) => assert!(model.values().sum::<u64>() >= filter.capacity()),
            }
        } else if !counting {
            assert!(filter.remove_hash(key).is_err());
        } else {
            assert_eq!(filter.remove_hash(key), Ok(there > 0));
            match there {
                0 | 1 => drop(model.remove(&fingerprint)),
                _ => drop(model.insert(fingerprint, there - 1)),
            }
        }
        assert_eq!(filter.count_hash(key), model.get(&fingerprint).copied().unwrap_or(0));
        assert_eq!(filter.contains_hash(key), model.contains_key(&fingerprint));
    }
    assert_eq!(filter.len(), model.values().sum::<u64>());
    let expected = model.iter().flat_map(|(&fingerprint, &count)| (0..count).map(move |_| fingerprint));
    assert!(filter.fingerprints().eq(expected));
});
