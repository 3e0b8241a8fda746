//! The syntax of the command line. The commands decide what the options mean.

mod combine;
mod commit;
mod dict;
mod filter;
pub mod format_hint;
mod has;
mod hashes;
pub mod headings;
mod lines;
pub mod notes;
mod number;
mod outputs;
mod place;
mod seen;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use furui::{HashAlgorithm, text};

use crate::input::block::MOST_MAX_LINE;
use crate::input::reading::{Looks, Reading};
use crate::input::split::Split;
use crate::network::{self, NetworkCommand};

pub use combine::CombineOptions;
pub use commit::CommitOptions;
pub use dict::*;
pub use filter::*;
pub use has::HasOptions;
pub use hashes::{ExportOptions, ImportOptions};
pub use lines::{LineOptions, Policy};
pub use outputs::{MarkForm, OutputOptions, PrintOptions};
use seen::memory;
pub use seen::*;

/// Have I seen this?
#[derive(Parser)]
#[command(name = "furui", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The command line, with its options in groups.
pub fn arranged() -> clap::Command {
    headings::arrange(Cli::command())
}

/// The complete command line, with the texts of its help.
pub fn command() -> clap::Command {
    let command = notes::annotate(arranged(), "");
    match network::missing() {
        Some(missing) => command.after_help(missing),
        None => command,
    }
}

/// Parses the arguments of this process.
///
/// # Errors
/// If the arguments are invalid. A request for help or for the version is such an error, too: its text is the help or
/// the version.
pub fn arguments() -> Result<Cli, clap::Error> {
    // To make the help takes longer than to parse the arguments.
    if let Ok(cli) = Cli::try_parse() {
        return Ok(cli);
    }
    let mut command = command();
    if std::env::args_os().any(|argument| argument == "-h") {
        command = headings::shorten(command);
    }
    Cli::from_arg_matches_mut(&mut command.try_get_matches_from_mut(std::env::args_os())?)
        .map_err(|error| error.format(&mut command))
}

#[derive(Subcommand)]
pub enum Command {
    Seen(Box<SeenOptions>),
    Commit(CommitOptions),
    Has(HasOptions),
    /// Write the union of stores or of filters: the lines that are in any of them
    ///
    /// Stores are combined if their lines were hashed alike and keys were made alike: `furui seen --like` makes such
    /// stores. They are read twice from front to back, and the result is a new store, whole or not at all. Nothing is
    /// locked.
    ///
    /// The filters must have been built with the same --kind, --capacity, --fpr, --hash and key options. Growing
    /// filters, which are built from a pipe without --capacity, need only the same --hash and key options. Their
    /// false-positive rates add up, and the result may have at most 26 parts: `furui info` tells how many parts each
    /// filter has.
    Union(CombineOptions),
    /// Write the difference of stores: the lines of the first that are in no other
    ///
    /// Stores are combined if their lines were hashed alike and keys were made alike: `furui seen --like` makes such
    /// stores. They are read twice from front to back, and the result is a new store, whole or not at all. Nothing is
    /// locked. Filters have no difference.
    Subtract(CombineOptions),
    /// Write the intersection of stores or of filters: the lines that are in all of them
    ///
    /// Stores are combined if their lines were hashed alike and keys were made alike: `furui seen --like` makes such
    /// stores. They are read twice from front to back, and the result is a new store, whole or not at all. Nothing is
    /// locked.
    ///
    /// The intersection of filters says yes to a line if all filters do. It has a few more false positives than a
    /// filter built from the common lines alone, and `furui info` reports too many lines for it; `furui filter compare`
    /// of two filters estimates the common lines correctly. The filters must have been built with the same --kind,
    /// --capacity, --fpr, --hash and key options. Growing, counting and stable filters have no intersection.
    Intersect(CombineOptions),
    Export(ExportOptions),
    Import(ImportOptions),
    /// Small files that answer "have I seen this?", wrong only at a stated rate
    ///
    /// A filter is mapped into memory: if another program truncates its file while it is read, a signal ends the
    /// process. These commands never truncate a file; they replace it.
    #[command(subcommand)]
    Filter(FilterCommand),
    /// A map from lines to numbers, kept on disk in the order of the lines, in a tenth of a hash map's space
    ///
    /// The files of a dictionary are mapped into memory: if another program truncates one while it is read, a signal
    /// ends the process. These commands never truncate a file; they replace it.
    #[command(subcommand)]
    Dict(DictCommand),
    #[command(flatten)]
    Network(NetworkCommand),
    /// Merge a store into one run, or a dictionary into one trie, which takes the least space and the least time for
    /// lookups
    Compact(CompactOptions),
    Snapshot(SnapshotOptions),
    Info(InfoOptions),
    /// Read every byte of a filter or store, and check every checksum and invariant
    ///
    /// Prints nothing if all is well. Otherwise the first damage found in each path is reported, with file and offset.
    Verify(VerifyOptions),
    /// Print a script that completes furui's arguments in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write those of all commands into a directory
    Man {
        /// Write furui.1, furui-seen.1, ... into this directory
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::local())]
        dir: Option<PathBuf>,
    },
}

