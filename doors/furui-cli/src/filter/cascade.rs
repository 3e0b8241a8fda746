//! Cascade filters: filters larger than memory, in directories.

use std::path::Path;
use std::process::ExitCode;

use furui::error::StoreProblem;
use furui::format::Printable;
use furui::store::cascade::{CascadeFilter, CascadeOptions};
use furui::store::{Directory, Manifest};
use furui::{HashAlgorithm, HashSpec};

use super::build::{count, each_block, refuse_strays};
use super::compare::lines;
use super::seed::given;
use crate::cli::{BuildOptions, InputOptions, InsertOptions, LineOptions};
use crate::complain;
use crate::error::Error;
use crate::files::Files;
use crate::keys::{self, Keys, form};
use crate::memory;
use crate::opening::open_to_write;
use crate::say::number::{counted, figure, grouped, shared};
use crate::say::progress;
use crate::say::report::Report;
use crate::say::size;

/// The user is warned if a cascade filter holds more than this many times its capacity.
const OUTGROWN: f64 = 1.01;

/// The options for a filter of which only the runs are read.
const TO_READ: CascadeOptions = CascadeOptions { memory: 64 << 20, hash: None, form: None, journal: false };

/// Runs `furui filter build --kind cascade`.
pub fn build(options: &BuildOptions) -> Result<ExitCode, Error> {
    let path = &options.output;
    if path.as_os_str() == "-" {
        return Err(Error::Message("-o -: a cascade filter is a directory; name a new or an empty one".into()));
    }
    if options.seed_file.is_some() {
        let reason =
            "--kind cascade takes no --seed-file: the filter keeps its seed, which is random if --hash-seed gives none";
        return Err(Error::Message(reason.into()));
    }
    refuse_strays(options)?;
    let seed = options.hash_seed.unwrap_or_else(|| HashSpec::random().seed);
    let spec = HashSpec { algorithm: options.hash.unwrap_or(HashAlgorithm::Xxh3), seed };
    let mut keys = Keys::new(spec, &options.lines)?;
    if options.capacity.is_none() && progress::total(&options.input.files).is_none() {
        let reason = "a cascade filter does not keep its lines in memory: say with --capacity how many it is for";
        return Err(Error::Message(reason.into()));
    }
    if options.capacity == Some(0) {
        return Err(Error::Message("--capacity 0: a filter is for at least one line".into()));
    }
    // This is checked before the lines are read, because reading may take hours. A path that is not a directory is an
    // error, too.
    if path.exists() && Manifest::load(&Directory::open_read_only(path)?)?.is_some() {
        return Err(furui::Error::store(path.display().to_string(), StoreProblem::Occupied).into());
    }
    let capacity = options.capacity.map_or_else(|| count(options, &mut keys), Ok)?;
    furui::store::Fingerprints::with_rate(capacity, options.fpr)?;
    let settings = CascadeOptions {
        memory: memory_of(options.memory),
        hash: Some(spec),
        form: Some(form(&options.lines)?),
        journal: false,
    };
    let files = Files::Store(Directory::open(path)?.mapped(false));
    let filter = CascadeFilter::create_with(files, capacity, options.fpr, settings)?;
    fill(filter, &options.input, &options.lines, &mut keys, "building", path)
}

/// Runs `furui filter insert` on a cascade filter.
pub fn insert(options: &InsertOptions) -> Result<ExitCode, Error> {
    let path = &options.change.filter;
    given(&options.change.seed, [path])?;
    let settings = CascadeOptions { memory: memory_of(options.memory), hash: None, form: None, journal: false };
    let filter = CascadeFilter::open_with(Files::Store(open_to_write(path, &options.wait)?.mapped(false)), settings)?;
    keys::check(path.display(), filter.set().manifest().form, &options.change.lines)?;
    let mut keys = Keys::new(filter.hash_spec(), &options.change.lines)?;
    fill(filter, &options.change.input, &options.change.lines, &mut keys, "reading", path)
}

/// Opens a cascade filter for look-ups. The keys of its journal take at most `memory` bytes of memory, and files of at
/// most `mapped` bytes are mapped into memory.
pub fn open(path: &Path, memory: u64, mapped: u64) -> Result<CascadeFilter<Files>, Error> {
    let options = CascadeOptions { memory, hash: None, form: None, journal: false };
    Ok(CascadeFilter::open_with(Files::unchanged(path, mapped)?, options)?)
}

/// Opens the runs of a cascade filter for reading.
pub fn open_published(path: &Path) -> Result<CascadeFilter<Files>, Error> {
    Ok(CascadeFilter::open_published(Files::Store(Directory::open_read_only(path)?.mapped(false)), TO_READ)?)
}

fn memory_of(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(memory::quarter)
}

