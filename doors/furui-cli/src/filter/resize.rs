//! `furui filter resize`, and the growth of a quotient filter that is full.

use std::path::Path;
use std::process::ExitCode;

use furui::filter::{AnyFilter, QuotientFilter};

use super::file::{Held, save};
use super::seed::given;
use crate::cli::ResizeOptions;
use crate::complain;
use crate::error::Error;
use crate::say::number::{figure, grouped};

/// Runs `furui filter resize`: writes the fingerprints of a quotient filter into a table of another size.
pub fn run(options: &ResizeOptions) -> Result<ExitCode, Error> {
    let mut held = Held::open(&options.filter, given(&options.seed, [&options.filter])?)?;
    let AnyFilter::Quotient(filter) = &held.filter else {
        return Err(Error::Message(format!(
            "{}: {}, whose size cannot be changed: build it again from its lines with another --capacity",
            options.filter.display(),
            held.filter.kind()
        )));
    };
    let named = |error| Error::Message(format!("{}: {error}", options.filter.display()));
    // Any rate is allowed, because the new rate is printed.
    let any_rate = 1.0 - f64::EPSILON;
    let resized = match (options.size.slots, options.size.capacity) {
        (Some(slots), _) => filter.with_slots(slots),
        (None, capacity) => filter.resized(capacity.unwrap_or(0), any_rate),
    };
    let resized = resized.map_err(named)?;
    tell(&options.filter, &resized);
    held.filter = AnyFilter::Quotient(resized);
    save(&held.filter, &options.filter, held.label)?;
    Ok(ExitCode::SUCCESS)
}

/// Doubles the number of slots of a quotient filter that is full.
pub fn double(filter: &mut QuotientFilter, path: &Path) -> Result<(), Error> {
    let larger = filter.with_slots(filter.slots().saturating_mul(2));
    *filter = larger.map_err(|error| Error::Message(format!("{}: full: {error}", path.display())))?;
    Ok(())
}

/// Prints the size and the false-positive rate of a filter after a change of its size.
pub fn tell(path: &Path, filter: &QuotientFilter) {
    let full = filter.capacity() as f64 / (filter.last_fingerprint() as f64 + 1.0);
    complain(&Error::Message(format!(
        "{}: now {} slots, with room for {} lines: it says yes wrongly at a rate of {}, and of {} when it is full",
        path.display(),
        grouped(filter.slots()),
        grouped(filter.capacity()),
        figure(filter.false_positive_rate()),
        figure(full)
    )));
}
