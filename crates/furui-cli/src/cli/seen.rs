//! The options of `furui seen`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use furui::store::Window;
use furui::store::cascade::CascadeOptions;
use regex::bytes::Regex;

use super::{HashName, InputOptions, LineOptions, OutputOptions, WaitOptions, seed};
use crate::{number, size};

/// Print the first occurrence of each line, in order
///
/// Lines are bytes. Two lines are the same if their 64-bit hashes are equal: among a billion distinct lines, 0.03 are expected to be
/// taken for another. Each line is printed as soon as it has arrived. With --store the set is kept on disk, and the next run
/// continues with it.
///
/// With --store a line is recorded after it was delivered: after the file that it was printed to is on the disk, or after
/// a reader has read it from the pipe. After a crash or a power cut the next run prints again what was delivered in the last
/// second (see --sync), or less; it never loses a line. A run that ends without an error, or by ^C, SIGTERM or SIGHUP, has recorded
/// every line that it printed. If a kill cut off the last line of a file, the next run that appends to that file begins a new line.
///
/// --store redis://HOST:PORT/NAME or redis://HOST:PORT/DB/NAME keeps the set in a Valkey or Redis server, or cluster, that has the
/// module furui-valkey. Any number of processes, on any machines, share it; they must give the same key options. User and
/// password go before the host, as in redis://USER:PASSWORD@HOST/NAME, or the password into $REDISCLI_AUTH. The server
/// records a line when it is asked, before the line is printed: what was on its way when this process was killed is
/// recorded, and printed by nobody. Lines that the reader of a pipe leaves in it, and lines that a server without memory
/// could record in part, become new again. If the connection is lost and made again, the lines on the way count as new,
/// though another process may have printed them. The first user of a set chooses its --window. --dry-run records
/// nothing; --memory, --threads, --cache, --sync and other options of a set on this machine are refused.
///
/// The files of the set are mapped into memory: if another program truncates one while it is read, a signal ends the process. This
/// command never truncates a file; it replaces it.
#[derive(Args)]
pub struct SeenOptions {
    #[command(flatten)]
    pub input: InputOptions,
    /// Keep the set in this directory, across runs; or in a server, at redis://HOST:PORT/NAME
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub store: Option<PathBuf>,
    /// With --store: record each line at most SECS seconds after it was printed, and within 0.1 s if the input pauses
    /// (unless it often pauses after a few lines). After a crash, lines that were not recorded are printed again [default: 1]
    #[arg(long, value_name = "SECS", value_parser = seconds, requires = "store")]
    pub sync: Option<Duration>,
    #[command(flatten)]
    pub wait: WaitOptions,
    /// Remember only the last SPAN: a time, as in 90s, 30m, 1h or 7d, or a number of lines, as in 1000000. A line that last
    /// came within the window is a repeat; one that last came more than 17/16 of it ago is new, and gone from the disk. A repeat
    /// counts: the window begins anew with it. The time is that of the system's clock; if it goes back, no time passes until
    /// it has caught up. A store keeps the window it was made with. A crash forgets no recorded line early, but may make the set
    /// remember lines for a sixteenth longer
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub window: Option<Window>,
    /// With --store and --window: if the store was used with a clock in the future, set its time to that of the system's
    /// clock. All lines that it remembers then count as if they came now
    #[arg(long, requires_all = ["store", "window"])]
    pub reset_clock: bool,
    /// Print the lines that the filter in FILE does not have, and insert all lines: no set is made. At its rate the
    /// filter takes new lines for repeats. Any kind of `furui filter build` but cascade works; stable and stable-light
    /// never fill up. FILE is replaced at the end, whole or not at all: after a crash it is as before, and the next run
    /// prints these lines again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
          conflicts_with_all = ["store", "wait", "window", "reset_clock", "memory", "no_mmap", "cache", "fpr", "protect", "TierOptions", "stats",
                                "hash", "hash_seed"])]
    pub filter: Option<PathBuf>,
    /// Take the lines of FILE, or of standard input for "-", out of the set of --store, to answer a request to delete
    /// data, and print nothing. Give the key options that the store remembers; others are refused. Afterwards the lines
    /// are new to `furui seen`, and no file of the store has their hashes; after an error or a kill either all are gone
    /// or none. What --cache lru+stable keeps for the next run is removed, because its filter cannot forget a line.
    /// --stats says how many of the lines were there; --dry-run says how many of them are there, and removes none.
    /// Copies of the store keep the lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store",
          conflicts_with_all = ["sync", "window", "reset_clock", "filter", "cache", "fpr", "protect", "lru", "replacement", "counters", "probes",
                                "decrements", "paper", "invert", "mark", "repeats", "count", "hash", "hash_seed", "like"])]
    pub remove: Option<PathBuf>,
    /// Memory for the set, as in 64MiB; what does not fit goes to the store, or to temporary files in $TMPDIR
    /// [default: a quarter of the machine's]. These files are mapped: their pages in the system's cache count as memory of the
    /// process, too, but the system takes them back when it needs memory
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Read the files of the set, do not map them: slower, but no page of them counts as memory of the process, and an error
    /// of the device is an error instead of a signal. (Files larger than half of the machine's memory are always read)
    #[arg(long)]
    pub no_mmap: bool,
    /// How many threads work. They read and decode, hash, decide and write at the same time; what is printed does not
    /// depend on their number. With --cache lru+stable, and with --filter, one thread works [default: as many as the
    /// machine or the container has processors, at most 16]
    #[arg(long, value_name = "N", value_parser = number::between::<usize>(1, MOST_THREADS))]
    pub threads: Option<usize>,
    /// Which of the latest lines are kept in a small table, which is searched before the exact set [default: recent]
    #[arg(long, value_enum)]
    pub cache: Option<CacheKind>,
    /// With --cache lru+stable: the share of new lines that may be dropped as seen [default: 0.00001]
    #[arg(long, value_name = "RATE", value_parser = number::rate)]
    pub fpr: Option<f64>,
    /// With --cache lru+stable: lines that match are never dropped
    #[arg(long, value_name = "REGEX")]
    pub protect: Option<Regex>,
    #[command(flatten)]
    pub tiers: TierOptions,
    /// Print the repeats instead
    #[arg(short, long)]
    pub invert: bool,
    #[command(flatten)]
    pub outputs: OutputOptions,
    #[command(flatten)]
    pub lines: LineOptions,
    /// Print as usual, record nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print no lines
    #[arg(short, long)]
    pub quiet: bool,
    /// Print a summary on standard error
    #[arg(short, long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub stats: Option<StatsFormat>,
    /// How lines are hashed [default: xxh3]; use siphash for lines of strangers who see what is printed. A store keeps the
    /// hash that it was created with
    #[arg(long, value_enum)]
    pub hash: Option<HashName>,
    /// The seed of the hash, to create equal stores from equal lines [default: random for a new store]. Anybody who knows it can
    /// choose lines that are taken for others, and so are not printed, or lines that make the set slow
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub hash_seed: Option<u64>,
    /// With --store: a new store takes the hash of this one, and keys must be made as in this one, so that `furui union`,
    /// `subtract` and `intersect` can combine them
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "store", conflicts_with_all = ["hash", "hash_seed"])]
    pub like: Option<PathBuf>,
}