/// Inserts all lines, and makes them durable. After an error, the lines before it are made durable, if possible.
fn fill(
    mut filter: CascadeFilter<Files>,
    input: &InputOptions,
    lines: &LineOptions,
    keys: &mut Keys,
    what: &'static str,
    path: &Path,
) -> Result<ExitCode, Error> {
    let inserted = each_block(input, lines, keys, what, |hashes| Ok(filter.insert_hashes(hashes)?));
    let published = filter.publish();
    // If both failed, the first error is reported: the second may only follow from it.
    inserted?;
    published?;
    warn_if_outgrown(&filter, path);
    Ok(ExitCode::SUCCESS)
}

/// Warns if a filter almost certainly holds more than [`OUTGROWN`] times its capacity. So many lines change the printed
/// digits of the filter's false-positive rate.
fn warn_if_outgrown(filter: &CascadeFilter<Files>, path: &Path) {
    let held = filter.cardinality();
    if held.value - 3.0 * held.error <= OUTGROWN * filter.capacity() as f64 {
        return;
    }
    // A fingerprint that is in several runs is counted several times.
    let (most, advice) = match filter.set().runs().len() {
        0 | 1 => ("", "build it with a larger --capacity"),
        _ => ("at most ", "`furui compact` counts them exactly; build it with a larger --capacity"),
    };
    complain(&Error::Message(format!(
        "{}: made for {}, and holds {most}{}: the false-positive rate is now {most}{}, not {}; {advice}",
        path.display(),
        counted(filter.capacity(), "line"),
        lines(held.value, held.error),
        figure(filter.false_positive_rate()),
        figure(filter.intended_rate())
    )));
}

/// Describes a cascade filter as lines of text for `furui info`, except for its runs.
pub fn details(path: &Path, filter: &CascadeFilter<Files>) -> Result<Vec<String>, Error> {
    let figures = Figures::of(filter)?;
    let mut rows = vec![
        format!("{}: {}", Printable(path.display()), filter.set().manifest().store),
        format!("hash        {}", filter.hash_spec()),
        format!("keys from   {}", keys::said(filter.set().manifest().form)),
        format!("capacity    {}", counted(filter.capacity(), "line")),
        format!(
            "holds       {}{}, with {} of {} fingerprints ({:.2} bits)",
            figures.most,
            lines(figures.keys, figures.error),
            grouped(figures.held),
            grouped(filter.fingerprints().last()),
            (filter.fingerprints().last() as f64).log2()
        ),
        format!(
            "errs        says yes wrongly at a rate of {}{} (made for {})",
            figures.most,
            figure(figures.rate),
            figure(filter.intended_rate())
        ),
        format!(
            "storage     {} in {}{}",
            size::display(figures.stored),
            counted(filter.set().runs().len() as u64, "run"),
            shared(figures.stored as f64 * 8.0, "bits a line", filter.cardinality().value)
        ),
        format!("generation  {}", filter.set().manifest().generation()),
    ];
    if figures.journal > 0 {
        rows.push(format!(
            "journal     {}, of a process that is at work or was killed",
            counted(figures.journal, "key")
        ));
    }
    Ok(rows)
}

/// Describes a cascade filter as JSON.
pub fn fields(path: &Path, filter: &CascadeFilter<Files>) -> Result<String, Error> {
    let figures = Figures::of(filter)?;
    let mut report = Report::default();
    report
        .path("path", "path_bytes", path)
        .text("kind", "cascade")
        .text("hash", filter.hash_spec().algorithm.name())
        .text("keys_from", filter.set().manifest().form.as_str())
        .text("seed", &format!("{:#018x}", filter.hash_spec().seed))
        .number("capacity", filter.capacity())
        .number("keys", format!("{:.0}", figures.keys))
        .number("false_positive_rate", format!("{:e}", figures.rate))
        .number("intended_rate", format!("{:e}", filter.intended_rate()))
        .number("held", figures.held)
        .number("fingerprints", filter.fingerprints().last())
        .number("runs", filter.set().runs().len())
        .number("bytes", figures.stored)
        .number("journal", figures.journal)
        .number("generation", filter.set().manifest().generation());
    Ok(report.json())
}

/// The figures that `furui info` prints for a cascade filter.
struct Figures {
    /// The number of fingerprints in the runs and the journal.
    held: u64,
    /// The number of fingerprints in the journal.
    journal: u64,
    /// The estimated number of different lines in the filter.
    keys: f64,
    /// The standard deviation of `keys`.
    error: f64,
    rate: f64,
    /// The total size of the runs in bytes.
    stored: u64,
    /// The words "at most " if some lines may be counted twice, or else an empty text. They precede the number of
    /// lines.
    most: &'static str,
}

impl Figures {
    fn of(filter: &CascadeFilter<Files>) -> Result<Self, Error> {
        let journal = filter.set().journal_keys()?;
        let held = filter.len() + journal;
        let keys = filter.fingerprints().expected_keys(held);
        Ok(Self {
            held,
            journal,
            keys: if keys.is_finite() { keys } else { held as f64 },
            error: filter.cardinality().error,
            rate: filter.fingerprints().rate(held),
            stored: filter.set().manifest().runs.iter().map(|run| run.seal.length).sum(),
            most: if filter.set().runs().len() + usize::from(journal > 0) > 1 { "at most " } else { "" },
        })
    }
}
