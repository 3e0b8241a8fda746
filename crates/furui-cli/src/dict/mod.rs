//! `furui dict`: a map from lines to numbers, or to any bytes.

mod build;
mod count;
mod delete;
mod describe;
mod escape;
mod get;
mod key;
mod number;
mod values;
mod walk;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use furui::dict::{Dict, DictOptions, FilterHash, Layout, Merging};
use furui::store::{Directory, StoreKind};

use crate::cli::{DictCommand, FilterHashName, LayoutName, MakingOptions, MergingName, WaitOptions};
use crate::error::Error;
use crate::kind::kind_of;
use crate::memory;
use crate::wait::open_to_write;
pub use describe::info;
use values::Values;

/// The exit code for "nothing found".
const NONE: u8 = 1;
/// The write buffer for new keys takes at most 1 / `WINDOW_SHARE` of the memory.
const WINDOW_SHARE: u64 = 16;
/// If a signal ended a process, a shell reports this number plus the number of the signal.
const SIGNALLED: u8 = 128;
/// How many bytes of output are gathered before a write.
const GATHERED: usize = 128 << 10;

/// Runs one of the commands.
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

/// Adapts options to a dictionary that is written to: limits the memory of its write buffer.
fn options_to_write(options: DictOptions) -> DictOptions {
    // Two write buffers and a merge must fit into a small memory, too.
    let share = usize::try_from(memory::total() / WINDOW_SHARE).unwrap_or(usize::MAX);
    DictOptions { window_bytes: options.window_bytes.min(share), ..options }
}

/// The options of a dictionary that follow from those of the command line.
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
fn open<V: Values + ?Sized>(path: &Path, wait: &WaitOptions) -> Result<Dict<Directory, V>, Error> {
    // A directory that is not a dictionary is refused before anything is written to it.
    drop(open_to_read::<V>(path)?);
    Ok(V::open(open_to_write(path, wait)?, options_to_write(DictOptions::DEFAULT))?)
}

/// Opens a dictionary for reading.
pub fn open_to_read<V: Values + ?Sized>(path: &Path) -> Result<Dict<Directory, V>, Error> {
    let storage = Directory::open_read_only(path)?;
    storage.manifest()?;
    Ok(V::open(storage, DictOptions::default())?)
}

/// Merges a dictionary into one trie.
pub fn compact(path: &Path, wait: &WaitOptions) -> Result<(), Error> {
    match kind_of(path)? {
        StoreKind::ByteDict => open::<[u8]>(path, wait)?.compact()?,
        _ => open::<u32>(path, wait)?.compact()?,
    }
    Ok(())
}

/// Reads every byte of a dictionary.
pub fn verify(path: &Path) -> Result<(), Error> {
    match kind_of(path)? {
        StoreKind::ByteDict => open_to_read::<[u8]>(path)?.verify()?,
        _ => open_to_read::<u32>(path)?.verify()?,
    }
    Ok(())
}

fn found_or_none(found: bool) -> ExitCode {
    if found { ExitCode::SUCCESS } else { ExitCode::from(NONE) }
}
