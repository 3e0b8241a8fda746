//! The filter of `furui seen --filter`: lines that it does not contain are new, and are inserted.

use std::path::{Path, PathBuf};

use furui::filter::{AnyFilter, Filter, FilterMut, Full, InsertError};
use furui::seen::Verdict;
use furui::{HashSpec, KeyHash};

use super::build::{not_inserted, warn_if_too_full};
use super::file::{Held, is_cascade, save};
use super::resize::{double, tell};
use super::window::tell_time;
use crate::cli::LineOptions;
use crate::error::Error;
use crate::keys;

/// A filter in a file that says which keys are new, and inserts them. [`save`](Self::save) replaces the file.
pub struct Observer {
    path: PathBuf,
    held: Held,
    /// The number of slots of the filter in the file if it is a quotient filter, or else `None`.
    slots: Option<u64>,
}

impl Observer {
    /// Opens the filter in a file. Its keys must have been made in the way that the options describe.
    pub fn open(path: &Path, options: &LineOptions) -> Result<Self, Error> {
        if is_cascade(path)? {
            return Err(Error::Message(format!(
                "{}: a cascade filter, which --filter does not support; use `furui seen --store`, which drops no new line",
                path.display()
            )));
        }
        let held = Held::open(path, None)?;
        keys::check(path.display(), held.label.form, options)?;
        if let AnyFilter::Fuse(_) = held.filter {
            return Err(Error::Message(format!(
                "{}: a fuse filter, which takes no new lines; `furui has -v` prints the lines that it does not have",
                path.display()
            )));
        }
        Ok(Self { path: path.into(), slots: slots(&held.filter), held })
    }

    /// The hash function and seed of the filter's keys.
    pub fn hash_spec(&self) -> HashSpec {
        self.held.filter.hash_spec()
    }

    /// The path of the filter's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks up and inserts keys in order, and appends the verdicts on them to `verdicts`. If a key cannot be inserted,
    /// there are verdicts on the keys before it.
    pub fn observe(&mut self, keys: &[KeyHash], verdicts: &mut Vec<Verdict>) -> Result<(), Error> {
        let filter = &mut self.held.filter;
        tell_time(filter);
        // These filters count how often a key was inserted, so a key that they contain is not inserted again.
        let counts = matches!(filter, AnyFilter::Counting(_) | AnyFilter::Quotient(_));
        for &key in keys {
            let is_new = if counts && filter.contains_hash(key) { false } else { insert(filter, key, &self.path)? };
            verdicts.push(if is_new { Verdict::New } else { Verdict::Repeat });
        }
        Ok(())
    }

    /// Replaces the file by the filter in memory, atomically.
    pub fn save(&self) -> Result<(), Error> {
        let saved = save(&self.held.filter, &self.path, self.held.label);
        if let AnyFilter::Quotient(filter) = &self.held.filter
            && Some(filter.slots()) != self.slots
        {
            tell(&self.path, filter);
        }
        warn_if_too_full(&self.held.filter, &self.path);
        saved
    }
}

fn slots(filter: &AnyFilter) -> Option<u64> {
    match filter {
        AnyFilter::Quotient(filter) => Some(filter.slots()),
        _ => None,
    }
}

fn insert(filter: &mut AnyFilter, key: KeyHash, path: &Path) -> Result<bool, Error> {
    loop {
        match (filter.insert_hash(key), &mut *filter) {
            (Ok(is_new), _) => return Ok(is_new),
            (Err(Full::AtCapacity { .. }), AnyFilter::Quotient(filter)) => double(filter, path)?,
            (Err(full), _) => return Err(not_inserted(path, InsertError::Full(full))),
        }
    }
}
