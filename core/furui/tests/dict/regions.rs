//! Dictionaries whose parts end around the borders of what is read, checked or counted at once: nodes in blocks of 64,
//! bits in pieces of 512, values in blocks of 1 KiB, and regions of 4 KiB.

use std::fs;

use furui::dict::DictOptions;
use furui::format::Envelope;
use furui::store::{Directory, Memory, Storage};

use crate::dict::damage::named_or_right;
use crate::dict::made::{MADE, Model, SMALL, contents};
use crate::dict::values::{Values, bytes};

/// A dictionary of one trie with these entries.
fn one_trie<V: Values + ?Sized>(made: DictOptions, model: &Model<V>) -> Memory {
    let storage = Memory::new();
    // A low rate makes the filter as large as the trie.
    let mut dict = V::open(storage.clone(), DictOptions { window: 1 << 20, filter_rate: 1e-6, ..made }).unwrap();
    for (key, value) in model {
        V::put(&mut dict, key, value).unwrap();
    }
    dict.sync().unwrap();
    assert_eq!(dict.tries().count(), 1);
    storage
}

/// Adds an entry in a second trie, so that there is something to merge.
fn with_another_trie(storage: &Memory, model: &mut Model<[u8]>) {
    let mut dict = <[u8]>::open(storage.clone(), SMALL).unwrap();
    dict.put("other", "more").unwrap();
    dict.sync().unwrap();
    model.insert(b"other".to_vec(), b"more".to_vec());
    assert_eq!(dict.tries().count(), 2);
}

/// For each file that is a section of the part's file: where it begins, and where its own content ends.
fn inner_files<V: Values + ?Sized>(storage: &Memory) -> Vec<(usize, usize)> {
    let file = storage.open(&V::kind().file_name(0)).unwrap();
    let end_of =
        |bytes: &[u8]| Envelope::open(bytes, "inner").unwrap().sections().last().map(|it| it.offset + it.length);
    let outer = Envelope::open(&file, "part").unwrap();
    let sections = outer.sections().iter().map(|it| (it.offset as usize, it.length as usize));
    sections.map(|(start, length)| (start, end_of(&file[start..][..length]).unwrap() as usize)).collect()
}

/// Checks that a dictionary has these entries and no others, by all ways of reading.
fn has_all<V: Values + ?Sized>(storage: impl Storage, model: &Model<V>) {
    let dict = V::open(storage, SMALL).unwrap();
    assert!(contents(&dict) == *model);
    let keys: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
    let mut found = vec![];
    dict.get_all(&keys, &mut found).unwrap();
    assert!(found.into_iter().eq(model.values().map(|value| Some(V::lent(value)))));
    for (key, value) in model {
        assert!(dict.get(key).unwrap() == Some(V::lent(value)), "{} keys: {key:?}", model.len());
        let longer = [key.as_slice(), b"-"].concat();
        assert!(!dict.contains(&longer).unwrap(), "{} keys: {longer:?}", model.len());
    }
    dict.verify().unwrap();
}

/// The first keys of a list without repeats.
fn first<V: Values + ?Sized>(count: u32) -> Model<V> {
    (0..count).map(|i| (format!("{:08x}", i.wrapping_mul(2_654_435_761)).into_bytes(), V::value(i))).collect()
}

#[test]
fn dictionaries_of_any_number_of_keys_have_all_of_them() {
    for made in MADE {
        for count in 1..=270 {
            has_all::<u32>(one_trie::<u32>(made, &first::<u32>(count)), &first::<u32>(count));
        }
    }
}

/// A trie, its filter and its values end before a border of regions, at it, and after it. They are read from files that
/// are mapped and from files that are not, and damage on either side of the border is noticed.
#[test]
fn parts_that_end_around_a_border_of_regions_are_read_whole() {
    let dir = std::env::temp_dir().join(format!("furui-dict-regions-{}", std::process::id()));
    for made in [MADE[0], MADE[1]] {
        for (part, border) in (0..3).flat_map(|part| [2 * 4096, 3 * 4096].map(|border| (part, border))) {
            let end = |count| {
                let storage = one_trie::<[u8]>(made, &first::<[u8]>(count));
                inner_files::<[u8]>(&storage)[part].1
            };
            let (mut low, mut count) = (1u32, 4096);
            while low < count {
                let middle = low.midpoint(count);
                if end(middle) < border { low = middle + 1 } else { count = middle }
            }
            assert!(end(count - 1) < border && end(count) >= border);
            for count in count - 1..=count + 1 {
                let model = first::<[u8]>(count);
                let storage = one_trie::<[u8]>(made, &model);
                fs::create_dir_all(&dir).unwrap();
                for name in storage.list().unwrap() {
                    fs::write(dir.join(&name), &*storage.open(&name).unwrap()).unwrap();
                }
                for mapped in [true, false] {
                    has_all::<[u8]>(Directory::open(&dir).unwrap().mapped(mapped), &model);
                }
                fs::remove_dir_all(&dir).unwrap();
            }
            let mut model = first::<[u8]>(count);
            let storage = one_trie::<[u8]>(made, &model);
            with_another_trie(&storage, &mut model);
            let start = inner_files::<[u8]>(&storage)[part].0;
            for at in [start + border - 1, start + border] {
                named_or_right::<[u8]>(&storage, &model, &<[u8]>::kind().file_name(0), at);
            }
        }
    }
}

/// Values begin and end at every byte around the borders of blocks and regions.
#[test]
fn values_that_end_at_any_byte_are_read_whole() {
    for length in 0..1100 {
        let mut model: Model<[u8]> = (0..30).map(|i| (format!("{i:02}").into_bytes(), bytes(100, i))).collect();
        model.insert(b"long".to_vec(), bytes(length, 77));
        model.insert(b"short".to_vec(), bytes(5, 78));
        has_all::<[u8]>(one_trie::<[u8]>(SMALL, &model), &model);
    }
}

#[test]
fn damage_in_any_region_of_a_long_value_is_noticed() {
    let mut model = first::<[u8]>(20);
    // This value is looked up before all others, so nothing else has read its regions.
    model.insert(b"+long".to_vec(), bytes(20_000, 7));
    let storage = one_trie::<[u8]>(SMALL, &model);
    with_another_trie(&storage, &mut model);
    let (start, end) = inner_files::<[u8]>(&storage)[2];
    for at in (start..start + end).step_by(3001) {
        named_or_right::<[u8]>(&storage, &model, &<[u8]>::kind().file_name(0), at);
    }
}
