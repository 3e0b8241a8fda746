//! The syntax of the command line. The commands decide what the options mean.

mod combine;
mod dict;
mod filter;
mod has;
mod hashes;
mod lines;
pub mod notes;
mod outputs;
mod seen;

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use furui::HashAlgorithm;

use crate::block::MOST_MAX_LINE;
use crate::blocks::Blocks;
use crate::interrupt::Interrupt;
use crate::network::{self, NetworkCommand};
use crate::reading::Reading;
use crate::size;
use crate::split::Split;

pub use combine::CombineOptions;
pub use dict::*;
pub use filter::*;
pub use has::HasOptions;
pub use hashes::{ExportOptions, ImportOptions};
pub use lines::{LineOptions, Policy};
pub use outputs::{MarkForm, OutputOptions};
use seen::memory;
pub use seen::*;

/// Have I seen this?
#[derive(Parser)]
#[command(name = "furui", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The command line with its help.
pub fn command() -> clap::Command {
    let command = notes::annotate(Cli::command(), "");
    match network::MISSING {
        Some(missing) => command.after_help(missing),
        None => command,
    }
}

/// The arguments of this process.
pub fn arguments() -> Result<Cli, clap::Error> {
    let mut command = command();
    Cli::from_arg_matches_mut(&mut command.try_get_matches_from_mut(std::env::args_os())?)
        .map_err(|error| error.format(&mut command))
}

#[derive(Subcommand)]
pub enum Command {
    Seen(Box<SeenOptions>),
    Has(HasOptions),
    /// Write the union of stores or of filters: the lines that are in any of them
    ///
    /// Stores are combined if their lines were hashed alike and keys were made alike: `furui seen --like` makes such stores. They are
    /// read twice from front to back, and the result is a new store, whole or not at all. Nothing is locked.
    ///
    /// The filters must have been built with the same --kind, --capacity, --fpr, --hash and key options. Growing
    /// filters, which are built from a pipe without --capacity, need only the same --hash and key options. Their
    /// false-positive rates add up, and the result may have at most 26 parts: `furui info` tells how many parts each
    /// filter has.
    Union(CombineOptions),
    /// Write the difference of stores: the lines of the first that are in no other
    ///
    /// Stores are combined if their lines were hashed alike and keys were made alike: `furui seen --like` makes such stores. They are
    /// read twice from front to back, and the result is a new store, whole or not at all. Nothing is locked. Filters
    /// have no difference.
    Subtract(CombineOptions),
    /// Write the intersection of stores or of filters: the lines that are in all of them
    ///
    /// Stores are combined if their lines were hashed alike and keys were made alike: `furui seen --like` makes such stores. They are
    /// read twice from front to back, and the result is a new store, whole or not at all. Nothing is locked.
    ///
    /// The intersection of filters says yes to a line if all filters do. It has a few more false positives than a filter built from
    /// the common lines alone, and `furui info` reports too many lines for it; `furui filter compare` of two filters
    /// estimates the common lines correctly. The filters must have been built with the same --kind, --capacity, --fpr,
    /// --hash and key options. Growing, counting and stable filters have no intersection.
    Intersect(CombineOptions),
    Export(ExportOptions),
    Import(ImportOptions),
    /// Small files that answer "have I seen this?", wrong only at a stated rate
    ///
    /// A filter is mapped into memory: if another program truncates its file while it is read, a signal ends the process.
    /// These commands never truncate a file; they replace it.
    #[command(subcommand)]
    Filter(FilterCommand),
    /// A map from lines to numbers, kept on disk in the order of the lines, in a tenth of a hash map's space
    ///
    /// The files of a dictionary are mapped into memory: if another program truncates one while it is read, a signal ends the
    /// process. These commands never truncate a file; they replace it.
    #[command(subcommand)]
    Dict(DictCommand),
    #[command(flatten)]
    Network(NetworkCommand),
    /// Merge a store into one run, or a dictionary into one trie, which takes the least space and the least time for lookups
    Compact(CompactOptions),
    Snapshot(SnapshotOptions),
    Info(InfoOptions),
    /// Read every byte of a filter or store, and check every checksum and invariant
    ///
    /// Prints nothing if all is well. Otherwise the first damage found in each path is reported, with file and offset.
    Verify(VerifyOptions),
    /// Print a script that completes furui's arguments in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write those of all commands into a directory
    Man {
        /// Write furui.1, furui-seen.1, ... into this directory
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
}

#[derive(Args)]
pub struct CompactOptions {
    /// The directory of a store or a dictionary
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub path: PathBuf,
    #[command(flatten)]
    pub wait: WaitOptions,
}

/// Copy a store or dictionary, even while another process writes to it
///
/// DEST becomes a store with everything that was recorded in DIR when the copy began. On the same file system, files are linked
/// instead of copied, which takes almost no time or space; later changes to one store do not affect the other. To survive the loss
/// of a disk, DEST must be on another disk. To restore a copy, move it to the place of DIR while no process writes to DIR.
#[derive(Args)]
pub struct SnapshotOptions {
    /// The directory of a store or a dictionary
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub path: PathBuf,
    /// The directory of the copy, new or empty
    #[arg(value_name = "DEST", value_hint = ValueHint::DirPath)]
    pub dest: PathBuf,
}

/// The time that a command waits while another process writes to its store.
#[derive(Args)]
pub struct WaitOptions {
    /// If another process writes to the store, wait until it ends, but at most SECS seconds
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true, default_missing_value = "inf", value_parser = patience)]
    pub wait: Option<f64>,
}

