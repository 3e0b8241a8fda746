//! What two holders of lists send each other, in bits: T₁ for the filter, T₂ for the answer.

use furui::filter::{Bloom, Filter, FilterMut, Gamma, RingedBloom, RingedParams};
use furui::search::ContentId;

use super::workload::{List, Workload};

/// How the first list is sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coding {
    /// The paper's Naive algorithm: T₁ is all ids, and T₂ is not counted.
    Ids,
    /// A Bloom filter of the same size whatever the list.
    Fixed { bits: u64, probes: u32 },
    /// A ringed Bloom filter of γ bits a key.
    Ringed { probes: u32, gamma: Gamma, delta: u32 },
    /// The same with the rate of eq. 19.
    RingedBest { gamma: Gamma, delta: u32 },
}

/// Which list is sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// That of the word drawn first.
    Drawn,
    /// The smaller one.
    SmallerFirst,
}

/// The bits of many exchanges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    exchanges: u64,
    total: u64,
    /// Of the largest.
    pub(super) max: u64,
}

impl Traffic {
    pub(super) fn add(&mut self, bits: u64) {
        self.exchanges += 1;
        self.total += bits;
        self.max = self.max.max(bits);
    }

    pub(super) fn mean(&self) -> f64 {
        self.total as f64 / self.exchanges as f64
    }
}

impl Coding {
    /// T₁ + T₂ when the holder of `first` asks the holder of `second`. Filters are built, and every id of `second` is
    /// looked up.
    pub(super) fn exchange(self, first: &List, second: &List, answers: &mut Vec<bool>) -> u64 {
        let sent = match self {
            Self::Ids => return ContentId::BITS * first.len(),
            Self::Fixed { bits, probes } => {
                let mut filter = Bloom::from_parts(bits, probes).expect("a size that can be");
                filter.insert_all(&first.hashes).expect("it is never full");
                filter.contains_all(&second.hashes, answers);
                bits
            }
            Self::Ringed { probes, gamma, delta } => {
                let params = RingedParams::new(probes, gamma, delta).expect("parameters that can be");
                let mut filter = RingedBloom::with_size(params, first.len()).expect("a size that can be");
                filter.insert_all(&first.hashes).expect("it is never full");
                filter.contains_all(&second.hashes, answers);
                filter.bits()
            }
            Self::RingedBest { gamma, delta } => {
                let probes = best_probes(first.len(), second.len());
                return Self::Ringed { probes, gamma, delta }.exchange(first, second, answers);
            }
        };
        sent + ContentId::BITS * answers.iter().filter(|&&answer| answer).count() as u64
    }
}

/// The whole k next to log₂ 1/α for the α of eq. 19.
pub(super) fn best_probes(first: u64, second: u64) -> u32 {
    let alpha = first as f64 / (ContentId::BITS as f64 * std::f64::consts::LN_2.powi(2) * second as f64);
    (-alpha.log2()).round().clamp(1.0, 64.0) as u32
}

/// The traffic of a workload of two words, for each way to exchange them.
pub(super) fn measure(workload: &Workload<'_>, ways: &[(Order, Coding)]) -> Vec<Traffic> {
    let mut traffic = vec![Traffic::default(); ways.len()];
    let mut answers = vec![];
    for mut lists in workload.lists() {
        let (second, first) = (lists.pop().expect("two lists"), lists.pop().expect("two lists"));
        let drawn = (&first, &second);
        let sorted = if first.len() <= second.len() { drawn } else { (&second, &first) };
        for (&(order, coding), traffic) in ways.iter().zip(&mut traffic) {
            let (first, second) = match order {
                Order::Drawn => drawn,
                Order::SmallerFirst => sorted,
            };
            traffic.add(coding.exchange(first, second, &mut answers));
        }
    }
    traffic
}
