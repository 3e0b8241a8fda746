use std::fmt;

use super::CodecError;
use super::bit_writer::low_bits;
use super::rice;
use crate::{ContentId, varint};
use furui::filter::{Gamma, RingedParams};
use furui::{HashAlgorithm, HashSpec};

/// The coding of a set of ids that is sent to the node that keeps another list, so that this node can determine which
/// ids of its list may be in the set.
///
/// | coding | T₁, bits of the set | T₂, bits of the answer |
/// |---|---|---|
/// | ids | 160 n₁ | ranks, no false positives |
/// | fixed Bloom | m | 160 for each match; many are false where n₁ is large |
/// | ringed Bloom | n₁ γ (eq. 7) | 160 for each match; α n₂ matches are false |
/// | Golomb | n₁ (log₂(cells / n₁) + 1.5) | a rank and v bits for each match; n₂ n₁ / cells matches are false |
///
/// Here n₁ is the number of ids in the set, and n₂ is the number of ids in the other list. The first three codings are
/// those of Sei, Matsuzaki and Honiden ("Using Ringed Bloom Filters", section 5): its Naive algorithm, and its TFA with
/// either filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// Sends all ids in full.
    #[default]
    Ids,
    /// Sends a Bloom filter whose size is independent of the set.
    Fixed {
        /// The number of bits, m: at least 1.
        bits: u32,
        /// The number of hash functions, k: 1 to 64.
        probes: u8,
    },
    /// Sends a ringed Bloom filter whose size is chosen for the set.
    Ringed(RingedParams),
    /// Sends a Golomb-Rice coded set.
    Golomb(Golomb),
}

/// The parameters of a Golomb-Rice coded set.
///
/// The ids are divided into equal cells, in their order: nothing is hashed, and a sorted list of ids yields a sorted
/// list of cells. The cells that contain an id of the set are encoded by their gaps in Rice code. The
/// parameter of the code follows from the number of these cells. In the answer, a match is identified by the rank of
/// its cell among these cells.
///
/// ```text
///   00…                                                            FF…
///    ├────┬────┬────┬────┬────┬────┬────┬────┬────┬────┬────┬────┤
///    │    │ ×  │    │    │  × │    │    │    │ ×  │    │    │    │    ids of C₁; gaps 1 2 3, in Rice code
///    │ ○  │    │    │  ○ │  ⊗ │    │ ○  │    │   ○│    │ ○  │    │    ids of C₂; answer: ranks 1 and 2, each with a check
///    └────┴────┴────┴────┴────┴────┴────┴────┴────┴────┴────┴────┘    of v bits; rank 2's check is not ×'s: rejected
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Golomb {
    /// b, 1 to 64: there are 2ᵇ cells. The cell of an id is given by the first b bits of the id.
    pub cell_bits: u8,
    /// v, 0 to 64: the number of bits of an id's keyed hash that are sent back with its rank. A false match is accepted
    /// as true with probability 2⁻ᵛ.
    pub check_bits: u8,
    /// The key of the check bits, chosen randomly for each query, so that a publisher cannot choose an id that has the
    /// same check bits as another id in every query.
    pub salt: u32,
    /// True if the answer may have fewer check bits, followed by a third message with a checksum of the remaining ids:
    /// see [`Session`](super::Session).
    pub three_messages: bool,
}

impl Golomb {
    /// The number of cells, 2ᵇ.
    pub(crate) fn cells(&self) -> f64 {
        f64::from(self.cell_bits).exp2()
    }

    /// The index of the last cell of the range.
    pub(super) fn last_cell(&self) -> u64 {
        u64::MAX >> (64 - self.cell_bits)
    }

    /// The index of the cell of an id.
    #[inline]
    pub(super) fn cell(&self, id: ContentId) -> u64 {
        id.head() >> (64 - self.cell_bits)
    }

    /// The ids of a sorted list, cell by cell. Empty cells are left out.
    pub(super) fn occupied<'a>(&self, own: &'a [ContentId]) -> impl Iterator<Item = &'a [ContentId]> {
        own.chunk_by(|a, b| self.cell(*a) == self.cell(*b))
    }

    /// The Rice parameter for `count` occupied cells. `None` if there are fewer cells.
    pub(super) fn rice(&self, count: u64) -> Option<u32> {
        Some(rice::parameter(self.last_cell().checked_sub(count.saturating_sub(1))?, count))
    }

    /// The check bits of an id: the lowest v bits of its SipHash-1-3 keyed by the salt.
    #[inline]
    pub fn check(&self, id: ContentId) -> u64 {
        let spec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: self.salt.into() };
        spec.hash(id.as_bytes()).get() & low_bits(self.check_bits.into())
    }

    /// The sum of the ids' keyed hashes. The key differs from that of the check bits.
    pub(super) fn checksum(&self, ids: impl Iterator<Item = ContentId>) -> u64 {
        let spec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: (!self.salt).into() };
        ids.fold(0, |sum, id| sum.wrapping_add(spec.hash(id.as_bytes()).get()))
    }

    fn validated(self) -> Result<Self, CodecError> {
        let Self { cell_bits: 1..=64, check_bits: 0..=64, .. } = self else {
            return Err(CodecError::Golomb { cell_bits: self.cell_bits, check_bits: self.check_bits });
        };
        Ok(self)
    }
}

