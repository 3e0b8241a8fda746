//! The tiers before the exact set, at equal memory: how much of a stream of lines still reaches the set, how many new
//! keys are dropped, and what a key costs. The figures 5 and 8 to 10 of Kubota, Ueda and Yamana.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

use furui::filter::{ConfigError, Filter, FilterMut, Recent, StableBloomLight, Tag, stable_decrements};
use furui::seen::{Lru, LruOutcome};
use furui::{HashSpec, KeyHash};

use crate::clock::{median, thread_ns};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Bytes of an entry of the LRU.
const LRU_BYTES: usize = 21;
/// The LRU before a stable filter has this share of the memory, unless another is asked for.
const LRU_SHARE: usize = 8;
/// Budgets are what an LRU of distinct / d keys takes, for these d.
const DIVISORS: [usize; 12] = [2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1];
/// The sizes of the LRU that the others are compared with.
const COMPARED: std::ops::RangeInclusive<usize> = 4..=256;

/// Runs all tiers over the lines of a file, `rounds` times.
pub(crate) fn run(file: Option<&str>, rounds: Option<String>) -> Result<()> {
    let file = file.ok_or("say tiers FILE [ROUNDS]: the lines of the file are the keys")?;
    let rounds = rounds.map_or(Ok(3), |rounds| rounds.parse())?;
    let stream = Stream::read(file)?;
    let (keys, distinct) = (stream.keys.len(), stream.distinct);
    println!("{keys} keys, {distinct} distinct, {:.3} of 100\n", 100.0 * distinct as f64 / keys as f64);
    let budgets = DIVISORS.map(|divisor| (distinct / divisor).max(1) * LRU_BYTES);
    let curves: Vec<Curve> =
        TIERS.into_iter().map(|tier| Curve::measure(tier, &budgets, &stream, rounds)).collect::<Result<_>>()?;

    print_head("keys of 100 that reach the exact set, or are dropped (an error saves nothing)");
    print_rows(&curves, &budgets, |curve, i| format!("{:.3}", curve.reach[i]));
    print_head("new keys dropped");
    print_rows(&curves, &budgets, |curve, i| curve.dropped[i].to_string());
    print_head("ns a key");
    print_rows(&curves, &budgets, |curve, i| format!("{:.1}", curve.ns[i]));
    print_head("memory saved against an LRU of as good an answer, %; and of 100 new keys, dropped there");
    print_rows(&curves, &budgets, |curve, i| {
        if !COMPARED.contains(&DIVISORS[i]) {
            return String::new();
        }
        match curve.needed(&budgets, curves[0].reach[i]) {
            Needed::About { bytes, dropped } => {
                let saved = 100.0 * (1.0 - bytes / budgets[i] as f64);
                format!("{saved:.1} {:.3}", 100.0 * dropped / distinct as f64)
            }
            Needed::LessThan(bytes) => format!("> {:.1}", 100.0 * (1.0 - bytes / budgets[i] as f64)),
            Needed::MoreThan(bytes) => format!("< {:.1}", 100.0 * (1.0 - bytes / budgets[i] as f64)),
        }
    });
    Ok(())
}

/// The keys, and which of them are there for the first time.
struct Stream {
    keys: Vec<KeyHash>,
    first: Vec<bool>,
    distinct: usize,
}

impl Stream {
    fn read(file: &str) -> Result<Self> {
        let spec = HashSpec::default();
        let keys: Vec<KeyHash> =
            BufReader::new(File::open(file)?).split(b'\n').map(|line| Ok(spec.hash(&line?))).collect::<Result<_>>()?;
        let mut seen = HashSet::new();
        let first = keys.iter().map(|key| seen.insert(key.get())).collect();
        Ok(Self { keys, first, distinct: seen.len() })
    }

    /// Asks `knows` about each key in order.
    fn pass(&self, mut knows: impl FnMut(KeyHash) -> bool) -> Pass {
        let (mut known, mut dropped) = (0, 0);
        let start = thread_ns();
        for (&key, &first) in self.keys.iter().zip(&self.first) {
            let hit = knows(key);
            known += u64::from(hit);
            dropped += u64::from(hit & first);
        }
        let keys = self.keys.len() as f64;
        let ns = (thread_ns() - start) as f64 / keys;
        Pass { reach: 100.0 * (1.0 - (known - dropped) as f64 / keys), dropped, ns }
    }
}

/// What one pass over the stream came to.
struct Pass {
    reach: f64,
    dropped: u64,
    ns: f64,
}

/// What stands before the exact set.
#[derive(Clone, Copy)]
enum Tier {
    Lru,
    /// An LRU of 1/`share` of the memory, whose evictions feed a stable filter.
    Stable {
        filter: Stable,
        share: usize,
    },
    Whole1,
    Whole4,
    Half4,
    Quarter8,
}

#[derive(Clone, Copy)]
enum Stable {
    /// The paper's, to the letter: its k, and P by its formula, rounded down.
    Paper { probes: u32, rate: f64 },
    /// furui's own k and P.
    Own { rate: f64 },
}

const PAPER_COARSE: Stable = Stable::Paper { probes: 4, rate: 1e-2 };

