//! The options of `furui seen`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use regex::bytes::Regex;

use super::{HashName, LineOptions, seed};
use crate::size;

/// Print the first occurrence of each line, in order
///
/// Lines are bytes; two lines are the same if their 64-bit hashes are (among a billion distinct lines, 0.03 are
/// expected to be taken for another). Each line is printed as soon as it has arrived. With --store the set
/// is kept on disk, and the next run goes on from there.
///
/// A run that ends well has recorded every line it printed. One that was killed, or whose reader went away, may print
/// lines again next time: none is ever lost. What was printed counts once it is on the disk, or has been read out of
/// a pipe. On ^C, SIGTERM and SIGHUP a run with --store records what it printed, then ends. A line torn by a kill is
/// ended before more is appended to the same file.
#[derive(Args)]
pub struct SeenOptions {
    /// Files to read; none or "-" is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Keep the set in this directory, across runs
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Memory for the set, as in 64MiB; what does not fit goes to the store, or to temporary files in $TMPDIR
    /// [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub memory: Option<u64>,
    /// What stands before the exact set
    #[arg(long, value_enum, default_value_t = CacheKind::Recent)]
    pub cache: CacheKind,
    /// With --cache lru+stable: the share of new lines that may be dropped as seen [default: 0.00001]
    #[arg(long, value_name = "RATE")]
    pub fpr: Option<f64>,
    /// With --cache lru+stable: lines that match are never dropped
    #[arg(long, value_name = "REGEX")]
    pub protect: Option<Regex>,
    /// Print the repeats instead
    #[arg(short, long)]
    pub invert: bool,
    #[command(flatten)]
    pub lines: LineOptions,
    /// Print as usual, record nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print no lines
    #[arg(short, long)]
    pub quiet: bool,
    /// A summary on standard error
    #[arg(short, long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub stats: Option<StatsFormat>,
    /// How lines are hashed [default: xxh3]; siphash is for lines of strangers who see what is printed. A store keeps
    /// what it was made with
    #[arg(long, value_enum)]
    pub hash: Option<HashName>,
    /// The hash's seed, for stores that are to be alike [default: random for a new store]. Whoever knows it can choose
    /// lines that are taken for others, which are not printed then, or that make the set slow
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub hash_seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheKind {
    /// A small table of the latest hashes; drops nothing
    Recent,
    /// The least recently used lines are forgotten; drops nothing
    Lru,
    /// Those that LRU forgets go to a stable Bloom filter, which drops new lines at the rate --fpr
    #[value(name = "lru+stable")]
    LruStable,
    /// Nothing
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    Text,
    Json,
}
