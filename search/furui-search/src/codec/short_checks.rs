use super::{Claim, Golomb, rice};

/// A third message is sent only if it is expected to save at least this number of bits (512 bytes), because it costs a
/// round trip. An exchange for a page of results hardly ever saves so much.
pub const THIRD_MESSAGE_BITS: f64 = 4096.0;

/// The expected cost of short check bits with a third message, as an alternative to long check bits.
///
/// In an answer with t matches, long checks take v t bits. Short checks of v' bits take v' t bits, a [`Claim`] with the
/// rejected matches and a checksum, and sometimes a repetition of the exchange. Only the answering side knows the
/// number of matches, so it decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortChecks {
    /// v': the number of bits of a short check.
    pub bits: u8,
    /// The expected size of the third message, in bits.
    pub(crate) claim_bits: f64,
    /// The bits of a repeated exchange, times the probability that it is repeated.
    pub(crate) again_bits: f64,
}

impl ShortChecks {
    /// Chooses the length of short checks for the answer to a set of `sent_bits` bits. `None` unless they are expected
    /// to save [`THIRD_MESSAGE_BITS`] compared with checks of `long` bits.
    ///
    /// The answer has `matches` matches, of which `mistaken` are false; the rank of a match takes `rank_bits` bits.
    /// `pairs` is the number of pairs of a match and a different id of the set in the cell of the match.
    pub(crate) fn worth_it(
        matches: f64,
        mistaken: f64,
        pairs: f64,
        sent_bits: f64,
        rank_bits: f64,
        long: u8,
    ) -> Option<Self> {
        if matches * f64::from(long) < THIRD_MESSAGE_BITS {
            return None;
        }
        let again = sent_bits + matches * (rank_bits + f64::from(long));
        // `matches` · v + `pairs` · 2⁻ᵛ · `again` is minimal where `pairs` · 2⁻ᵛ · `again` · ln 2 = `matches`.
        let best = (pairs * again * std::f64::consts::LN_2 / matches).log2();
        let bits = best.round().clamp(0.0, long.into()) as u8;
        let mistaken = mistaken.clamp(0.0, matches);
        let rejected = if mistaken > 0.0 { mistaken * rice::expected_len(matches / mistaken - 1.0) } else { 0.0 };
        let claim_bits = Claim::CHECKSUM_BITS as f64 + rejected;
        let again_bits = -(-pairs * (-f64::from(bits)).exp2()).exp_m1() * again;
        let saved = matches * f64::from(long - bits) - claim_bits - again_bits;
        (saved >= THIRD_MESSAGE_BITS).then_some(Self { bits, claim_bits, again_bits })
    }

    /// Chooses the short checks for the answer of a node whose list has `other` ids. The ids of the set occupy
    /// `occupied` cells.
    pub fn of_answer(matches: u64, occupied: u64, golomb: &Golomb, other: u64, sent_bits: u64) -> Option<Self> {
        let (matches, occupied, other, cells) = (matches as f64, occupied as f64, other as f64, golomb.cells());
        // The number of ids that occupy `occupied` cells on average.
        let own = -cells * (-occupied / (cells + 1.0)).ln_1p();
        let rank_bits = rice::expected_len(occupied / matches);
        let (mistaken, pairs) = (other * occupied / cells, other * own / cells);
        Self::worth_it(matches, mistaken, pairs, sent_bits as f64, rank_bits, golomb.check_bits)
    }
}
