//! The kinds of values of a dictionary: how a test makes values of each kind, and how it compares them.

use std::fmt::Debug;

use furui::Result;
use furui::dict::{Dict, DictOptions, DictValue};
use furui::store::{Memory, Purpose, Storage, StoreKind};
use proptest::prelude::*;

pub(crate) trait Values: DictValue {
    type Owned: Clone + Debug + PartialEq;

    fn open<S: Storage>(storage: S, options: DictOptions) -> Result<Dict<S, Self>>;

    fn put<S: Storage>(dict: &mut Dict<S, Self>, key: &[u8], value: &Self::Owned) -> Result<()>;

    /// Gives a key an id, and returns it; `None` if the keys of such a dictionary get no ids.
    fn number(dict: &mut Dict<Memory, Self>, key: &[u8]) -> Option<Result<Self::Owned>>;

    /// The id that the next new key would get; 0 if the keys of this kind of dictionary get no ids.
    fn next(dict: &Dict<Memory, Self>) -> u32;

    fn owned(value: Self::Read<'_>) -> Self::Owned;

    fn lent(value: &Self::Owned) -> Self::Read<'_>;

    /// A value that depends on a number.
    fn value(number: u32) -> Self::Owned;

    /// The number that such a value takes; `None` if it is no number.
    fn taken(value: &Self::Owned) -> Option<u32>;

    /// Strategy for values.
    fn values() -> BoxedStrategy<Self::Owned>;

    /// The number of bytes that a value takes beside the tries.
    fn len(value: &Self::Owned) -> u64;

    fn kind() -> StoreKind;
}

impl Values for u32 {
    type Owned = u32;

    fn open<S: Storage>(storage: S, options: DictOptions) -> Result<Dict<S>> {
        Dict::open_with(storage, options)
    }

    fn put<S: Storage>(dict: &mut Dict<S>, key: &[u8], value: &u32) -> Result<()> {
        dict.put(key, *value)
    }

    fn number(dict: &mut Dict<Memory>, key: &[u8]) -> Option<Result<u32>> {
        Some(dict.number(key))
    }

    fn next(dict: &Dict<Memory>) -> u32 {
        dict.next_id()
    }

    fn owned(value: u32) -> u32 {
        value
    }

    fn lent(value: &u32) -> u32 {
        *value
    }

    fn value(number: u32) -> u32 {
        number
    }

    fn taken(value: &u32) -> Option<u32> {
        Some(*value)
    }

    fn values() -> BoxedStrategy<u32> {
        prop_oneof![6 => any::<u16>().prop_map(u32::from), 3 => 0u32..20, 1 => u32::MAX - 4..=u32::MAX].boxed()
    }

    fn len(_: &u32) -> u64 {
        0
    }

    fn kind() -> StoreKind {
        StoreKind::Dict(Purpose::Numbers)
    }
}

impl Values for [u8] {
    type Owned = Vec<u8>;

    fn open<S: Storage>(storage: S, options: DictOptions) -> Result<Dict<S, Self>> {
        Dict::open_bytes_with(storage, options)
    }

    fn put<S: Storage>(dict: &mut Dict<S, Self>, key: &[u8], value: &Vec<u8>) -> Result<()> {
        dict.put(key, value)
    }

    fn number(_: &mut Dict<Memory, Self>, _: &[u8]) -> Option<Result<Vec<u8>>> {
        None
    }

    fn next(_: &Dict<Memory, Self>) -> u32 {
        0
    }

    fn owned(value: &[u8]) -> Vec<u8> {
        value.to_vec()
    }

    fn lent(value: &Vec<u8>) -> &[u8] {
        value
    }

    fn value(number: u32) -> Vec<u8> {
        bytes((number * number % 97) as usize, number as u8)
    }

    fn taken(_: &Vec<u8>) -> Option<u32> {
        None
    }

    fn values() -> BoxedStrategy<Vec<u8>> {
        let length = prop_oneof![2 => Just(0usize), 10 => 1usize..40, 4 => 500usize..3000, 1 => 20_000usize..100_000];
        (length, any::<u8>()).prop_map(|(length, seed)| bytes(length, seed)).boxed()
    }

    fn len(value: &Vec<u8>) -> u64 {
        value.len() as u64
    }

    fn kind() -> StoreKind {
        StoreKind::Dict(Purpose::Bytes)
    }
}

/// Bytes of this length, which differ between lengths and between seeds.
pub(crate) fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ seed).collect()
}
