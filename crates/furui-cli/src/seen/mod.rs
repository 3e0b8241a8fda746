//! `furui seen`, which prints the first occurrence of each line.

mod by_file;
mod byproducts;
mod figures;
mod pace;
mod printing;
mod recorder;
mod remove;
mod repeats;
mod stats;
mod tiers;
pub mod window;

use std::path::Path;
use std::process::ExitCode;

use furui::seen::SeenOptions;
use furui::store::{Directory, Manifest, Overlay, Scratch, Storage, StoreKind};
use furui::{HashSpec, Hashes, KeyForm};

use crate::blocks::{LargeBlocks, Next};
use crate::cli;
use crate::error::Error;
use crate::filter;
use crate::interrupt::Interrupt;
use crate::keys::{self, Keys};
use crate::memory;
use crate::output::{Output, Sink};
use crate::wait::open_to_write;
use byproducts::Byproducts;
use printing::Printing;
use recorder::Recorder;

/// A shell reports this plus the number of the signal for a process that a signal ended.
const SIGNALLED: u8 = 128;

/// Runs the command.
pub fn run(options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    if let Some(path) = &options.filter {
        return filter::observe(path, options);
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

fn observe<S: Storage>(storage: S, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    let records = options.store.is_some() && !options.dry_run;
    let memory = options.memory.unwrap_or_else(memory::quarter);
    let large = LargeBlocks::of(memory);
    let settings = SeenOptions {
        cache: tiers::cache(options)?,
        sizes: tiers::sizes(&options.tiers),
        memory: memory - large.bytes(),
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
    let mut keys = Keys::new(seen.hash_spec(), &options.lines)?;
    let mut byproducts = Byproducts::new(options)?;
    let mut output = Output::new(options.quiet)?;
    if records {
        output.mend(options.input.separator())?;
    }
    let mut recorder = Recorder::new(output, Printing::of(options), records.then_some(options.sync));
    let mut blocks = options.lines.blocks(&options.input, &interrupt);
    let (mut hashes, mut verdicts, mut fates) = (Hashes::new(&keys.hasher), vec![], vec![]);
    let mut bytes = 0;
    let mut closed = false;
    let mut failure = None;
    loop {
        blocks.at_most(seen.slice_room());
        let mut block = match blocks.next_until(recorder.deadline(&seen)) {
            Ok(Next::Block(block)) => block,
            Ok(Next::Pause) if recorder.sync(&mut seen)? == Sink::Closed => {
                closed = true;
                break;
            }
            Ok(Next::Pause) => continue,
            Ok(Next::End) => break,
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        let length = block.bytes.len();
        bytes += length as u64;
        window::tell_time(&mut seen);
        match keys.header(&block) {
            Ok(Some(is_first)) => {
                byproducts.header(&block);
                if recorder.print_header(block.bytes, is_first)? == Sink::Closed {
                    closed = true;
                    break;
                }
                continue;
            }
            Ok(None) => keys.hash_all(&mut block, &mut hashes),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
        if records && seen.will_sync(block.len()) && recorder.settle(&mut seen)? == Sink::Closed {
            closed = true;
            break;
        }
        let observed = match &options.protect {
            None => seen.observe_all(&hashes, &mut verdicts),
            Some(regex) => {
                let line = keys.with_key();
                seen.observe_protected(&hashes, |i| regex.is_match(block.line(line(i))), &mut verdicts)
            }
        };
        if let Err(error) = observed {
            failure = Some(error.into());
            break;
        }
        keys.fates(&verdicts, &mut fates);
        byproducts.lines(&block, &fates);
        // The lines are printed before the next call of `observe_all`, which may make their keys durable. So a crash
        // repeats lines, but loses none.
        if recorder.print(&mut seen, &mut block, &fates)? == Sink::Closed {
            // It is unknown which of the last lines were read. The next run prints again the lines that are not
            // durable.
            closed = true;
            break;
        }
        if let Err(error) = byproducts.write(&seen, length).and_then(|()| keys.failure()) {
            failure = Some(error);
            break;
        }
        // A program that reads marks may send a line only after it has read the mark of the line before: waiting for a
        // larger block would only delay it.
        if !seen.set().runs().is_empty() && options.outputs.mark.is_none() {
            blocks.enlarge(large);
        }
    }
    window::tell_time(&mut seen);
    failure = failure.or(byproducts.finish().err());
    if records && !closed {
        // After any error, printed lines are recorded if possible, in the journal, which needs no memory.
        let kept = match recorder.settle(&mut seen) {
            Ok(Sink::Open) if failure.is_none() => seen.publish().map_err(Error::from),
            Ok(Sink::Open) => seen.sync().map_err(Error::from),
            arrived => arrived.map(drop),
        };
        // The first error explains more than those that follow from it.
        failure = failure.or(kept.err());
    }
    keys.report("not recorded");
    stats::report(&seen, bytes, options.stats, byproducts.by_file());
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
