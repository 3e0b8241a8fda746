//! `furui seen`: the first occurrence of each line.

mod pace;
mod recorder;
mod stats;

use std::process::ExitCode;

use furui::HashSpec;
use furui::seen::{Cache, Seen, SeenOptions, Verdict};
use furui::store::{Directory, Manifest, Overlay, Scratch, Storage};

use crate::blocks::Next;
use crate::cli::{self, CacheKind};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::memory;
use crate::output::{Output, Sink};
use crate::wait::open_to_write;
use recorder::Recorder;

/// The false-positive rate of the stable filter, if none is given: the paper's stricter one.
const DEFAULT_RATE: f64 = 1e-5;
/// The share of the machine's memory that the set may take, if none is given.
const DEFAULT_MEMORY_SHARE: u64 = 4;
/// A shell reports this and the signal's number for a process that a signal ended.
const SIGNALLED: u8 = 128;

/// Runs the command.
pub fn run(options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    // Files are read, not mapped: the memory stays within what was asked for, and a device's error is an error and no
    // signal.
    let scratch = || Scratch::new(std::env::temp_dir()).mapped(false);
    match &options.store {
        None => observe(scratch(), options),
        Some(path) if options.dry_run && !path.exists() => observe(scratch(), options),
        Some(path) if options.dry_run => {
            observe(Overlay::new(Directory::open_read_only(path)?.mapped(false), scratch()), options)
        }
        Some(path) => observe(open_to_write(path, &options.wait)?.mapped(false), options),
    }
}

fn observe<S: Storage>(storage: S, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    let records = options.store.is_some() && !options.dry_run;
    let settings = SeenOptions {
        cache: cache(options)?,
        memory: options.memory.unwrap_or_else(|| memory::total() / DEFAULT_MEMORY_SHARE),
        hash: Some(hash(&storage, options)?),
        journal: records,
    };
    let mut seen = Seen::open_with(storage, settings)?;
    if records {
        // A new store is one from now on, and what a crash has left in a journal comes into a run.
        seen.sync()?;
    }
    let interrupt = if records {
        Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?
    } else {
        Interrupt::ignore()
    };
    let keys = Keys::new(seen.hash_spec(), &options.lines);
    let wanted = if options.invert { Verdict::Repeat } else { Verdict::New };
    let mut output = Output::new(options.quiet)?;
    if records {
        output.mend(options.input.separator())?;
    }
    let mut recorder = Recorder::new(output, wanted, records.then_some(options.sync));
    let mut blocks = options.input.blocks(&interrupt);
    let (mut hashes, mut verdicts) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    let mut closed = false;
    let mut failure = None;
    loop {
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
        bytes += block.bytes.len() as u64;
        keys.hash_all(&block, &mut hashes);
        if records && seen.will_sync(block.len()) && recorder.settle(&mut seen)? == Sink::Closed {
            closed = true;
            break;
        }
        let observed = match &options.protect {
            None => seen.observe_all(&hashes, &mut verdicts),
            Some(regex) => seen.observe_protected(&hashes, |i| regex.is_match(block.line(i)), &mut verdicts),
        };
        if let Err(error) = observed {
            failure = Some(error.into());
            break;
        }
        // Written before the next call, which may make these keys durable, and settled before it does: a crash then
        // repeats lines, and loses none.
        if recorder.print(&mut seen, &mut block, &verdicts)? == Sink::Closed {
            // Nobody knows which of the last lines were read. What is not durable yet comes again in the next run.
            closed = true;
            break;
        }
        if !seen.set().runs().is_empty() {
            blocks.enlarge();
        }
    }
    if records && !closed {
        // Whatever failed, what was printed before is recorded if it can be, in the journal, which takes no memory.
        let kept = match recorder.settle(&mut seen) {
            Ok(Sink::Open) if failure.is_none() => seen.publish().map_err(Error::from),
            Ok(Sink::Open) => seen.sync().map_err(Error::from),
            arrived => arrived.map(drop),
        };
        // After a failure the next one says less.
        failure = failure.or(kept.err());
    }
    if let Some(format) = options.stats {
        stats::report(&seen, bytes, format);
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal))),
    }
}

/// The tiers before the set, if the options fit together.
fn cache(options: &cli::SeenOptions) -> Result<Cache, Error> {
    if options.cache != CacheKind::LruStable {
        let stray = [("--fpr", options.fpr.is_some()), ("--protect", options.protect.is_some())];
        if let Some((name, _)) = stray.iter().find(|(_, given)| *given) {
            return Err(Error::Message(format!("{name} goes with --cache lru+stable: the other caches drop nothing")));
        }
    }
    Ok(match options.cache {
        CacheKind::Recent => Cache::Recent,
        CacheKind::Lru => Cache::Lru,
        CacheKind::LruStable => Cache::LruStable { rate: options.fpr.unwrap_or(DEFAULT_RATE) },
        CacheKind::None => Cache::None,
    })
}

/// The hash of the set: that of the store if there is one, or a new one; with what the options say of it.
fn hash<S: Storage>(storage: &S, options: &cli::SeenOptions) -> Result<HashSpec, Error> {
    let mut hash = Manifest::load(storage)?.map_or_else(HashSpec::random, |manifest| manifest.hash);
    if let Some(name) = options.hash {
        hash.algorithm = name.into();
    }
    if let Some(seed) = options.hash_seed {
        hash.seed = seed;
    }
    Ok(hash)
}
