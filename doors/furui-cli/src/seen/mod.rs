//! `furui seen`, which prints the first occurrence of each line.

mod batch;
mod by_file;
mod byproducts;
mod decider;
mod ending;
mod figures;
mod judge;
mod limit;
mod pace;
mod pending;
mod printing;
mod queue;
mod recorder;
mod refused;
mod remove;
mod repeats;
mod server;
mod shares;
mod stats;
mod threads;
mod tiers;
pub mod window;
mod workers;
mod writer;

use std::path::Path;
use std::process::ExitCode;

use furui::seen::SeenOptions;
use furui::store::{Directory, Manifest, Storage, StoreKind};
use furui::{HashSpec, KeyForm};

use crate::cli;
use crate::error::Error;
use crate::files::Files;
use crate::filter::Observer;
use crate::interrupt::Interrupt;
use crate::keys::{self, Keys};
use crate::memory;
use crate::opening::open_to_write;
use crate::output::{Output, Sink};
use crate::schemes::is_url;
use byproducts::Byproducts;
use decider::Decider;
use ending::Ending;
use judge::Judge;
use limit::Limit;
use printing::Printing;
use queue::Queue;
use recorder::Recorder;
use server::Server;
use threads::Plan;
use workers::{Rest, Workers};
use writer::Writer;

/// The exit code after a signal is this number plus the number of the signal, as a shell reports it.
const SIGNALLED: u8 = 128;

/// With `--status`, the exit code if no line was new.
const NOTHING: u8 = 1;

/// Runs `furui seen`: removes lines from a set, or prints the lines whose keys are new, as the options say.
pub fn run(options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    refused::check(options)?;
    if let Some(path) = &options.filter {
        return observe(Judge::Filter(Observer::open(path, &options.lines)?.into()), options);
    }
    if let Some(url) = options.store.as_deref().filter(|store| is_url(store)) {
        return observe(Judge::Server(Server::open(url, options)?.into()), options);
    }
    if let (Some(file), Some(store)) = (&options.remove, &options.store) {
        return remove::run(file, store, options);
    }
    let mapped = if options.no_mmap { 0 } else { memory::mappable() };
    if let (Some(file), Some(store)) = (&options.pending, &options.store) {
        return observe(pending::open(store, file, mapped, options)?, options);
    }
    let files = match &options.store {
        None => Files::temporary(mapped),
        Some(path) if options.dry_run && !path.exists() => Files::temporary(mapped),
        Some(path) if options.dry_run => Files::unchanged(path, mapped)?,
        Some(path) => Files::Store(open_to_write(path, &options.wait)?.mapped_up_to(mapped)),
    };
    observe(open(files, options)?, options)
}

/// True if lines are recorded for later runs.
fn records(options: &cli::SeenOptions) -> bool {
    (options.store.is_some() || options.filter.is_some()) && !options.dry_run && options.pending.is_none()
}

/// The memory of the run in bytes: that of `--memory` or, without it, a quarter of the memory that the process can use.
fn memory_of(options: &cli::SeenOptions) -> u64 {
    options.memory.unwrap_or_else(memory::quarter)
}

/// The settings of the exact set in `storage`, with the memory, hash and cache of the options.
fn settings(storage: &Files, options: &cli::SeenOptions) -> Result<SeenOptions, Error> {
    let memory = memory_of(options);
    Ok(SeenOptions {
        cache: tiers::cache(options)?,
        sizes: tiers::sizes(&options.tiers),
        memory: memory - Plan::new(options, memory).bytes(),
        hash: Some(hash(storage, options)?),
        form: Some(key_form(storage, options)?),
        journal: records(options),
    })
}

/// Opens the exact set in `storage`, with the window of the options.
fn open(storage: Files, options: &cli::SeenOptions) -> Result<Judge, Error> {
    let settings = settings(&storage, options)?;
    let mut seen = window::open(storage, settings, options)?;
    if records(options) {
        // This makes the directory a store before any line is read. If a crash left a journal, its keys are moved to a
        // run.
        seen.sync()?;
    }
    Ok(Judge::Set(seen.into(), options.protect.clone()))
}

