//! A question that the paper of Kubota et al. leaves open: the running time in a crawl.

use std::sync::Arc;

use furui::seen::{Cache, Seen, SeenOptions};
use furui::store::{Scratch, Storage};
use furui::{HashSpec, Hashes, KeyHash};

use super::order::{Crawl, TIMED};
use super::tier::{Clock, Stable, Tier};
use super::{COUNTERS, FRONT, LRU, LRU_BYTES, crawls, stable_bytes};
use crate::clock::{median, ns_each};
use crate::report::{Axis, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};
use crate::store::counted::{Counted, Reads};

/// The assumed time of reading a page from storage, in nanoseconds: that of a flash drive without waiting requests.
const DEVICE_NS: f64 = 100_000.0;
const WARM: &str = "ns a link, all";
const COLD: &str = "ns a link with 100 us a read";
const SINGLE: &str = "ns a link, one by one, with 100 us a read";
const BATCH: usize = 4096;
const KB: &str = "kB";
const NS: &str = "ns a link";

pub(super) fn time(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let rounds = context.size(3, 1);
    let alone = alone(&crawls, rounds, context)?;
    let whole = whole(&crawls, rounds, context)?;
    let web = crawls[0].name;
    let plot = Plot::new("time", format!("{web}: time of a cache alone"), Axis::log(KB), Axis::linear(NS));
    let plot = plot.lines(&alone, [KB, NS], CACHES, |name| [("crawl", web.into()), ("cache", name.into())]);
    let text = crawls.iter().map(|crawl| {
        let of = |what: &str, name: &str| whole.number(what, &[("crawl", crawl.name.into()), ("cache", name.into())]);
        let none = WHOLE[0].0;
        let against = |what: &str, name: &str| {
            let times = of(what, name) / of(what, none);
            let word = if times > 1.0 { "a loss" } else { "a gain" };
            format!("{} times, {word}", brief(times))
        };
        let rows = WHOLE[1..].iter().map(|(name, _)| {
            let [warm, cold, single] = [WARM, COLD, SINGLE].map(|what| against(what, name));
            format!("{name}: {warm}, in warm storage, {cold}, on the device, {single}, on the device one by one")
        });
        format!(
            "{}: without a cache a link takes {} ns where files are in memory, {} ns where each read waits 100 us, and \
             {} ns if there the set is asked for one link after the other; compared with that, {}.",
            crawl.name,
            brief(of(WARM, none)),
            brief(of(COLD, none)),
            brief(of(SINGLE, none)),
            rows.collect::<Vec<_>>().join("; ")
        )
    });
    let text = text.collect::<Vec<_>>().join(" ");
    let notes = vec![
        format!(
            "Processor time of the thread, medians of {rounds} rounds. In warm storage files are in the page cache and \
             mapped."
        ),
        format!(
            "\"One by one\" is what the paper does: one link at a time, for at most the first {TIMED} links, with \
                 proportionally less memory. Elsewhere links come in batches, sorted by their hashes, so that one read \
                 answers for many links. A cache spares few reads then, or none: its memory is taken from that of the \
                 set, which therefore has more runs to read."
        ),
        format!(
            "Processor time of the thread, medians of {rounds} rounds; files are in the page cache, so there \
                is no waiting for a device."
        ),
        format!(
            "The cache and the exact set are those of `Seen` with batches of {BATCH}: the set is in RAM and, \
                 once it has more keys than fit into memory, in runs in files. Memory is 4 bytes a page, at least 1 \
                 MiB, which is less than half of what the set needs, except on rust-doc, where everything stays in \
                 RAM. The time includes that of new keys, which no cache can save."
        ),
        format!(
            "Caches alone are asked link by link, as in the paper, about at most the first {TIMED} links of a \
                 crawl; in `Seen`, LRU and SBFL work in rounds of 256 links, so that their cache misses overlap."
        ),
    ];
    Ok(Finding::new(data, Verdict::new(Grade::Measured, text), [whole, alone], [plot]).with_notes(notes))
}

const CACHES: [&str; 7] = [
    "LRU",
    "LRU and SBF, k = 4, 1 %",
    "LRU and SBFL, k = 4, 1 %",
    "LRU and SBFL, k = 8, 0.001 %",
    "recent tags of 64 bits",
    "recent tags of 32 bits",
    "recent tags of 16 bits",
];

/// Each of [`CACHES`] in a few sizes: its name, the tier, and its size in bytes.
fn tiers(crawl: &Crawl) -> Vec<(&'static str, Tier, usize)> {
    let mut tiers = vec![];
    for log2 in LRU.step_by(3) {
        let bytes = crawl.size(log2) * LRU_BYTES;
        tiers.push((CACHES[0], Tier::Lru { entries: crawl.size(log2) }, bytes));
        let tags = CACHES[4..].iter().zip([64, 32, 16]);
        tiers.extend(tags.map(|(&name, bits)| (name, Tier::Tags { bits, bytes }, bytes)));
    }
    for log2 in COUNTERS.step_by(3) {
        let bytes = stable_bytes(crawl, log2);
        let filters = [Stable::Random { probes: 4, rate: 1e-2 }, Stable::COARSE, Stable::FINE];
        for (name, filter) in CACHES[1..].iter().zip(filters) {
            tiers.push((name, Tier::stable(crawl.size(FRONT), crawl.size(log2), filter), bytes));
        }
    }
    tiers
}

