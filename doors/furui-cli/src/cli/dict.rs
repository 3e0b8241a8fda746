//! The options of `furui dict`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use furui::dict::{self, Purpose};
use furui::store::MAX_RUNS;
use furui::text;

use super::{InputOptions, LineOptions, PrintOptions, WaitOptions, headings};
use super::{number, place};

/// The options that a dictionary has if none are given.
const USUAL: dict::DictOptions = dict::DictOptions::DEFAULT;

#[derive(Subcommand)]
pub enum DictCommand {
    /// Put lines into a dictionary: KEY, or KEY, a tab and a value
    ///
    /// The kind of values (--values) is fixed when the dictionary is made. In a dictionary of numbers, which is the
    /// default, a line without a tab is a key. If the key is new, it gets the number that `dict number` would give it.
    /// In a line with a tab, the last tab separates the key from its number, which replaces an earlier number of the
    /// key. So you can import a table of numbers, and `dict number` goes on after the greatest. Two keys in the table
    /// must not have the same number, which is not checked.
    ///
    /// In a dictionary of values or counts each line has a tab, and a number below 2^32 after the last one. In a
    /// dictionary of bytes, the first tab separates the key from its value, which may be any bytes up to 16 MiB,
    /// including tabs; a value with newlines needs --null or --escape. A line of any other form is an error, which
    /// names the line; the lines before it are put.
    ///
    /// With --field, --csv, --tsv or --json a line is a record without a value, and its key gets a number.
    #[command(visible_alias = "put")]
    Build(EntryWrite),
    /// Print the key of each line that is in the dictionary, a tab, and its value
    ///
    /// An entry whose line would be ambiguous is an error: in a dictionary of bytes, a key with a tab, or a value with
    /// a newline (with --null, with a NUL). With --escape all entries can be printed.
    Get(GetOptions),
    /// Print the keys that have the numbers ID, each after its number and a tab
    ///
    /// The answers come in the order of the IDs; a number that no key has is left out. A dictionary finds values by
    /// keys, not keys by values: this command reads all entries, as `dict range` does, once for all IDs (once for each
    /// million of them on standard input).
    Key(KeyOptions),
    /// Print the keys that begin with PREFIX, with their values, in order
    Prefix(PrefixOptions),
    /// Print the keys from FROM up to but not including TO, with their values, in order
    Range(RangeOptions),
    /// Delete the key of each line
    Delete(EntryChange),
    /// Print the number of each line; a new line gets the next one
    ///
    /// A new line gets the number after the greatest that the dictionary has ever held, from 0 on. No number is given
    /// twice, and none that `dict build` put is given, not even after a crash or after keys were deleted: a number is
    /// printed only after it is on the disk. If the greatest is 4294967294 or more, because it was put, a new line gets
    /// the smallest number that the dictionary has never held (of more than 1000 gaps between numbers, only the widest
    /// are used). 4294967295 is never given.
    ///
    /// If lines arrive slowly, each number is printed at once; otherwise many are printed at a time. For a header of
    /// --csv or --tsv nothing is printed, and for a line without a key an empty line, or nothing with --missing drop. A
    /// dictionary of values, counts or bytes is refused.
    Number(NumberOptions),
    /// Count how often each line came, and print each line after its count and a tab, in the order of the lines
    ///
    /// This is `sort | uniq -c` for lines that need not be sorted, nor fit into memory: what does not fit goes to
    /// temporary files in $TMPDIR. With key options the keys of lines are counted, as in
    /// `furui dict count --csv --key lang --top 10 FILE`. A key of several columns is printed with tabs between them.
    ///
    /// With --store the counts are the values of a dictionary of counts, and the next run with this dictionary adds to
    /// them. They are recorded at intervals, and at the end: a run that ends by an error or by ^C, SIGTERM or SIGHUP
    /// has counted the lines that it had read, and a run that was killed has counted some of them. A count of 2^32 is
    /// an error. A dictionary of numbers, values or bytes is refused.
    Count(CountOptions),
}

/// A dictionary, the lines to look up in it, and which of them are printed.
#[derive(Args)]
pub struct GetOptions {
    #[command(flatten)]
    pub lines: EntryLines,
    /// Print the lines that are not keys instead
    #[arg(short = 'v', long, help_heading = headings::OUTPUT)]
    pub invert: bool,
    #[command(flatten)]
    pub print: PrintOptions,
}

