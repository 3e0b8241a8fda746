//! `furui dict`: a map from lines to numbers, or to any bytes.

mod build;
mod changing;
mod count;
mod delete;
mod describe;
mod get;
mod key;
mod lines;
mod number;
mod records;
mod values;
mod walk;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use furui::dict::{Dict, DictOptions, FilterHash, Layout, Merging, Purpose};
use furui::store::{Directory, Manifest, StoreKind};

use crate::cli::{
    DictCommand, FilterHashName, LayoutName, LineOptions, MakingOptions, MergingName, ValuesName, WaitOptions,
};
use crate::error::Error;
use crate::files::Files;
use crate::keys;
use crate::memory;
use crate::opening::kind_of;
use crate::opening::open_to_write;
pub use describe::info;
use values::Values;

/// The exit code if nothing was found in the dictionary.
const NONE: u8 = 1;
/// The write buffer for new keys takes at most 1 / `WINDOW_SHARE` of the memory that the process can use.
const WINDOW_SHARE: u64 = 16;
/// The exit code after a signal is this number plus the number of the signal, as a shell reports it.
const SIGNALLED: u8 = 128;
/// The number of bytes of output that are gathered before they are written.
const GATHERED: usize = 128 << 10;

/// Runs a subcommand of `furui dict`.
pub fn run(command: &DictCommand) -> Result<ExitCode, Error> {
    match command {
        DictCommand::Build(options) => build::run(options),
        DictCommand::Get(options) => get::run(options),
        DictCommand::Prefix(options) => walk::prefix(options),
        DictCommand::Range(options) => walk::range(options),
        DictCommand::Delete(options) => delete::run(options),
        DictCommand::Number(options) => number::run(options),
        DictCommand::Key(options) => key::run(options),
        DictCommand::Count(options) => count::run(options),
    }
}

/// Limits the write buffer of a dictionary that is written to, to a part of the memory that the process can use.
fn options_to_write(options: DictOptions) -> DictOptions {
    // Two write buffers and a merge must fit into a small memory, too.
    let share = usize::try_from(memory::total() / WINDOW_SHARE).unwrap_or(usize::MAX);
    DictOptions { window_bytes: options.window_bytes.min(share), ..options }
}

/// Converts the options of the command line to those of a dictionary.
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

/// The options for opening a dictionary to write lines to it, or for making a new one. An existing dictionary must have
/// this purpose, and its keys must have been made from lines in the way that `lines` describes.
fn made(
    path: &Path,
    storage: &Directory,
    purpose: Purpose,
    lines: &LineOptions,
    making: &MakingOptions,
) -> Result<DictOptions, Error> {
    let form = match Manifest::load(storage)? {
        Some(manifest) => {
            // If the store is of another kind, the error about that comes later, and explains more.
            if manifest.store == StoreKind::Dict(purpose) {
                keys::check(path.display(), manifest.form, lines)?;
            }
            None
        }
        None => Some(keys::form(lines)?),
    };
    Ok(DictOptions { purpose: Some(purpose), form, ..options_to_write(options(making)) })
}

/// Opens an existing dictionary for writing. If `values` is given, its values must be of this kind.
fn open<V: Values + ?Sized>(
    path: &Path,
    values: Option<ValuesName>,
    wait: &WaitOptions,
) -> Result<Dict<Files, V>, Error> {
    // A directory that is not a dictionary is refused before anything is written to it.
    drop(open_to_read::<V>(path, values)?);
    Ok(V::open(open_to_write(path, wait)?, options_to_write(DictOptions::DEFAULT))?)
}

/// Opens a dictionary for reading. If `values` is given, its values must be of this kind.
pub fn open_to_read<V: Values + ?Sized>(path: &Path, values: Option<ValuesName>) -> Result<Dict<Files, V>, Error> {
    let storage = Directory::open_read_only(path)?;
    storage.manifest()?;
    Ok(V::open(storage, DictOptions { purpose: values.map(Purpose::from), ..DictOptions::default() })?)
}

/// True if the values of the dictionary are byte strings, as the option `values` or, without it, the dictionary itself
/// says. A directory that is no store is an error.
fn has_bytes(path: &Path, values: Option<ValuesName>) -> Result<bool, Error> {
    let found = kind_of(path)?.purpose();
    Ok(values.map(Purpose::from).or(found) == Some(Purpose::Bytes))
}

/// Merges all tries of the dictionary in the directory `path` into one, and drops deleted keys. Waits as `wait` says
/// while another process has the lock.
pub fn compact(path: &Path, wait: &WaitOptions) -> Result<(), Error> {
    match has_bytes(path, None)? {
        true => open::<[u8]>(path, None, wait)?.compact()?,
        false => open::<u32>(path, None, wait)?.compact()?,
    }
    Ok(())
}

/// Reads every byte of the dictionary in the directory `path`. The error names the file that is damaged, and the place
/// in it.
pub fn verify(path: &Path) -> Result<(), Error> {
    match has_bytes(path, None)? {
        true => open_to_read::<[u8]>(path, None)?.verify()?,
        false => open_to_read::<u32>(path, None)?.verify()?,
    }
    Ok(())
}

fn found_or_none(found: bool) -> ExitCode {
    if found { ExitCode::SUCCESS } else { ExitCode::from(NONE) }
}
