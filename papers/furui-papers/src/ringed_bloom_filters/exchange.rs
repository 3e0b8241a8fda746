//! The messages between two nodes that keep lists: the real bytes are encoded, decoded, matched, settled and counted.

use furui::filter::{Gamma, RingedParams};
use furui_search::{CodecError, CodedSet, Coding, ContentId, Matcher, Wants, plan, settle};

use super::predict::{Prediction, Size, predict};
use super::workload::Workload;
use crate::report::Cell;

/// The rule by which the coding of a set is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// Always this coding, whatever the sizes.
    Always(Coding),
    /// A ringed filter with the best rate for the sizes (eq. 18).
    BestRinged { gamma: Gamma, delta: u32 },
    /// A Golomb-Rice coded set, in two messages.
    Two,
    /// The coding that a node of the search network chooses.
    Default,
}

/// The rule that says which of two lists is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// The list of the word that was drawn first.
    Drawn,
    /// The smaller list.
    SmallerFirst,
}

/// A way to intersect two lists: which one is sent, and in which coding.
pub(crate) type Way = (Order, Choice);

impl Choice {
    /// Chooses the ringed filter of Sei et al., or one with another number of bits a key (γ).
    pub(crate) fn ringed(probes: u32, gamma: Gamma, delta: u32) -> Self {
        Self::Always(Coding::Ringed(RingedParams::new(probes, gamma, delta).expect("valid parameters")))
    }

    /// Chooses a filter of one size for all lists.
    pub(crate) fn fixed(probes: u32, bits: u64) -> Self {
        Self::Always(Coding::Fixed { bits: bits as u32, probes: probes as u8 })
    }

    /// The coding of a set of `own` ids to be matched with a list of `other` ids.
    pub(crate) fn coding(self, own: u64, other: u64, salt: u32) -> Coding {
        match self {
            Self::Always(coding) => coding,
            Self::BestRinged { gamma, delta } => {
                match Self::ringed(plan::ringed_probes(own, other).into(), gamma, delta) {
                    Self::Always(coding) => coding,
                    _ => unreachable!("a ringed filter is a coding"),
                }
            }
            Self::Two => plan::golomb(own, other, salt),
            Self::Default => plan::choose(Wants::Best, own, other, salt),
        }
    }
}

/// The traffic of one exchange between two nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    /// The bits of the set (T₁), of the answer (T₂) and of a third message. If whole ids are sent, T₂ is left out, as
    /// in the paper of Sei et al.
    pub(crate) bits: u64,
    /// The total size of the sets, the answers and the third messages, in bytes.
    pub(crate) bytes: u64,
    /// True if a third message was sent.
    pub(crate) in_three: bool,
    /// True if the exchange had to be repeated. The repetition is counted in `bits` and `bytes`.
    pub(crate) repeated: bool,
}

/// Sends a set from the node that keeps `own` to the node that keeps `other`. With `check`, compares every message with
/// its prediction.
pub(crate) fn exchange(
    own: &[ContentId],
    other: &[ContentId],
    choice: Choice,
    salt: u32,
    check: bool,
) -> Result<Exchange, CodecError> {
    let coding = choice.coding(own.len() as u64, other.len() as u64, salt);
    let set = CodedSet::encode(own, coding)?;
    let mut matcher = Matcher::new(CodedSet::decode(&set.bytes)?);
    matcher.feed(other)?;
    let matches = matcher.finish();
    let settlement = settle(own, coding, &matches.coded.bytes)?;

    let size = |bits, bytes: &[u8]| Size { bits, bytes: bytes.len() as u64 };
    let claim = settlement.claim.as_ref();
    let (sent, back) = (size(set.bits, &set.bytes), size(matches.coded.bits, &matches.coded.bytes));
    let claimed = claim.map(|claim| size(claim.bits(), &claim.rejected.bytes));
    let agreed = match (claim, matches.session) {
        (Some(claim), Some(session)) => session.confirm(&claim.rejected.bytes, claim.checksum)?,
        _ => true,
    };
    if check {
        let predicted = predict(own, other, coding)?;
        let made = Prediction { sent, back, claim: claimed, both: predicted.both };
        assert_eq!(made, predicted, "{coding:?}, salt {salt}");
        assert!(!agreed || settlement.both.len() as u64 == predicted.both, "exact: {coding:?}, salt {salt}");
    }

    let back_bits = if coding == Coding::Ids { 0 } else { back.bits };
    let third = claimed.unwrap_or_default();
    let mut exchange = Exchange {
        bits: sent.bits + back_bits + third.bits,
        bytes: sent.bytes + back.bytes + third.bytes + if claim.is_some() { 8 } else { 0 },
        in_three: claim.is_some(),
        repeated: false,
    };
    if !agreed {
        let again = self::exchange(own, other, Choice::Two, !salt, check)?;
        exchange = Exchange {
            bits: exchange.bits + again.bits,
            bytes: exchange.bytes + again.bytes,
            repeated: true,
            ..exchange
        };
    }
    Ok(exchange)
}

/// The total bits and bytes of many exchanges.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) exchanges: u64,
    bits: u64,
    bytes: u64,
    pub(crate) in_three: u64,
    pub(crate) repeated: u64,
    /// The bits of the largest exchange.
    pub(crate) max: u64,
}

impl Traffic {
    pub(crate) fn add(&mut self, exchange: Exchange) {
        self.exchanges += 1;
        self.bits += exchange.bits;
        self.bytes += exchange.bytes;
        self.in_three += u64::from(exchange.in_three);
        self.repeated += u64::from(exchange.repeated);
        self.max = self.max.max(exchange.bits);
    }

    /// The mean number of bits of an exchange.
    pub(crate) fn mean(&self) -> f64 {
        self.bits as f64 / self.exchanges as f64
    }

    /// The mean number of bytes of an exchange.
    pub(crate) fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.exchanges as f64
    }
}

/// Measures the traffic of a workload of two-word queries for each of `ways`.
pub(crate) fn measure(workload: &Workload<'_>, ways: &[Way], check: bool) -> Result<Vec<Traffic>, CodecError> {
    let queries = workload.map(|lists, salt| -> Result<Vec<Exchange>, CodecError> {
        let drawn = [&lists[0], &lists[1]];
        let sorted = if lists[0].len() <= lists[1].len() { drawn } else { [&lists[1], &lists[0]] };
        let meet = |&(order, choice): &Way| {
            let [own, other] = match order {
                Order::Drawn => drawn,
                Order::SmallerFirst => sorted,
            };
            exchange(own, other, choice, salt, check)
        };
        ways.iter().map(meet).collect()
    });
    let mut traffic = vec![Traffic::default(); ways.len()];
    for query in queries {
        traffic.iter_mut().zip(query?).for_each(|(traffic, exchange)| traffic.add(exchange));
    }
    Ok(traffic)
}

pub(crate) fn kbit(bits: f64) -> Cell {
    (bits / 1000.0).into()
}
