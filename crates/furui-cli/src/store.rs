//! `furui compact`, `snapshot`, `info` and `verify`: what can be done with a store besides using it.

use std::path::Path;
use std::process::ExitCode;

use furui::dict::FilteredTrie;
use furui::filter::AnyFilter;
use furui::format::{Envelope, Kind};
use furui::store::cascade::{Cascade, CascadeOptions, Journal, Run};
use furui::store::{Directory, DiskFile, Manifest, StoreKind};
use furui::{Error, KeyHash};

use crate::cli::{CompactOptions, SnapshotOptions};
use crate::dict;
use crate::filter::{details, fields, refuse_pipe};
use crate::output::print;
use crate::report::{Report, grouped};
use crate::size;
use crate::wait::open_to_write;

/// Merging takes little memory; the table has only what is in a journal.
const OPTIONS: CascadeOptions = CascadeOptions { memory: 64 << 20, hash: None, journal: false };

/// Merges a store into one run.
pub fn compact(CompactOptions { path, wait }: &CompactOptions) -> Result<ExitCode, Error> {
    match kind_of(path)? {
        StoreKind::Dict => dict::open(path, wait)?.compact()?,
        _ => Cascade::open(open_to_write(path, wait)?.mapped(false), OPTIONS)?.compact()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Copies a store.
pub fn snapshot(options: &SnapshotOptions) -> Result<ExitCode, Error> {
    furui::store::snapshot(&options.path, &options.dest)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads every byte of a store or file.
pub fn verify(path: &Path) -> Result<ExitCode, Error> {
    if path.is_dir() {
        match kind_of(path)? {
            StoreKind::Dict => dict::open_to_read(path)?.verify()?,
            _ => open(path)?.verify()?,
        }
    } else if let Some(journal) = open_journal(path)? {
        journal.check()?;
    } else {
        let (file, envelope) = open_file(path)?;
        match envelope.kind() {
            Kind::Run => Run::open(file, envelope.name(), envelope.hash())?.verify()?,
            Kind::Manifest => drop(Manifest::decode(&file, envelope.name())?),
            Kind::FilteredTrie => FilteredTrie::verify_file(path)?,
            kind if kind.is_filter() => drop(AnyFilter::open(path)?),
            _ => envelope.verify(&file)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what a store or file is.
pub fn info(path: &Path, json: bool) -> Result<ExitCode, Error> {
    let text = if path.is_dir() { store_info(path, json)? } else { file_info(path, json)? };
    print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn store_info(path: &Path, json: bool) -> Result<String, Error> {
    if kind_of(path)? == StoreKind::Dict {
        return dict::info(path, json);
    }
    let set = open(path)?;
    let runs = &set.manifest().runs;
    let stored: u64 = runs.iter().map(|run| run.seal.length).sum();
    let journal = set.journal_keys()?;
    let keys = set.len() + journal;
    let lost = KeyHash::expected_collisions(keys);
    if json {
        let mut report = Report::default();
        report
            .text("kind", "seen")
            .text("hash", set.hash_spec().algorithm.name())
            .text("seed", &format!("{:#018x}", set.hash_spec().seed))
            .number("keys", keys)
            .number("runs", runs.len())
            .number("bytes", stored)
            .number("journal", journal)
            .number("generation", set.manifest().generation())
            .number("expected_collisions", format!("{lost:e}"));
        return Ok(report.json());
    }
    let mut lines = vec![
        format!("{}: {}", path.display(), set.manifest().store),
        format!("keys        {} ({keys})", grouped(keys)),
        format!("hash        {}", set.hash_spec()),
        format!("collisions  {lost:.2e} keys are expected to have been taken for another (n²/2⁶⁵)"),
        format!(
            "storage     {} in {}, {:.2} bytes a key",
            size::display(stored),
            runs_of(runs.len()),
            stored as f64 / set.len().max(1) as f64
        ),
        format!("generation  {}", set.manifest().generation()),
    ];
    if journal > 0 {
        lines.push(format!("journal     {} keys, recorded by a run that has not ended well", grouped(journal)));
    }
    for (entry, run) in runs.iter().zip(set.runs()) {
        lines.push(format!(
            "run {:016x}  keys {}, {}, pages {}, remainders of {} bits",
            entry.number,
            grouped(entry.keys),
            size::display(entry.seal.length),
            grouped(run.pages() as u64),
            run.remainder_bits().get()
        ));
    }
    Ok(lines.join("\n") + "\n")
}

fn file_info(path: &Path, json: bool) -> Result<String, Error> {
    if let Some(journal) = open_journal(path)? {
        let (keys, hash) = (journal.check()?, journal.hash());
        if json {
            let mut report = Report::default();
            report
                .text("kind", Kind::Journal.name())
                .text("hash", hash.algorithm.name())
                .text("seed", &format!("{:#018x}", hash.seed))
                .number("keys", keys);
            return Ok(report.json());
        }
        let what = Kind::Journal;
        return Ok(format!("{}: {what}\nhash      {hash}\nkeys      {}\n", path.display(), grouped(keys)));
    }
    let (_, envelope) = open_file(path)?;
    let seal = envelope.seal();
    if envelope.kind().is_filter() {
        let filter = AnyFilter::open(path)?;
        return Ok(if json { fields(&filter, seal.length) } else { details(path, &filter, seal.length) });
    }
    if json {
        let mut report = Report::default();
        report
            .text("kind", envelope.kind().name())
            .text("hash", envelope.hash().algorithm.name())
            .text("seed", &format!("{:#018x}", envelope.hash().seed))
            .number("bytes", seal.length);
        return Ok(report.json());
    }
    let mut lines = vec![
        format!("{}: {}", path.display(), envelope.kind()),
        format!("hash      {}", envelope.hash()),
        format!("size      {} ({} bytes)", size::display(seal.length), seal.length),
    ];
    for section in envelope.sections() {
        lines.push(format!("section   {} at byte {}, {} bytes", section.tag, section.offset, section.length));
    }
    Ok(lines.join("\n") + "\n")
}

/// Opens what a store has in runs, to look at it.
fn open(path: &Path) -> Result<Cascade<Directory>, Error> {
    Cascade::open_published(Directory::open_read_only(path)?.mapped(false), OPTIONS)
}

/// "1 run", "2 runs".
fn runs_of(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

/// What kind of store a directory is. One that is no store is not made one by looking at it.
fn kind_of(path: &Path) -> Result<StoreKind, Error> {
    Ok(Directory::open_read_only(path)?.manifest()?.store)
}

/// Opens a single file if it is a journal.
fn open_journal(path: &Path) -> Result<Option<Journal<DiskFile>>, Error> {
    refuse_pipe(path)?;
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
    // What is wrong with another file, its own reader says.
    Ok(Journal::open(file, &name).ok())
}

/// Opens a single file.
fn open_file(path: &Path) -> Result<(DiskFile, Envelope), Error> {
    refuse_pipe(path)?;
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
    let envelope = Envelope::open(&file, &name)?;
    Ok((file, envelope))
}
