//! Section 6.2 of the paper on ringed filters: queries of three words, whose lists are intersected one after the other.

use furui::filter::Gamma;
use furui_search::{CodecError, Coding, ContentId, plan};

use super::all_pairs::tuned_for;
use super::corpora;
use super::corpus::Corpus;
use super::exchange::{Choice, Exchange, Traffic, exchange, kbit};
use super::workload::Workload;
use crate::report::{Axis, Context, Finding, Plot, Result, Table, Verdict, brief};

pub(super) fn three(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = chains(&corpora, context)?;
    let zipf = [("corpus", "Zipf".into())];
    let chains: Vec<&str> = table.only(&zipf).filter_map(|row| row[1].text()).collect();
    let axes = (Axis::log("mean kbit"), Axis::names("", chains.iter().copied()));
    let mut plot = Plot::new("three", "Queries of three words, by how they are chained", axes.0, axes.1);
    for corpus in &corpora {
        let kbit = |&chain: &&str| {
            table.number("mean kbit", &[("corpus", corpus.name.as_str().into()), ("chain", chain.into())])
        };
        plot = plot.bars(corpus.name.as_str(), chains.iter().map(kbit));
    }
    let adds = |chain: &str| table.range("the third adds %", &[("chain", chain.into())]).1;
    let verdict = Verdict::holds(
        adds("ringed 2^-7") < 10.0,
        format!(
            "With ringed filters at 2^-7 the third word adds at most {} % to the mean traffic of the first two, with \
                 fixed-size ones {} %.",
            brief(adds("ringed 2^-7")),
            brief(adds("fixed 2^-5"))
        ),
    );
    Ok(Finding::new(data, verdict, [table], [plot]))
}

/// The rules for a chain of exchanges, in which the ids that two lists have in common are sent on to the node that
/// keeps the third list.
#[derive(Clone, Copy)]
struct Chain {
    choice: Choice,
    smaller_first: bool,
    /// True if a set is sent as ids where ids are expected to take fewer bits than a filter.
    falls_back: bool,
}

/// Measures the traffic of chains, in which three lists are intersected one after the other. Also measures the traffic
/// of the first link of each chain, which is a query of two words.
fn chains(corpora: &[Corpus], context: &Context) -> Result<Table> {
    let columns = [
        "corpus",
        "chain",
        "mean kbit",
        "max kbit",
        "first two words, mean kbit",
        "the third adds %",
        "mean, to ringed 2^-7",
    ];
    let mut table = Table::new("three", "Three words by chaining".to_owned(), columns);
    let chain = |choice| Chain { choice, smaller_first: false, falls_back: false };
    for corpus in corpora {
        let fixed = Choice::fixed(5, tuned_for(corpus)[4]);
        let ringed = Choice::ringed(7, Gamma::Whole, 100_000);
        let best = Choice::BestRinged { gamma: Gamma::Exact, delta: 1000 };
        let chains = [
            ("ringed 2^-7", chain(ringed)),
            ("naive", chain(Choice::Always(Coding::Ids))),
            ("fixed 2^-5", chain(fixed)),
            ("fixed 2^-5, ids where fewer", Chain { falls_back: true, ..chain(fixed) }),
            ("eq. 18", chain(best)),
            ("naive, smaller first", Chain { smaller_first: true, ..chain(Choice::Always(Coding::Ids)) }),
            ("default", Chain { smaller_first: true, ..chain(Choice::Default) }),
            ("eq. 18, smaller first", Chain { smaller_first: true, ..chain(best) }),
        ];
        let workload = Workload::new(context, corpus, corpus.documents(), 3);
        let mut traffic = vec![[Traffic::default(); 2]; chains.len()];
        let queries = workload.map(|lists, salt| -> Result<Vec<_>, CodecError> {
            chains.iter().map(|(_, chain)| chain.run(lists, salt)).collect()
        });
        for query in queries {
            for ([first, second], [two, three]) in query?.into_iter().zip(&mut traffic) {
                two.add(first);
                three.add(Exchange { bits: first.bits + second.bits, bytes: first.bytes + second.bytes, ..first });
            }
        }
        let base = traffic[0][1].mean();
        for ((name, _), [two, three]) in chains.iter().zip(&traffic) {
            table.push([
                corpus.name.as_str().into(),
                (*name).into(),
                kbit(three.mean()),
                kbit(three.max as f64),
                kbit(two.mean()),
                (100.0 * (three.mean() / two.mean() - 1.0)).into(),
                (three.mean() / base).into(),
            ]);
        }
    }
    Ok(table)
}

impl Chain {
    /// Runs the exchanges of the two links of the chain: first that of the first two lists, then that of their common
    /// ids and the third list.
    fn run(self, lists: &[Vec<ContentId>], salt: u32) -> Result<[Exchange; 2], CodecError> {
        let mut order: Vec<&[ContentId]> = lists.iter().map(Vec::as_slice).collect();
        if self.smaller_first {
            order.sort_by_key(|list| list.len());
        }
        let link = |set: &[ContentId], next: &[ContentId]| -> Result<Exchange, CodecError> {
            if set.is_empty() {
                return Ok(Exchange::default());
            }
            let (own, other) = (set.len() as u64, next.len() as u64);
            let coding = self.choice.coding(own, other, salt);
            let coding = if self.falls_back { plan::or_ids(coding, own, other) } else { coding };
            exchange(set, next, Choice::Always(coding), salt, false)
        };
        let met: Vec<_> = order[0].iter().filter(|id| order[1].binary_search(id).is_ok()).copied().collect();
        Ok([link(order[0], order[1])?, link(&met, order[2])?])
    }
}