fn alone(crawls: &[Crawl], rounds: usize, context: &Context) -> Result<Table> {
    let mut table = Table::new("time-alone", "The caches alone".to_owned(), ["crawl", "cache", KB, NS]);
    for crawl in crawls {
        let tiers = tiers(crawl);
        let bar = context.bar((rounds * tiers.len()) as u64, "time of caches");
        let mut samples = vec![vec![]; tiers.len()];
        for _ in 0..rounds {
            for ((_, tier, _), samples) in tiers.iter().zip(&mut samples) {
                samples.push(tier.ask(crawl, &Clock)?);
                bar.inc(1);
            }
        }
        for ((name, _, bytes), samples) in tiers.iter().zip(&mut samples) {
            table.push([crawl.name.into(), (*name).into(), (*bytes as f64 / 1e3).into(), median(samples).into()]);
        }
    }
    Ok(table)
}

const WHOLE: [(&str, Cache); 5] = [
    ("no cache", Cache::None),
    ("LRU", Cache::Lru),
    ("LRU and SBFL, 1 %", Cache::LruStable { rate: 1e-2 }),
    ("LRU and SBFL, 0.001 %", Cache::LruStable { rate: 1e-5 }),
    ("recent, whole hashes", Cache::Recent),
];

/// The hashes of the keys as a batch for a set with the default hash.
fn batch_of(keys: &[KeyHash]) -> Hashes {
    let mut batch = Hashes::new(&HashSpec::default().hasher());
    keys.iter().for_each(|&key| batch.push_hash(key));
    batch
}

/// Measures the time of whole crawls with the set [`Seen`] and its caches, in `rounds` rounds.
fn whole(crawls: &[Crawl], rounds: usize, context: &Context) -> Result<Table> {
    let columns = [
        "crawl",
        "cache",
        "memory, kB",
        WARM,
        "links the set is asked about, %",
        "runs on storage",
        "reads for 1000 links",
        COLD,
        "reads for 1000 links, one by one",
        SINGLE,
    ];
    let mut table = Table::new("time", "Cache and exact set".to_owned(), columns);
    for crawl in crawls {
        let keys = crawl.keys();
        let memory = (4 * crawl.pages as u64).max(1 << 20);
        let bar = context.bar((rounds * WHOLE.len()) as u64, "time of a crawl");
        let first = &keys[..keys.len().min(TIMED)];
        let share = (memory as f64 * first.len() as f64 / keys.len() as f64) as u64;
        for (name, cache) in WHOLE {
            let options = SeenOptions { cache, memory, hash: Some(HashSpec::default()), ..SeenOptions::default() };
            let (mut warm, mut cold, mut last) = (vec![], vec![], None);
            for _ in 0..rounds {
                let seen = Seen::open_with(Scratch::new(std::env::temp_dir()), options)?;
                let (ns, seen) = observe(seen, &keys, BATCH)?;
                warm.push(ns);
                last = Some((seen, on_device(options, &keys, BATCH)?));
                cold.extend(last.as_ref().map(|(_, (_, ns))| *ns));
                bar.inc(1);
            }
            let Some((seen, (reads, _))) = last else { continue };
            let (single_reads, single) = on_device(SeenOptions { memory: share.max(1 << 20), ..options }, first, 1)?;
            let asked = seen.counters().set_repeats + seen.counters().new;
            table.push([
                crawl.name.into(),
                name.into(),
                (memory as f64 / 1e3).into(),
                median(&mut warm).into(),
                (100.0 * asked as f64 / keys.len() as f64).into(),
                (seen.set().runs().len() as u64).into(),
                reads.into(),
                median(&mut cold).into(),
                single_reads.into(),
                single.into(),
            ]);
        }
    }
    Ok(table)
}

/// The cost of observing `keys` if the set is on a storage device: the number of reads for 1000 keys, and the time of a
/// key in nanoseconds, in which each read takes [`DEVICE_NS`].
fn on_device(options: SeenOptions, keys: &[KeyHash], batch: usize) -> Result<(f64, f64)> {
    let reads = Arc::new(Reads::default());
    let storage = Scratch::new(std::env::temp_dir()).mapped(false);
    let seen = Seen::open_with(Counted { storage, reads: Arc::clone(&reads) }, options)?;
    let (ns, _) = observe(seen, keys, batch)?;
    let each = reads.take().0 as f64 / keys.len() as f64;
    Ok((1000.0 * each, ns + each * DEVICE_NS))
}

/// Observes all keys in batches of `batch` keys. Returns the time per key in nanoseconds, and the set with the keys.
fn observe<S: Storage>(mut seen: Seen<S>, keys: &[KeyHash], batch: usize) -> Result<(f64, Seen<S>)> {
    let (mut verdicts, mut result) = (vec![], Ok(()));
    let batches: Vec<Hashes> = keys.chunks(batch).map(batch_of).collect();
    let ns = ns_each(keys.len(), || {
        result = batches.iter().try_for_each(|batch| seen.observe_all(batch, &mut verdicts));
    });
    result?;
    Ok((ns, seen))
}
