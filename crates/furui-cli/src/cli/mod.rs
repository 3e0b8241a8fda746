//! The command line, as typed. What the options mean is decided by the commands.

mod demo;
mod dict;
mod filter;
mod node;
mod publish;
mod search;
mod seen;
mod unpublish;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use furui::HashAlgorithm;

pub use demo::*;
pub use dict::*;
pub use filter::*;
pub use node::*;
pub use publish::*;
pub use search::*;
pub use seen::*;
pub use unpublish::*;

/// Have I seen this?
#[derive(Parser)]
#[command(name = "furui", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Seen(SeenOptions),
    /// Small files that answer "have I seen this?", wrong only at a stated rate
    #[command(subcommand)]
    Filter(FilterCommand),
    /// A map from lines to numbers, on disk, in order, ten times smaller than a hash map
    #[command(subcommand)]
    Dict(DictCommand),
    Node(NodeOptions),
    Publish(PublishOptions),
    Unpublish(UnpublishOptions),
    Search(SearchOptions),
    Demo(DemoOptions),
    /// Merge a store into one level, or a dictionary into one trie: the least space, and the fastest to look into
    Compact(CompactOptions),
    Snapshot(SnapshotOptions),
    Info(InfoOptions),
    /// Read every byte of a filter or store, and check every checksum and invariant
    ///
    /// Silent if all is well. Otherwise the first damage found is named, with file and offset, and the exit code is 2.
    Verify(VerifyOptions),
    /// Print a script that completes furui's arguments in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write those of all commands into a directory
    Man {
        /// Write furui.1, furui-seen.1, ... into this directory
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Args)]
pub struct CompactOptions {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub path: PathBuf,
    #[command(flatten)]
    pub wait: WaitOptions,
}

/// Copy a store or dictionary, also while another process writes to it
///
/// DEST becomes a store with all that was recorded in DIR when the copy began. Files are linked, not copied, where DEST is on the
/// same file system: that takes no time and no space, and later runs on either one leave the other alone; but a copy
/// that shall survive the disk belongs on another one. To restore it, put it in the place of DIR while nobody writes there.
#[derive(Args)]
pub struct SnapshotOptions {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub path: PathBuf,
    /// The directory of the copy, new or empty
    #[arg(value_name = "DEST")]
    pub dest: PathBuf,
}

/// What a command does that is to write to a store while another process does.
#[derive(Args)]
pub struct WaitOptions {
    /// If another process writes to the store, wait until it ends, or SECS seconds at most
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true, default_missing_value = "inf", value_parser = patience)]
    pub wait: Option<f64>,
}

#[derive(Args)]
pub struct VerifyOptions {
    /// A filter, a store's directory, or a single file of a store
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

/// What a filter or store is: its parameters, what it holds, the errors to expect
#[derive(Args)]
pub struct InfoOptions {
    /// A filter, a store's directory, or a single file of a store
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which part of a line is its key.
#[derive(Args)]
pub struct LineOptions {
    /// Lines end in NUL, not newline
    #[arg(short = '0', long)]
    pub null: bool,
    /// The key is the N-th field, counted from 1 (a line without it has the empty key)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub field: Option<u32>,
    /// What separates fields: one byte [default: tab]
    #[arg(short, long, value_name = "C", default_value = "\t", hide_default_value = true, requires = "field", value_parser = delimiter)]
    pub delimiter: u8,
    /// The key is the canonical form of the URL (scheme and host in lower case, dots resolved, no default port, no
    /// fragment); a line that is no http, https, ftp, ws or wss URL is its own key
    #[arg(long)]
    pub url: bool,
}

impl LineOptions {
    /// The byte that ends a line.
    pub fn separator(&self) -> u8 {
        if self.null { 0 } else { b'\n' }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HashName {
    Xxh3,
    Siphash,
    /// Slow; a Bloom filter then salts it anew for each probe
    Sha1,
    /// That of Parquet files
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

/// A field delimiter: one byte, or an escape for one that is hard to type.
fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "\\t" => Ok(b'\t'),
        "\\0" => Ok(0),
        _ => match text.as_bytes() {
            [byte] => Ok(*byte),
            _ => Err("must be one byte (\\t and \\0 are understood)".into()),
        },
    }
}

/// A number of seconds, without end if it is infinite.
fn patience(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => Ok(seconds),
        _ => Err("a number of seconds, as in 10 or 0.5".into()),
    }
}

/// A seed, decimal or 0x.
fn seed(text: &str) -> Result<u64, String> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .map_err(|error| format!("{error}; a seed is a number below 2^64, decimal or 0x"))
}
