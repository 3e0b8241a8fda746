//! The options of `furui seen`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use regex::bytes::Regex;

use super::{HashName, LineOptions, WaitOptions, seed};
use crate::size;

/// Print the first occurrence of each line, in order
///
/// Lines are bytes; two lines are the same if their 64-bit hashes are (among a billion distinct lines, 0.03 are
/// expected to be taken for another). Each line is printed as soon as it has arrived. With --store the set
/// is kept on disk, and the next run goes on from there.
///
/// A run that ends well has recorded every line it printed. After a crash or a power cut the next run prints again
/// what was printed in the last second (see --sync), or less; no line is ever lost. A line counts as printed once it is
/// on the disk, or has been read out of a pipe. On ^C, SIGTERM and SIGHUP a run with --store records what it printed,
/// then ends. A line torn by a kill is ended before more is appended to the same file.
#[derive(Args)]
pub struct SeenOptions {
    /// Files to read; none or "-" is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Keep the set in this directory, across runs
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// With --store: record each line within SECS seconds after it was printed, and within 0.1 s when the input pauses
    /// (unless it keeps pausing after a few lines). A crash repeats what is not recorded
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value = "1", requires = "store")]
    pub sync: Duration,
    #[command(flatten)]
    pub wait: WaitOptions,
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
    /// How lines are hashed; siphash is for lines that strangers choose. A store keeps what it was made with
    #[arg(long, value_enum)]
    pub hash: Option<HashName>,
    /// The hash's seed, for stores that are to be alike [default: random for a new store]; who knows it can choose
    /// lines that make the set slow
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub hash_seed: Option<u64>,
}

/// Reads a number of seconds, as in 0.5.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed
        .filter(|&seconds| seconds <= MOST_SECONDS)
        .ok_or_else(|| format!("not a number of seconds from 0 to {}: write as in 0.5 or 10", MOST_SECONDS.as_secs()))
}

/// A day.
const MOST_SECONDS: Duration = Duration::from_secs(86400);

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
