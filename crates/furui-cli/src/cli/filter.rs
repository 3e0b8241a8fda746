//! The options of `furui filter`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::{HashName, InputOptions, LineOptions, seed};
use crate::number;

#[derive(Subcommand)]
pub enum FilterCommand {
    Build(BuildOptions),
    Insert(ChangeOptions),
    Remove(RemoveOptions),
    Test(TestOptions),
    Union(CombineOptions),
    Intersect(IntersectOptions),
    Compare(CompareOptions),
}

/// Build a filter of the lines of files or standard input
///
/// Lines are bytes. How a key is hashed is written in the filter; what is the key of a line is not: give the same -0, -f,
/// -d and --url to later commands. Without --capacity, files are read twice, first to estimate how many different lines
/// there are; from a pipe, a bloom filter grows as it fills, a stable one needs --capacity, and for the other kinds the
/// hashes are kept in memory until the input ends.
#[derive(Args)]
pub struct BuildOptions {
    #[command(flatten)]
    pub input: InputOptions,
    /// Where the filter is written, whole or not at all; "-" is standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// What kind of filter
    #[arg(short, long, value_enum, default_value_t = FilterKind::Bloom)]
    pub kind: FilterKind,
    /// The false-positive rate: how often the filter may say yes to a line that it was never given
    #[arg(long, value_name = "RATE", value_parser = number::rate, default_value = "0.01")]
    pub fpr: f64,
    /// How many different lines it is for; a stable filter remembers about the last N lines, repeats counted
    #[arg(short, long, value_name = "N", value_parser = number::count)]
    pub capacity: Option<u64>,
    #[command(flatten)]
    pub lines: LineOptions,
    /// How lines are hashed [default: xxh3; for parquet xxh64]. siphash with a secret seed is for lines of strangers who see
    /// what is taken for seen. It also keeps anybody without the filter's file, which holds the seed, from guessing
    /// its lines
    #[arg(long, value_enum)]
    pub hash: Option<HashName>,
    /// The hash's seed [default: 0]; only filters with the same hash and seed can be combined. Anybody who knows the seed can
    /// choose lines that are taken for others, and everybody knows 0: for lines that strangers choose, take a random seed
    /// and keep it secret
    #[arg(long, value_name = "SEED", value_parser = seed, default_value_t = 0, hide_default_value = true)]
    pub hash_seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterKind {
    /// Least space of those that take lines at any time
    Bloom,
    /// Fastest: one cache line a look-up, a little more space
    Blocked,
    /// Can remove; four times the space. A line put in twice must be removed twice
    Counting,
    /// For streams without end: old lines fade at random
    Stable,
    /// The same, faster: old lines fade in turn
    StableLight,
    /// Positions computed before the number of lines is known
    Ringed,
    /// Can remove, but takes lines of the same fingerprint along; sorted inside
    Quotient,
    /// The blocks of Parquet's Bloom filters, in a furui file: a power of two of them, and 128 MiB at most
    Parquet,
}

/// Put lines into a filter
///
/// The filter's file is replaced when all lines are in, whole or not at all.
#[derive(Args)]
pub struct ChangeOptions {
    /// The filter
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
}

/// Take lines out of a filter (counting and quotient filters only)
///
/// Only remove what was put in: a line that is there by a false positive takes others with it. A line that is visibly
/// not there is refused and counted. From a counting filter a line must be removed as often as it was put in.
/// In a quotient filter, lines with the same fingerprint are one: removing a line also removes, at about the false-positive
/// rate, another line that was put in, and the filter then wrongly says no to that one.
#[derive(Args)]
pub struct RemoveOptions {
    #[command(flatten)]
    pub change: ChangeOptions,
}

/// Print the lines that may be in a filter
///
/// A file that cannot be opened is named, and the others are read.
#[derive(Args)]
pub struct TestOptions {
    /// The filter
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    /// Print the lines that the filter does not hold instead. They were never put in, or a stable filter has forgotten
    /// them
    #[arg(short = 'v', long)]
    pub invert: bool,
    /// Print no lines, only exit
    #[arg(short, long)]
    pub quiet: bool,
    /// Print only how many lines there are
    #[arg(long, conflicts_with = "quiet")]
    pub count: bool,
    #[command(flatten)]
    pub lines: LineOptions,
}

/// Write a filter of what is in any of some filters
///
/// The filters must have been built with the same --kind, --capacity, --fpr and --hash. Filters that grow, as those built
/// from a pipe without --capacity, need only the same --hash. Their false-positive rates add up, and the result may have at
/// most 26 parts: `furui info` tells how many parts each has.
#[derive(Args)]
pub struct CombineOptions {
    /// The filters
    #[arg(value_name = "FILTER", required = true, value_hint = ValueHint::FilePath)]
    pub filters: Vec<PathBuf>,
    /// Where the filter is written; "-" is standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// Write a filter of what is in each of some filters
///
/// What it says yes to, all of them said yes to. It has a few more false positives than a filter built of the common
/// lines alone, and `furui info` tells too high a number of lines for it, where `furui filter compare` of the two tells the
/// right one. The filters must have been built with the same --kind, --capacity, --fpr and --hash; those that grow, count or
/// forget have no intersection.
#[derive(Args)]
pub struct IntersectOptions {
    #[command(flatten)]
    pub combine: CombineOptions,
}

/// Say how alike two filters are: their sizes, what they share, with the errors to expect
///
/// What follows ± is one standard deviation: the truth is within twice that in 19 cases of 20.
#[derive(Args)]
pub struct CompareOptions {
    /// One filter
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub a: PathBuf,
    /// The other
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub b: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
