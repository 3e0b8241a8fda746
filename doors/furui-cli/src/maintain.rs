//! `furui compact`, `snapshot`, `info` and `verify`: commands that maintain stores.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui::KeyHash;
use furui::filter::AnyFilter;
use furui::format::{Envelope, Kind, Printable};
use furui::raw::FilteredTrie;
use furui::seen::{KeptTiers, Replacement};
use furui::store::cascade::{Cascade, CascadeFilter, CascadeOptions, Journal, Run};
use furui::store::{Directory, DiskFile, Manifest, Note, StoreKind, Window};

use crate::cli::{CompactOptions, InfoOptions, SnapshotOptions};
use crate::dict;
use crate::error::Error;
use crate::files::Files;
use crate::filter::{cascade, details, fields, given_seed, refuse_pipe};
use crate::keys;
use crate::network;
use crate::opening::{kind_of, open_to_write};
use crate::output::print;
use crate::remote::RemoteSet;
use crate::say::number::{counted, figure, grouped, shared};
use crate::say::report::Report;
use crate::say::size;
use crate::say::windows::{ahead, date, now, of_lines};
use crate::schemes::is_url;
use crate::{ERROR, complain};

/// The options for opening a store to maintain it. 64 MiB suffice: a merge takes little memory, and the table holds
/// only the keys of a journal.
const OPTIONS: CascadeOptions = CascadeOptions { memory: 64 << 20, hash: None, form: None, journal: false };

/// Runs `furui compact`: merges a store into one run.
pub fn compact(CompactOptions { path, wait }: &CompactOptions) -> Result<ExitCode, Error> {
    match kind_of(path)? {
        StoreKind::Dict(_) => dict::compact(path, wait)?,
        StoreKind::Filter => {
            CascadeFilter::open_with(Files::Store(open_to_write(path, wait)?.mapped(false)), OPTIONS)?.compact()?;
        }
        _ => Cascade::open(Files::Store(open_to_write(path, wait)?.mapped(false)), OPTIONS)?.compact()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `furui snapshot`: copies the files that the manifest of a store names, or those of a node, into a new
/// directory.
pub fn snapshot(options: &SnapshotOptions) -> Result<ExitCode, Error> {
    match (&options.node, &options.dest) {
        (Some(url), _) => network::snapshot(url, options.token.as_deref(), &options.path, options.keys.as_deref()),
        (None, _) if options.token.is_some() || options.keys.is_some() => {
            Err(Error::Message("--token and --keys are for a node: name its address by --node URL".to_owned()))
        }
        (None, Some(dest)) => {
            furui::store::snapshot(&options.path, dest)?;
            Ok(ExitCode::SUCCESS)
        }
        (None, None) => Err(Error::Message("name the directory of the copy".to_owned())),
    }
}

/// Runs `furui verify`: reads and checks every byte of stores and files.
pub fn verify(paths: &[PathBuf]) -> Result<ExitCode, Error> {
    Ok(each(paths, check))
}

/// Runs `furui info`: prints descriptions of stores and files.
pub fn info(options: &InfoOptions) -> Result<ExitCode, Error> {
    let (json, seed) = (options.json, given_seed(&options.seed, &options.paths)?);
    let mut texts = Vec::new();
    let code = each(&options.paths, |path| {
        texts.push(match path {
            path if is_url(path) => server_info(path, json)?,
            path if path.is_dir() => store_info(path, json)?,
            path => file_info(path, seed, json)?,
        });
        Ok(())
    });
    print(texts.join(if json { "" } else { "\n" }).as_bytes())?;
    Ok(code)
}

/// Calls `work` for each path, and continues if the work fails for one path. Returns the exit code for an error if the
/// work failed for any, and otherwise that for success.
fn each(paths: &[PathBuf], mut work: impl FnMut(&Path) -> Result<(), Error>) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in paths {
        if let Err(error) = work(path) {
            complain(&error);
            code = ExitCode::from(ERROR);
        }
    }
    code
}

fn check(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        match kind_of(path)? {
            StoreKind::Dict(_) => dict::verify(path)?,
            StoreKind::Filter => cascade::open_published(path)?.set().verify()?,
            _ => {
                let set = open(path)?;
                set.verify()?;
                KeptTiers::of(&set)?;
            }
        }
    } else if let Some(journal) = open_journal(path)? {
        journal.check()?;
    } else {
        let (file, envelope) = open_file(path)?;
        match envelope.kind() {
            Kind::Run => Run::open(file, envelope.name(), envelope.hash())?.verify()?,
            Kind::Manifest => drop(Manifest::decode(&file, envelope.name())?),
            Kind::FilteredTrie => FilteredTrie::verify_file(path)?,
            kind if kind.is_filter() && !envelope.seed_is_elsewhere() => drop(AnyFilter::open(path)?),
            _ => envelope.verify(&file)?,
        }
    }
    Ok(())
}

