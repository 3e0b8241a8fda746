use pyo3::prelude::*;

use crate::key::with_key;

/// The number of keys of a batch between two checks whether the user has pressed ^C.
const PAUSE: usize = 1 << 16;

/// Calls `take` with the bytes of each key of an iterator over Python objects.
pub fn each_of<'py>(
    py: Python<'py>,
    keys: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    mut take: impl FnMut(&[u8]),
) -> PyResult<()> {
    for (i, key) in keys.enumerate() {
        with_key(&key?, &mut take)?;
        if i % PAUSE == PAUSE - 1 {
            py.check_signals()?;
        }
    }
    Ok(())
}
