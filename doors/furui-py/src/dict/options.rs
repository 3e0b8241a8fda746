use furui::dict::{DictOptions, FilterHash, Layout, Merging, Purpose};
use furui::text;
use pyo3::prelude::*;

use crate::errors::config;
use crate::options::parse;

/// The options of the class `Dict`, as Python gives them. They are named and explained as those of `furui dict`.
pub struct Given<'a, 'py> {
    pub values: Option<&'a str>,
    pub layout: Option<&'a str>,
    pub window: Option<&'a Bound<'py, PyAny>>,
    pub merge_after: Option<usize>,
    pub merging: Option<&'a str>,
    pub filter_rate: Option<f64>,
    pub filter_hash: Option<&'a str>,
}

impl Given<'_, '_> {
    /// The options of the library. Those that are not given are as the existing dictionary has them, or the usual ones.
    ///
    /// # Errors
    /// `ConfigError` if an option is none of its values.
    pub fn read(&self, py: Python<'_>) -> PyResult<DictOptions> {
        let mergings = [Merging::Geometric, Merging::All];
        let merging_name = |merging| if merging == Merging::All { "all" } else { "geometric" };
        let usual = DictOptions::DEFAULT;
        let window = match self.window {
            Some(window) => usize::try_from(parse(window, text::count)?).unwrap_or(usize::MAX),
            None => usual.window,
        };
        Ok(DictOptions {
            purpose: one_of(py, "values", &Purpose::ALL, Purpose::name, self.values)?,
            layout: one_of(py, "layout", &Layout::ALL, Layout::name, self.layout)?,
            window,
            merge_after: self.merge_after.unwrap_or(usual.merge_after),
            merging: one_of(py, "merging", &mergings, merging_name, self.merging)?.unwrap_or(usual.merging),
            filter_rate: self.filter_rate.unwrap_or(usual.filter_rate),
            filter_hash: one_of(py, "filter_hash", &FilterHash::ALL, FilterHash::name, self.filter_hash)?,
            ..usual
        })
    }
}

/// The value that has this name.
fn one_of<T: Copy>(
    py: Python<'_>,
    option: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
    name: Option<&str>,
) -> PyResult<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    if let Some(found) = all.iter().copied().find(|&value| name_of(value) == name) {
        return Ok(Some(found));
    }
    let names: Vec<_> = all.iter().map(|&value| format!("{:?}", name_of(value))).collect();
    Err(config(py, format!("{option} must be {} or None, not {name:?}", names.join(", "))))
}