/// A dictionary and the numbers of keys.
#[derive(Args)]
pub struct KeyOptions {
    /// The numbers [default: those on the lines of standard input]
    #[arg(value_name = "ID", value_parser = number::between::<u32>(0, u32::MAX.into()))]
    pub ids: Vec<u32>,
    #[command(flatten)]
    pub dict: DictOptions,
    #[command(flatten)]
    pub print: PrintOptions,
    /// Write tab, newline and others in keys as \t \n \r \0 \\
    ///
    /// These are tab, newline, carriage return, NUL and backslash
    #[arg(long, help_heading = headings::OUTPUT)]
    pub escape: bool,
    /// Lines end in NUL, not newline (also -0)
    #[arg(short = 'z', short_alias = '0', long, help_heading = headings::OUTPUT)]
    pub null: bool,
}

/// A dictionary to create or change, the lines to number, and what is printed.
#[derive(Args)]
pub struct NumberOptions {
    #[command(flatten)]
    pub change: DictChange,
    #[command(flatten)]
    pub print: PrintOptions,
    /// Print the number, a tab, and the key
    ///
    /// The key is the line, if no option makes another one
    #[arg(long, help_heading = headings::OUTPUT)]
    pub with_key: bool,
    /// Tab, newline and others are read and written as \t \n \r \0 \\
    ///
    /// These are tab, newline, carriage return, NUL and backslash in keys
    #[arg(long, help_heading = headings::DICTIONARY)]
    pub escape: bool,
    #[command(flatten)]
    pub making: MakingOptions,
}

/// The lines to count, the dictionary to add to, and what is printed.
#[derive(Args)]
pub struct CountOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
    /// The directory of a dictionary to which the counts are added
    ///
    /// Without it, only the lines of this run are counted
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::local(), help_heading = headings::DICTIONARY)]
    pub store: Option<PathBuf>,
    #[command(flatten, next_help_heading = headings::DICTIONARY)]
    pub wait: WaitOptions,
    /// Tab, newline and others are read and written as \t \n \r \0 \\
    ///
    /// These are tab, newline, carriage return, NUL and backslash in keys
    #[arg(long, help_heading = headings::DICTIONARY)]
    pub escape: bool,
    #[command(flatten)]
    pub print: PrintOptions,
    /// Print only the N most frequent lines
    ///
    /// The most frequent comes first; of equal counts, the smaller lines come first
    #[arg(long, value_name = "N", value_parser = number::between::<u32>(1, u32::MAX.into()), help_heading = headings::OUTPUT)]
    pub top: Option<u32>,
    /// Print no lines
    #[arg(short, long, conflicts_with_all = ["top", "output"], requires = "store", help_heading = headings::OUTPUT)]
    pub quiet: bool,
    #[command(flatten)]
    pub making: MakingOptions,
}

/// A dictionary and the lines to use it with.
#[derive(Args)]
pub struct DictFiles {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
    #[command(flatten)]
    pub dict: DictOptions,
}

/// A dictionary to change, and the lines to change it by.
#[derive(Args)]
pub struct DictChange {
    #[command(flatten)]
    pub lines: DictFiles,
    #[command(flatten, next_help_heading = headings::DICTIONARY)]
    pub wait: WaitOptions,
}