fn store_info(path: &Path, json: bool) -> Result<String, Error> {
    match kind_of(path)? {
        StoreKind::Dict(_) => return dict::info(path, json),
        StoreKind::Filter => return filter_info(path, json),
        _ => {}
    }
    let set = open(path)?;
    let runs = &set.manifest().runs;
    let stored: u64 = runs.iter().map(|run| run.seal.length).sum();
    let journal = set.journal_keys()?;
    let keys = set.len() + journal;
    let lost = KeyHash::expected_collisions(keys);
    let tiers = KeptTiers::of(&set)?;
    if json {
        let mut report = Report::default();
        report
            .path("path", "path_bytes", path)
            .text("kind", "seen")
            .hash(set.hash_spec())
            .text("keys_from", set.manifest().form.as_str())
            .number("keys", keys)
            .number("runs", runs.len())
            .number("bytes", stored)
            .number("journal", journal)
            .number("generation", set.manifest().generation())
            .text_or_null("note", set.manifest().note.as_ref().map(Note::text))
            .number("expected_collisions", format!("{lost:e}"));
        if let Some(window) = set.manifest().window {
            report.text("window", &of_lines(window)).number("slices", slices_with_keys(set.manifest()));
            if let Window::Milliseconds(_) = window {
                report.text("time", &date(set.manifest().tick));
            }
        }
        if let Some(tiers) = tiers {
            report
                .text("tiers_replacement", replacement(&tiers))
                .number("tiers_lru", tiers.capacity)
                .number("tiers_lru_keys", tiers.keys)
                .number("tiers_counters", tiers.counters)
                .number("tiers_probes", tiers.probes)
                .number("tiers_decrements", tiers.decrements)
                .number("tiers_filled", format!("{:.6}", tiers.filled))
                .number("tiers_current", tiers.is_current);
        }
        return Ok(report.json());
    }
    let mut lines = vec![
        format!("{}: {}", Printable(path.display()), set.manifest().store),
        format!("keys        {}", grouped(keys)),
        format!("hash        {}", set.hash_spec()),
        format!("keys from   {}", keys::said(set.manifest().form)),
        format!("collisions  {} keys are expected to have been taken for another (n²/2⁶⁵)", figure(lost)),
        format!(
            "storage     {} in {}{}",
            size::display(stored),
            counted(runs.len() as u64, "run"),
            shared(stored as f64, "bytes a key", set.len() as f64)
        ),
        format!("generation  {}", set.manifest().generation()),
    ];
    if let Some(note) = &set.manifest().note {
        lines.push(format!("note        {}", Printable(note.text())));
    }
    if let Some(window) = set.manifest().window {
        lines.push(format!(
            "window      the last {}; {} of {} slices have keys, and a key counts in each in which it occurred",
            of_lines(window),
            slices_with_keys(set.manifest()),
            Window::SLICES + 1
        ));
        if let Window::Milliseconds(_) = window {
            let (time, now) = (set.manifest().tick, now());
            let is_ahead = ahead(window, time, now).is_some();
            let ahead = if is_ahead { format!(", ahead of this machine's: {}", date(now)) } else { String::new() };
            lines.push(format!("time        {}{ahead}", date(time)));
        }
    }
    if journal > 0 {
        lines.push(format!("journal     {}, of a process that is at work or was killed", counted(journal, "key")));
    }
    if let Some(tiers) = tiers {
        lines.push(format!(
            "tiers       {} of {}, {} taken; {} counters, k = {}, P = {}, {:.1} % above 0",
            replacement(&tiers),
            counted(tiers.capacity, "line"),
            grouped(tiers.keys),
            grouped(tiers.counters),
            tiers.probes,
            grouped(tiers.decrements),
            tiers.filled * 100.0
        ));
        if !tiers.is_current {
            lines.push("            of another state of the set: the next run begins without them".into());
        }
    }
    lines.extend(run_lines(&set));
    Ok(lines.join("\n") + "\n")
}

/// What `furui info` prints for a set in a server: as JSON, or as lines of text.
fn server_info(url: &Path, json: bool) -> Result<String, Error> {
    let mut set = RemoteSet::open_existing(url)?;
    let (keys, url) = (set.count()?, set.url());
    let (hash, shards, window) = (set.layout().hash(), set.layout().shards, set.layout().window);
    if json {
        let mut report = Report::default();
        report
            .text("path", &url)
            .text("kind", "seen")
            .hash(hash)
            .number("keys", keys)
            .number("shards", shards)
            .number("expected_collisions", format!("{:e}", KeyHash::expected_collisions(keys)));
        if let Some(window) = window {
            report.text("window", &of_lines(window));
        }
        return Ok(report.json());
    }
    let lost = figure(KeyHash::expected_collisions(keys));
    let mut lines = vec![
        format!("{}: a set in a server, spread over {}", Printable(&url), counted(shards.into(), "key")),
        format!("keys        {}", grouped(keys)),
        format!("hash        {hash}"),
        format!("collisions  {lost} keys are expected to have been taken for another (n²/2⁶⁵)"),
    ];
    if let Some(window) = window {
        lines.push(format!(
            "window      the last {}; a key counts in each slice in which it occurred",
            of_lines(window)
        ));
    }
    Ok(lines.join("\n") + "\n")
}

