//! `furui filter build`: builds a filter from the lines of its inputs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, ConfigError, CountingBloom, Estimate, FilterMut, Full, Fuse, Gamma, GrowingBloom,
    InsertError, QuotientFilter, RingedBloom, RingedParams, SplitBlockBloom, StableBloom, StableBloomLight,
    WindowBloom,
};
use furui::format::is_still;
use furui::store::Window;
use furui::{HashAlgorithm, HashSpec, Hashes, KeyHash};

use super::file::{Label, refuse_unwritable, replace};
use super::gather::{Gathered, RepeatedKeys};
use super::seed::read_or_made;
use super::window::tell_time;
use crate::cli::{BuildOptions, FilterKind, GammaName, InputOptions, LineOptions};
use crate::complain;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::{Keys, form};
use crate::memory;
use crate::opening::open_to_read;
use crate::say::number::figure;
use crate::say::progress::{self, Progress};
use crate::streams::standard_input;

/// How readers of Parquet files hash.
const PARQUET_HASH: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 0 };
/// The number of bits of each counter of a counting filter.
const COUNTING_BITS: u32 = 4;
/// The number of bits of each counter of a stable filter.
const STABLE_BITS: u32 = 2;
/// The number of counters of the smallest stable filter that is built. It is so large that larger filters have the same
/// numbers of probes and decrements.
const STABLE_SAMPLE: usize = 1 << 12;
/// The default number of groups that the window of a ringed filter spans.
const DELTA: u32 = 1000;
/// The user is warned if the false-positive rate of a filter is more than this many times the rate that it was built
/// for.
const TOO_FULL: f64 = 1.25;

/// Runs `furui filter build` for all kinds but cascade filters.
pub fn run(options: &BuildOptions) -> Result<ExitCode, Error> {
    if options.memory.is_some() {
        return Err(Error::Message("--memory is for --kind cascade: other filters are wholly in memory".into()));
    }
    refuse_strays(options)?;
    refuse_to_replace_input(options)?;
    refuse_unwritable(&options.output)?;
    if let Some(store) = &options.store {
        return from_store(options, store);
    }
    let (spec, label) = hash_spec(options)?;
    let mut keys = Keys::new(spec, &options.lines)?;
    if options.capacity.is_none() && options.bits.is_none() {
        // A filter for one line is made first, so that invalid options are refused before anything is read.
        drop(new_filter(options, keys.hasher().spec(), 1)?);
    }
    let filter = match options.capacity {
        _ if options.bits.is_some() => filled(sized(options, keys.hasher().spec())?, options, &mut keys)?,
        Some(0) => return Err(Error::Message("--capacity 0: a filter is for at least one line".into())),
        _ if options.kind == FilterKind::Fuse => gathered(options, &mut keys)?,
        // Each line is inserted once, however often it occurs, so that one removal removes it.
        _ if options.kind == FilterKind::Quotient && !options.no_remove => gathered(options, &mut keys)?,
        Some(capacity) => filled(new_filter(options, keys.hasher().spec(), capacity)?, options, &mut keys)?,
        None if let Some(Window::Keys(lines)) = options.window => {
            filled(new_filter(options, keys.hasher().spec(), lines.get())?, options, &mut keys)?
        }
        None if progress::total(&options.input.files).is_some() => {
            let capacity = count(options, &mut keys)?;
            filled(new_filter(options, keys.hasher().spec(), capacity)?, options, &mut keys)?
        }
        None => match options.kind {
            FilterKind::Bloom => {
                let growing = GrowingBloom::with_rate(options.fpr)?.hashed_by(keys.hasher().spec());
                filled(AnyFilter::Growing(growing), options, &mut keys)?
            }
            FilterKind::Stable | FilterKind::StableLight | FilterKind::Window => {
                let reason = "this filter forgets: say with --capacity how many lines it is to remember";
                return Err(Error::Message(reason.into()));
            }
            _ => gathered(options, &mut keys)?,
        },
    };
    replace(&filter, &options.output, label)?;
    warn_if_too_full(&filter, &options.output);
    Ok(ExitCode::SUCCESS)
}

