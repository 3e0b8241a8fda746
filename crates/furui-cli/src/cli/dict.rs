//! The options of `furui dict`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::{InputOptions, WaitOptions};

#[derive(Subcommand)]
pub enum DictCommand {
    /// Put lines into a dictionary: KEY, or KEY, a tab and a value
    ///
    /// In a dictionary of numbers, a line without a tab is a key, which gets the next number, from 0 on, unless it has a value already. In other lines the
    /// last tab separates the key from its value, a number less than 2^32, which replaces an earlier value of the key. The next
    /// number is the count of numbers given so far. So no number is given twice, but it may equal the value in a line with a tab. A
    /// line of any other form is an error, which names the line; the lines before it are kept.
    ///
    /// In a dictionary of bytes (--values bytes), the first tab separates the key from its value, which may be any bytes up to 16 MiB,
    /// with tabs, and replaces an earlier value of the key. A value with newlines needs --null or --escape.
    #[command(visible_alias = "put")]
    Build(EntryChange),
    /// Print each line that is a key, with a tab and the value of the key
    ///
    /// An entry that could not be read again is an error: in a dictionary of bytes, a key with a tab, or a value with a newline (with
    /// --null, with a NUL). --escape prints all of them.
    Get(EntryLines),
    /// Print the keys that begin with PREFIX, with their values, in order
    Prefix(PrefixOptions),
    /// Print the keys from FROM up to but not including TO, with their values, in order
    Range(RangeOptions),
    /// Delete the keys that the lines contain
    Delete(EntryChange),
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

/// What the values of a dictionary are, and how its entries stand in lines.
#[derive(Args)]
pub struct EntryForm {
    /// What the values are; a dictionary of others is refused [default: what the dictionary has, numbers in a new one]
    #[arg(long, value_enum, value_name = "KIND")]
    pub values: Option<ValuesName>,
    /// In lines, in keys and in values, \t \n \r \0 \\ are tab, newline, carriage return, NUL and backslash: so they may be any bytes
    #[arg(long)]
    pub escape: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValuesName {
    /// Numbers below 2^32
    Numbers,
    /// Any bytes, up to 16 MiB
    Bytes,
}

/// A dictionary, and the lines of keys or entries to use it with.
#[derive(Args)]
pub struct EntryLines {
    #[command(flatten)]
    pub files: DictFiles,
    #[command(flatten)]
    pub form: EntryForm,
}

/// A dictionary to change, and the lines of keys or entries to change it by.
#[derive(Args)]
pub struct EntryChange {
    #[command(flatten)]
    pub lines: EntryLines,
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
    #[command(flatten)]
    pub form: EntryForm,
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
