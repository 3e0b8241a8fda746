//! Values that stand for a missing one.

use pyo3::prelude::*;
use pyo3::types::PyFloat;

/// True for the values, besides `None`, that libraries write where there is none: a NaN, `pandas.NA`, a NaT, and a
/// masked element of numpy.
pub fn is_missing(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(number.value().is_nan());
    }
    let class = value.get_type();
    let (module, name) = (class.module()?, class.name()?);
    let library = module.to_str()?.split('.').next().unwrap_or_default();
    Ok(match (library, name.to_str()?) {
        ("pandas", "NAType" | "NaTType") | ("numpy", "MaskedConstant") => true,
        // Only what is missing differs from itself.
        ("numpy", "float16" | "float32" | "longdouble" | "datetime64" | "timedelta64") => value.ne(value)?,
        // An array without dimensions, which is a masked number.
        ("numpy", "MaskedArray") => value.getattr("mask")?.is_truthy().unwrap_or(false),
        _ => false,
    })
}
