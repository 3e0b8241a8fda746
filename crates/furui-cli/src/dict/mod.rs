//! `furui dict`: a map from lines to numbers.

mod build;
mod delete;
mod describe;
mod get;
mod number;
mod walk;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use furui::dict::{Dict, DictOptions, FilterHash, Layout, Merging};
use furui::store::Directory;

use crate::cli::{DictCommand, FilterHashName, LayoutName, MakingOptions, MergingName, WaitOptions};
use crate::error::Error;
use crate::memory;
use crate::wait::open_to_write;
pub use describe::info;

/// The exit code for "nothing found".
const NONE: u8 = 1;
/// The part of the memory that the write buffer for new keys may take: 1 / 16.
const WINDOW_SHARE: u64 = 16;
/// A shell reports this plus the number of the signal for a process that a signal ended.
const SIGNALLED: u8 = 128;

/// Runs one of the commands.
pub fn run(command: &DictCommand) -> Result<ExitCode, Error> {
    match command {
        DictCommand::Build(options) => build::run(options),
        DictCommand::Get(options) => get::run(options),
        DictCommand::Prefix(options) => walk::prefix(options),
        DictCommand::Range(options) => walk::range(options),
        DictCommand::Delete(options) => delete::run(options),
        DictCommand::Number(options) => number::run(options),
    }
}

/// Opens a dictionary for writing, and creates it if it does not exist.
fn open_or_create(path: &Path, wait: &WaitOptions, options: DictOptions) -> Result<Dict<Directory>, Error> {
    // Two write buffers and a merge must fit into a small memory, too.
    let share = usize::try_from(memory::total() / WINDOW_SHARE).unwrap_or(usize::MAX);
    let options = DictOptions { window_bytes: options.window_bytes.min(share), ..options };
    Ok(Dict::open_with(open_to_write(path, wait)?, options)?)
}

/// The options of a dictionary that is made in this way.
fn options(making: &MakingOptions) -> DictOptions {
    let layout = making.layout.map(|layout| match layout {
        LayoutName::Compact => Layout::Compact,
        LayoutName::Louds => Layout::Louds,
    });
    let merging = match making.merging {
        MergingName::Geometric => Merging::Geometric,
        MergingName::All => Merging::All,
    };
    let filter_hash = making.filter_hash.map(|hash| match hash {
        FilterHashName::OneState => FilterHash::OneState,
        FilterHashName::Polynomials1 => FilterHash::Polynomials1,
        FilterHashName::Polynomials2 => FilterHash::Polynomials2,
        FilterHashName::Polynomials4 => FilterHash::Polynomials4,
        FilterHashName::Polynomials8 => FilterHash::Polynomials8,
    });
    let MakingOptions { window, merge_after, filter_rate, .. } = *making;
    DictOptions { layout, window, merge_after, merging, filter_rate, filter_hash, ..DictOptions::DEFAULT }
}

/// Opens a dictionary for writing. It must exist.
pub fn open(path: &Path, wait: &WaitOptions) -> Result<Dict<Directory>, Error> {
    // A directory that is not a dictionary is refused before anything is written to it.
    drop(open_to_read(path)?);
    open_or_create(path, wait, DictOptions::DEFAULT)
}

/// Opens a dictionary for reading.
pub fn open_to_read(path: &Path) -> Result<Dict<Directory>, Error> {
    let storage = Directory::open_read_only(path)?;
    storage.manifest()?;
    Ok(Dict::open_with(storage, DictOptions::DEFAULT)?)
}

fn found_or_none(found: bool) -> ExitCode {
    if found { ExitCode::SUCCESS } else { ExitCode::from(NONE) }
}

/// Appends `key`, a tab, `value` and the separator.
fn push_entry(out: &mut Vec<u8>, key: &[u8], value: u32, separator: u8) {
    out.extend_from_slice(key);
    out.push(b'\t');
    push_number(out, value, separator);
}

/// Appends `value` and the separator.
fn push_number(out: &mut Vec<u8>, value: u32, separator: u8) {
    out.extend_from_slice(value.to_string().as_bytes());
    out.push(separator);
}
