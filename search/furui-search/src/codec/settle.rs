use super::answer::{self, Checked};
use super::{Claim, CodecError, Coding, Golomb};
use crate::ContentId;

/// The result of an exchange for the side that sent the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The ascending indices, in the set that was sent, of the ids that are in both lists.
    pub both: Vec<u32>,
    /// For each id of `both`, the index of its match in the answer.
    pub of: Vec<u32>,
    /// The number of matches in the answer.
    pub matches: usize,
    /// The bits of the answer, as [`Coded::bits`](super::Coded::bits) counts them: T₂.
    pub bits: u64,
    /// The third message; `None` if there is none. Until the other side confirms it, `both` may contain false
    /// positives.
    pub claim: Option<Claim>,
}

/// Decodes the answer to the set `own`, which was encoded with `coding`, and determines which of the ids are in both
/// lists.
///
/// False matches are removed. A match that is sent as a full id is compared with the ids of the set. Any other match is
/// sent with check bits, which are compared with those of the set's ids in the same cell; a false match is accepted
/// with probability 2⁻ᵛ.
///
/// # Errors
/// If the bytes are not an answer to this set, because the peer does not keep to the protocol.
pub fn settle(own: &[ContentId], coding: Coding, matches: &[u8]) -> Result<Settlement, CodecError> {
    match coding {
        Coding::Ids => {
            let (both, bits) = answer::decode_ranks(matches, own.len() as u64)?;
            Ok(Settlement { of: (0..both.len() as u32).collect(), matches: both.len(), both, bits, claim: None })
        }
        Coding::Fixed { .. } | Coding::Ringed(_) => {
            let ids = answer::decode_ids(matches)?;
            let bits = ContentId::BITS * ids.len() as u64;
            let (mut both, mut of, mut next) = (Vec::new(), Vec::new(), 0);
            for (place, id) in (0..).zip(&ids) {
                next += own[next..].partition_point(|own| own < id);
                if own.get(next) == Some(id) {
                    both.push(next as u32);
                    of.push(place);
                }
            }
            Ok(Settlement { both, of, matches: ids.len(), bits, claim: None })
        }
        Coding::Golomb(golomb) => settle_checked(own, golomb, matches),
    }
}

fn settle_checked(own: &[ContentId], golomb: Golomb, bytes: &[u8]) -> Result<Settlement, CodecError> {
    let count = golomb.occupied(own).count() as u64;
    let Checked { matches, check_bits, bits } = answer::decode_checked(bytes, count, &golomb)?;
    let is_short = check_bits < golomb.check_bits;
    let golomb = Golomb { check_bits, ..golomb };

    let (mut both, mut of, mut rejected, mut place, mut position) = (Vec::new(), Vec::new(), Vec::new(), 0, 0);
    let mut of_cells = matches.chunk_by(|a, b| a.0 == b.0).peekable();
    for (rank, ids) in golomb.occupied(own).enumerate() {
        if let Some(of_cell) = of_cells.next_if(|of_cell| of_cell[0].0 as usize == rank) {
            let checks: Vec<u64> = ids.iter().map(|&id| golomb.check(id)).collect();
            for (place, check) in (place..).zip(&checks) {
                if let Some(first) = of_cell.iter().position(|(_, other)| other == check) {
                    both.push(place);
                    of.push(position + first as u32);
                }
            }
            let lost = |(_, check): &(u32, u64)| !checks.contains(check);
            rejected.extend((position..).zip(of_cell).filter(|(_, of)| lost(of)).map(|(position, _)| position));
            position += of_cell.len() as u32;
        }
        place += ids.len() as u32;
    }
    let claim = is_short.then(|| Claim {
        rejected: answer::encode_ranks(&rejected, matches.len() as u64),
        checksum: golomb.checksum(both.iter().map(|&place| own[place as usize])),
    });
    Ok(Settlement { both, of, matches: matches.len(), bits, claim })
}
