//! `furui dict prefix` and `furui dict range`.

use std::ffi::OsStr;
use std::ops::Bound;
use std::process::ExitCode;

use furui::dict::Entries;

use super::{found_or_none, open_to_read, push_entry};
use crate::cli::{PrefixOptions, RangeOptions, WalkOptions};
use crate::error::Error;
use crate::output::{Output, Sink};

/// How many bytes of output are gathered before a write.
const GATHERED: usize = 128 << 10;

/// Prints the entries whose keys begin with a prefix.
pub fn prefix(options: &PrefixOptions) -> Result<ExitCode, Error> {
    let dict = open_to_read(&options.walk.dict.store)?;
    print(dict.prefix(options.prefix.as_encoded_bytes()), &options.walk)
}

/// Prints the entries in a range of keys.
pub fn range(options: &RangeOptions) -> Result<ExitCode, Error> {
    let dict = open_to_read(&options.walk.dict.store)?;
    let from = options.from.as_deref().map_or(Bound::Unbounded, |from| Bound::Included(OsStr::as_encoded_bytes(from)));
    let to = options.to.as_deref().map_or(Bound::Unbounded, |to| Bound::Excluded(OsStr::as_encoded_bytes(to)));
    print(dict.range::<&[u8]>((from, to)), &options.walk)
}

fn print(mut entries: Entries<'_>, options: &WalkOptions) -> Result<ExitCode, Error> {
    let separator = if options.null { 0 } else { b'\n' };
    let mut output = Output::new(false)?;
    let mut out = vec![];
    let mut found = false;
    while let Some((key, value)) = entries.next_entry()? {
        push_entry(&mut out, key, value, separator);
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
