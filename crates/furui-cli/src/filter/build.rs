//! `furui filter build`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, ConfigError, CountingBloom, Estimate, Full, Gamma, GrowingBloom, QuotientFilter,
    RingedBloom, RingedParams, SplitBlockBloom, StableBloom, StableBloomLight,
};
use furui::format::is_still;
use furui::{HashAlgorithm, HashSpec, KeyHash};

use super::file::{refuse_unwritable, replace};
use crate::cli::{BuildOptions, FilterKind, GammaName};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::memory;
use crate::progress::{self, Progress};
use crate::report::figure;
use crate::streams::standard_input;

/// The part of the machine's memory that gathered hashes may take: 1 / 4.
const GATHERED_SHARE: u64 = 4;
/// The bits of a stable filter's counters.
const STABLE_BITS: u32 = 2;
/// The number of counters of the smallest stable filter that is built. It is large enough that the numbers of probes and decrements
/// are those of any larger filter.
const STABLE_SAMPLE: usize = 1 << 12;
/// The groups that the window of a ringed filter spans, unless the user says otherwise.
const DELTA: u32 = 1000;
/// A filter whose rate is more than this many times the one that it was built for is worth a warning.
const TOO_FULL: f64 = 1.25;

/// Runs the command.
pub fn run(options: &BuildOptions) -> Result<ExitCode, Error> {
    let keys = Keys::new(hash_spec(options)?, &options.lines);
    if options.kind != FilterKind::Ringed && (options.delta.is_some() || options.gamma.is_some()) {
        return Err(Error::Message("--delta and --gamma go with --kind ringed: no other filter has windows".into()));
    }
    refuse_to_replace_input(options)?;
    refuse_unwritable(&options.output)?;
    if options.capacity.is_none() {
        // A filter for one line is made first, so that invalid options are refused before anything is read.
        drop(new_filter(options, keys.hasher.spec(), 1)?);
    }
    let filter = match options.capacity {
        Some(0) => return Err(Error::Message("--capacity 0: a filter is for at least one line".into())),
        Some(capacity) => filled(new_filter(options, keys.hasher.spec(), capacity)?, options, &keys)?,
        None if progress::total(&options.input.files).is_some() => {
            let capacity = count(options, &keys)?;
            filled(new_filter(options, keys.hasher.spec(), capacity)?, options, &keys)?
        }
        None => match options.kind {
            FilterKind::Bloom => {
                let growing = GrowingBloom::with_rate(options.fpr)?.hashed_by(keys.hasher.spec());
                filled(AnyFilter::Growing(growing), options, &keys)?
            }
            FilterKind::Stable | FilterKind::StableLight => {
                let reason = "a stable filter forgets: say with --capacity how many lines it is to remember";
                return Err(Error::Message(reason.into()));
            }
            _ => gathered(options, &keys)?,
        },
    };
    replace(&filter, &options.output)?;
    warn_if_too_full(&filter, &options.output);
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if the output is one of the inputs, which it would replace.
fn refuse_to_replace_input(options: &BuildOptions) -> Result<(), Error> {
    let Ok(output) = options.output.canonicalize() else { return Ok(()) };
    let reads_input = options.input.files.is_empty() || options.input.files.iter().any(|file| file.as_os_str() == "-");
    // Other systems do not replace an open file.
    let is_input = || output.is_file() && standard_input().is_ok_and(|input| is_still(&input, &output));
    if cfg!(unix) && reads_input && is_input() {
        return Err(Error::Message(format!(
            "{}: both standard input and output; name another output",
            options.output.display()
        )));
    }
    let replaced = |file: &&PathBuf| output.is_file() && file.canonicalize().is_ok_and(|file| file == output);
    match options.input.files.iter().find(replaced) {
        Some(file) => Err(Error::Message(format!("{}: both input and output; name another output", file.display()))),
        None => Ok(()),
    }
}

fn hash_spec(options: &BuildOptions) -> Result<HashSpec, Error> {
    let default = match options.kind {
        FilterKind::Parquet => HashAlgorithm::Xxh64,
        _ => HashAlgorithm::Xxh3,
    };
    let spec = HashSpec { algorithm: options.hash.map_or(default, Into::into), seed: options.hash_seed };
    if options.kind == FilterKind::Parquet && spec != (HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 0 }) {
        let reason =
            "--kind parquet goes with --hash xxh64 and no --hash-seed: no reader of Parquet knows another hash";
        return Err(Error::Message(reason.into()));
    }
    Ok(spec)
}

