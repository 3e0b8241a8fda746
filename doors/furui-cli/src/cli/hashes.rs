//! The options of `furui export` and `import`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{WaitOptions, place};

/// Write the hashes of a store as numbers, in ascending order
///
/// For each line of the store, its 64-bit hash is written in 8 bytes, the least significant first. This is the format
/// of datatrove's indexes of exact duplicates, whose hash is that of a store made with `--hash xxh64 --hash-seed 0`.
/// `furui info` prints the hash and the seed of a store. Nothing is locked.
#[derive(Args)]
pub struct ExportOptions {
    /// The store; redis://HOST:PORT/NAME is a set in a server
    #[arg(value_name = "STORE", value_hint = ValueHint::DirPath, value_parser = place::anywhere())]
    pub store: PathBuf,
    /// Write numbers of 64 bits, the only format there is
    #[arg(long, required = true)]
    pub u64: bool,
    /// The file to write, whole or not at all [default: standard output]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Insert the hashes in a file into a store
///
/// The file holds numbers of 64 bits, as `furui export --u64` writes them, in any order. They must have been made by
/// the hash of the store, which nothing can check; `furui seen -q --store NEW --like STORE < /dev/null` makes an empty
/// store NEW with the hash of STORE. The hashes are inserted in one change: after an error none of them is in the
/// store.
#[derive(Args)]
pub struct ImportOptions {
    /// The store
    #[arg(value_name = "STORE", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub store: PathBuf,
    /// The file of hashes; "-" is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    #[command(flatten)]
    pub wait: WaitOptions,
}
