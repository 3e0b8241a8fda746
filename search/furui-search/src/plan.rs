//! Chooses the coding of sets from the sizes of the lists.
//!
//! n₁ ids are sent to a node that keeps a list with n₂ ids. Traffic is counted in bits, as T₁ + T₂ of the paper.
//!
//! **Source.** Sei, Matsuzaki and Honiden, "Using Ringed Bloom Filters to Reduce the Communication Traffic on a
//! Distributed Hash Table", section 6, which leaves the best rate for each pair of lists to future work.

use super::codec::{Coding, Golomb, MAX_PER_CELL, rice};
use super::{ContentId, Wants};
use furui::filter::{Gamma, RingedParams, sizing};

pub use super::codec::{ShortChecks, THIRD_MESSAGE_BITS};

/// The minimum number of check bits in an exchange of two messages. With it, one of 2⁴⁰ false matches is accepted as
/// true.
pub const CHECK_BITS: u8 = 40;

/// The minimum number of bits that a third message must be able to save if somebody waits for the answer: 32 KiB, which
/// a line of 2.6 Mbit/s carries in a round trip of 100 ms.
pub const PAGE_THIRD_BITS: f64 = (1 << 18) as f64;

/// The maximum probability that an exchange reports an id as common that is only in one of the lists. If [`CHECK_BITS`]
/// do not suffice, the number of check bits grows with the number of pairs of ids to distinguish.
const WRONG: f64 = 1.0 / (1u64 << 32) as f64;

/// The maximum expected number of the other list's ids in a cell. If the mean is 16, one of 10¹⁸ cells has more than 64
/// ids. If the list has grown to twice its known size, this is true of one of 10⁷ cells.
const PER_CELL: f64 = MAX_PER_CELL as f64 / 4.0;

/// Equation 17: the traffic T in bits. It is the size of the best Bloom filter for `own` ids at the rate α, plus the
/// size of the ids that come back. `both` ids are in both lists.
///
/// T = m + ζ matches, with m = -n₁ ln α / (ln 2)², matches = both + α (n₂ - both) and ζ = 160.
pub fn traffic(own: u64, other: u64, both: u64, alpha: f64) -> f64 {
    let filter = -(own as f64) * alpha.ln() / std::f64::consts::LN_2.powi(2);
    filter + ContentId::BITS as f64 * (both as f64 + alpha * (other.saturating_sub(both)) as f64)
}

/// Equation 18: the false-positive rate α that minimises [`traffic`], n₁ / (ζ (ln 2)² (n₂ - both)).
///
/// If `both` is 0, this is equation 19; for lists of equal size the rate is 0.013. If `both` is unknown, 0 is a good
/// value: on words of natural texts, this costs less than 1 % of the traffic. The rate can be 1 or more, even infinite:
/// a filter is then not worth its bits, and all ids should be sent.
pub fn best_rate(own: u64, other: u64, both: u64) -> f64 {
    let zeta = ContentId::BITS as f64;
    own as f64 / (zeta * std::f64::consts::LN_2.powi(2) * other.saturating_sub(both) as f64)
}

/// Chooses the coding of a set of `own` ids, as the query wants it, for a keeper whose list is expected to have `other`
/// ids. `salt` is the query's salt.
///
/// - [`Wants::Best`]: [`golomb_in_three`], whose answer may ask for a third message, if that message could save more
///   than [`THIRD_MESSAGE_BITS`] in the best case, when all ids are in both lists; otherwise [`golomb`].
/// - [`Wants::Golomb`]: the coding of [`golomb`].
/// - [`Wants::Ringed`] with a number of probes: the ringed filter of Sei et al., with a whole number of bits a key
///   ([`Gamma::Whole`]). Without a number of probes: [`ringed_probes`] probes, and [`Gamma::Exact`].
/// - [`Wants::Naive`]: the ids themselves.
/// - [`Wants::Fixed`]: a Bloom filter with the stated parameters.
///
/// If the parameters of a ringed filter are invalid, the set is sent as plain ids. Other invalid parameters are refused
/// by [`CodedSet::encode`](super::CodedSet::encode).
pub fn choose(wants: Wants, own: u64, other: u64, salt: u32) -> Coding {
    let ringed = |params: Result<RingedParams, _>| params.map_or(Coding::Ids, Coding::Ringed);
    match wants {
        Wants::Best if may_save(THIRD_MESSAGE_BITS, own, other) => golomb_in_three(own, other, salt),
        Wants::Best | Wants::Golomb => golomb(own, other, salt),
        Wants::Naive => Coding::Ids,
        Wants::Fixed { bits, probes } => Coding::Fixed { bits, probes },
        Wants::Ringed { probes: Some(probes), delta } => ringed(RingedParams::new(probes.into(), Gamma::Whole, delta)),
        Wants::Ringed { probes: None, delta } => {
            ringed(RingedParams::new(ringed_probes(own, other).into(), Gamma::Exact, delta))
        }
    }
}

/// Chooses the coding as [`choose`] does, but for a page of results that somebody waits for: because a third message
/// takes another round trip, it must be able to save [`PAGE_THIRD_BITS`].
pub fn choose_for_page(wants: Wants, own: u64, other: u64, salt: u32) -> Coding {
    match wants {
        Wants::Best if !may_save(PAGE_THIRD_BITS, own, other) => golomb(own, other, salt),
        _ => choose(wants, own, other, salt),
    }
}

