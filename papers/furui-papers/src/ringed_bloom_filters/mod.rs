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
mod random;
mod rate;
mod three;
mod three_filters;
mod window;
mod workload;
mod zipf;

use std::ops::RangeInclusive;

pub(crate) use all_pairs::tuned_for;
pub(crate) use corpus::{Corpus, ids};
pub(crate) use exchange::{Choice, Order, kbit, measure};
pub(crate) use workload::{Workload, queries};

use zipf::Law;

use crate::report::{Context, Experiment, Finding, Result, Source};

/// The numbers k of the paper's rates α = 2⁻ᵏ, from 2⁻¹ to 2⁻¹¹.
const RATES: RangeInclusive<u32> = 1..=11;

/// The number of probes for α = 2⁻¹⁰, the rate in Figs. 4 and 5.
const PROBES: u32 = 10;

/// The number of keys, in all filters together, by which one point of a curve in Figs. 4 and 5 is measured.
const KEYS: u64 = 300_000;

/// The window δ of the paper's ringed filters, in groups of bits.
const DELTA: u32 = 100_000;

/// The size of the paper's fixed filters, in bits. By eq. 4 it is the size for 300 keys at α = 2⁻⁵.
const PAPER_BITS: u64 = 2164;

/// The keys of the experiments on single filters.
const SYNTHETIC: &str = "keys are the numbers from 0 on, hashed.";

const fn experiment(
    name: &'static str,
    title: &'static str,
    claim: &'static str,
    run: fn(&Context) -> Result<Finding>,
) -> Experiment {
    Experiment { source: Source::RingedBloomFilters, name, title, claim, run }
}

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "fig4",
        "Fig. 4: the window of a ringed filter",
        "Among windows of delta = 1, 10, 100 and 1000 groups, longer ones have lower false-positive rates, so delta \
         should be large. In the following figures it is 100,000.",
        window::fig4,
    ),
    experiment(
        "fig5",
        "Fig. 5: the rates of the three filters",
        "At alpha = 2^-10 and with equal bits in total, the mean rate of a fixed-size filter is about 9.37 times \
         that of a variable-size one, and the mean rate of a ringed one about 1.0000004 times.",
        three_filters::fig5,
    ),
    experiment(
        "fig6",
        "Fig. 6: the time of a check",
        "To check 10^6 keys, a variable-size filter takes far longer than a fixed-size one, because its hashes \
         cannot be computed in advance; those of a ringed filter can, so it takes about as long as a fixed-size one \
         at every alpha.",
        check_time::fig6,
    ),
    experiment(
        "table1",
        "Table 1: the documents",
        "The documents are 100,000 papers in English with 47,086 different words, which are nouns, verbs or \
         adjectives in WordNet. There are 632.7 words a document and 1343.8 documents a word.",
        naive::table1,
    ),
    experiment(
        "fig7",
        "Fig. 7: the traffic of the Naive algorithm",
        "Mean and maximum over 5000 queries of two words grow with the number of documents; at 100,000 they are about 200 KB \
         and 11,000 KB.",
        naive::fig7,
    ),
    experiment(
        "fig8",
        "Figs. 8 and 9: the traffic with fixed and with ringed filters",
        "Ringed filters have the least mean traffic at alpha = 2^-7, whatever the number of documents. The best alpha of \
         fixed-size filters depends on it; over all numbers it is 2^-5. Above 50,000 documents, for which their size was \
         chosen, their traffic grows fast.",
        rate::fig8,
    ),
    experiment(
        "cuts",
        "The cuts of 39 % and 73 %",
        "Ringed filters at alpha = 2^-7 take about 39 % less mean traffic than fixed-size ones at 2^-5, and 73 % less maximum.",
        cuts::cuts,
    ),
    experiment(
        "eq18",
        "Eqs. 18 and 19: the best alpha",
        "The traffic of two lists is minimal at alpha = n1 / (160 (ln 2)^2 (n2 - both)); for lists of one size that \
         is 0.013, which is 2^-6.27.",
        eq18::eq18,
    ),
    experiment(
        "three",
        "Section 6.2: queries of three words",
        "The ids that two words have in common are sent on to the third word. They are fewer than the list of one \
         word, so the third word is expected to add little; if few ids are left, the Naive algorithm may be used \
         from there on.",
        three::three,
    ),
];

/// The synthetic documents, the real ones if there are any, and a description of both.
pub(crate) fn corpora(context: &Context) -> Result<(Vec<Corpus>, String)> {
    let shape = context.size(Law::PAPER, Law::QUICK);
    let mut corpora = vec![Corpus::zipf(shape, context.seed)];
    let zipf = format!(
        "synthetic documents with the figures of Table 1{}, whose words are drawn independently of each other by the law of \
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
