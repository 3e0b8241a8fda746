//! Section 6.2: queries of three words by chaining.

use furui::filter::Gamma;

use super::Options;
use super::corpus::Corpus;
use super::exchange::{Coding, Traffic};
use super::table::Table;
use super::traffic::{kbit, tuned_for};
use super::workload::{List, Workload};

/// How a chain goes on.
#[derive(Clone, Copy)]
struct Chain {
    coding: Coding,
    smaller_first: bool,
    /// Whether a set is sent as ids where that is less than its filter alone.
    falls_back: bool,
}

/// The traffic of chains, and of their first link, which is a query of two words.
pub(super) fn three(corpora: &[Corpus], options: &Options) -> Table {
    let columns = ["corpus", "chain", "mean kbit", "max kbit", "of its first two words, mean", "the third adds %", "mean, to ringed 2^-7"];
    let mut table = Table::new("three", "Three words by chaining".to_owned(), columns);
    let chain = |coding| Chain { coding, smaller_first: false, falls_back: false };
    for corpus in corpora {
        let fixed = Coding::Fixed { bits: tuned_for(corpus)[4], probes: 5 };
        let ringed = Coding::Ringed { probes: 7, gamma: Gamma::Whole, delta: 100_000 };
        let best = Coding::RingedBest { gamma: Gamma::Exact, delta: 1000 };
        let chains = [
            ("ringed 2^-7", chain(ringed)),
            ("naive", chain(Coding::Ids)),
            ("fixed 2^-5", chain(fixed)),
            ("fixed 2^-5, ids where fewer", Chain { falls_back: true, ..chain(fixed) }),
            ("eq. 18", chain(best)),
            ("naive, smaller first", Chain { smaller_first: true, ..chain(Coding::Ids) }),
            ("eq. 18, smaller first", Chain { smaller_first: true, ..chain(best) }),
        ];
        let workload = Workload::new(corpus, corpus.documents(), 3, options.queries, options.seed);
        let mut traffic = vec![[Traffic::default(); 2]; chains.len()];
        for lists in workload.lists() {
            for ((_, chain), [two, three]) in chains.iter().zip(&mut traffic) {
                let [first, second] = chain.run(&lists);
                two.add(first);
                three.add(first + second);
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
    table
}

impl Chain {
    /// The bits of both links.
    fn run(self, lists: &[List]) -> [u64; 2] {
        let mut order: Vec<&List> = lists.iter().collect();
        if self.smaller_first {
            order.sort_by_key(|list| list.len());
        }
        let mut answers = vec![];
        let mut link = |set: &List, next: &List| {
            let bits = if set.ids.is_empty() { 0 } else { self.coding.exchange(set, next, &mut answers) };
            if self.falls_back { bits.min(Coding::Ids.exchange(set, next, &mut answers)) } else { bits }
        };
        let first = link(order[0], order[1]);
        let met = order[0].intersect(order[1]);
        [first, link(&met, order[2])]
    }
}
