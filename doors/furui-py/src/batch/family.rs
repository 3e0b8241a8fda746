use pyo3::prelude::*;

/// The library that a batch comes from. The answer to the batch is an object of the same library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// numpy: the answer is an array.
    Numpy,
    /// pandas: the answer is a numpy array, which pandas takes as a mask.
    Pandas,
    /// Polars: the answer is a `Series`.
    Polars,
    /// pyarrow: the answer is an `Array`.
    Pyarrow,
    /// Another library that speaks the Arrow C interface: the answer is an [`Answers`](super::Answers).
    Arrow,
    /// Anything else: the answer is a list.
    Python,
}

impl Family {
    pub fn of(batch: &Bound<'_, PyAny>) -> PyResult<Self> {
        let module = batch.get_type().module()?;
        let module = module.to_str()?;
        Ok(match module.split('.').next() {
            Some("builtins") => Self::Python,
            Some("numpy") => Self::Numpy,
            Some("pandas") => Self::Pandas,
            Some("polars") => Self::Polars,
            Some("pyarrow") => Self::Pyarrow,
            _ if batch.hasattr("__arrow_c_stream__")? || batch.hasattr("__arrow_c_array__")? => Self::Arrow,
            _ => Self::Python,
        })
    }
}
