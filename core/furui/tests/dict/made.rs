//! Dictionaries of each layout, for queries and for damage.

use std::collections::BTreeMap;

use furui::dict::{DictOptions, FilterHash, Layout, Merging, Snapshot};
use furui::format::FormatError;
use furui::store::Memory;
use furui::{Error, HashSpec, Result};

use crate::dict::values::Values;

/// What a dictionary should hold.
pub(crate) type Model<V> = BTreeMap<Vec<u8>, <V as Values>::Owned>;

pub(crate) const SMALL: DictOptions = DictOptions {
    purpose: None,
    form: None,
    layout: None,
    window: 5,
    window_bytes: 1 << 20,
    merge_after: 3,
    merging: Merging::Geometric,
    filter_rate: 0.05,
    filter_hash: None,
    hash: None,
};

/// The ways of making tries: one for each layout, and one with another filter.
pub(crate) const MADE: [DictOptions; 3] = [
    SMALL,
    DictOptions { layout: Some(Layout::Louds), ..SMALL },
    DictOptions { layout: Some(Layout::Louds), filter_hash: Some(FilterHash::Polynomials4), ..SMALL },
];

pub(crate) fn format_error<T>(outcome: Result<T>) -> FormatError {
    match outcome {
        Err(Error::Format(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

pub(crate) fn contents<V: Values + ?Sized>(snapshot: &Snapshot<V>) -> Model<V> {
    let mut last: Option<Vec<u8>> = None;
    for (key, _) in snapshot.iter().map(Result::unwrap) {
        assert!(last.is_none_or(|last| last < key));
        last = Some(key);
    }
    snapshot.iter().map(|entry| entry.map(|(key, value)| (key, V::owned(value)))).collect::<Result<_>>().unwrap()
}

/// Compares the answers to all queries.
pub(crate) fn assert_same<V: Values + ?Sized>(snapshot: &Snapshot<V>, model: &Model<V>, asked: &[Vec<u8>]) {
    assert!(contents(snapshot) == *model);
    assert_eq!(snapshot.count().unwrap(), model.len() as u64);
    assert!(snapshot.len_at_most() >= snapshot.count().unwrap());
    let keys: Vec<&[u8]> = asked.iter().chain(model.keys()).map(Vec::as_slice).collect();
    let mut values = vec![];
    snapshot.get_all(&keys, &mut values).unwrap();
    for (&key, value) in keys.iter().zip(values) {
        assert!(value == model.get(key).map(V::lent), "{key:?}");
        assert!(snapshot.get(key).unwrap() == value, "{key:?}");
        assert_eq!(snapshot.contains(key).unwrap(), value.is_some());
    }
    let found = |entries: furui::dict::Entries<'_, V>| -> Vec<(Vec<u8>, V::Owned)> {
        entries.map(|entry| entry.map(|(key, value)| (key, V::owned(value))).unwrap()).collect()
    };
    let pairs = |range: &mut dyn Iterator<Item = (&Vec<u8>, &V::Owned)>| -> Vec<(Vec<u8>, V::Owned)> {
        range.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    for key in asked {
        let under = pairs(&mut model.iter().filter(|(other, _)| other.starts_with(key)));
        assert!(found(snapshot.prefix(key)) == under, "under {key:?}");
        let from = pairs(&mut model.range(key.clone()..));
        assert!(found(snapshot.range(key.as_slice()..)) == from);
        let to = pairs(&mut model.range(..=key.clone()));
        assert!(found(snapshot.range(..=key.as_slice())) == to);
        let prefixes: Vec<(usize, V::Read<'_>)> =
            (0..=key.len()).filter_map(|length| Some((length, V::lent(model.get(&key[..length])?)))).collect();
        assert!(snapshot.prefixes(key).unwrap() == prefixes, "of {key:?}");
        assert!(snapshot.longest_prefix(key).unwrap() == prefixes.last().copied());
    }
    if let [a, b, ..] = asked
        && a < b
    {
        let between = pairs(&mut model.range(a.clone()..b.clone()));
        assert!(found(snapshot.range(a.as_slice()..b.as_slice())) == between);
    }
}

/// A dictionary of three tries, with replaced and deleted keys.
pub(crate) fn three_tries<V: Values + ?Sized>(made: DictOptions) -> (Memory, Model<V>) {
    let storage = Memory::new();
    let options = DictOptions { window: 1000, merge_after: 9, hash: Some(HashSpec::default()), ..made };
    let mut dict = V::open(storage.clone(), options).unwrap();
    let mut model = Model::<V>::new();
    for (from, to) in [(0u32, 90), (80, 110), (105, 112)] {
        for i in from..to {
            let (key, value) = (format!("key {i}").into_bytes(), V::value(i + to));
            V::put(&mut dict, &key, &value).unwrap();
            model.insert(key, value);
        }
        let deleted = format!("key {}", from + 1).into_bytes();
        dict.delete(&deleted).unwrap();
        model.remove(&deleted);
        dict.sync().unwrap();
    }
    assert_eq!(dict.tries().count(), 3);
    (storage, model)
}