const TIERS: [(&str, Tier); 11] = [
    ("LRU", Tier::Lru),
    ("LRU 1/8 + paper 1e-2 k4", Tier::Stable { filter: PAPER_COARSE, share: LRU_SHARE }),
    ("LRU 1/8 + own   1e-2", Tier::Stable { filter: Stable::Own { rate: 1e-2 }, share: LRU_SHARE }),
    ("LRU 1/8 + paper 1e-5 k8", Tier::Stable { filter: Stable::Paper { probes: 8, rate: 1e-5 }, share: LRU_SHARE }),
    ("LRU 1/8 + own   1e-5", Tier::Stable { filter: Stable::Own { rate: 1e-5 }, share: LRU_SHARE }),
    ("Recent<u64, 1>", Tier::Whole1),
    ("Recent<u64, 4>", Tier::Whole4),
    ("Recent<u32, 4>", Tier::Half4),
    ("Recent<u16, 8>", Tier::Quarter8),
    ("LRU 1/3 + paper 1e-2 k4", Tier::Stable { filter: PAPER_COARSE, share: 3 }),
    ("LRU 1/16 + paper 1e-2 k4", Tier::Stable { filter: PAPER_COARSE, share: 16 }),
];

impl Tier {
    /// One pass of the stream through this tier, in so many bytes.
    fn pass(self, bytes: usize, stream: &Stream) -> Result<Pass> {
        Ok(match self {
            Self::Lru => {
                let mut lru = Lru::new(bytes / LRU_BYTES)?;
                stream.pass(|key| lru.observe(key) == LruOutcome::Hit)
            }
            Self::Stable { filter, share } => {
                let entries = (bytes / share / LRU_BYTES).max(1);
                let mut lru = Lru::new(entries)?;
                // Four counters a byte.
                let mut stable = filter.build(4 * (bytes - entries * LRU_BYTES))?;
                stream.pass(|key| match lru.observe(key) {
                    LruOutcome::Hit => true,
                    LruOutcome::Miss { evicted } => {
                        let known = stable.contains(key);
                        if let Some(evicted) = evicted {
                            stable.insert(evicted).expect("a stable filter is never full");
                        }
                        known
                    }
                })
            }
            Self::Whole1 => recent::<u64, 1>(bytes, stream)?,
            Self::Whole4 => recent::<u64, 4>(bytes, stream)?,
            Self::Half4 => recent::<u32, 4>(bytes, stream)?,
            Self::Quarter8 => recent::<u16, 8>(bytes, stream)?,
        })
    }
}

impl Stable {
    fn build(self, counters: usize) -> std::result::Result<StableBloomLight, ConfigError> {
        match self {
            Self::Paper { probes, rate } => {
                let decrements = stable_decrements(probes, rate, 3, counters) as usize;
                StableBloomLight::from_parts(counters, probes, decrements)
            }
            Self::Own { rate } => StableBloomLight::with_rate(counters, rate),
        }
    }
}

fn recent<T: Tag, const WAYS: usize>(bytes: usize, stream: &Stream) -> Result<Pass> {
    // Whole sets only, so that the budget is kept.
    let sets = bytes / size_of::<[T; WAYS]>();
    let mut recent = Recent::<T, WAYS>::new(sets * WAYS)?;
    Ok(stream.pass(|key| recent.observe(key)))
}

/// One tier at each budget.
struct Curve {
    name: &'static str,
    reach: Vec<f64>,
    dropped: Vec<u64>,
    ns: Vec<f64>,
}

/// The memory a tier needs to be as good as another.
enum Needed {
    /// Interpolated, and so are the keys it drops then.
    About {
        bytes: f64,
        dropped: f64,
    },
    LessThan(f64),
    MoreThan(f64),
}

impl Curve {
    fn measure((name, tier): (&'static str, Tier), budgets: &[usize], stream: &Stream, rounds: usize) -> Result<Self> {
        let mut curve = Self { name, reach: vec![], dropped: vec![], ns: vec![] };
        for &bytes in budgets {
            let passes: Vec<Pass> = (0..rounds).map(|_| tier.pass(bytes, stream)).collect::<Result<_>>()?;
            curve.reach.push(passes[0].reach);
            curve.dropped.push(passes[0].dropped);
            curve.ns.push(median(&mut passes.iter().map(|pass| pass.ns).collect::<Vec<_>>()));
        }
        Ok(curve)
    }

    /// The memory from which on no more than `reach` keys of 100 pass: linear in its logarithm between two budgets.
    fn needed(&self, budgets: &[usize], reach: f64) -> Needed {
        let bytes = |i: usize| budgets[i] as f64;
        let Some(worse) = self.reach.iter().rposition(|&here| here > reach) else {
            return Needed::LessThan(bytes(0));
        };
        let better = worse + 1;
        if better == budgets.len() {
            return Needed::MoreThan(bytes(worse));
        }
        let way = (self.reach[worse] - reach) / (self.reach[worse] - self.reach[better]);
        let dropped = [worse, better].map(|i| self.dropped[i] as f64);
        Needed::About {
            bytes: bytes(worse) * (bytes(better) / bytes(worse)).powf(way),
            dropped: dropped[0] + way * (dropped[1] - dropped[0]),
        }
    }
}

fn print_head(what: &str) {
    print!("{what}\n{:26}", "memory: distinct /");
    DIVISORS.iter().for_each(|divisor| print!("{divisor:>15}"));
    println!();
}

fn print_rows(curves: &[Curve], budgets: &[usize], cell: impl Fn(&Curve, usize) -> String) {
    print!("{:26}", "bytes");
    budgets.iter().for_each(|bytes| print!("{bytes:>15}"));
    println!();
    for curve in curves {
        print!("{:26}", curve.name);
        (0..budgets.len()).for_each(|i| print!("{:>15}", cell(curve, i)));
        println!();
    }
    println!();
}
