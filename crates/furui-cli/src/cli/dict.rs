//! The options of `furui dict`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{InputOptions, WaitOptions};

#[derive(Subcommand)]
pub enum DictCommand {
    /// Put lines into a dictionary: KEY, or KEY, a tab and a number
    ///
    /// A line without a tab is a key, which gets the next number, from 0 on, unless it has a value already. In other lines the
    /// last tab separates the key from its value, a number less than 2^32, which replaces an earlier value of the key. The next
    /// number is the count of numbers given so far. So no number is given twice, but it may equal the value in a line with a tab. A
    /// line of any other form is an error, which names the line; the lines before it are kept.
    Build(DictChange),
    /// Print each line that is a key, with a tab and the value of the key
    Get(DictFiles),
    /// Print the keys that begin with PREFIX, with their values, in order
    Prefix(PrefixOptions),
    /// Print the keys from FROM up to but not including TO, with their values, in order
    Range(RangeOptions),
    /// Delete the keys that the lines contain
    Delete(DictChange),
    /// Print the number of each line; a new line gets the next one
    ///
    /// Numbers are given in order, from 0 on. None is given twice, not even after a crash or after keys were deleted: a number
    /// is printed only after it is on the disk. The values of lines with a tab in `dict build` do not count, and may equal a number. If
    /// lines arrive slowly, each number is printed at once; otherwise many at a time.
    Number(DictChange),
}

/// A dictionary and the lines to use it with.
#[derive(Args)]
pub struct DictFiles {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub dict: DictOptions,
}

/// A dictionary to change, and the lines to change it by.
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
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: PathBuf,
}

/// A dictionary and how its entries are printed.
#[derive(Args)]
pub struct WalkOptions {
    #[command(flatten)]
    pub dict: DictOptions,
    /// End each entry with NUL, not newline
    #[arg(short = '0', long)]
    pub null: bool,
}

#[derive(Args)]
pub struct PrefixOptions {
    /// The beginning of the keys
    #[arg(value_name = "PREFIX")]
    pub prefix: OsString,
    #[command(flatten)]
    pub walk: WalkOptions,
}

#[derive(Args)]
pub struct RangeOptions {
    /// The first key [default: the first of all]
    #[arg(value_name = "FROM")]
    pub from: Option<OsString>,
    /// The first key that is not printed [default: print all to the last]
    #[arg(value_name = "TO")]
    pub to: Option<OsString>,
    #[command(flatten)]
    pub walk: WalkOptions,
}
