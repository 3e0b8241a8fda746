//! The options of `furui has`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{InputOptions, LineOptions, PrintOptions, SeedOptions, headings, memory, place};

/// Print the lines that are in a set
///
/// SET is a store of `furui seen`, a filter, a dictionary, or a file of lines: `furui has -v old.txt new.txt` prints
/// the lines of new.txt that are not in old.txt, as `grep -vxFf` does. A filter may say yes wrongly, at its rate. Lines
/// are compared with a store or a file of lines by 64-bit hashes with a random seed: if the set has 10^8 lines, about
/// one new line in 10^11 is taken for one of them. A dictionary is exact. Nothing is recorded and nothing is locked, so
/// another process may write to the set meanwhile.
///
/// SET may be redis://HOST:PORT/NAME, too, a set of `furui seen --store` in a Valkey or Redis server, in a build with
/// the feature net. `furui seen --help` has the other URLs.
///
/// Key options such as --csv say how the keys of FILE are made and, if SET is a file of lines, its keys: `--set-lines`
/// takes each line of SET for a key as it is, as in `furui has -v --csv --key id --set-lines ids.txt log.csv`. A line
/// without a key is in no set: only --invert prints it, unless --missing or --bad says drop. If reading a
/// FILE fails, that is reported, and the other FILEs are still read, as grep does, with or without --keep-going. If
/// reading SET fails, the command ends with an error.
#[derive(Args)]
pub struct HasOptions {
    /// A store, filter, dictionary, server's set or file of lines
    ///
    /// A set in a server is redis://HOST:PORT/NAME. A file of lines may be compressed, or come from a pipe; "-" is
    /// standard input
    #[arg(value_name = "SET", value_hint = ValueHint::AnyPath, value_parser = place::anywhere(), help_heading = headings::INPUT)]
    pub set: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    /// Each line of SET is a key as it is
    ///
    /// Then --csv, --tsv, --json and --field apply to FILE only. SET may be empty, and may have NUL bytes. With --json
    /// a line of SET is the text of a string, or any JSON value
    #[arg(long, help_heading = headings::INPUT)]
    pub set_lines: bool,
    #[command(flatten)]
    pub lines: LineOptions,
    /// Memory for the set, as in 64MiB
    ///
    /// It is for the lines of a file of lines, or for the journal of a store; what does not fit goes to temporary files
    /// in $TMPDIR [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = headings::SET)]
    pub memory: Option<u64>,
    /// Read the files of a store, do not map them
    ///
    /// This is slower, but a device error ends in a message instead of a signal
    #[arg(long, help_heading = headings::SET)]
    pub no_mmap: bool,
    #[command(flatten, next_help_heading = headings::SET)]
    pub seed: SeedOptions,
    /// Print the lines that are not in the set instead
    #[arg(short = 'v', long, help_heading = headings::OUTPUT)]
    pub invert: bool,
    #[command(flatten)]
    pub print: PrintOptions,
    /// Print no lines; the exit status tells whether there are any
    #[arg(short, long, conflicts_with = "output", help_heading = headings::OUTPUT)]
    pub quiet: bool,
    /// Print only how many lines there are
    #[arg(short, long, conflicts_with = "quiet", help_heading = headings::OUTPUT)]
    pub count: bool,
}
