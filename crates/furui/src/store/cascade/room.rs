//! Room for what grows with a batch or a merge: where there is no memory for it, that is an error, not an abort.

use crate::error::{Error, Result};

/// Makes room for `more` items behind those that are there.
#[inline]
pub(super) fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    items.try_reserve(more).map_err(|_| {
        let bytes = items.len().saturating_add(more).saturating_mul(size_of::<T>());
        Error::NoMemory { what: "a batch for a set", bytes }
    })
}

/// Makes the vector at least so long, with copies of `item`.
pub(super) fn fill_to<T: Clone>(items: &mut Vec<T>, len: usize, item: T) -> Result<()> {
    if items.len() < len {
        reserve(items, len - items.len())?;
        items.resize(len, item);
    }
    Ok(())
}
