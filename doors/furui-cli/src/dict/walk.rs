//! `furui dict prefix` and `furui dict range`: print the entries of a range of keys.

use std::ffi::OsStr;
use std::ops::Bound;
use std::process::ExitCode;

use furui::dict::Entries;

use super::lines::Lines;
use super::values::Values;
use super::{GATHERED, found_or_none, has_bytes, open_to_read};
use crate::cli::{PrefixOptions, RangeOptions, WalkOptions};
use crate::error::Error;
use crate::output::{Output, Sink};

/// Runs `furui dict prefix`: prints the entries whose keys begin with a prefix.
pub fn prefix(options: &PrefixOptions) -> Result<ExitCode, Error> {
    let prefix = options.prefix.as_encoded_bytes();
    let WalkOptions { dict, form, .. } = &options.walk;
    match has_bytes(&dict.store, form.values)? {
        true => print(open_to_read::<[u8]>(&dict.store, form.values)?.prefix(prefix), &options.walk),
        false => print(open_to_read::<u32>(&dict.store, form.values)?.prefix(prefix), &options.walk),
    }
}

/// Runs `furui dict range`: prints the entries in a range of keys.
pub fn range(options: &RangeOptions) -> Result<ExitCode, Error> {
    let from = options.from.as_deref().map_or(Bound::Unbounded, |from| Bound::Included(OsStr::as_encoded_bytes(from)));
    let to = options.to.as_deref().map_or(Bound::Unbounded, |to| Bound::Excluded(OsStr::as_encoded_bytes(to)));
    let range = (from, to);
    let WalkOptions { dict, form, .. } = &options.walk;
    match has_bytes(&dict.store, form.values)? {
        true => print(open_to_read::<[u8]>(&dict.store, form.values)?.range::<&[u8]>(range), &options.walk),
        false => print(open_to_read::<u32>(&dict.store, form.values)?.range::<&[u8]>(range), &options.walk),
    }
}

fn print<V: Values + ?Sized>(mut entries: Entries<'_, V>, options: &WalkOptions) -> Result<ExitCode, Error> {
    let lines = Lines { separator: if options.null { 0 } else { b'\n' }, escape: options.form.escape };
    let mut output = Output::open(options.print.output.as_deref(), false, &[])?;
    let mut out = vec![];
    let mut found = false;
    while let Some((key, value)) = entries.next_entry()? {
        V::push_line(&mut out, key, value, lines)?;
        found = true;
        if out.len() >= GATHERED {
            if output.print(&out)? == Sink::Closed {
                return Ok(ExitCode::SUCCESS);
            }
            out.clear();
        }
    }
    output.print(&out)?;
    Ok(found_or_none(found))
}
