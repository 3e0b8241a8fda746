//! `furui seen`: the first occurrence of each line.

mod output;
mod stats;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::process::ExitCode;

use furui::seen::{Cache, Seen, SeenOptions, Verdict};
use furui::store::{Directory, Manifest, Overlay, Scratch, Storage};
use furui::{Error, HashAlgorithm, HashSpec};

use crate::blocks::Blocks;
use crate::cli::{self, CacheKind, HashName};
use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::memory;
use output::{Output, Sink};

/// The false-positive rate of the stable filter, if none is given: the paper's stricter one.
const DEFAULT_RATE: f64 = 1e-5;
/// The share of the machine's memory that the set may take, if none is given.
const DEFAULT_MEMORY_SHARE: u64 = 4;
/// What a shell reports of a process that ^C ended.
const INTERRUPTED: u8 = 130;

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
        Some(path) => observe(Directory::open(path)?.mapped(false), options),
    }
}

fn observe<S: Storage>(storage: S, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    let settings = SeenOptions {
        cache: cache(options)?,
        memory: options.memory.unwrap_or_else(|| memory::total() / DEFAULT_MEMORY_SHARE),
        hash: hash(&storage, options)?,
    };
    let mut seen = Seen::open(storage, settings)?;
    let records = options.store.is_some() && !options.dry_run;
    let interrupt = if records {
        Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?
    } else {
        Interrupt::ignore()
    };
    let keys = Keys {
        spec: seen.hash_spec(),
        field: options.field.map(|number| (number as usize - 1, options.delimiter)),
        url: options.url,
    };
    let wanted = if options.invert { Verdict::Repeat } else { Verdict::New };
    let mut output = Output::new(options.quiet)?;
    let separator = if options.null { 0 } else { b'\n' };
    if records {
        output.mend(separator)?;
    }
    let mut blocks = Blocks::new(&options.files, separator, &interrupt);
    let (mut hashes, mut verdicts) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    while let Some(mut block) = blocks.next()? {
        bytes += block.bytes.len() as u64;
        keys.hash_all(&block, &mut hashes);
        match &options.protect {
            None => seen.observe_all(&hashes, &mut verdicts)?,
            Some(regex) => seen.observe_protected(&hashes, |i| regex.is_match(block.line(i)), &mut verdicts)?,
        }
        // Written before the next call, which may make these keys durable: a crash then repeats lines, and loses none.
        if output.write(&mut block, &verdicts, wanted)? == Sink::Closed {
            // Nobody knows which of the last lines were read. What is not durable yet comes again in the next run.
            return Ok(ExitCode::SUCCESS);
        }
        if !seen.set().runs().is_empty() {
            blocks.enlarge();
        }
    }
    if records {
        output.sync()?;
        seen.sync()?;
    }
    if let Some(format) = options.stats {
        stats::report(&seen, bytes, format);
    }
    Ok(if blocks.interrupted() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The tiers before the set, if the options fit together.
fn cache(options: &cli::SeenOptions) -> Result<Cache, Error> {
    if options.cache != CacheKind::LruStable {
        let stray = [("--fpr", options.fpr.is_some()), ("--protect", options.protect.is_some())];
        if let Some((name, _)) = stray.iter().find(|(_, given)| *given) {
            return Err(Error::Config(format!("{name} goes with --cache lru+stable: the other caches drop nothing")));
        }
    }
    Ok(match options.cache {
        CacheKind::Recent => Cache::Recent,
        CacheKind::Lru => Cache::Lru,
        CacheKind::LruStable => Cache::LruStable { rate: options.fpr.unwrap_or(DEFAULT_RATE) },
        CacheKind::None => Cache::None,
    })
}

/// The hash for a new set, or `None` for a store that has one, which the options must not contradict.
fn hash<S: Storage>(storage: &S, options: &cli::SeenOptions) -> Result<Option<HashSpec>, Error> {
    let algorithm = options.hash.map(|name| match name {
        HashName::Xxh3 => HashAlgorithm::Xxh3,
        HashName::Siphash => HashAlgorithm::SipHash13,
    });
    let Some(manifest) = Manifest::load(storage)? else {
        let algorithm = algorithm.unwrap_or(HashAlgorithm::Xxh3);
        // The order of hashes is the order of the table: with a seed that nobody knows nobody can choose lines that
        // crowd one place of it.
        let seed = options.hash_seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        return Ok(Some(HashSpec { algorithm, seed }));
    };
    let has = manifest.hash;
    let wants = HashSpec { algorithm: algorithm.unwrap_or(has.algorithm), seed: options.hash_seed.unwrap_or(has.seed) };
    Ok(Some(wants))
}
