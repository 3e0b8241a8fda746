//! The sizes of the messages of an exchange by their definitions, for all that compares them with the real messages.
#![allow(dead_code, reason = "no program that compares the sizes reads all of them")]

use std::collections::{BTreeMap, BTreeSet};

use furui::filter::{Bloom, FilterMut, RingedBloom};
use furui_search::plan::ShortChecks;
use furui_search::{Claim, CodecError, Coding, ContentId, Golomb};

/// The size of a [`Coded`](furui_search::Coded) set or answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of bits, counted as the paper of Sei et al. on ringed filters does.
    pub(crate) bits: u64,
    /// The number of bytes that are sent.
    pub(crate) bytes: u64,
}

/// The exact sizes of the messages of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prediction {
    /// The size of the coded set that is sent: T₁.
    pub(crate) sent: Size,
    /// The size of the answer: T₂.
    pub(crate) back: Size,
    /// The size of the third message; `None` if there is none. Its bits are those of the rejected matches and of the
    /// checksum of the [`Claim`]; its bytes are those of the rejected matches only.
    pub(crate) claim: Option<Size>,
    /// The number of ids that are in both lists.
    pub(crate) both: u64,
}

/// Computes the sizes of the messages of an exchange about two lists from the definitions in docs/protocol.md, without
/// encoding anything. Both lists are ascending.
///
/// Cost: much slower than the exchange.
///
/// # Errors
/// If no filter has the parameters of the coding.
pub(crate) fn predict(own: &[ContentId], other: &[ContentId], coding: Coding) -> Result<Prediction, CodecError> {
    let mine: BTreeSet<ContentId> = own.iter().copied().collect();
    let n = mine.len() as u64;
    let both = other.iter().filter(|id| mine.contains(id)).count() as u64;
    let (sent, back, claim) = match coding {
        Coding::Ids => {
            let theirs: BTreeSet<_> = other.iter().collect();
            let ranks: Vec<u64> =
                (0..).zip(&mine).filter(|(_, id)| theirs.contains(id)).map(|(rank, _)| rank).collect();
            let sent = Size { bits: 160 * n, bytes: 1 + number_len(n) + 20 * n };
            (sent, ranks_size(&ranks, n), None)
        }
        Coding::Fixed { bits, probes } => {
            let filter = Bloom::from_parts(bits.into(), probes.into())?;
            let bytes = 2 + number_len(bits.into()) + u64::from(bits).div_ceil(8);
            (Size { bits: bits.into(), bytes }, filtered_size(filter, &mine, other), None)
        }
        Coding::Ringed(params) => {
            let bits = if n == 0 { 0 } else { params.bits(n)? };
            let bytes = 10 + number_len(params.delta().into()) + number_len(n) + bits.div_ceil(8);
            let other = if n == 0 { &[] } else { other };
            (Size { bits, bytes }, filtered_size(RingedBloom::with_size(params, n)?, &mine, other), None)
        }
        Coding::Golomb(golomb) => golomb_sizes(&mine, other, &golomb),
    };
    Ok(Prediction { sent, back, claim, both })
}

fn filtered_size(mut filter: impl FilterMut, mine: &BTreeSet<ContentId>, other: &[ContentId]) -> Size {
    for id in mine {
        filter.insert_hash(id.hash()).expect("Bloom filters are never full");
    }
    let matches = other.iter().filter(|id| filter.contains_hash(id.hash())).count() as u64;
    Size { bits: 160 * matches, bytes: number_len(matches) + 20 * matches }
}

fn golomb_sizes(mine: &BTreeSet<ContentId>, other: &[ContentId], golomb: &Golomb) -> (Size, Size, Option<Size>) {
    let cell_heads = 1_u128 << (64 - golomb.cell_bits);
    let cell_of = |id: &ContentId| (u128::from(id.head()) / cell_heads) as u64;
    let mut cells: BTreeMap<u64, Vec<ContentId>> = BTreeMap::new();
    for id in mine {
        cells.entry(cell_of(id)).or_default().push(*id);
    }
    let occupied: Vec<u64> = cells.keys().copied().collect();
    let (count, last) = (occupied.len() as u64, (u128::from(u64::MAX) / cell_heads) as u64);
    let bits = rice_bits(gaps_between(&occupied), parameter(last - count.saturating_sub(1), count));
    let sent = Size { bits, bytes: 7 + number_len(count) + bits.div_ceil(8) };

    let matches: Vec<(u64, ContentId)> = other
        .iter()
        .filter_map(|id| occupied.binary_search(&cell_of(id)).ok().map(|rank| (rank as u64, *id)))
        .collect();
    let ranks = [0].into_iter().chain(matches.iter().map(|&(rank, _)| rank));
    let gaps = ranks.clone().zip(ranks.skip(1)).map(|(before, rank)| rank - before);
    let t = matches.len() as u64;
    let short = ShortChecks::of_answer(t, count, golomb, other.len() as u64, 8 * sent.bits.div_ceil(8));
    let short = short.filter(|_| golomb.three_messages);
    let golomb = Golomb { check_bits: short.map_or(golomb.check_bits, |short| short.bits), ..*golomb };
    let bits = rice_bits(gaps, parameter(count, t)) + t * u64::from(golomb.check_bits);
    let back = Size { bits, bytes: number_len(t) + u64::from(golomb.three_messages && t > 0) + bits.div_ceil(8) };

    let is_rejected =
        |(_, id): &&(u64, ContentId)| cells[&cell_of(id)].iter().all(|own| golomb.check(*own) != golomb.check(*id));
    let claim = short.map(|_| {
        let rejected: Vec<u64> =
            (0..).zip(&matches).filter(|(_, of)| is_rejected(of)).map(|(position, _)| position).collect();
        let Size { bits, bytes } = ranks_size(&rejected, t);
        Size { bits: bits + Claim::CHECKSUM_BITS, bytes }
    });
    (sent, back, claim)
}

fn ranks_size(ranks: &[u64], universe: u64) -> Size {
    let count = ranks.len() as u64;
    let bits = rice_bits(gaps_between(ranks), parameter(universe - count, count));
    Size { bits, bytes: number_len(count) + bits.div_ceil(8) }
}

fn gaps_between(numbers: &[u64]) -> impl Iterator<Item = u64> {
    (0..numbers.len()).map(|i| if i == 0 { numbers[0] } else { numbers[i] - numbers[i - 1] - 1 })
}

fn rice_bits(numbers: impl Iterator<Item = u64>, rice: u32) -> u64 {
    numbers.map(|number| number / 2u64.pow(rice) + 1 + u64::from(rice)).sum()
}

fn parameter(sum: u64, count: u64) -> u32 {
    if count == 0 || sum < count { 0 } else { (sum / count).ilog2() }
}

fn number_len(number: u64) -> u64 {
    u64::from(64 - number.leading_zeros()).div_ceil(7).max(1)
}
