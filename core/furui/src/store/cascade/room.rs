//! Memory for vectors that grow with a batch or a merge. If the system has none left, the result is an error and not an
//! abort.

use crate::error::{Error, Result};

/// Reserves room for `more` items in a vector; an error if there is no memory.
#[inline]
pub(crate) fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    items.try_reserve(more).map_err(|_| {
        let bytes = items.len().saturating_add(more).saturating_mul(size_of::<T>());
        Error::NoMemory { what: "a batch for a set", bytes }
    })
}

/// Extends the vector to at least `len` items with copies of `item`.
pub(super) fn fill_to<T: Clone>(items: &mut Vec<T>, len: usize, item: T) -> Result<()> {
    if items.len() < len {
        reserve(items, len - items.len())?;
        items.resize(len, item);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_memory_than_any_system_has_is_an_error() {
        let mut items = vec![1u64, 2];
        for outcome in [reserve(&mut items, usize::MAX / 8), fill_to(&mut items, usize::MAX, 0)] {
            assert!(matches!(outcome, Err(Error::NoMemory { bytes: usize::MAX, .. })), "{outcome:?}");
        }
        assert_eq!(items, [1, 2]);
    }
}
