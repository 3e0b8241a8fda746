//! `furui seen`, which prints the first occurrence of each line.

mod by_file;
mod byproducts;
mod decider;
mod ending;
mod figures;
mod flight;
mod pace;
mod plan;
mod printing;
mod queue;
mod recorder;
mod remote;
mod remote_options;
mod remove;
mod repeats;
mod shares;
mod stats;
mod tiers;
pub mod window;
mod workers;
mod writer;

use std::path::Path;
use std::process::ExitCode;

use furui::seen::SeenOptions;
use furui::store::{Directory, Manifest, Overlay, Scratch, Storage, StoreKind};
use furui::{HashSpec, KeyForm};

use crate::cli;
use crate::error::Error;
use crate::filter;
use crate::interrupt::Interrupt;
use crate::keys::{self, Keys};
use crate::memory;
use crate::output::{Output, Sink};
use crate::remote::is_url;
use crate::wait::open_to_write;
use byproducts::Byproducts;
use decider::Decider;
use ending::Ending;
use plan::Plan;
use printing::Printing;
use queue::Queue;
use recorder::Recorder;
use workers::{Rest, Workers};
use writer::Writer;

/// If a signal ended a process, a shell reports this number plus the number of the signal.
const SIGNALLED: u8 = 128;

/// Runs the command.
pub fn run(options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    if let Some(path) = &options.filter {
        return filter::observe(path, options);
    }
    if let Some(url) = options.store.as_deref().filter(|store| is_url(store)) {
        return remote::run(url, options);
    }
    if let (Some(file), Some(store)) = (&options.remove, &options.store) {
        return remove::run(file, store, options);
    }
    let mapped = if options.no_mmap { 0 } else { memory::mappable() };
    let scratch = || Scratch::new(std::env::temp_dir()).mapped_up_to(mapped);
    match &options.store {
        None => observe(scratch(), options),
        Some(path) if options.dry_run && !path.exists() => observe(scratch(), options),
        Some(path) if options.dry_run => {
            observe(Overlay::new(Directory::open_read_only(path)?.mapped_up_to(mapped), scratch()), options)
        }
        Some(path) => observe(open_to_write(path, &options.wait)?.mapped_up_to(mapped), options),
    }
}

fn observe<S>(storage: S, options: &cli::SeenOptions) -> Result<ExitCode, Error>
where
    S: Storage<File: Send> + Send + 'static,
{
    let records = options.store.is_some() && !options.dry_run;
    let memory = options.memory.unwrap_or_else(memory::quarter);
    let plan = Plan::new(options, memory);
    let settings = SeenOptions {
        cache: tiers::cache(options)?,
        sizes: tiers::sizes(&options.tiers),
        memory: memory - plan.bytes(),
        hash: Some(hash(&storage, options)?),
        form: Some(key_form(&storage, options)?),
        journal: records,
    };
    let mut seen = window::open(storage, settings, options)?;
    if records {
        // This makes the directory a store before any line is read. If a crash left a journal, its keys are moved to a
        // run.
        seen.sync()?;
    }
    let interrupt = if records {
        Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?
    } else {
        Interrupt::ignore()
    };
    let keys = Keys::new(seen.hash_spec(), &options.lines)?;
    let mut output = Output::new(options.quiet)?;
    let byproducts = Byproducts::new(options)?;
    if records {
        output.mend(options.input.separator())?;
    }
    let printing = Printing::of(options);
    let recorder = Recorder::new(output, printing, records.then(|| options.sync()));
    // A worker may wait for input until the process ends, so the interrupt must live as long.
    let interrupt: &'static Interrupt = Box::leak(Box::new(interrupt));
    let blocks = options.lines.blocks(&options.input, interrupt).of_size(plan.block());
    let decider = Decider::new(seen, options.protect.clone());
    let queue = Queue::new(blocks, decider, Writer { recorder, byproducts }, keys, plan.limits(options, records));
    let Rest { mut decider, mut writer, ending, unprinted } = Workers::run(queue, printing, plan.threads());
    let seen = &mut decider.seen;
    window::tell_time(seen);
    let (mut failure, closed) = match ending {
        Ending::Broken(error) => return Err(error),
        Ending::Failed(error) => (Some(error), false),
        Ending::Closed => (None, true),
        Ending::Done => (None, false),
    };
    failure = failure.or(writer.byproducts.finish().err());
    if records && !closed {
        // After any error, printed lines are recorded if possible, in the journal, which needs no memory.
        let kept = match writer.recorder.settle(seen, unprinted) {
            Ok(Sink::Open) if failure.is_none() => seen.publish().map_err(Error::from),
            Ok(Sink::Open) => seen.sync_first(seen.unsynced().saturating_sub(unprinted)).map_err(Error::from),
            arrived => arrived.map(drop),
        };
        // The first error explains more than those that follow from it.
        failure = failure.or(kept.err());
    }
    decider.counts.report("not recorded");
    stats::report(&decider.seen, decider.bytes, options.stats, writer.byproducts.by_file(), plan.fewer());
    match failure {
        Some(error) => Err(error),
        None => Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal))),
    }
}

/// How the keys of the set are made from lines: as the options say, or, with --as-is, as the store remembers.
fn key_form<S: Storage>(storage: &S, options: &cli::SeenOptions) -> Result<KeyForm, Error> {
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

/// The hash of the set: the hash of an existing store, or a new one as the options say. Options that contradict the
/// store are an error.
fn hash<S: Storage>(storage: &S, options: &cli::SeenOptions) -> Result<HashSpec, Error> {
    let like = options.like.as_deref().map(|path| Ok::<_, Error>((path, model(path)?))).transpose()?;
    let mut hash = match (Manifest::load(storage)?, like) {
        (Some(manifest), Some((path, like))) if (manifest.hash, manifest.form) != (like.hash, like.form) => {
            return Err(Error::Message(format!(
                "{}: is there already, and has another hash or keys of another form than {}: name a new store, or leave out --like",
                storage.path(""),
                path.display()
            )));
        }
        (Some(manifest), _) => manifest.hash,
        (None, Some((_, like))) => like.hash,
        (None, None) => HashSpec::random(),
    };
    if let Some(name) = options.hash {
        hash.algorithm = name.into();
    }
    if let Some(seed) = options.hash_seed {
        hash.seed = seed;
    }
    Ok(hash)
}
