//! The union and the intersection of filters in files.

use std::path::Path;
use std::process::ExitCode;

use furui::filter::{AnyFilter, Mismatch};
use furui::store::cascade::Combination;

use super::build::warn_if_too_full;
use super::file::{Label, common_form, open, replace};
use super::seed::given;
use crate::cli::CombineOptions;
use crate::error::Error;

/// Writes a combination of filters.
pub fn combine(options: &CombineOptions, how: Combination) -> Result<ExitCode, Error> {
    let with = match how {
        Combination::Union => AnyFilter::union_with,
        Combination::Intersection => AnyFilter::intersect_with,
        Combination::Difference => {
            let reason = "filters cannot be subtracted: the second one says yes wrongly to some lines that only the first has, \
                          and these would be lost; subtract stores, or print the lines that a filter does not have by `furui has -v`";
            return Err(Error::Message(reason.into()));
        }
    };
    let Some((first, others)) = options.sets.split_first() else {
        return Err(Error::Message("there is no filter to combine: name at least one".into()));
    };
    let seed = given(&options.seed)?;
    let mut filter = open(first, seed)?;
    let form = common_form(&options.sets)?;
    for path in others {
        with(&mut filter, &open(path, seed)?).map_err(|error| mismatch(first, path, &error))?;
    }
    replace(&filter, &options.output, Label::new(seed, form))?;
    if how == Combination::Union {
        warn_if_too_full(&filter, &options.output);
    }
    Ok(ExitCode::SUCCESS)
}

/// The error for two files that cannot be combined.
pub fn mismatch(a: &Path, b: &Path, error: &Mismatch) -> Error {
    let hint = "build both with the same --kind, --capacity, --fpr and --hash";
    Error::Message(format!("{} and {}: {error} ({hint})", a.display(), b.display()))
}
