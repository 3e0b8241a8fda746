//! The options of `furui dict`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::WaitOptions;

#[derive(Subcommand)]
pub enum DictCommand {
    /// Put lines into a dictionary: KEY, or KEY, a tab and a number
    ///
    /// A line without a tab is a key that gets the next number, from 0 on, unless it is there already. In other lines the
    /// last tab separates the key from its value, a number below 2^32, which replaces the one that the key had. A
    /// line that cannot be is an error that names it; the lines before it are kept.
    Build(DictChange),
    /// Print the lines that are keys, each with a tab and its value
    Get(DictFiles),
    /// Print the keys that begin with PREFIX and their values, in order
    Prefix(PrefixOptions),
    /// Print the keys from FROM up to, and without, TO and their values, in order
    Range(RangeOptions),
    /// Take the lines that are keys out
    Delete(DictChange),
    /// Print the number of each line; a new line gets the next one
    ///
    /// A number is printed only when it is on the disk: after a crash no two lines have the same one. Where input comes
    /// slowly numbers are printed as it comes; otherwise many at a time.
    Number(DictChange),
}

/// A dictionary and the lines to use it with.
#[derive(Args)]
pub struct DictFiles {
    /// Files to read; none or "-" is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub dict: DictOptions,
}

/// A dictionary to change, and the lines to do that with.
#[derive(Args)]
pub struct DictChange {
    #[command(flatten)]
    pub lines: DictFiles,
    #[command(flatten)]
    pub wait: WaitOptions,
}

#[derive(Args)]
pub struct DictOptions {
    /// The dictionary's directory
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// Lines end in NUL, not newline
    #[arg(short = '0', long)]
    pub null: bool,
}

impl DictOptions {
    /// The byte that ends a line.
    pub fn separator(&self) -> u8 {
        if self.null { 0 } else { b'\n' }
    }
}

#[derive(Args)]
pub struct PrefixOptions {
    /// What the keys begin with
    #[arg(value_name = "PREFIX")]
    pub prefix: OsString,
    #[command(flatten)]
    pub dict: DictOptions,
}

#[derive(Args)]
pub struct RangeOptions {
    /// The first key [default: the first of all]
    #[arg(value_name = "FROM")]
    pub from: Option<OsString>,
    /// The first key that is not printed any more [default: print to the last]
    #[arg(value_name = "TO")]
    pub to: Option<OsString>,
    #[command(flatten)]
    pub dict: DictOptions,
}