/// What the values of a dictionary are, and how its entries are written as lines.
#[derive(Args)]
#[command(next_help_heading = headings::DICTIONARY)]
pub struct EntryForm {
    /// The kind of values: numbers, values, counts or bytes
    ///
    /// It is fixed when the dictionary is made: a dictionary with values of another kind is refused [default: the kind
    /// that the dictionary has; numbers for a new one]
    #[arg(long, value_enum, value_name = "KIND")]
    pub values: Option<ValuesName>,
    /// Tab, newline and others are read and written as \t \n \r \0 \\
    ///
    /// These are tab, newline, carriage return, NUL and backslash in keys and values, so that these may be any bytes
    #[arg(long)]
    pub escape: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValuesName {
    /// A number for each key, which `dict number` gives or `dict build` puts
    Numbers,
    /// A number below 2^32 for each key, with any meaning
    Values,
    /// The number of times that each line came; `dict count` adds to it
    Counts,
    /// Any bytes for each key, up to 16 MiB
    Bytes,
}

impl From<ValuesName> for Purpose {
    fn from(name: ValuesName) -> Self {
        match name {
            ValuesName::Numbers => Self::Numbers,
            ValuesName::Values => Self::Values,
            ValuesName::Counts => Self::Counts,
            ValuesName::Bytes => Self::Bytes,
        }
    }
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
    #[command(flatten, next_help_heading = headings::DICTIONARY)]
    pub wait: WaitOptions,
}

/// A dictionary to create or change, the lines of keys or entries to change it by, and how its tries are made.
#[derive(Args)]
pub struct EntryWrite {
    #[command(flatten)]
    pub change: EntryChange,
    #[command(flatten)]
    pub making: MakingOptions,
}

/// How the tries of a dictionary are made.
#[derive(Args)]
#[command(next_help_heading = headings::PAPERS_TRIES)]
pub struct MakingOptions {
    /// The layout of a new dictionary's files [default: compact]
    #[arg(long, value_enum)]
    pub layout: Option<LayoutName>,
    /// Write a new trie after every N keys
    ///
    /// Or after fewer, if they and their values take more than 128 MiB
    #[arg(long, value_name = "N", value_parser = keys, default_value_t = USUAL.window)]
    pub window: usize,
    /// Keep at most F tries
    ///
    /// If there are more, some are merged. A look-up may have to search each of them
    #[arg(long, value_name = "F", value_parser = number::between::<usize>(1, MAX_RUNS as u64), default_value_t = USUAL.merge_after)]
    pub merge_after: usize,
    /// Which tries are merged: geometric or all
    #[arg(long, value_enum, default_value_t = MergingName::Geometric)]
    pub merging: MergingName,
    /// The false-positive rate of the filters of tries
    ///
    /// The rate at which a trie is searched in vain for a line that it does not have
    #[arg(long, value_name = "RATE", value_parser = number::rate, default_value_t = USUAL.filter_rate)]
    pub filter_rate: f64,
    /// How a new dictionary's filters hash [default: one-state]
    ///
    /// How the filters of the tries compute the positions of a line; a dictionary keeps this choice
    #[arg(long, value_enum, value_name = "HASH")]
    pub filter_hash: Option<FilterHashName>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum LayoutName {
    /// Path-compressed tries: the least space and the fastest look-ups
    Compact,
    /// LOUDS tries, a byte a node, as in the paper of Koyanagi et al.
    Louds,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum MergingName {
    /// The newest tries, when together they have grown to the size of the next older one
    Geometric,
    /// All tries, when there are more than --merge-after, as in the paper of Koyanagi et al.
    All,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum FilterHashName {
    /// One hash of 64 bits, with a random seed
    OneState,
    /// With --layout louds: one position by a polynomial of the line's bytes, which has no seed
    #[value(name = "polynomials-1")]
    Polynomials1,
    /// Two positions by two polynomials
    #[value(name = "polynomials-2")]
    Polynomials2,
    /// Four positions by four polynomials, as in the dictionary of Koyanagi et al.
    #[value(name = "polynomials-4")]
    Polynomials4,
    /// Eight positions by eight polynomials
    #[value(name = "polynomials-8")]
    Polynomials8,
}

#[derive(Args)]
#[command(next_help_heading = headings::DICTIONARY)]
pub struct DictOptions {
    /// The dictionary's directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub store: PathBuf,
}

/// A dictionary and how its entries are printed.
#[derive(Args)]
pub struct WalkOptions {
    #[command(flatten)]
    pub dict: DictOptions,
    #[command(flatten)]
    pub form: EntryForm,
    #[command(flatten)]
    pub print: PrintOptions,
    /// End each entry with NUL, not newline (also -0)
    #[arg(short = 'z', short_alias = '0', long, help_heading = headings::OUTPUT)]
    pub null: bool,
}

/// Parses a number of keys, which is not 0.
fn keys(text: &str) -> Result<usize, String> {
    let keys = usize::try_from(text::count(text).map_err(|error| error.to_string())?).ok().filter(|&keys| keys > 0);
    keys.ok_or_else(|| "not a number of keys: use at least 1, and no more than memory can hold".into())
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
    /// Print from this key on [default: from the first key]
    #[arg(value_name = "FROM")]
    pub from: Option<OsString>,
    /// The first key that is not printed [default: print to the last key]
    #[arg(value_name = "TO")]
    pub to: Option<OsString>,
    #[command(flatten)]
    pub walk: WalkOptions,
}
