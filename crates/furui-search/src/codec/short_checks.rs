use super::{Claim, rice};

/// How many bits three messages must be expected to save to be worth a round trip: 512 bytes, so that there are as
/// good as never three for a page.
pub const THIRD_MESSAGE_BITS: f64 = 4096.0;

/// What short checks and a third message come to, instead of long checks.
///
/// Of an answer with t matches, long checks take v t bits; short ones of v' bits take v' t, a [`Claim`] with the matches
/// that are rejected and a checksum, and now and then the whole exchange again. How many matches there are, true ones among
/// them, is known to the side that matched, and only to it: so it decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShortChecks {
    /// v'.
    pub(crate) bits: u8,
    /// The bits that the third message is expected to take.
    pub(crate) claim_bits: f64,
    /// The bits that the repetition is expected to take, times its probability.
    pub(crate) again_bits: f64,
}

impl ShortChecks {
    /// For an answer of `matches`, of which `mistaken` are false, to a set of `sent_bits`: with how many bits its checks are
    /// to be sent, if that is expected to save [`THIRD_MESSAGE_BITS`] against `long` ones. There are `pairs` of a match and
    /// an id of the set in one cell that are not the same id; `rank_bits` go with each match.
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
        // matches v + pairs 2⁻ᵛ again is least where pairs 2⁻ᵛ again ln 2 is the number of matches.
        let best = (pairs * again * std::f64::consts::LN_2 / matches).log2();
        let bits = best.round().clamp(0.0, long.into()) as u8;
        let mistaken = mistaken.clamp(0.0, matches);
        let rejected = if mistaken > 0.0 { mistaken * rice::expected_len(matches / mistaken - 1.0) } else { 0.0 };
        let claim_bits = Claim::CHECKSUM_BITS as f64 + rejected;
        let again_bits = -(-pairs * (-f64::from(bits)).exp2()).exp_m1() * again;
        let saved = matches * f64::from(long - bits) - claim_bits - again_bits;
        (saved >= THIRD_MESSAGE_BITS).then_some(Self { bits, claim_bits, again_bits })
    }

    /// The same for the answer to a set whose ids are in `occupied` of `cells`, from a list of `other` ids.
    pub(super) fn of_answer(
        matches: u64,
        occupied: u64,
        cells: f64,
        other: u64,
        sent_bits: u64,
        long: u8,
    ) -> Option<Self> {
        let (matches, occupied, other) = (matches as f64, occupied as f64, other as f64);
        // As many ids as are expected to fill as many cells.
        let own = -cells * (-occupied / (cells + 1.0)).ln_1p();
        let rank_bits = rice::expected_len(occupied / matches);
        Self::worth_it(matches, other * occupied / cells, other * own / cells, sent_bits as f64, rank_bits, long)
    }
}