#[derive(Args)]
pub struct CompactOptions {
    /// The directory of a store or a dictionary
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub path: PathBuf,
    #[command(flatten)]
    pub wait: WaitOptions,
}

/// Copy a store or dictionary, even while another process writes to it
///
/// DEST becomes a store with everything that was recorded in DIR when the copy began. On the same file system, files
/// are linked instead of copied, which takes almost no time or space; later changes to one store do not affect the
/// other. To survive the loss of a disk, DEST must be on another disk. To restore a copy, move it to the place of DIR
/// while no process writes to DIR.
///
/// With --node, DEST becomes the directory of a node, with the lists and documents that the running node had at one
/// moment. While it copies its files, its storage answers nobody; then they are sent. Without --keys, a node that is
/// started with the copy is another one, which cannot withdraw what the first one has published.
#[derive(Args)]
#[command(
    override_usage = "furui snapshot [OPTIONS] <DIR> <DEST>\n       furui snapshot [OPTIONS] --node <URL> <DEST>"
)]
pub struct SnapshotOptions {
    /// The directory of a store or a dictionary; left out with --node
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub path: PathBuf,
    /// The directory of the copy, new or empty
    #[arg(value_name = "DEST", required_unless_present = "node", conflicts_with = "node", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub dest: Option<PathBuf>,
    /// Copy the node of the search engine with this HTTP address, such as http://127.0.0.1:7717
    #[arg(long, value_name = "URL")]
    pub node: Option<String>,
    /// A file with the token of the node, if it asks for one; otherwise FURUI_TOKEN
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token: Option<PathBuf>,
    /// Also copy the secret keys, from the directory of the node on this machine. Never run two nodes with one key
    #[arg(long, value_name = "DATA", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub keys: Option<PathBuf>,
}

/// The time that a command waits while another process writes to its store.
#[derive(Args)]
pub struct WaitOptions {
    /// Wait while another process writes to the store
    ///
    /// Wait until it ends, but at most SECS seconds. Otherwise a store that another process writes to is an error
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true, default_missing_value = "inf", value_parser = patience)]
    pub wait: Option<f64>,
}

#[derive(Args)]
pub struct VerifyOptions {
    /// Filters, directories of stores and dictionaries, or single files of these
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath, value_parser = place::local())]
    pub paths: Vec<PathBuf>,
}

/// Describe filters, stores and dictionaries: their parameters, what they hold, and the errors to expect
#[derive(Args)]
pub struct InfoOptions {
    /// Filters, directories of stores and dictionaries, or single files of these; redis://HOST:PORT/NAME is
    /// a set in a server
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath, value_parser = place::anywhere())]
    pub paths: Vec<PathBuf>,
    /// Print JSON, one line for each path. The bytes of a path that is not UTF-8 are numbers in path_bytes
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub seed: SeedOptions,
}