/// Prints the lines that are new to a set or filter, which records them.
fn observe(judge: Judge, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    let records = records(options);
    let interrupt = if records {
        Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?
    } else {
        Interrupt::ignore()
    };
    let mut output = Output::open(options.print.output.as_deref(), options.quiet, &options.read())?;
    let keys = Keys::new(judge.hash_spec(), &options.lines)?.printed_to(&output);
    let byproducts = Byproducts::new(options)?;
    if records {
        output.mend(options.input.separator())?;
    }
    let printing = Printing::of(options);
    let within = judge.within(options).filter(|_| records);
    let recorder = Recorder::new(output, printing, within, judge.set().is_some());
    // A worker may wait for input until the process ends, so the interrupt must live as long.
    let interrupt: &'static Interrupt = Box::leak(Box::new(interrupt));
    let plan = Plan::new(options, memory_of(options));
    let blocks = options.lines.blocks(&options.input, interrupt).of_size(plan.block());
    let limit = options.limit.map(|lines| Limit::new(printing.wanted(), lines.get()));
    let decider = Decider::new(judge, limit);
    let queue = Queue::new(blocks, decider, Writer { recorder, byproducts }, keys, plan.limits(options, records));
    let Rest { mut decider, mut writer, ending, unprinted } = Workers::run(queue, printing, plan.threads());
    let judge = &mut decider.judge;
    judge.tell_time();
    let finished = writer.byproducts.finish().err();
    let (is_open, failure) = match ending {
        Ending::Broken(error) => (false, Some(error)),
        Ending::Failed(error) => (true, Some(error)),
        Ending::Closed => (false, finished),
        Ending::Done => (true, finished),
    };
    let ended = match records {
        true => {
            let settled = if is_open { writer.recorder.settle(judge, unprinted) } else { Ok(Sink::Closed) };
            judge.end(settled, failure.is_none(), unprinted).err()
        }
        false => match (&options.pending, is_open && failure.is_none()) {
            (Some(file), true) => pending::save(file, &mut writer.recorder, judge).err(),
            _ => None,
        },
    };
    decider.counts.report("not recorded");
    stats::report(&decider, options.stats, writer.byproducts.by_file(), plan.fewer());
    // The first error explains more than later errors, which follow from it.
    if let Some(error) = failure.or(ended) {
        return Err(error);
    }
    let status = if options.status && decider.new == 0 { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS };
    Ok(interrupt.signal().map_or(status, |signal| ExitCode::from(SIGNALLED + signal)))
}

/// The form in which the keys of the set are made from lines: the form of the options or, with --as-is, the form that
/// the store remembers.
fn key_form(storage: &Files, options: &cli::SeenOptions) -> Result<KeyForm, Error> {
    let (path, form) = match (Manifest::load(storage)?, &options.like) {
        (Some(manifest), _) => (options.store.as_deref().unwrap_or(Path::new("")), manifest.form),
        (None, Some(like)) => (like.as_path(), model(like)?.form),
        (None, None) => return keys::form(&options.lines),
    };
    keys::check(path.display(), form, &options.lines)?;
    Ok(form)
}

/// The manifest of the store that `--like` names.
fn model(path: &Path) -> Result<Manifest, Error> {
    let manifest = Directory::open_read_only(path)?.manifest()?;
    if manifest.store != StoreKind::Seen {
        let (path, kind) = (path.display(), manifest.store);
        return Err(Error::Message(format!("{path}: this is {kind}: --like takes {}", StoreKind::Seen)));
    }
    Ok(manifest)
}

/// Returns the hash function and seed of the set: those of an existing store, or new ones as the options say. Options
/// that contradict the store are an error.
fn hash(storage: &Files, options: &cli::SeenOptions) -> Result<HashSpec, Error> {
    let like = options.like.as_deref().map(|path| Ok::<_, Error>((path, model(path)?))).transpose()?;
    let mut hash = match (Manifest::load(storage)?, like) {
        (Some(manifest), Some((path, like))) if (manifest.hash, manifest.form) != (like.hash, like.form) => {
            return Err(Error::Message(format!(
                "{}: exists already, with another hash or other key options than {}: name a new store, or omit --like",
                storage.path(""),
                path.display()
            )));
        }
        (Some(manifest), _) => manifest.hash,
        (None, Some((_, like))) => like.hash,
        (None, None) => HashSpec::random(),
    };
    if let Some(algorithm) = options.hash {
        hash.algorithm = algorithm;
    }
    if let Some(seed) = options.hash_seed {
        hash.seed = seed;
    }
    Ok(hash)
}
