//! Room for what grows with the keys: where there is no memory for it, that is an error.

use super::TrieError;

/// Makes room for `more` items behind those that are there.
#[inline(always)]
pub(in crate::dict) fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), TrieError> {
    items.try_reserve(more).map_err(|_| no_memory::<T>(items.len().saturating_add(more)))
}

/// So many times the same.
pub(in crate::dict) fn filled<T: Clone>(item: T, len: usize) -> Result<Vec<T>, TrieError> {
    let mut items = vec![];
    reserve(&mut items, len)?;
    items.resize(len, item);
    Ok(items)
}

/// All items of an iterator.
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

/// The error for so many items.
pub(super) fn no_memory<T>(items: usize) -> TrieError {
    TrieError::NoMemory(items.saturating_mul(size_of::<T>()))
}
