//! The union and the intersection of filters in files.

use std::path::Path;
use std::process::ExitCode;

use furui::filter::{AnyFilter, Mismatch, SeedlessFilter};
use furui::format::Kind;
use furui::store::cascade::Combination;

use super::build::{warn_if_too_full, warn_of_rate};
use super::file::{Label, common_form, lack_seed, open, replace, replace_by};
use super::seed::given;
use crate::cli::CombineOptions;
use crate::error::Error;

/// Writes a combination of filters. Filters that do not hold the seed of their hash are combined without it if the
/// options do not name the file of the seed.
pub fn combine(options: &CombineOptions, how: Combination) -> Result<ExitCode, Error> {
    if how == Combination::Difference {
        let reason = "filters cannot be subtracted: the second one says yes wrongly to some lines that only the first has, \
                      and these would be lost; subtract stores, or print the lines that a filter does not have by `furui has -v`";
        return Err(Error::Message(reason.into()));
    }
    let is_union = how == Combination::Union;
    let Some((first, others)) = options.sets.split_first() else {
        return Err(Error::Message("there is no filter to combine: name at least one".into()));
    };
    let seed = given(&options.seed, &options.sets)?;
    if seed.is_none() && lack_seed(&options.sets)? {
        let mut filter = SeedlessFilter::open(first)?;
        let form = common_form(&options.sets)?;
        let with = if is_union { SeedlessFilter::union_with } else { SeedlessFilter::intersect_with };
        for path in others {
            with(&mut filter, &SeedlessFilter::open(path)?).map_err(|error| seedless_mismatch(first, path, &error))?;
        }
        replace_by(&options.output, |out| filter.write_to(out, &form))?;
        if let Some(intended) = filter.intended_rate().filter(|_| is_union) {
            let (capacity, held) = (filter.capacity(), filter.cardinality());
            warn_of_rate(&options.output, capacity, held, intended, filter.false_positive_rate());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let with = if is_union { AnyFilter::union_with } else { AnyFilter::intersect_with };
    let mut filter = open(first, seed)?;
    let form = common_form(&options.sets)?;
    for path in others {
        with(&mut filter, &open(path, seed)?).map_err(|error| mismatch(first, path, &error))?;
    }
    replace(&filter, &options.output, Label::new(seed, form))?;
    if is_union {
        warn_if_too_full(&filter, &options.output);
    }
    Ok(ExitCode::SUCCESS)
}

/// The error for two files that cannot be combined, one of which does not hold its seed.
pub fn seedless_mismatch(a: &Path, b: &Path, error: &Mismatch) -> Error {
    let Mismatch::Hash { ours, theirs } = error else { return mismatch(a, b, error) };
    Error::Message(format!(
        "{} and {}: keys are hashed by {} with a seed of fingerprint {:#018x}, and by {} with one of {:#018x}: build both with \
         the same --seed-file and --hash",
        a.display(),
        b.display(),
        ours.algorithm.name(),
        ours.seed,
        theirs.algorithm.name(),
        theirs.seed
    ))
}

/// The error for two files that cannot be combined.
pub fn mismatch(a: &Path, b: &Path, error: &Mismatch) -> Error {
    let hint = match error {
        Mismatch::Unsupported(Kind::Fuse) => "build one filter from the lines of both, or from a union of their stores",
        _ => "build both with the same --kind, --capacity, --fpr and --hash",
    };
    Error::Message(format!("{} and {}: {error} ({hint})", a.display(), b.display()))
}
