//! The options of `furui filter`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use furui::store::Window;
use furui::{HashAlgorithm, text};

use super::{InputOptions, LineOptions, PrintOptions, SeedOptions, WaitOptions, hash_name, headings, memory};
use super::{number, place};

#[derive(Subcommand)]
pub enum FilterCommand {
    Build(BuildOptions),
    Insert(InsertOptions),
    Remove(RemoveOptions),
    Compare(CompareOptions),
    Resize(ResizeOptions),
    List(ListOptions),
}

/// Build a filter from the lines of files or standard input
///
/// Lines are bytes. The filter records how keys are hashed and how they are made from lines: later commands must have
/// the same key options, such as -f, -d and --url, or are refused (see --as-is). It does not record -0. Without
/// --capacity, files are read twice, first to estimate how many different lines there are. From a pipe, a bloom filter
/// grows as it fills, one that forgets or is a cascade needs --capacity, and for the other kinds the hashes are kept in
/// memory until the input ends, as they always are for a fuse filter. A cascade filter that was not finished, because
/// of an error or a kill, lacks lines: insert them again, or remove its directory.
#[derive(Args)]
pub struct BuildOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
    /// The file to write; for a cascade filter, a directory
    ///
    /// The file is written whole or not at all; "-" is standard output. The directory of a cascade filter is new or
    /// empty
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath, value_parser = place::local(), help_heading = headings::FILTER)]
    pub output: PathBuf,
    /// The kind of filter; --help lists the kinds
    #[arg(short, long, value_enum, default_value_t = FilterKind::Bloom, help_heading = headings::FILTER)]
    pub kind: FilterKind,
    /// The false-positive rate
    ///
    /// How often the filter may say yes to a line that it was never given
    #[arg(long, visible_alias = "rate", value_name = "RATE", value_parser = number::rate, default_value = "0.01", help_heading = headings::FILTER)]
    pub fpr: f64,
    /// The number of different lines to make room for
    ///
    /// With up to N different lines the filter keeps the rate of --fpr. A stable filter remembers about the last N
    /// lines, counting repeats, and one with a window that many exactly, or those of --window. See above for a filter
    /// without --capacity
    #[arg(short, long, value_name = "N", value_parser = text::count, help_heading = headings::FILTER)]
    pub capacity: Option<u64>,
    /// Build from the lines in a store of `furui seen`, not from FILEs
    ///
    /// The store has hashes of the lines: the filter has their hash and seed, and the store's key options
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath, value_parser = place::anywhere(),
          conflicts_with_all = ["files", "bits", "hash", "hash_seed", "seed_file"], help_heading = headings::INPUT)]
    pub store: Option<PathBuf>,
    /// With --kind window: remember the last SPAN, as in 12h or 1000000
    ///
    /// SPAN is a time, as in 500ms, 90s, 30m, 12h or 7d, by the system's clock, or a number of lines. --capacity is
    /// then the number of lines that are expected within it; if more come, the filter grows [default: as many lines as
    /// --capacity says]
    #[arg(long, value_name = "SPAN", help_heading = headings::FILTER)]
    pub window: Option<Window>,
    /// In place of --capacity and --fpr: the bits of the table
    ///
    /// This needs --probes, too. A counter of a counting filter takes 4 of the bits, one of a stable filter 2. Filters
    /// can be combined if they have the same number of bits and the same --probes
    #[arg(long, value_name = "M", value_parser = text::count, requires = "probes", conflicts_with_all = ["capacity", "fpr"],
          help_heading = headings::PAPERS_FILTERS)]
    pub bits: Option<u64>,
    /// With --bits: how many bits or counters each line uses
    ///
    /// The number of places in the table, from 1 to 64, that are set for a line, and checked when it is looked up
    #[arg(long, value_name = "K", value_parser = number::between::<u32>(1, 64), requires = "bits",
          help_heading = headings::PAPERS_FILTERS)]
    pub probes: Option<u32>,
    /// For a stable filter with --bits: counters each line decrements
    #[arg(long, value_name = "P", value_parser = number::between::<usize>(1, u32::MAX.into()), requires = "bits",
          help_heading = headings::PAPERS_FILTERS)]
    pub decrements: Option<usize>,
    /// Build a quotient filter from which nothing can be removed
    ///
    /// Lines with the same fingerprint share one copy. Without this, each line has a copy of its own
    #[arg(long, help_heading = headings::FILTER)]
    pub no_remove: bool,
    /// For a quotient filter: how often it may double and keep --fpr
    ///
    /// `furui filter insert` doubles a filter that is full, and with it the rate of a full filter. With this, the rate
    /// is that of --fpr, or a lower one, until the filter has doubled N times. A line takes N bits more at first, one
    /// less after each time, and none more at the end
    #[arg(long, value_name = "N", value_parser = number::between::<u32>(0, 40), help_heading = headings::FILTER)]
    pub doublings: Option<u32>,
    /// With --kind cascade: memory for the newest lines, as in 64MiB
    ///
    /// The other lines are on storage [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = headings::FILTER)]
    pub memory: Option<u64>,
    /// How lines are hashed [default: xxh3]
    ///
    /// For parquet the default is xxh64. Use siphash with a secret seed for lines of strangers who see the answers.
    /// Siphash also keeps anybody who does not have the filter's file, which contains the seed, from guessing its lines
    #[arg(long, value_name = "HASH", value_parser = hash_name(), help_heading = headings::FILTER)]
    pub hash: Option<HashAlgorithm>,
    /// The seed of the hash [default: 0]
    ///
    /// For cascade the default is a random one. Only filters with the same hash and seed can be combined. Anybody who
    /// knows the seed can choose lines that are taken for others, and everybody knows 0: for lines that strangers
    /// choose, use a random seed and keep it secret
    #[arg(long, value_name = "SEED", value_parser = text::seed, help_heading = headings::FILTER)]
    pub hash_seed: Option<u64>,
    /// Keep the seed in this file, not in the filter
    ///
    /// Only the seed's fingerprint is in the filter's file: nobody can then look up a line in the filter without the
    /// seed. If the file does not exist, it is made, with a random seed. The hash is siphash by default
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "hash_seed", help_heading = headings::FILTER)]
    pub seed_file: Option<PathBuf>,
    /// How many groups a window of a ringed filter has [default: 1000]
    ///
    /// The filter has a group of bits for each line, and spreads the probes of a line over a window of so many groups.
    /// A wider window lowers the rate a little; a narrower one makes filters that are larger than the caches faster.
    /// The paper of Sei et al. has 100000
    #[arg(long, value_name = "GROUPS", value_parser = number::between::<u32>(1, u32::MAX.into()),
          help_heading = headings::PAPERS_FILTERS)]
    pub delta: Option<u32>,
    /// The bits of a ringed filter for each line: whole or fractional
    ///
    /// [default: fractional]
    #[arg(long, value_enum, help_heading = headings::PAPERS_FILTERS)]
    pub gamma: Option<GammaName>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterKind {
    /// The least space of all kinds to which lines can be added later
    Bloom,
    /// The fastest: one cache line for each lookup, a little more space
    Blocked,
    /// Can remove lines; takes four times the space. A line that was inserted twice must be removed twice
    Counting,
    /// For endless streams: old lines are forgotten at random
    Stable,
    /// For endless streams, and faster: the oldest lines are forgotten
    StableLight,
    /// The last lines, or those of the last hours: within the window a no is certain, a sixteenth later the line is
    /// forgotten. Twice the space of bloom
    Window,
    /// For filters of many sizes in which the same keys are looked up: the positions of a key do not depend on the size
    Ringed,
    /// Can remove lines, grow and shrink; holds sorted fingerprints. A line that occurs repeatedly in the input is
    /// inserted once
    Quotient,
    /// Larger than memory: a directory of sorted fingerprints; only the fingerprints of the newest lines are in memory.
    /// Takes any number of lines
    Cascade,
    /// The Bloom filter of Parquet files, in a furui file: a power of two blocks, at most 128 MiB
    Parquet,
    /// For hints that are shipped: the least space of all kinds, but nothing can be added, removed or united later. The
    /// rate is rounded down to a power of ½
    Fuse,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GammaName {
    /// As in the paper of Sei et al.: ⌈log2 1/rate⌉ probes, and the least whole number of bits a line for these probes.
    /// Both numbers are the same for filters of all sizes
    Whole,
    /// The least number of bits that keeps the rate, which may be a fraction
    Fractional,
}

/// Insert lines into a filter
///
/// The filter's file is replaced when all lines are in, whole or not at all. A cascade filter keeps the lines that were
/// inserted before an error; inserting them again does no harm.
///
/// A quotient filter that is full gets twice as many slots, and its new false-positive rate is printed on standard
/// error. The other kinds become fuller than they were made for, and a warning says so. Each run of this command
/// inserts one copy of a line into a quotient filter, however often the line occurs: a line that two runs insert must
/// be removed twice.
#[derive(Args)]
pub struct InsertOptions {
    #[command(flatten)]
    pub change: ChangeOptions,
    /// For a cascade filter: memory for the newest lines
    ///
    /// As in 64MiB [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = headings::FILTER)]
    pub memory: Option<u64>,
    #[command(flatten, next_help_heading = headings::FILTER)]
    pub wait: WaitOptions,
}

/// The filter to change, and the lines to change it by.
#[derive(Args)]
pub struct ChangeOptions {
    /// The filter
    #[arg(value_name = "FILTER", value_hint = ValueHint::AnyPath, value_parser = place::local(), help_heading = headings::INPUT)]
    pub filter: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
    #[command(flatten, next_help_heading = headings::FILTER)]
    pub seed: SeedOptions,
}

/// Remove lines from a filter (counting and quotient filters only)
///
/// Only remove lines that were inserted: removing a false positive may remove other lines. A line that the filter does
/// not contain is left out and counted. A line must be removed from a counting filter as often as it was inserted. Each
/// run of `build` or `insert` puts one copy of a line into a quotient filter, and each run of this command removes one,
/// however often the line occurs in the input.
///
/// From a quotient filter that was built with --no-remove nothing can be removed.
#[derive(Args)]
pub struct RemoveOptions {
    #[command(flatten)]
    pub change: ChangeOptions,
}

/// Estimate the similarity of two filters: their numbers of lines, and how many lines they share
///
/// The number after ± is one standard deviation: the true value is within two of them in 19 cases of 20.
#[derive(Args)]
pub struct CompareOptions {
    /// The first filter
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub a: PathBuf,
    /// The second filter
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub b: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub seed: SeedOptions,
}

/// Change the number of slots of a quotient filter, without reading its lines again
///
/// Its fingerprints are copied in order into a larger or smaller table, so that the false-positive rate does not change
/// now. But the rate grows with the number of lines: a filter that is enlarged and then filled errs more often than it
/// was built to. Both rates are printed on standard error.
#[derive(Args)]
pub struct ResizeOptions {
    /// The filter, which is replaced, whole or not at all
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    #[command(flatten)]
    pub size: ResizeTo,
    #[command(flatten)]
    pub seed: SeedOptions,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct ResizeTo {
    /// The number of lines to make room for
    #[arg(short, long, value_name = "N", value_parser = text::count)]
    pub capacity: Option<u64>,
    /// The new number of slots, of which 97 % can be used
    #[arg(long, value_name = "N", value_parser = text::count)]
    pub slots: Option<u64>,
}

/// Print the fingerprints in a quotient filter, one a line, in ascending order
///
/// A fingerprint is a decimal number, which is printed once for each copy. It is the 64-bit hash of a line, scaled to 0
/// ..= L, where L is the greatest fingerprint that `furui info` prints. Filters with the same L and hash have equal
/// fingerprints for equal lines.
#[derive(Args)]
pub struct ListOptions {
    /// The filter
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    #[command(flatten)]
    pub print: PrintOptions,
    #[command(flatten)]
    pub seed: SeedOptions,
}
