//! `furui filter union` and `furui filter intersect`.

use std::path::Path;
use std::process::ExitCode;

use furui::filter::{AnyFilter, Mismatch};

use super::build::warn_if_too_full;
use super::file::{Label, common_form, open, replace};
use super::seed::given;
use crate::cli::CombineOptions;
use crate::error::Error;

/// Writes the union of filters.
pub fn union(options: &CombineOptions) -> Result<ExitCode, Error> {
    let filter = combine(options, AnyFilter::union_with)?;
    warn_if_too_full(&filter, &options.output);
    Ok(ExitCode::SUCCESS)
}

/// Writes the intersection of filters.
pub fn intersect(options: &CombineOptions) -> Result<ExitCode, Error> {
    combine(options, AnyFilter::intersect_with)?;
    Ok(ExitCode::SUCCESS)
}

fn combine(
    options: &CombineOptions,
    with: impl Fn(&mut AnyFilter, &AnyFilter) -> Result<(), Mismatch>,
) -> Result<AnyFilter, Error> {
    let Some((first, others)) = options.filters.split_first() else {
        return Err(Error::Message("there is no filter to combine: name at least one".into()));
    };
    let seed = given(&options.seed)?;
    let mut filter = open(first, seed)?;
    let form = common_form(&options.filters)?;
    for path in others {
        with(&mut filter, &open(path, seed)?).map_err(|error| mismatch(first, path, &error))?;
    }
    replace(&filter, &options.output, Label::new(seed, form))?;
    Ok(filter)
}

/// The error for two files that cannot be combined.
pub fn mismatch(a: &Path, b: &Path, error: &Mismatch) -> Error {
    let hint = "build both with the same --kind, --capacity, --fpr and --hash";
    Error::Message(format!("{} and {}: {error} ({hint})", a.display(), b.display()))
}
