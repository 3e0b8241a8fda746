//! `furui dict prefix` and `furui dict range`.

use std::ffi::OsStr;
use std::ops::Bound;
use std::process::ExitCode;

use furui::dict::Entries;

use super::values::{Lines, Values, chosen};
use super::{GATHERED, found_or_none, kind_of, open_to_read};
use crate::cli::{PrefixOptions, RangeOptions, ValuesName, WalkOptions};
use crate::error::Error;
use crate::output::{Output, Sink};

/// Prints the entries whose keys begin with a prefix.
pub fn prefix(options: &PrefixOptions) -> Result<ExitCode, Error> {
    let prefix = options.prefix.as_encoded_bytes();
    match values(&options.walk)? {
        ValuesName::Numbers => print(open_to_read::<u32>(&options.walk.dict.store)?.prefix(prefix), &options.walk),
        ValuesName::Bytes => print(open_to_read::<[u8]>(&options.walk.dict.store)?.prefix(prefix), &options.walk),
    }
}

/// Prints the entries in a range of keys.
pub fn range(options: &RangeOptions) -> Result<ExitCode, Error> {
    let from = options.from.as_deref().map_or(Bound::Unbounded, |from| Bound::Included(OsStr::as_encoded_bytes(from)));
    let to = options.to.as_deref().map_or(Bound::Unbounded, |to| Bound::Excluded(OsStr::as_encoded_bytes(to)));
    let range = (from, to);
    match values(&options.walk)? {
        ValuesName::Numbers => {
            print(open_to_read::<u32>(&options.walk.dict.store)?.range::<&[u8]>(range), &options.walk)
        }
        ValuesName::Bytes => {
            print(open_to_read::<[u8]>(&options.walk.dict.store)?.range::<&[u8]>(range), &options.walk)
        }
    }
}

fn values(options: &WalkOptions) -> Result<ValuesName, Error> {
    Ok(chosen(&options.form, Some(kind_of(&options.dict.store)?)))
}

fn print<V: Values + ?Sized>(mut entries: Entries<'_, V>, options: &WalkOptions) -> Result<ExitCode, Error> {
    let lines = Lines { separator: if options.null { 0 } else { b'\n' }, escape: options.form.escape };
    let mut output = Output::open(&options.print, false, &[])?;
    let mut out = vec![];
    let mut found = false;
    while let Some((key, value)) = entries.next_entry()? {
        lines.push::<V>(&mut out, key, value)?;
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
