//! The experiments of Sei, Matsuzaki and Honiden on ringed filters, and on the traffic of a search over a distributed
//! hash table. Messages are encoded and counted, but not sent.

mod all_pairs;
mod check_time;
mod corpus;
mod cuts;
mod debian;
mod eq18;
mod exchange;
mod naive;
#[path = "../../../../search/furui-search/tests/predict/mod.rs"]
mod predict;
mod rate;
mod three_filters;
mod three_words;
mod window;
mod workload;
mod zipf;

use std::ops::RangeInclusive;

pub(crate) use all_pairs::tuned_for;
pub(crate) use corpus::{Corpus, ids};
pub(crate) use exchange::{Choice, Order, kbit, measure};
pub(crate) use workload::{Workload, queries};

use furui::KeyHash;
use zipf::Law;

use crate::keys::mix;
use crate::report::{Context, Result, Run};

/// The numbers k of the rates α = 2⁻ᵏ of Sei et al., from 2⁻¹ to 2⁻¹¹.
const RATES: RangeInclusive<u32> = 1..=11;

/// The number of probes for α = 2⁻¹⁰, the rate in Figs. 4 and 5.
const PROBES: u32 = 10;

/// The number of keys, in all filters together, by which one point of a curve in Figs. 4 and 5 is measured.
const KEYS: u64 = 300_000;

/// The window δ of the ringed filters of Sei et al., in groups of bits.
const DELTA: u32 = 100_000;

/// The size of the fixed filters of Sei et al., in bits. By eq. 4 it is the size for 300 keys at α = 2⁻⁵.
const PAPER_BITS: u64 = 2164;

/// The keys of the experiments on single filters.
const SYNTHETIC: &str = "keys are the numbers from 0 on, hashed.";

pub(crate) const EXPERIMENTS: &[(&str, Run)] = &[
    ("fig4", window::fig4),
    ("fig5", three_filters::fig5),
    ("fig6", check_time::fig6),
    ("table1", naive::table1),
    ("fig7", naive::fig7),
    ("fig8", rate::fig8),
    ("cuts", cuts::cuts),
    ("eq18", eq18::eq18),
    ("three", three_words::three),
];

/// The hashes of `keys` keys of the set number `set`. Different sets have no key in common.
fn members(set: u64, keys: u64) -> Vec<KeyHash> {
    (0..keys).map(|i| KeyHash::new(mix(set << 32 | i))).collect()
}

/// The synthetic documents, the real ones if there are any, and a description of both.
pub(crate) fn corpora(context: &Context) -> Result<(Vec<Corpus>, String)> {
    let shape = context.size(Law::PAPER, Law::QUICK);
    let mut corpora = vec![Corpus::zipf(shape, context.seed)];
    let zipf = format!(
        "synthetic documents with the figures of Table 1 of the paper by Sei, Matsuzaki and Honiden{}, whose words are drawn independently of each other by the law of \
         Zipf and Mandelbrot (\"Zipf\")",
        context.size("", ", all smaller"),
    );
    let real = ["descriptions.txt", "lemmas.txt", "wordnet-base"].map(|name| context.real(name));
    let data = match (&context.data, real.iter().all(Option::is_some)) {
        (Some(data), true) => {
            corpora.push(Corpus::debian(data, context.seed)?);
            format!(
                "{zipf}; and Debian's package descriptions, indexed by the nouns, verbs and adjectives of WordNet 3.0 (\"Debian\")."
            )
        }
        _ => format!("{zipf}; no real data was given."),
    };
    Ok((corpora, data))
}