const IDS: u8 = 0;
const FIXED: u8 = 1;
const RINGED: u8 = 2;
const GOLOMB: u8 = 3;
const GOLOMB_THREE: u8 = 4;

/// The encoding of γ = 1: γ is encoded in units of 2⁻³² bits.
const GAMMA_UNIT: f64 = 4_294_967_296.0;

impl Coding {
    /// The maximum length of a tag and its parameters, in bytes.
    pub(crate) const MAX_HEADER: usize = 15;

    /// Encodes the tag and the parameters of the coding, as at the beginning of a set.
    pub(crate) fn header(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// Decodes a [`header`](Self::header). `None` if it is invalid.
    pub(crate) fn from_header(mut bytes: &[u8]) -> Option<Self> {
        Self::read(&mut bytes).filter(|_| bytes.is_empty())
    }

    /// Returns the coding, or an error if its parameters are invalid.
    pub(super) fn validated(self) -> Result<Self, CodecError> {
        match self {
            Self::Fixed { bits, probes } if bits == 0 || !(1..=64).contains(&probes) => {
                Err(CodecError::Fixed { bits, probes })
            }
            Self::Golomb(golomb) => golomb.validated().map(Self::Golomb),
            _ => Ok(self),
        }
    }

    /// Appends the encoded tag and parameters of the coding to `bytes`.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        match *self {
            Self::Ids => bytes.push(IDS),
            Self::Fixed { bits, probes } => {
                bytes.extend([FIXED, probes]);
                varint::put(bytes, bits.into());
            }
            Self::Ringed(params) => {
                bytes.extend([RINGED, params.probes() as u8]);
                bytes.extend(((params.gamma() * GAMMA_UNIT) as u64).to_le_bytes());
                varint::put(bytes, params.delta().into());
            }
            Self::Golomb(Golomb { cell_bits, check_bits, salt, three_messages }) => {
                let tag = if three_messages { GOLOMB_THREE } else { GOLOMB };
                bytes.extend([tag, cell_bits, check_bits]);
                bytes.extend(salt.to_le_bytes());
            }
        }
    }

    /// Decodes a tag and parameters that [`write`](Self::write) has encoded. `None` if they are invalid.
    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let [tag] = take(bytes)?;
        let coding = match tag {
            IDS => Self::Ids,
            FIXED => {
                let [probes] = take(bytes)?;
                Self::Fixed { bits: varint::take(bytes)?.try_into().ok()?, probes }
            }
            RINGED => {
                let [probes] = take(bytes)?;
                let gamma = Gamma::Bits(u64::from_le_bytes(take(bytes)?) as f64 / GAMMA_UNIT);
                Self::Ringed(RingedParams::new(probes.into(), gamma, varint::take(bytes)?.try_into().ok()?).ok()?)
            }
            GOLOMB | GOLOMB_THREE => {
                let [cell_bits, check_bits] = take(bytes)?;
                let salt = u32::from_le_bytes(take(bytes)?);
                Self::Golomb(Golomb { cell_bits, check_bits, salt, three_messages: tag == GOLOMB_THREE })
            }
            _ => return None,
        };
        coding.validated().ok()
    }
}

/// Removes `N` bytes from the front; `None` if there are fewer.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (&taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(taken)
}

impl fmt::Display for Coding {
    /// Writes the name of the coding and its parameters, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ids => f.write_str("ids"),
            Self::Fixed { bits, probes } => write!(f, "fixed filter (k = {probes}, {bits} bits)"),
            Self::Ringed(params) => {
                let (k, delta) = (params.probes(), params.delta());
                let gamma = (params.gamma() * 1e4).round() / 1e4;
                write!(f, "ringed filter (k = {k}, gamma = {gamma}, delta = {delta})")
            }
            Self::Golomb(Golomb { cell_bits, check_bits, .. }) => {
                write!(f, "Golomb-Rice coded set (cells of 2^-{cell_bits}, checks of {check_bits} bits)")
            }
        }
    }
}
