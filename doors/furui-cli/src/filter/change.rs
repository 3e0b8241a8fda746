//! `furui filter insert` and `furui filter remove`: change a filter in a file.

use std::process::ExitCode;

use furui::filter::{AnyFilter, FilterMut, Full, InsertError, QuotientFilter};
use furui::{HashSpec, Hashes, KeyHash};

use super::build::{each_block, not_inserted, warn_if_too_full};
use super::file::{Held, save};
use super::gather::{Gathered, RepeatedKeys};
use super::resize::{double, tell};
use super::seed::given;
use super::window::tell_time;
use crate::cli::{ChangeOptions, InsertOptions};
use crate::complain;
use crate::error::Error;
use crate::keys::{self, Keys};
use crate::say::number::counted;

/// The exit code of `furui filter remove` if some lines were not in the filter.
const SOME_MISSING: u8 = 1;

/// Runs `furui filter insert`: inserts lines into a filter in a file.
pub fn insert(options: &InsertOptions) -> Result<ExitCode, Error> {
    let stray = [("--memory", options.memory.is_some()), ("--wait", options.wait.wait.is_some())];
    if let Some((name, _)) = stray.iter().find(|(_, given)| *given) {
        let filter = options.change.filter.display();
        return Err(Error::Message(format!("{name} is for a cascade filter, and {filter} is not one")));
    }
    let options = &options.change;
    let mut held = Held::open(&options.filter, given(&options.seed, [&options.filter])?)?;
    let path = &options.filter;
    keys::check(path.display(), held.label.form, &options.lines)?;
    if let AnyFilter::Fuse(_) = held.filter {
        return Err(not_inserted(path, Full::Fixed.into()));
    }
    if let AnyFilter::Quotient(filter) = &mut held.filter {
        let slots = filter.slots();
        insert_into(filter, options)?;
        if filter.slots() != slots {
            tell(path, filter);
        }
    } else {
        let spec = held.filter.hash_spec();
        each_change(options, spec, |hashes| {
            tell_time(&mut held.filter);
            held.filter.insert_hashes(hashes).map(drop).map_err(|error| not_inserted(path, error))
        })?;
    }
    save(&held.filter, &options.filter, held.label)?;
    warn_if_too_full(&held.filter, &options.filter);
    Ok(ExitCode::SUCCESS)
}

/// Runs `furui filter remove`: removes lines from a filter in a file.
pub fn remove(options: &ChangeOptions) -> Result<ExitCode, Error> {
    let mut held = Held::open(&options.filter, given(&options.seed, [&options.filter])?)?;
    keys::check(options.filter.display(), held.label.form, &options.lines)?;
    let mut missing: u64 = 0;
    // Most kinds of filters cannot remove keys, so this is checked before any line is read.
    held.filter.check_removable().map_err(|error| named(options, error))?;
    let spec = held.filter.hash_spec();
    if let AnyFilter::Quotient(filter) = &mut held.filter {
        // `furui filter insert` inserts a line once, however often it occurs, so `furui filter remove` removes it once.
        for hash in gathered(options, spec)? {
            missing += u64::from(!filter.remove_hash(hash).map_err(|error| named(options, error))?);
        }
    } else {
        each_change(options, spec, |hashes| {
            let removed = held.filter.remove_hashes(hashes).map_err(|error| named(options, error))?;
            missing += hashes.len() as u64 - removed;
            Ok(())
        })?;
    }
    save(&held.filter, &options.filter, held.label)?;
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let were = if missing == 1 { "was" } else { "were" };
    complain(&Error::Message(format!(
        "{}: {} {were} not in the filter, and nothing was removed for them",
        options.filter.display(),
        counted(missing, "line")
    )));
    Ok(ExitCode::from(SOME_MISSING))
}

/// Inserts lines into a quotient filter, which grows when it is full.
fn insert_into(filter: &mut QuotientFilter, options: &ChangeOptions) -> Result<(), Error> {
    let path = &options.filter;
    if filter.is_counting() {
        let all = gathered(options, filter.hash_spec())?;
        while filter.capacity() - filter.len() < all.len() as u64 {
            double(filter, path)?;
        }
        return filter.insert_all(&all).map(drop).map_err(|full| not_inserted(path, full.into()));
    }
    each_change(options, filter.hash_spec(), |hashes| {
        // Inserting a key into a set a second time changes nothing, so the whole batch is inserted again.
        while let Err(error) = filter.insert_hashes(hashes) {
            match error {
                InsertError::Full(Full::AtCapacity { .. }) => double(filter, path)?,
                other => return Err(not_inserted(path, other)),
            }
        }
        Ok(())
    })
}

/// The hashes of all lines of the input, without repeats.
fn gathered(options: &ChangeOptions, spec: HashSpec) -> Result<Vec<KeyHash>, Error> {
    let mut all =
        Gathered::new(RepeatedKeys::Dropped, "split the input into parts without common lines, and run once for each");
    each_change(options, spec, |hashes| all.take(hashes))?;
    Ok(all.finish().0)
}

fn named(options: &ChangeOptions, error: furui::filter::ConfigError) -> Error {
    Error::Message(format!("{}: {error}", options.filter.display()))
}

fn each_change(
    options: &ChangeOptions,
    spec: HashSpec,
    change: impl FnMut(&Hashes) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut keys = Keys::new(spec, &options.lines)?;
    each_block(&options.input, &options.lines, &mut keys, "reading", change)
}