/// Creates an empty filter for `capacity` lines.
fn new_filter(options: &BuildOptions, hash: HashSpec, capacity: u64) -> Result<AnyFilter, ConfigError> {
    let rate = options.fpr;
    Ok(match options.kind {
        FilterKind::Bloom => AnyFilter::Bloom(Bloom::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Blocked => AnyFilter::Blocked(BlockedBloom::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Counting => AnyFilter::Counting(CountingBloom::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Stable => {
            // At 0.6 random decrements a counter, 97 counters of 100 have had less than the three that empty them, so
            // nine keys of ten with four of them are still there.
            let per_key = StableBloom::with_rate(STABLE_SAMPLE, STABLE_BITS, rate)?.decrements();
            let counters = remembered(capacity, per_key, 0.6);
            AnyFilter::Stable(StableBloom::with_rate(counters, STABLE_BITS, rate)?.hashed_by(hash))
        }
        FilterKind::StableLight => {
            // A key is surely there for two rounds of the cursor.
            let per_key = StableBloomLight::with_rate(STABLE_SAMPLE, rate)?.decrements();
            AnyFilter::StableLight(
                StableBloomLight::with_rate(remembered(capacity, per_key, 2.0), rate)?.hashed_by(hash),
            )
        }
        FilterKind::Ringed => {
            let delta = options.delta.unwrap_or(DELTA);
            let filter = match options.gamma {
                Some(GammaName::Whole) => {
                    RingedBloom::with_size(RingedParams::with_rate(rate, Gamma::Whole, delta)?, capacity)?
                }
                Some(GammaName::Fractional) | None => RingedBloom::with_window(capacity, rate, delta)?,
            };
            AnyFilter::Ringed(filter.hashed_by(hash))
        }
        FilterKind::Quotient => AnyFilter::Quotient(QuotientFilter::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Parquet => AnyFilter::SplitBlock(SplitBlockBloom::for_parquet(capacity, rate)?.hashed_by(hash)),
    })
}

/// The number of counters of a stable filter that remembers a key while `capacity` others are inserted. Each of these decrements
/// `per_key` counters, and a key lasts until each counter was decremented `rounds` times on average.
fn remembered(capacity: u64, per_key: usize, rounds: f64) -> usize {
    ((capacity as f64 * per_key as f64 / rounds) as usize).max(STABLE_SAMPLE)
}

/// Puts all lines into a filter.
fn filled(mut filter: AnyFilter, options: &BuildOptions, keys: &Keys) -> Result<AnyFilter, Error> {
    each_block(options, keys, "building", |hashes| {
        filter.insert_all(hashes).map(drop).map_err(|full| no_room(&options.output, full))
    })?;
    Ok(filter)
}

/// Reads the input once, and estimates how many different lines a filter needs room for, rather too many than too few. For a stable
/// filter, repeats count as well, as each insertion makes it forget.
fn count(options: &BuildOptions, keys: &Keys) -> Result<u64, Error> {
    if matches!(options.kind, FilterKind::Stable | FilterKind::StableLight) {
        let mut lines: u64 = 0;
        each_block(options, keys, "counting", |hashes| {
            lines += hashes.len() as u64;
            Ok(())
        })?;
        return Ok(lines.max(1));
    }
    // One bit for 16 bytes of input: the error is well below 1 %, whatever the lengths of the lines.
    let bytes = progress::total(&options.input.files).unwrap_or(0);
    let mut counter = Bloom::from_parts((bytes / 16).max(1 << 20), 1)?.hashed_by(keys.hasher.spec());
    each_block(options, keys, "counting", |hashes| {
        counter.insert_all(hashes);
        Ok(())
    })?;
    let estimate = counter.cardinality();
    Ok((estimate.value + 4.0 * estimate.error).ceil().max(1.0) as u64)
}

/// Gathers the hashes of all lines, and then builds a filter for exactly as many.
fn gathered(options: &BuildOptions, keys: &Keys) -> Result<AnyFilter, Error> {
    let most = (memory::total() / GATHERED_SHARE) as usize / size_of::<KeyHash>();
    // A counting filter gets room for repeats, too. The other kinds need each hash once.
    let repeats = matches!(options.kind, FilterKind::Counting);
    let mut all: Vec<KeyHash> = Vec::new();
    each_block(options, keys, "reading", |hashes| {
        if all.len() + hashes.len() > all.capacity() {
            if !repeats {
                all.sort_unstable();
                all.dedup();
            }
            let more = all.len().max(hashes.len()).min(most.saturating_sub(all.len()));
            if more < hashes.len() || all.try_reserve_exact(more).is_err() {
                return Err(Error::Message(format!(
                    "{} lines from a pipe, whose hashes fill the memory for them: say with --capacity how many different ones \
                     there will be",
                    all.len() + hashes.len()
                )));
            }
        }
        all.extend_from_slice(hashes);
        Ok(())
    })?;
    all.sort_unstable();
    if !repeats {
        all.dedup();
    }
    let distinct = all.chunk_by(|a, b| a == b).count() as u64;
    let mut filter = new_filter(options, keys.hasher.spec(), distinct.max(1))?;
    filter.insert_all(&all)?;
    Ok(filter)
}

fn each_block(
    options: &BuildOptions,
    keys: &Keys,
    what: &'static str,
    mut each: impl FnMut(&[KeyHash]) -> Result<(), Error>,
) -> Result<(), Error> {
    let interrupt = Interrupt::ignore();
    let mut blocks = options.input.blocks(&interrupt);
    let mut progress = Progress::new(what, &options.input.files);
    let mut hashes = Vec::new();
    while let Some(block) = blocks.next()? {
        keys.hash_all(&block, &mut hashes);
        progress.advance(block.bytes.len());
        each(&hashes)?;
    }
    Ok(())
}

/// The error of a filter that is full.
pub fn no_room(path: &Path, full: Full) -> Error {
    Error::Message(match full {
        Full::AtCapacity { capacity } => {
            format!("{}: full at {capacity} lines; build it with a larger --capacity", path.display())
        }
        other => format!("{}: {other}", path.display()),
    })
}

/// Warns if a filter holds so many lines that it errs more often than it was built to.
pub fn warn_if_too_full(filter: &AnyFilter, path: &Path) {
    let Some(intended) = filter.intended_rate() else { return };
    // A small filter may have a higher rate by chance, so the number of lines must be too large as well.
    let capacity = filter.capacity() as f64;
    let surely_over = |held: Estimate| held.value.is_infinite() || held.value - 3.0 * held.error > capacity;
    if !filter.cardinality().is_none_or(surely_over) {
        return;
    }
    let rate = filter.false_positive_rate();
    if rate > TOO_FULL * intended {
        let _ = writeln!(
            std::io::stderr(),
            "furui: {}: fuller than it was made for: the false-positive rate is now {}, not {}; build it with a larger \
             --capacity",
            path.display(),
            figure(rate),
            figure(intended)
        );
    }
}