#[derive(Args)]
pub struct VerifyOptions {
    /// Filters, directories of stores and dictionaries, or single files of these
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

/// Describe filters, stores and dictionaries: their parameters, what they hold, and the errors to expect
#[derive(Args)]
pub struct InfoOptions {
    /// Filters, directories of stores and dictionaries, or single files of these
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Print JSON, one line for each path
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub seed: SeedOptions,
}

/// Where the seed of a filter's hash is, if it is not in the filter's file.
#[derive(Args)]
pub struct SeedOptions {
    /// The file of the hash's seed, for a filter whose own file does not hold it. To unite, intersect or compare filters of
    /// one seed, nobody needs it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub seed_file: Option<PathBuf>,
}

/// The input, and how it is divided into lines.
#[derive(Args)]
pub struct InputOptions {
    /// Files to read; none or "-" is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Lines end in NUL, not newline
    #[arg(short = '0', long)]
    pub null: bool,
    /// The longest line that is allowed: a longer one is an error, and the lines before it are kept
    #[arg(long, value_name = "SIZE", value_parser = max_line, default_value = "64MiB")]
    pub max_line: usize,
    /// Read compressed input as it is. Otherwise gzip, zstd, xz, bzip2 and lz4 are recognised by their first bytes, and
    /// decoded
    #[arg(long)]
    pub no_decompress: bool,
}

impl InputOptions {
    /// The byte that ends a line.
    pub fn separator(&self) -> u8 {
        if self.null { 0 } else { b'\n' }
    }

    /// How the input is read if each of its lines is a record, without a header.
    pub fn reading(&self) -> Reading {
        let split = Split::Lines(self.separator());
        Reading { split, header: false, max_line: self.max_line, decodes: !self.no_decompress }
    }

    /// The lines of the input.
    pub fn blocks<'a>(&self, interrupt: &'a Interrupt) -> Blocks<'a> {
        Blocks::new(&self.files, self.reading(), interrupt)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HashName {
    Xxh3,
    Siphash,
    /// Slow; a Bloom filter computes it again for each probe, with another salt
    Sha1,
    /// The hash of Parquet files
    Xxh64,
}

impl From<HashName> for HashAlgorithm {
    fn from(name: HashName) -> Self {
        match name {
            HashName::Xxh3 => Self::Xxh3,
            HashName::Siphash => Self::SipHash13,
            HashName::Sha1 => Self::Sha1,
            HashName::Xxh64 => Self::Xxh64,
        }
    }
}

/// Parses a number of seconds, which may be `inf`.
fn patience(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => Ok(seconds),
        _ => Err("not a number of seconds: write as in 10 or 0.5".into()),
    }
}

/// Parses a seed in decimal, or in hexadecimal after 0x.
pub fn seed(text: &str) -> Result<u64, String> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .map_err(|_| "not a number below 2^64, in decimal, or in hexadecimal after 0x".into())
}

/// Parses the maximum length of a line, in bytes.
fn max_line(text: &str) -> Result<usize, String> {
    let bytes = size::parse(text)?;
    let allowed = (1..=MOST_MAX_LINE).contains(&bytes);
    usize::try_from(bytes).ok().filter(|_| allowed).ok_or_else(|| format!("not from 1 to {MOST_MAX_LINE} bytes"))
}