/// The number of slices (parts of a set's window) to which at least one run belongs.
fn slices_with_keys(manifest: &Manifest) -> usize {
    manifest.runs.chunk_by(|a, b| a.slice == b.slice).count()
}

/// The name, in `--replacement`, of the rule by which the LRU evicts lines.
fn replacement(tiers: &KeptTiers) -> &'static str {
    match tiers.replacement {
        Replacement::Lru => "lru",
        Replacement::Clock => "clock",
    }
}

fn filter_info(path: &Path, json: bool) -> Result<String, Error> {
    let filter = cascade::open_published(path)?;
    if json {
        return cascade::fields(path, &filter);
    }
    let mut lines = cascade::details(path, &filter)?;
    lines.extend(run_lines(filter.set()));
    Ok(lines.join("\n") + "\n")
}

/// Describes each run in a line of text.
fn run_lines(set: &Cascade<Files>) -> impl Iterator<Item = String> {
    set.manifest().runs.iter().zip(set.runs()).map(|(entry, run)| {
        format!(
            "run {:016x}  keys {}, {}, pages {}, remainders of {} bits",
            entry.number,
            grouped(entry.keys),
            size::display(entry.seal.length),
            grouped(run.pages() as u64),
            run.remainder_bits().get()
        )
    })
}

fn file_info(path: &Path, seed: Option<u64>, json: bool) -> Result<String, Error> {
    if let Some(journal) = open_journal(path)? {
        let (keys, hash) = (journal.check()?, journal.hash());
        if json {
            let mut report = Report::default();
            report.path("path", "path_bytes", path).text("kind", Kind::Journal.name()).hash(hash).number("keys", keys);
            return Ok(report.json());
        }
        let what = Kind::Journal;
        return Ok(format!("{}: {what}\nhash      {hash}\nkeys      {}\n", Printable(path.display()), grouped(keys)));
    }
    let (file, envelope) = open_file(path)?;
    let seal = envelope.seal();
    let is_elsewhere = envelope.seed_is_elsewhere();
    if envelope.kind().is_filter() && (seed.is_some() || !is_elsewhere) {
        let filter = match seed.filter(|_| is_elsewhere) {
            Some(seed) => AnyFilter::open_with_seed(path, seed)?,
            None => AnyFilter::open(path)?,
        };
        let form = envelope.key_form(&file)?;
        let describe = if json { fields } else { details };
        return Ok(describe(path, &filter, form, seal.length));
    }
    if json {
        let mut report = Report::default();
        report
            .path("path", "path_bytes", path)
            .text("kind", envelope.kind().name())
            .text("hash", envelope.hash().algorithm.name())
            .text(if is_elsewhere { "seed_fingerprint" } else { "seed" }, &format!("{:#018x}", envelope.hash().seed))
            .number("bytes", seal.length);
        return Ok(report.json());
    }
    let mut lines = vec![
        format!("{}: {}", Printable(path.display()), envelope.kind()),
        match is_elsewhere {
            true => format!(
                "hash      {} with a seed that is kept elsewhere, of fingerprint {:#018x}; --seed-file tells more",
                envelope.hash().algorithm.name(),
                envelope.hash().seed
            ),
            false => format!("hash      {}", envelope.hash()),
        },
        format!("size      {}", size::exact(seal.length)),
    ];
    for section in envelope.sections() {
        lines.push(format!("section   {} at byte {}, {} bytes", section.tag, section.offset, section.length));
    }
    Ok(lines.join("\n") + "\n")
}

/// Opens the runs of a store for reading.
fn open(path: &Path) -> Result<Cascade<Files>, Error> {
    Ok(Cascade::open_published(Files::Store(Directory::open_read_only(path)?.mapped(false)), OPTIONS)?)
}

/// Opens a single file if it is a journal; `None` if it is not.
fn open_journal(path: &Path) -> Result<Option<Journal<DiskFile>>, Error> {
    refuse_pipe(path)?;
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
    // If the file is not a journal, the reader for the file's kind reports any damage.
    Ok(Journal::open(file, &name).ok())
}

/// Opens a single file of furui, and reads its envelope.
fn open_file(path: &Path) -> Result<(DiskFile, Envelope), Error> {
    refuse_pipe(path)?;
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
    let envelope = Envelope::open(&file, &name)?;
    Ok((file, envelope))
}
