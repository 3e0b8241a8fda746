//! The experiments of the paper on ringed filters.

mod best_rate;
mod rates;
mod traffic;

use super::{Context, Experiment, Result, Source};
use crate::search::{Corpus, Options, Shape};

const fn experiment(
    name: &'static str,
    title: &'static str,
    claim: &'static str,
    run: fn(&Context) -> Result<super::Finding>,
) -> Experiment {
    Experiment { source: Source::Seed000, name, title, claim, run }
}

pub(super) const EXPERIMENTS: &[Experiment] = &[
    experiment(
        "fig4",
        "Fig. 4: the window of a ringed filter",
        "Among windows of delta = 1, 10, 100 and 1000 groups, longer ones have lower false-positive rates, so delta \
         should be large. In the following figures it is 100,000.",
        rates::fig4,
    ),
    experiment(
        "fig5",
        "Fig. 5: the rates of the three filters",
        "At alpha = 2^-10 and with equal bits in total, the mean rate of a fixed-size filter is about 9.37 times \
         that of a variable-size one, and the mean rate of a ringed one about 1.0000004 times.",
        rates::fig5,
    ),
    experiment(
        "fig6",
        "Fig. 6: the time of a check",
        "To check 10^6 keys, a variable-size filter takes far longer than a fixed-size one, because its hashes \
         cannot be computed in advance; those of a ringed filter can, so it takes about as long as a fixed-size one \
         at every alpha.",
        rates::fig6,
    ),
    experiment(
        "table1",
        "Table 1: the documents",
        "The documents are 100,000 papers in English with 47,086 different words, which are nouns, verbs or \
         adjectives in WordNet. There are 632.7 words a document and 1343.8 documents a word.",
        traffic::table1,
    ),
    experiment(
        "fig7",
        "Fig. 7: the traffic of the Naive algorithm",
        "Mean and maximum over 5000 queries of two words grow with the number of documents; at 100,000 they are about 200 KB \
         and 11,000 KB.",
        traffic::fig7,
    ),
    experiment(
        "fig8",
        "Figs. 8 and 9: the traffic with fixed and with ringed filters",
        "Ringed filters have the least mean traffic at alpha = 2^-7, whatever the number of documents. The best alpha of \
         fixed-size filters depends on it; over all numbers it is 2^-5. Above 50,000 documents, for which their size was \
         chosen, their traffic grows fast.",
        best_rate::fig8,
    ),
    experiment(
        "cuts",
        "The cuts of 39 % and 73 %",
        "Ringed filters at alpha = 2^-7 take about 39 % less mean traffic than fixed-size ones at 2^-5, and 73 % less maximum.",
        traffic::cuts,
    ),
    experiment(
        "eq18",
        "Eqs. 18 and 19: the best alpha",
        "The traffic of two lists is minimal at alpha = n1 / (160 (ln 2)^2 (n2 - both)); for lists of one size that \
         is 0.013, which is 2^-6.27.",
        best_rate::eq18,
    ),
    experiment(
        "three",
        "Section 6.2: queries of three words",
        "The ids that two words have in common are sent on to the third word. They are fewer than the list of one \
         word, so the third word is expected to add little; if few ids are left, the Naive algorithm may be used \
         from there on.",
        traffic::three,
    ),
];

/// The synthetic documents, the real ones if there are any, and a description of both.
pub(super) fn corpora(context: &Context) -> Result<(Vec<Corpus>, String)> {
    let shape = context.size(Shape::PAPER, Shape::QUICK);
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

pub(super) fn options(context: &Context) -> Options {
    Options { quick: context.quick, seed: context.seed, queries: context.size(5000, 50), bar: context.bar(1, "steps") }
}