/// Where the seed of a filter's hash is, if it is not in the filter's file.
#[derive(Args)]
pub struct SeedOptions {
    /// The file of the seed, for a filter built with --seed-file
    ///
    /// Filters with the same seed can be united, intersected and compared without this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub seed_file: Option<PathBuf>,
}

/// The input, and how it is divided into lines.
#[derive(Args)]
#[command(next_help_heading = headings::INPUT)]
pub struct InputOptions {
    /// Files to read; none or "-" is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Lines end in NUL, not newline (also -0)
    #[arg(short = 'z', short_alias = '0', long)]
    pub null: bool,
    /// The maximum length of a line
    ///
    /// A longer line is an error, which names its place; the lines before it are processed. Each line is held in memory
    #[arg(long, value_name = "SIZE", value_parser = max_line, default_value = "64MiB", hide_short_help = true)]
    pub max_line: usize,
    /// Read the bytes of the input as they are
    ///
    /// Otherwise gzip, zstd, xz, bzip2 and lz4 are recognised by their first bytes, and decoded
    #[arg(long)]
    pub no_decompress: bool,
    /// The most memory for the window of compressed input
    ///
    /// Input that needs a larger window is an error. The output of zstd --long=31 needs 2GiB
    #[arg(long, value_name = "SIZE", value_parser = text::size, default_value = "256MiB", conflicts_with = "no_decompress",
          hide_short_help = true)]
    pub decode_memory: u64,
    /// Accept input that does not look like text
    ///
    /// Otherwise an archive, UTF-16 and the like are errors, which say how to convert them to text, also within
    /// compressed data
    #[arg(long)]
    pub binary: bool,
    /// After a bad FILE, go on with the next one
    ///
    /// If a FILE cannot be read, is damaged or is no text, say so, go on with the next one, and end with status 2. The
    /// lines before the damage count
    #[arg(long)]
    pub keep_going: bool,
}

impl InputOptions {
    /// The inputs that are read: the files, or "-" for standard input if there are none.
    pub fn inputs(&self) -> Vec<&Path> {
        match self.files.is_empty() {
            true => vec![Path::new("-")],
            false => self.files.iter().map(PathBuf::as_path).collect(),
        }
    }

    /// The byte that ends a line.
    pub fn separator(&self) -> u8 {
        if self.null { 0 } else { b'\n' }
    }

    /// How the input is read if each of its lines is a record, without a header.
    pub fn reading(&self) -> Reading {
        let split = Split::Lines(self.separator());
        let looks = (!self.no_decompress).then_some(Looks { memory: self.decode_memory, binary: self.binary });
        Reading { split, header: false, max_line: self.max_line, looks, keeps_going: self.keep_going }
    }
}

/// Parses the name of a hash. The hash of dictionaries is not offered.
pub fn hash_name() -> impl TypedValueParser<Value = HashAlgorithm> {
    use HashAlgorithm::{Sha1, SipHash13, Xxh3, Xxh64};
    let names = [
        PossibleValue::new(Xxh3.name()),
        PossibleValue::new(SipHash13.name()),
        PossibleValue::new(Sha1.name())
            .help("Slow; a Bloom filter computes it again for each probe, with another salt"),
        PossibleValue::new(Xxh64.name()).help("The hash that Bloom filters in Parquet files use"),
    ];
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Parses a number of seconds, which may be `inf`.
fn patience(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => Ok(seconds),
        _ => Err("not a number of seconds: write as in 10 or 0.5".into()),
    }
}

/// Parses the maximum length of a line, in bytes.
fn max_line(text: &str) -> Result<usize, String> {
    let bytes = text::size(text).map_err(|error| error.to_string())?;
    let allowed = (1..=MOST_MAX_LINE).contains(&bytes);
    usize::try_from(bytes).ok().filter(|_| allowed).ok_or_else(|| format!("not from 1 to {MOST_MAX_LINE} bytes"))
}