/// Returns `coding`, or ids if the ids are expected to take fewer bits. The paper of Sei et al. does this in section
/// 6.2 once a chain of words has left a small set. It says "small enough" without a number, so this comparison is our
/// own choice. The ranks in the answer are not counted, because the paper counts only what the Naive algorithm sends.
pub fn or_ids(coding: Coding, own: u64, other: u64) -> Coding {
    let ids = ContentId::BITS as f64 * own as f64;
    if ids < expected(coding, own, other) { Coding::Ids } else { coding }
}

/// The number of probes k, with α = 2⁻ᵏ, that minimises the traffic by eq. 17 of Sei et al.: one of the two integers
/// next to log₂ 1/α, with the α of their eq. 19. The result is from 1 to 64.
///
/// Difference from the paper: there, one α serves all nodes, and section 6.1 arrives at 0.013. Eq. 18 gives an α of 1
/// or more if the set has at least 77 times the number of ids of the other list. The paper does not say what to do
/// then; here, the minimum is one probe. Because the smaller list is sent, this happens only for words that must not
/// occur.
pub fn ringed_probes(own: u64, other: u64) -> u8 {
    let best = (-best_rate(own, other, 0).log2()).clamp(1.0, 64.0);
    let traffic = |k: f64| traffic(own, other, 0, (-k).exp2());
    let (below, above) = (best.floor(), best.ceil());
    if traffic(below) <= traffic(above) { below as u8 } else { above as u8 }
}

/// The Golomb-Rice coded set with the cells and check bits that take the fewest bits in two messages.
pub fn golomb(own: u64, other: u64, salt: u32) -> Coding {
    best_cells(own, other, Golomb { cell_bits: 64, check_bits: CHECK_BITS, salt, three_messages: false })
}

/// The Golomb-Rice coded set with the cells and check bits that take the fewest bits if the answer may ask for a third
/// message.
pub fn golomb_in_three(own: u64, other: u64, salt: u32) -> Coding {
    best_cells(own, other, Golomb { cell_bits: 64, check_bits: CHECK_BITS, salt, three_messages: true })
}

/// True if an answer can have so many matches that their check bits exceed `bits`. A third message cannot save more
/// bits than these.
fn may_save(bits: f64, own: u64, other: u64) -> bool {
    let Coding::Golomb(golomb) = golomb(own, other, 0) else { return false };
    let false_matches = Cellular::new(own, other, &golomb).matches;
    (own.min(other) as f64 + false_matches) * f64::from(golomb.check_bits) > bits
}

/// Returns the coding that needs the fewest bits among those with few expected ids of the other list per cell.
fn best_cells(own: u64, other: u64, golomb: Golomb) -> Coding {
    let codings = (1..=64).map(|cell_bits| Golomb { cell_bits, ..golomb });
    let codings = codings.skip_while(|golomb| other as f64 / golomb.cells() > PER_CELL).map(|golomb| {
        // Each pair of a match and another id in its cell must be distinguished by the check bits.
        let pairs = own as f64 * other as f64 / golomb.cells();
        let check_bits = (pairs / WRONG).log2().ceil().clamp(CHECK_BITS.into(), 64.0) as u8;
        let coding = Coding::Golomb(Golomb { check_bits, ..golomb });
        (expected(coding, own, other), coding)
    });
    codings.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Coding::Ids, |(_, coding)| coding)
}

/// The expected bits of an exchange if no id is in both lists. For an exchange in three messages, they include the bits
/// of a repeated exchange, times the probability that it is repeated.
pub fn expected(coding: Coding, own: u64, other: u64) -> f64 {
    let zeta = ContentId::BITS as f64;
    let (n1, n2) = (own as f64, other as f64);
    match coding {
        Coding::Ids => zeta * n1,
        Coding::Fixed { bits, probes } => {
            let matches = n2 * sizing::rate(probes.into(), own, bits.max(1).into());
            f64::from(bits) + zeta * matches
        }
        Coding::Ringed(params) => {
            let matches = if own == 0 { 0.0 } else { n2 * params.expected_rate(own).unwrap_or(1.0) };
            (n1 * params.gamma()).ceil() + zeta * matches
        }
        Coding::Golomb(golomb) => {
            let Cellular { occupied, density, matches } = Cellular::new(own, other, &golomb);
            let sent_bits = occupied * rice::expected_len(1.0 / density - 1.0);
            let rank = if matches > 0.0 { rice::expected_len(occupied / matches) } else { 0.0 };
            let pairs = n1 * n2 / golomb.cells();
            let short = || ShortChecks::worth_it(matches, matches, pairs, sent_bits, rank, golomb.check_bits);
            match if golomb.three_messages { short() } else { None } {
                None => sent_bits + matches * (rank + f64::from(golomb.check_bits)),
                Some(ShortChecks { bits, claim_bits, again_bits }) => {
                    sent_bits + claim_bits + again_bits + matches * (rank + f64::from(bits))
                }
            }
        }
    }
}

/// The expected occupancy of the cells.
struct Cellular {
    /// The number of cells that contain an id of the set.
    occupied: f64,
    /// The fraction of cells that contain an id of the set.
    density: f64,
    /// The number of the other list's ids in cells that contain an id of the set.
    matches: f64,
}

impl Cellular {
    fn new(own: u64, other: u64, golomb: &Golomb) -> Self {
        let cells = golomb.cells();
        // 1 - (1 - 1/cells)^n₁
        let density = -(own as f64 * (-1.0 / cells).ln_1p()).exp_m1();
        Self { occupied: density * cells, density, matches: density * other as f64 }
    }
}
