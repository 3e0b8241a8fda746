//! The options of `furui has`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{InputOptions, LineOptions, SeedOptions, memory};

/// Print the lines that are in a set
///
/// SET is a store of `furui seen`, a filter, a dictionary, or a file of lines: `furui has -v old.txt new.txt` prints the lines of
/// new.txt that are not in old.txt, as `grep -vxFf` does. A filter may say yes wrongly, at its rate. Lines are compared
/// with a store or a file of lines by 64-bit hashes with a random seed: if the set has 10^8 lines, about one new line
/// in 10^11 is taken for one of them. A dictionary is exact. Nothing is recorded and nothing is locked, so another
/// process may write to the set meanwhile.
///
/// SET may be redis://HOST:PORT/NAME, too, a set of `furui seen --store` in a Valkey or Redis server.
///
/// Key options such as --csv say how the keys of FILE are made and, if SET is a file of lines, its keys: `--set-lines` takes each line
/// of SET for a key as it is, as in `furui has -v --csv --key id --set-lines ids.txt log.csv`. A line without a key is in no
/// set: only --invert prints it, unless --missing or --bad says drop. A FILE that cannot be opened is reported, and the others are read.
#[derive(Args)]
pub struct HasOptions {
    /// A store, a filter, a dictionary, a set in a server (redis://HOST:PORT/NAME), or a file of lines, also compressed or from a pipe; "-" is standard input
    #[arg(value_name = "SET", value_hint = ValueHint::AnyPath)]
    pub set: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    /// SET is a list of keys: each of its lines is a key as it is, whatever --csv, --tsv, --json or --field say of FILE. An
    /// empty list, and one with NULs, is taken, too. With --json a line is the text of a string, or any JSON value
    #[arg(long)]
    pub set_lines: bool,
    /// Print the lines that are not in the set instead
    #[arg(short = 'v', long)]
    pub invert: bool,
    /// Print no lines; the exit status tells whether there are any
    #[arg(short, long)]
    pub quiet: bool,
    /// Print only how many lines there are
    #[arg(long, conflicts_with = "quiet")]
    pub count: bool,
    /// Memory for the lines of a text, or for the journal of a store, as in 64MiB; what does not fit goes to temporary files in
    /// $TMPDIR [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Read the files of a store, do not map them: slower, but a device error ends in a message instead of a signal
    #[arg(long)]
    pub no_mmap: bool,
    #[command(flatten)]
    pub lines: LineOptions,
    #[command(flatten)]
    pub seed: SeedOptions,
}
