use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Checks that an object of Polars may be read through the Arrow interface.
///
/// # Errors
/// `TypeError` for a query that has not run, and for a column of a type that the interface does not have, such as
/// Python objects, for which Polars gives addresses.
pub fn check(batch: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = batch.get_type().name()?;
    let types: Vec<Bound<'_, PyAny>> = match name.to_str()? {
        "Series" => vec![batch.getattr("dtype")?],
        "DataFrame" => batch.getattr("dtypes")?.extract()?,
        "LazyFrame" => {
            let text = "a LazyFrame is a query, and no batch of keys: pass a column of its .collect()";
            return Err(PyTypeError::new_err(text));
        }
        _ => return Ok(()),
    };
    for kind in types {
        // The Arrow format has no integers of 128 bits.
        if let name @ ("Object" | "Int128" | "UInt128") = kind.str()?.to_str()? {
            return Err(PyTypeError::new_err(format!(
                "Polars values of type {name} are no keys: pass series.to_list(), or cast them to strings first"
            )));
        }
    }
    Ok(())
}