impl SeenOptions {
    /// The time within which a line is recorded after it was printed.
    pub fn sync(&self) -> Duration {
        self.sync.unwrap_or(Duration::from_secs(1))
    }
}

/// The maximum of --threads.
const MOST_THREADS: u64 = 256;

/// The sizes of the caches lru and lru+stable.
#[derive(Args)]
pub struct TierOptions {
    /// With --cache lru or lru+stable: how many lines the LRU keeps [default: as many as an eighth of the memory holds, at
    /// most 2^20]
    #[arg(long, value_name = "N", value_parser = size)]
    pub lru: Option<usize>,
    /// With --cache lru or lru+stable: which line leaves the LRU
    #[arg(long, value_enum)]
    pub replacement: Option<ReplacementKind>,
    /// With --cache lru+stable: how many counters the filter has, four in a byte [default: a quarter of the memory, at most
    /// 2^30]
    #[arg(long, value_name = "N", value_parser = size)]
    pub counters: Option<usize>,
    /// With --cache lru+stable: how many counters a line has, from 1 to 64 [default: a number with which lines are
    /// remembered for long]
    #[arg(long, value_name = "K", value_parser = number::between::<u32>(1, 64))]
    pub probes: Option<u32>,
    /// With --cache lru+stable, in place of --fpr: how many counters are decremented for each line that leaves the LRU
    #[arg(long, value_name = "P", value_parser = size, conflicts_with = "fpr")]
    pub decrements: Option<usize>,
    /// --cache lru+stable with the sizes of Kubota, Ueda and Yamana: --lru 1048576 --counters 1073741824 --probes 8
    /// --decrements 84. A size that is given, too, overrides the paper's. Takes 277 MiB of the memory
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

/// Parses a window: a time in seconds, minutes, hours or days, or a number of lines.
fn span(text: &str) -> Result<Window, String> {
    let wrong =
        || format!("{text:?} is no window: write a time as in 90s, 30m, 1h or 7d, or a number of lines as in 1000000");
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let milliseconds: u64 = match &text[number.len()..] {
        "" => return number.parse().map(Window::Keys).map_err(|_| wrong()),
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let ticks = number.parse::<u64>().ok().and_then(|number| number.checked_mul(milliseconds));
    ticks.and_then(NonZeroU64::new).map(Window::Milliseconds).ok_or_else(wrong)
}

/// Parses the size of a tier.
fn size(text: &str) -> Result<usize, String> {
    usize::try_from(number::count(text)?).map_err(|_| "more than this machine can count in memory".into())
}

/// Parses a number of seconds, such as 0.5.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed
        .filter(|&seconds| seconds <= MOST_SECONDS)
        .ok_or_else(|| format!("not a number of seconds from 0 to {}: write as in 0.5 or 10", MOST_SECONDS.as_secs()))
}

/// The maximum of --sync: a day.
const MOST_SECONDS: Duration = Duration::from_secs(86400);

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheKind {
    /// A small table of the latest lines; the result is exact
    Recent,
    /// The most recently used lines; the result is exact
    Lru,
    /// Like lru, but lines that leave it go into a stable Bloom filter, which takes new lines for repeats at the rate --fpr.
    /// With --store the LRU and the filter are kept for the next run
    #[value(name = "lru+stable")]
    LruStable,
    /// No lines
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    Text,
    Json,
}

/// Parses the memory of a set or a cascade filter.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let least = CascadeOptions::MIN_MEMORY;
    size::parse(text).and_then(|bytes| match bytes {
        _ if bytes < least => Err(format!("less than {}: a set takes at least this much", size::display(least))),
        _ => Ok(bytes),
    })
}