/// Builds a filter of the hashes in a store.
fn from_store(options: &BuildOptions, path: &Path) -> Result<ExitCode, Error> {
    let refuse = |reason: &str| Err(Error::Message(format!("--store: {reason}")));
    if !form(&options.lines)?.is_empty() {
        return refuse("the keys were made when the store was: leave out the options that say how");
    }
    if matches!(options.kind, FilterKind::Stable | FilterKind::StableLight) {
        return refuse("a store does not have its lines in the order of a stream, by which a stable filter forgets");
    }
    let set = open_to_read(path, memory::quarter())?;
    let spec = set.hash_spec();
    if options.kind == FilterKind::Parquet && spec != PARQUET_HASH {
        return refuse("readers of Parquet need lines that are hashed by xxh64 with seed 0: make such a store");
    }
    drop(new_filter(options, spec, 1)?);
    let remedy = "build the filter on a machine with more memory, or a cascade filter from the lines";
    let mut all = Gathered::new(RepeatedKeys::Dropped, remedy);
    let (mut keys, mut hashes) = (set.sorted()?, Hashes::new(&spec.hasher()));
    loop {
        let some = keys.next_keys()?;
        if some.is_empty() {
            break;
        }
        hashes.clear();
        // A store records the hash 0 as 1, so whichever of them was meant is to be found.
        some.iter().filter(|&&key| key == 1).for_each(|_| hashes.push_hash(KeyHash::new(0)));
        some.iter().for_each(|&key| hashes.push_hash(KeyHash::new(key)));
        all.take(&hashes)?;
    }
    let filter = filter_of(options, spec, all)?;
    replace(&filter, &options.output, Label::new(None, set.manifest().form))?;
    warn_if_too_full(&filter, &options.output);
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if there is an option that a filter of this kind does not have.
pub fn refuse_strays(options: &BuildOptions) -> Result<(), Error> {
    let refuse = |reason: &str| Err(Error::Message(reason.into()));
    if options.lines.as_is {
        return refuse("--as-is is for an existing filter that was made with other key options: this one is new");
    }
    if options.no_remove && options.kind != FilterKind::Quotient {
        return refuse("--no-remove is for --kind quotient: of the other kinds only counting can remove lines");
    }
    if options.doublings.is_some() && options.kind != FilterKind::Quotient {
        return refuse("--doublings is for --kind quotient: no other filter doubles");
    }
    if options.kind != FilterKind::Ringed && (options.delta.is_some() || options.gamma.is_some()) {
        return refuse("--delta and --gamma go with --kind ringed: no other filter has windows");
    }
    if options.kind == FilterKind::Fuse && options.capacity.is_some() {
        return refuse(
            "--kind fuse takes no --capacity: it is made for the lines that it is given, and takes no others",
        );
    }
    if options.kind == FilterKind::Cascade && options.store.is_some() {
        return refuse("--store is for filters in memory: --kind cascade is built from lines");
    }
    if options.kind != FilterKind::Window && options.window.is_some() {
        return refuse("--window goes with --kind window: no other filter forgets by time or by lines");
    }
    match (options.kind, options.bits, options.decrements) {
        (_, None, _) => Ok(()),
        (FilterKind::Stable | FilterKind::StableLight, _, None) => refuse(
            "a stable filter of --bits and --probes needs --decrements, too: how many counters each line decrements",
        ),
        (FilterKind::Stable | FilterKind::StableLight, ..) => Ok(()),
        (FilterKind::Bloom | FilterKind::Blocked | FilterKind::Counting, _, None) => Ok(()),
        (FilterKind::Bloom | FilterKind::Blocked | FilterKind::Counting, ..) => {
            refuse("--decrements is for --kind stable and stable-light: no other filter forgets")
        }
        (FilterKind::Ringed, ..) => refuse(
            "--kind ringed has no --bits and --probes: it has a number of bits for each line; say --capacity and --fpr, and \
                    --gamma",
        ),
        (FilterKind::Quotient | FilterKind::Cascade, ..) => refuse(
            "--bits and --probes are for filters of bits or counters, and this kind holds fingerprints: say --capacity and \
                    --fpr; `furui filter resize --slots` changes the slots of a quotient filter",
        ),
        (FilterKind::Fuse, ..) => refuse("--kind fuse has no --bits and --probes: its size follows from --fpr"),
        (FilterKind::Window, ..) => refuse(
            "--kind window has no --bits and --probes, because it has a table for any number of lines: say --window, \
             --capacity and --fpr",
        ),
        (FilterKind::Parquet, ..) => refuse(
            "--kind parquet takes no --bits and --probes: it has eight probes and 2^n blocks; say --capacity and --fpr",
        ),
    }
}

/// Returns an error if the output is one of the inputs, which it would replace.
fn refuse_to_replace_input(options: &BuildOptions) -> Result<(), Error> {
    let Ok(output) = options.output.canonicalize() else { return Ok(()) };
    let reads_input = options.input.files.is_empty() || options.input.files.iter().any(|file| file.as_os_str() == "-");
    // Only Unix allows an open file to be replaced.
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

/// The hash function and seed for the lines, and the label of the filter's file, which says where the seed is stored.
fn hash_spec(options: &BuildOptions) -> Result<(HashSpec, Label), Error> {
    let default = match (options.kind, &options.seed_file) {
        (FilterKind::Parquet, _) => HashAlgorithm::Xxh64,
        // A user who keeps a seed secret may answer strangers, who must not be able to compute the seed from the
        // answers.
        (_, Some(_)) => HashAlgorithm::SipHash13,
        (_, None) => HashAlgorithm::Xxh3,
    };
    if options.kind == FilterKind::Parquet && options.seed_file.is_some() {
        let reason = "--kind parquet has no --seed-file: readers of Parquet support no hash with a seed";
        return Err(Error::Message(reason.into()));
    }
    let secret = read_or_made(options.seed_file.as_deref())?;
    let seed = secret.or(options.hash_seed).unwrap_or(0);
    let spec = HashSpec { algorithm: options.hash.unwrap_or(default), seed };
    if options.kind == FilterKind::Parquet && spec != PARQUET_HASH {
        let reason = "--kind parquet needs --hash xxh64 and no --hash-seed: readers of Parquet support no other hash";
        return Err(Error::Message(reason.into()));
    }
    Ok((spec, Label::new(secret, form(&options.lines)?)))
}

/// Creates an empty filter for `capacity` lines.
fn new_filter(options: &BuildOptions, hash: HashSpec, capacity: u64) -> Result<AnyFilter, ConfigError> {
    let rate = options.fpr;
    Ok(match options.kind {
        FilterKind::Bloom => AnyFilter::Bloom(Bloom::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Blocked => AnyFilter::Blocked(BlockedBloom::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Counting => AnyFilter::Counting(CountingBloom::with_rate(capacity, rate)?.hashed_by(hash)),
        FilterKind::Stable => {
            // After 0.6 random decrements of each counter on average, 97 of 100 counters have had fewer than the three
            // decrements that empty them, so nine of ten keys, which have four counters each, are still there.
            let per_key = StableBloom::with_rate(STABLE_SAMPLE, STABLE_BITS, rate)?.decrements();
            let counters = (capacity as f64 * per_key as f64 / 0.6) as usize;
            let counters = counters.max(STABLE_SAMPLE);
            AnyFilter::Stable(StableBloom::with_rate(counters, STABLE_BITS, rate)?.hashed_by(hash))
        }
        FilterKind::StableLight => AnyFilter::StableLight(StableBloomLight::for_last(capacity, rate)?.hashed_by(hash)),
        FilterKind::Window => {
            let filter = match options.window {
                Some(window) => WindowBloom::with_rate(window, capacity, rate)?,
                None => WindowBloom::for_last(capacity, rate)?,
            };
            AnyFilter::Window(filter.hashed_by(hash))
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
        FilterKind::Quotient => {
            let filter = QuotientFilter::growing(capacity, rate, options.doublings.unwrap_or(0))?.hashed_by(hash);
            AnyFilter::Quotient(if options.no_remove { filter } else { filter.counting() })
        }
        FilterKind::Parquet => AnyFilter::SplitBlock(SplitBlockBloom::for_parquet(capacity, rate)?.hashed_by(hash)),
        // It is built from all lines at once, and this one is of none.
        FilterKind::Fuse => AnyFilter::Fuse(Fuse::from_hashes(hash, vec![], rate)?),
        FilterKind::Cascade => unreachable!("a cascade filter is built on storage"),
    })
}

/// Creates an empty filter with the numbers of bits, probes and decrements that the options give.
fn sized(options: &BuildOptions, hash: HashSpec) -> Result<AnyFilter, Error> {
    let (bits, probes) = (options.bits.unwrap_or(1), options.probes.unwrap_or(1));
    let decrements = options.decrements.unwrap_or(1);
    // The number of cache lines or counters of the table, of so many bits each.
    let of = |each: u64, what: &str| match bits % each {
        0 => Ok(bits / each),
        _ => Err(Error::Message(format!("--bits {bits}: {what} has {each} bits, so say a multiple of {each}"))),
    };
    let counters = |each: u32| Ok::<_, Error>(usize::try_from(of(each.into(), "a counter")?).unwrap_or(usize::MAX));
    Ok(match options.kind {
        FilterKind::Blocked => {
            AnyFilter::Blocked(BlockedBloom::from_parts(of(512, "a cache line")?, probes)?.hashed_by(hash))
        }
        FilterKind::Counting => {
            let counters = counters(COUNTING_BITS)?;
            AnyFilter::Counting(CountingBloom::from_parts(counters, probes, COUNTING_BITS)?.hashed_by(hash))
        }
        FilterKind::Stable => {
            let counters = counters(STABLE_BITS)?;
            AnyFilter::Stable(StableBloom::from_parts(counters, STABLE_BITS, probes, decrements)?.hashed_by(hash))
        }
        FilterKind::StableLight => {
            let counters = counters(STABLE_BITS)?;
            AnyFilter::StableLight(StableBloomLight::from_parts(counters, probes, decrements)?.hashed_by(hash))
        }
        // For all other kinds, these options were refused before.
        _ => AnyFilter::Bloom(Bloom::from_parts(bits, probes)?.hashed_by(hash)),
    })
}

/// Inserts all lines of the input into a filter, and returns it.
fn filled(mut filter: AnyFilter, options: &BuildOptions, keys: &mut Keys) -> Result<AnyFilter, Error> {
    each_block(&options.input, &options.lines, keys, "building", |hashes| {
        tell_time(&mut filter);
        filter.insert_hashes(hashes).map(drop).map_err(|error| not_inserted(&options.output, error))
    })?;
    Ok(filter)
}

/// Reads the input once, and estimates the number of different lines that a filter must hold. The estimate is very
/// rarely too small. For a filter that forgets, repeats count as well, because each insertion makes it forget.
pub fn count(options: &BuildOptions, keys: &mut Keys) -> Result<u64, Error> {
    if matches!(options.kind, FilterKind::Stable | FilterKind::StableLight | FilterKind::Window) {
        let mut lines: u64 = 0;
        each_block(&options.input, &options.lines, keys, "counting", |hashes| {
            lines += hashes.len() as u64;
            Ok(())
        })?;
        return Ok(lines.max(1));
    }
    // One bit for each 16 bytes of input: then the error is well below 1 %, whatever the lengths of the lines.
    let bytes = progress::total(&options.input.files).unwrap_or(0);
    let mut counter = Bloom::from_parts((bytes / 16).max(1 << 20), 1)?.hashed_by(keys.hasher().spec());
    each_block(&options.input, &options.lines, keys, "counting", |hashes| {
        Ok(counter.insert_hashes(hashes).map(drop)?)
    })?;
    let estimate = counter.cardinality();
    Ok((estimate.value + 4.0 * estimate.error).ceil().max(1.0) as u64)
}

/// Gathers the hashes of all lines, and then builds a filter for exactly the number of different lines, unless the
/// capacity is given.
fn gathered(options: &BuildOptions, keys: &mut Keys) -> Result<AnyFilter, Error> {
    let (repeats, remedy) = match options.kind {
        // A counting filter counts repeats, so their hashes are kept, too.
        FilterKind::Counting => (RepeatedKeys::Kept, "say with --capacity how many different ones there will be"),
        FilterKind::Quotient if !options.no_remove => (
            RepeatedKeys::Dropped,
            "say --no-remove, with which no hashes are kept, or unite filters of parts of the input",
        ),
        FilterKind::Fuse => (RepeatedKeys::Dropped, "build a filter of another kind, with --capacity"),
        _ => (RepeatedKeys::Dropped, "say with --capacity how many different ones there will be"),
    };
    let mut all = Gathered::new(repeats, remedy);
    each_block(&options.input, &options.lines, keys, "reading", |hashes| all.take(hashes))?;
    filter_of(options, keys.hasher().spec(), all)
}

/// Builds a filter of gathered hashes, for exactly their number unless the capacity is given.
fn filter_of(options: &BuildOptions, hash: HashSpec, all: Gathered) -> Result<AnyFilter, Error> {
    let (all, distinct) = all.finish();
    if options.kind == FilterKind::Fuse {
        return Ok(AnyFilter::Fuse(Fuse::from_hashes(hash, all, options.fpr)?));
    }
    let mut filter = new_filter(options, hash, options.capacity.unwrap_or(distinct).max(1))?;
    filter.insert_all(&all).map_err(|full| not_inserted(&options.output, full.into()))?;
    Ok(filter)
}

/// Calls `each` with the hashes of the lines of each block. `what` names the work in a progress bar.
pub fn each_block(
    input: &InputOptions,
    lines: &LineOptions,
    keys: &mut Keys,
    what: &'static str,
    mut each: impl FnMut(&Hashes) -> Result<(), Error>,
) -> Result<(), Error> {
    let interrupt = Interrupt::ignore();
    let mut blocks = lines.blocks(input, &interrupt);
    let mut progress = Progress::new(what, &input.files);
    let mut hashes = Hashes::new(keys.hasher());
    while let Some(block) = blocks.next()? {
        progress.advance(block.bytes().len());
        if keys.header(block)?.is_none() {
            keys.hash_all(block, &mut hashes);
            each(&hashes)?;
            keys.failure()?;
        }
    }
    keys.report("not recorded");
    Ok(())
}

/// The error for lines that could not be inserted into a filter.
pub fn not_inserted(path: &Path, error: InsertError) -> Error {
    Error::Message(match error {
        InsertError::Full(Full::AtCapacity { capacity }) => {
            format!("{}: full at {capacity} lines; build it with a larger --capacity", path.display())
        }
        other => format!("{}: {other}", path.display()),
    })
}

/// Warns if a filter holds so many lines that its false-positive rate is higher than the one that it was built for.
pub fn warn_if_too_full(filter: &AnyFilter, path: &Path) {
    let Some(intended) = filter.intended_rate() else { return };
    warn_of_rate(path, filter.capacity(), filter.cardinality(), intended, filter.false_positive_rate());
}

/// Warns if a filter that was made for `capacity` lines at the false-positive rate `intended` holds more lines, and has
/// a higher `rate`.
pub fn warn_of_rate(path: &Path, capacity: u64, held: Option<Estimate>, intended: f64, rate: f64) {
    // A small filter may have a higher rate by chance, so the number of lines must be too large as well.
    let surely_over = |held: Estimate| held.value.is_infinite() || held.value - 3.0 * held.error > capacity as f64;
    if !held.is_none_or(surely_over) {
        return;
    }
    if rate > TOO_FULL * intended {
        complain(&Error::Message(format!(
            "{}: fuller than it was made for: the false-positive rate is now {}, not {}; build it with a larger \
             --capacity",
            path.display(),
            figure(rate),
            figure(intended)
        )));
    }
}
