//! A question that the paper leaves open: the running time in a crawl.

use furui::seen::{Cache, Seen, SeenOptions};
use furui::store::Scratch;
use furui::{HashSpec, Hashes, KeyHash};

use super::order::{Crawl, TIMED};
use super::tier::{Clock, Stable, Tier};
use super::{COUNTERS, FRONT, LRU, LRU_BYTES, crawls, stable_bytes};
use crate::clock::{median, ns_each};
use crate::papers::{Axis, Context, Finding, Grade, Mark, Plot, Result, Series, Verdict, brief};
use crate::table::Table;

const BATCH: usize = 4096;
const KB: &str = "kB";
const NS: &str = "ns a link";

pub(in super::super) fn time(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let rounds = context.size(3, 1);
    let alone = alone(&crawls, rounds, context)?;
    let whole = whole(&crawls, rounds, context)?;
    let web = crawls[0].name;
    let plot = Plot::new("time", format!("{web}: time of a cache alone"), Axis::log(KB), Axis::linear(NS));
    let plot = CACHES.into_iter().fold(plot, |plot, name| {
        let points = alone.points(KB, NS, &[("crawl", web.into()), ("cache", name.into())]);
        plot.with(Series::new(name, Mark::Line, points))
    });
    let ns = |name: &str| whole.number("ns a link, all", &[("crawl", web.into()), ("cache", name.into())]);
    let text = WHOLE.iter().map(|(name, _)| format!("{name}: {} ns", brief(ns(name))));
    let text = format!(
        "Time of a link of the {web} crawl, for cache and exact set on storage together: {}.",
        text.collect::<Vec<_>>().join("; ")
    );
    Ok(Finding {
        data,
        verdict: Verdict::new(Grade::Measured, text),
        tables: vec![whole, alone],
        plots: vec![plot],
        notes: vec![
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
            "Our LRU takes O(1) time, not the O(log N) of the paper's section 1: its time grows only because a large \
             LRU does not fit into the processor's caches."
                .to_owned(),
        ],
    })
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

/// Each of [`CACHES`] in a few sizes, with its memory.
fn tiers(crawl: &Crawl) -> Vec<(&'static str, Tier, usize)> {
    let mut tiers = vec![];
    for log2 in LRU.step_by(3) {
        let bytes = crawl.size(log2) * LRU_BYTES;
        tiers.push((CACHES[0], Tier::Lru { entries: crawl.size(log2) }, bytes));
        tiers.push((CACHES[4], Tier::Whole { bytes }, bytes));
        tiers.push((CACHES[5], Tier::Half { bytes }, bytes));
        tiers.push((CACHES[6], Tier::Quarter { bytes }, bytes));
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

/// The keys as a batch for a set with the default hash.
fn batch_of(keys: &[KeyHash]) -> Hashes {
    let mut batch = Hashes::new(&HashSpec::default().hasher());
    keys.iter().for_each(|&key| batch.push_hash(key));
    batch
}

/// What `Seen` takes for a crawl.
fn whole(crawls: &[Crawl], rounds: usize, context: &Context) -> Result<Table> {
    let columns =
        ["crawl", "cache", "memory, kB", "ns a link, all", "links the set is asked about, %", "runs on storage"];
    let mut table = Table::new("time", "Cache and exact set".to_owned(), columns);
    for crawl in crawls {
        let keys: Vec<KeyHash> = crawl.keys().collect();
        let batches: Vec<Hashes> = keys.chunks(BATCH).map(batch_of).collect();
        let memory = (4 * crawl.pages() as u64).max(1 << 20);
        let bar = context.bar((rounds * WHOLE.len()) as u64, "time of a crawl");
        let mut samples = vec![vec![]; WHOLE.len()];
        let mut counted = vec![(0.0, 0); WHOLE.len()];
        for _ in 0..rounds {
            for (i, (_, cache)) in WHOLE.into_iter().enumerate() {
                let options = SeenOptions { cache, memory, hash: Some(HashSpec::default()), journal: false };
                let mut seen = Seen::open_with(Scratch::new(std::env::temp_dir()), options)?;
                let mut verdicts = vec![];
                let mut result = Ok(());
                samples[i].push(ns_each(keys.len(), || {
                    result = batches.iter().try_for_each(|batch| seen.observe_all(batch, &mut verdicts));
                }));
                result?;
                let counters = seen.counters();
                let asked = counters.set_repeats + counters.new;
                counted[i] = (100.0 * asked as f64 / keys.len() as f64, seen.set().runs().len() as u64);
                bar.inc(1);
            }
        }
        for (((name, _), samples), (asked, runs)) in WHOLE.into_iter().zip(&mut samples).zip(counted) {
            table.push([
                crawl.name.into(),
                name.into(),
                (memory as f64 / 1e3).into(),
                median(samples).into(),
                asked.into(),
                runs.into(),
            ]);
        }
    }
    Ok(table)
}
