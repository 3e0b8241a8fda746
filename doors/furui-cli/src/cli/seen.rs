//! The options of `furui seen`.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use furui::store::Window;
use furui::store::cascade::CascadeOptions;
use furui::{HashAlgorithm, text};
use regex_lite::Regex;

use super::{InputOptions, LineOptions, OutputOptions, PrintOptions, WaitOptions, hash_name, headings};
use super::{number, place};
use crate::say::size;

/// Print the first occurrence of each line, in order
///
/// Lines are bytes. Two lines are the same if their 64-bit hashes are equal: among a billion distinct lines, 0.03 are
/// expected to be taken for another. Each line is printed as soon as it has arrived. With --store the set is kept on
/// disk, and the next run continues with it.
///
/// With --store a line is recorded after it was delivered: after the file that it was printed to is on the disk, or
/// after a reader has read it from the pipe. After a crash or a power cut the next run prints again what was delivered
/// in the last second (see --sync), or less; it never loses a line. A run that ends without an error, or by ^C, SIGTERM
/// or SIGHUP, has recorded every line that it printed, unless the reader of its pipe went away: lines that were in the
/// pipe may be recorded or not, whether or not they were read (--limit ends a run after N lines). If a kill cut off the
/// last line of a file, the next run that appends to that file begins a new line.
///
/// The files of the set are mapped into memory: if another program truncates one while it is read, a signal ends the
/// process. This command never truncates a file of the set; it replaces it.
#[derive(Args)]
pub struct SeenOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
    /// Keep the set in this directory, across runs
    ///
    /// It is made if it does not exist.
    ///
    /// redis://HOST:PORT/NAME or redis://HOST:PORT/DB/NAME is a set in a Valkey or Redis server, or cluster, that has
    /// the module furui-valkey; it needs a build with the feature net. Any number of processes, on any machines, share
    /// it; they must give the same key options. User and password go before the host, as in
    /// redis://USER:PASSWORD@HOST/NAME, or the password into $REDISCLI_AUTH. rediss:// is TLS, in a build with the
    /// feature tls; unix:///PATH?name=NAME is a server behind a socket; redis+sentinel://HOST:PORT/SERVICE/NAME is the
    /// master that Sentinels know. Other URLs are refused. The server records a line before it is printed, so lines
    /// that are on their way when this process is killed are recorded, but never printed. --memory, --threads, --cache,
    /// --sync and other options of a set on this machine are refused
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::anywhere(), help_heading = headings::SET)]
    pub store: Option<PathBuf>,
    /// With --store: record lines within SECS seconds [default: 1]
    ///
    /// A line is recorded at most SECS seconds after it was printed, and within 0.1 s if the input pauses (unless it
    /// often pauses after a few lines). After a crash, lines that were not recorded are printed again
    #[arg(long, value_name = "SECS", value_parser = seconds, requires = "store", help_heading = headings::SET)]
    pub sync: Option<Duration>,
    #[command(flatten, next_help_heading = headings::SET)]
    pub wait: WaitOptions,
    /// Record nothing yet; write the new lines to FILE for `furui commit`
    ///
    /// For a job whose lines count only when they have come to their place: `furui seen --store DIR --pending FILE >
    /// out && upload out && furui commit DIR FILE`. If the job fails before the commit, the store is as before, and the
    /// next attempt prints the same lines. An old FILE is removed when the run begins; the new one is written at the
    /// end, after all lines were delivered, and not at all after an error. The store is not locked meanwhile. FILE has
    /// 5 to 7 bytes for each new line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store",
          conflicts_with_all = ["sync", "window", "reset_clock", "remove", "dry_run"], help_heading = headings::SET)]
    pub pending: Option<PathBuf>,
    /// Remember only the last SPAN, as in 30m, 7d or 1000000
    ///
    /// SPAN is a time, as in 500ms, 90s, 30m, 1h or 7d, or a number of lines, as in 1000000. A line that last came
    /// within the window is a repeat; one that last came more than 17/16 of it ago is new, and gone from the disk. A
    /// repeat counts: the window begins anew with it. The time is that of the system's clock; if it goes back, no time
    /// passes until it has caught up. A store keeps the window it was made with. A crash forgets no recorded line
    /// early, but may make the set remember lines for a sixteenth longer. The first user of a set in a server chooses
    /// its window
    #[arg(long, value_name = "SPAN", help_heading = headings::SET)]
    pub window: Option<Window>,
    /// With --window: set the time of the store to the clock's
    ///
    /// If the store was used with a clock in the future, its time is set to that of the system's clock. All lines that
    /// it remembers then count as if they came now
    #[arg(long, requires_all = ["store", "window"], hide_short_help = true, help_heading = headings::SET)]
    pub reset_clock: bool,
    /// The set is this filter; insert all lines into it
    ///
    /// Print the lines that the filter in FILE does not have, and insert all lines: no set is made. At its rate the
    /// filter takes new lines for repeats. Any kind of `furui filter build` but cascade works; stable, stable-light and
    /// window never fill up. FILE is replaced at the end, whole or not at all: after a crash it is as before, and the
    /// next run prints these lines again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
          conflicts_with_all = ["store", "sync", "wait", "pending", "window", "reset_clock", "memory", "no_mmap", "threads", "cache", "fpr", "protect",
                                "TierOptions", "hash", "hash_seed", "like"], help_heading = headings::SET)]
    pub filter: Option<PathBuf>,
    /// Take the lines of FILE out of the set, print nothing
    ///
    /// The lines of FILE, or of standard input for "-", are taken out of the set of --store, to answer a request to
    /// delete data. Give the key options that the store remembers; others are refused. Afterwards the lines are new to
    /// `furui seen`, and no file of the store has their hashes; after an error or a kill either all are gone or none.
    /// What --cache lru+stable keeps for the next run is removed, because its filter cannot forget a line. --stats says
    /// how many of the lines were there; --dry-run says how many of them are there, and removes none. Copies of the
    /// store keep the lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store",
          conflicts_with_all = ["sync", "window", "reset_clock", "filter", "cache", "fpr", "protect", "lru", "replacement", "counters",
                                "probes", "decrements", "paper", "invert", "mark", "repeats", "count", "output", "limit", "status", "hash", "hash_seed", "like",
                                "keep_going"], help_heading = headings::SET)]
    pub remove: Option<PathBuf>,
    /// Memory for the set, as in 64MiB
    ///
    /// What does not fit goes to the store, or to temporary files in $TMPDIR [default: a quarter of the machine's].
    /// These files are mapped: their pages in the system's cache count as memory of the process, too, but the system
    /// takes them back when it needs memory
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = headings::SET)]
    pub memory: Option<u64>,
    /// Read the files of the set, do not map them
    ///
    /// This is slower, but no page of them counts as memory of the process, and an error of the device is an error
    /// instead of a signal. (Files larger than half of the machine's memory are always read)
    #[arg(long, hide_short_help = true, help_heading = headings::SET)]
    pub no_mmap: bool,
    /// The number of threads
    ///
    /// They read and decode, hash, decide and write at the same time; what is printed does not depend on their number.
    /// With --cache lru+stable and with --limit, one thread works [default: as many as the machine or the container has
    /// processors, at most 16]
    #[arg(long, value_name = "N", value_parser = number::between::<usize>(1, MOST_THREADS), help_heading = headings::SET)]
    pub threads: Option<usize>,
    /// Print as usual, record nothing
    #[arg(short = 'n', long, help_heading = headings::SET)]
    pub dry_run: bool,
    /// How lines are hashed [default: xxh3]
    ///
    /// Use siphash if strangers choose the lines and see what is printed. A store keeps the hash that it was created
    /// with
    #[arg(long, value_name = "HASH", value_parser = hash_name(), help_heading = headings::SET)]
    pub hash: Option<HashAlgorithm>,
    /// The seed of the hash, for equal stores of equal lines
    ///
    /// [default: random for a new store]. Anybody who knows the seed can choose lines that are taken for others, and so
    /// are not printed, or lines that make the set slow
    #[arg(long, value_name = "SEED", value_parser = text::seed, hide_short_help = true, help_heading = headings::SET)]
    pub hash_seed: Option<u64>,
    /// Make the new store with the hash of the store DIR
    ///
    /// Then `furui union`, `subtract` and `intersect` can combine the two. Give the key options with which DIR was made
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::local(), requires = "store", conflicts_with_all = ["hash", "hash_seed"], help_heading = headings::SET)]
    pub like: Option<PathBuf>,
    /// Print the repeats instead
    #[arg(short = 'v', long, help_heading = headings::OUTPUT)]
    pub invert: bool,
    /// End after N new lines, and record no others
    ///
    /// With --invert, N repeats. No line that comes after the last of them is recorded, so the next run with the same
    /// input begins with the line that follows. `furui seen | head -n N` cannot do this, because furui does not know
    /// how many lines head has printed. One thread works
    #[arg(long, value_name = "N", help_heading = headings::OUTPUT)]
    pub limit: Option<NonZeroU64>,
    /// End with status 1 if no line was new, and with 0 if one was
    #[arg(long, help_heading = headings::OUTPUT)]
    pub status: bool,
    #[command(flatten)]
    pub print: PrintOptions,
    /// Print no lines
    #[arg(short, long, conflicts_with = "output", help_heading = headings::OUTPUT)]
    pub quiet: bool,
    #[command(flatten)]
    pub outputs: OutputOptions,
    /// Print a summary on standard error, as text or json
    #[arg(short, long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text",
          help_heading = headings::OUTPUT)]
    pub stats: Option<StatsFormat>,
    /// The cache that is searched before the set [default: recent]
    ///
    /// It holds lines that came lately, so that the exact set need not be searched for most repeats
    #[arg(long, value_enum, help_heading = headings::TIERS)]
    pub cache: Option<CacheKind>,
    /// With --cache lru+stable: how often new lines are dropped
    ///
    /// The share of new lines that may be dropped as seen [default: 0.00001]
    #[arg(long, value_name = "RATE", value_parser = number::rate, hide_short_help = true, help_heading = headings::TIERS)]
    pub fpr: Option<f64>,
    /// With --cache lru+stable: never drop lines that match
    ///
    /// The regular expression has no classes of Unicode: `\w`, `\d` and `(?i)` know ASCII only, and bytes that are no
    /// UTF-8 match as U+FFFD
    #[arg(long, value_name = "REGEX", value_parser = regex, hide_short_help = true, help_heading = headings::TIERS)]
    pub protect: Option<Regex>,
    #[command(flatten)]
    pub tiers: TierOptions,
}

fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("not a regular expression: {error}"))
}

impl SeenOptions {
    /// The files that are read, or replaced, while lines are printed, so that none of them can be the output.
    pub fn read(&self) -> Vec<&Path> {
        let others = [&self.filter, &self.pending, &self.outputs.repeats].into_iter().flatten().map(PathBuf::as_path);
        self.input.inputs().into_iter().chain(others).collect()
    }

    /// The maximum time between the printing of a line and its recording.
    pub fn sync(&self) -> Duration {
        self.sync.unwrap_or(Duration::from_secs(1))
    }
}

/// The maximum number of threads, for the option `--threads`.
const MOST_THREADS: u64 = 256;

/// The sizes of the caches lru and lru+stable.
#[derive(Args)]
#[command(next_help_heading = headings::TIERS)]
pub struct TierOptions {
    /// With --cache lru or lru+stable: how many lines the LRU keeps
    ///
    /// [default: as many as an eighth of the memory holds, at most 2^20]
    #[arg(long, value_name = "N", value_parser = size, hide_short_help = true)]
    pub lru: Option<usize>,
    /// With --cache lru or lru+stable: which line leaves the LRU
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    pub replacement: Option<ReplacementKind>,
    /// With --cache lru+stable: how many counters the filter has
    ///
    /// Four counters are in a byte [default: a quarter of the memory, at most 2^30]
    #[arg(long, value_name = "N", value_parser = size, hide_short_help = true)]
    pub counters: Option<usize>,
    /// With --cache lru+stable: how many counters a line has
    ///
    /// From 1 to 64 [default: a number with which lines are remembered for long]
    #[arg(long, value_name = "K", value_parser = number::between::<u32>(1, 64), hide_short_help = true)]
    pub probes: Option<u32>,
    /// With --cache lru+stable: how many counters a line decrements
    ///
    /// In place of --fpr: how many counters are decremented for each line that leaves the LRU
    #[arg(long, value_name = "P", value_parser = size, conflicts_with = "fpr", hide_short_help = true)]
    pub decrements: Option<usize>,
    /// --cache lru+stable with the sizes of the paper
    ///
    /// The sizes of Kubota, Ueda and Yamana: --lru 1048576 --counters 1073741824 --probes 8 --decrements 84. A size
    /// that is given, too, overrides the paper's. Takes 277 MiB of the memory
    #[arg(long, conflicts_with = "fpr")]
    pub paper: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplacementKind {
    /// The line that was not seen for the longest time
    Lru,
    /// An approximation of lru, in two thirds of the memory for a line
    Clock,
}

/// Parses the size of a tier (a cache or filter in front of the exact set), which is a whole number.
fn size(text: &str) -> Result<usize, String> {
    usize::try_from(text::count(text).map_err(|error| error.to_string())?)
        .map_err(|_| "more than fits into the memory of this machine".into())
}

/// Parses a number of seconds, such as 0.5.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed
        .filter(|&seconds| seconds <= MOST_SECONDS)
        .ok_or_else(|| format!("not a number of seconds from 0 to {}: write as in 0.5 or 10", MOST_SECONDS.as_secs()))
}

/// The maximum time for the option `--sync`: a day.
const MOST_SECONDS: Duration = Duration::from_secs(86400);

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheKind {
    /// A small table of the latest lines; the result is exact
    Recent,
    /// The most recently used lines; the result is exact
    Lru,
    /// Like lru, but lines that leave it go into a stable Bloom filter, which takes new lines for repeats at the rate
    /// --fpr. With --store the LRU and the filter are kept for the next run
    #[value(name = "lru+stable")]
    LruStable,
    /// No cache
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    Text,
    Json,
}

/// Parses the memory of a set or a cascade filter, in bytes.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let least = CascadeOptions::MIN_MEMORY;
    text::size(text).map_err(|error| error.to_string()).and_then(|bytes| match bytes {
        _ if bytes < least => Err(format!("less than {}: a set takes at least this much", size::display(least))),
        _ => Ok(bytes),
    })
}
