//! Memory for vectors that grow with the keys. If the system has none left, the result is an error and not an abort.

use super::TrieError;

/// Reserves room for `more` items in a vector; an error if there is no memory.
#[inline(always)]
pub(in crate::dict) fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), TrieError> {
    items.try_reserve(more).map_err(|_| no_memory::<T>(items.len().saturating_add(more)))
}

/// A vector of `len` copies of an item.
pub(in crate::dict) fn filled<T: Clone>(item: T, len: usize) -> Result<Vec<T>, TrieError> {
    let mut items = vec![];
    reserve(&mut items, len)?;
    items.resize(len, item);
    Ok(items)
}

/// A vector of all items of an iterator.
pub(in crate::dict) fn collected<T>(all: impl IntoIterator<Item = T>) -> Result<Vec<T>, TrieError> {
    let all = all.into_iter();
    let mut items = vec![];
    reserve(&mut items, all.size_hint().0)?;
    for item in all {
        reserve(&mut items, 1)?;
        items.push(item);
    }
    Ok(items)
}

/// The error that there is no memory for `items` items of this type.
pub(super) fn no_memory<T>(items: usize) -> TrieError {
    TrieError::NoMemory(items.saturating_mul(size_of::<T>()))
}
