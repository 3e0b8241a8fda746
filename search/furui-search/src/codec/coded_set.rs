use super::answer;
use super::bit_writer::BitWriter;
use super::rice::{self, Ascending};
use super::{CodecError, Coded, Coding, Golomb, MAX_FILTER_BYTES, MAX_SET};
use crate::{ContentId, varint};
use furui::KeyHash;
use furui::filter::{Bloom, FilterMut, RingedBloom};

/// A decoded set of ids that another node has sent. A [`Matcher`](super::Matcher) compares a list with it.
///
/// Decoding checks all bytes in one pass. The decoded set takes about as much memory as the encoded one, whose bytes
/// are described in docs/protocol.md, "Coded sets".
#[derive(Clone, Debug)]
pub struct CodedSet {
    coding: Coding,
    pub(super) body: Body,
}

/// The contents of a coded set after its tag and parameters.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Ids(Vec<ContentId>),
    Fixed(Bloom),
    /// A ringed Bloom filter; `None` if the set is empty.
    Ringed(Option<RingedBloom>),
    Golomb {
        golomb: Golomb,
        /// The number of cells that contain an id of the set.
        cells: u64,
        rice: u32,
        bits: Vec<u8>,
    },
}

impl CodedSet {
    /// Encodes a set of ascending ids. Cost: a filter needs one pass over the ids with k cache lines per id; Golomb
    /// needs two passes.
    ///
    /// # Errors
    /// If there are more than [`MAX_SET`] ids, if the result would exceed [`MAX_FILTER_BYTES`], if the parameters of
    /// the coding are invalid, or if ids are out of order.
    pub fn encode(own: &[ContentId], coding: Coding) -> Result<Coded, CodecError> {
        let coding = coding.validated()?;
        check_set(own)?;
        let mut bytes = Vec::new();
        coding.write(&mut bytes);
        let n = own.len() as u64;
        let bits = match coding {
            Coding::Ids => answer::put_ids(&mut bytes, own),
            Coding::Fixed { bits, probes } => {
                check_size(bits.into())?;
                let mut filter = Bloom::from_parts(bits.into(), probes.into())?;
                insert_all(&mut filter, own);
                bytes.extend(filter.as_bytes());
                bits.into()
            }
            Coding::Ringed(params) => {
                varint::put(&mut bytes, n);
                if own.is_empty() {
                    return Ok(Coded { bytes, bits: 0 });
                }
                let bits = params.bits(n)?;
                check_size(bits)?;
                let mut filter = RingedBloom::with_size(params, n)?;
                insert_all(&mut filter, own);
                bytes.extend(filter.as_bytes());
                bits
            }
            Coding::Golomb(golomb) => {
                let occupied = || golomb.occupied(own).map(|ids| golomb.cell(ids[0]));
                let count = occupied().count() as u64;
                let rice = golomb.rice(count).expect("no more cells than there are");
                let bits = rice::gaps(occupied()).map(|gap| rice::len(gap, rice)).sum();
                check_size(bits)?;
                varint::put(&mut bytes, count);
                let mut writer = BitWriter::default();
                rice::gaps(occupied()).for_each(|gap| rice::push(&mut writer, gap, rice));
                bytes.extend(writer.finish());
                bits
            }
        };
        Ok(Coded { bytes, bits })
    }

    /// Decodes a set.
    ///
    /// # Errors
    /// If the bytes are not exactly one coded set, or exceed [`MAX_SET`] ids or [`MAX_FILTER_BYTES`].
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let mut rest = bytes;
        let malformed = CodecError::Malformed;
        let coding = Coding::read(&mut rest).ok_or(malformed("an invalid tag or invalid parameters"))?;
        let mut count = || {
            let count = varint::take(&mut rest).ok_or(malformed("an invalid number of ids"))?;
            if count > MAX_SET as u64 { Err(too_many_ids()) } else { Ok(count) }
        };
        let body = match coding {
            Coding::Ids => {
                let count = count()?;
                Body::Ids(answer::take_ids(rest, count)?)
            }
            Coding::Fixed { bits, probes } => {
                check_size(bits.into())?;
                let filter = Bloom::from_bytes(bits.into(), probes.into(), rest);
                Body::Fixed(filter.map_err(|_| not_the_table())?)
            }
            Coding::Ringed(params) => {
                let count = count()?;
                if count == 0 && !rest.is_empty() {
                    return Err(not_the_table());
                }
                let filter = (count > 0).then(|| {
                    check_size(params.bits(count)?)?;
                    RingedBloom::from_bytes(params, count, rest).map_err(|_| not_the_table())
                });
                Body::Ringed(filter.transpose()?)
            }
            Coding::Golomb(golomb) => {
                let count = count()?;
                let bits = rest;
                if bits.len() > MAX_FILTER_BYTES {
                    return Err(too_many_bytes());
                }
                let rice = golomb.rice(count).ok_or(malformed("more cells than there are"))?;
                let mut cells = Ascending::new(count, rice);
                while let Some(cell) = cells.next(bits) {
                    if cell > golomb.last_cell() {
                        return Err(malformed("a cell beyond the last"));
                    }
                }
                if !cells.is_done(bits) {
                    return Err(malformed("a different number of cells than it states"));
                }
                Body::Golomb { golomb, cells: count, rice, bits: bits.into() }
            }
        };
        Ok(Self { coding, body })
    }

    /// The coding of the set, with its parameters.
    pub fn coding(&self) -> Coding {
        self.coding
    }
}

/// Rejects a set that is too large or out of order.
fn check_set(own: &[ContentId]) -> Result<(), CodecError> {
    match own.len() {
        0..=MAX_SET if own.is_sorted_by(|a, b| a < b) => Ok(()),
        0..=MAX_SET => Err(CodecError::Order),
        _ => Err(too_many_ids()),
    }
}

fn check_size(bits: u64) -> Result<(), CodecError> {
    if bits > 8 * MAX_FILTER_BYTES as u64 { Err(too_many_bytes()) } else { Ok(()) }
}

fn not_the_table() -> CodecError {
    CodecError::Malformed("a filter of a different size than it states")
}

fn insert_all(filter: &mut impl FilterMut, ids: &[ContentId]) {
    let hashes: Vec<KeyHash> = ids.iter().map(|id| id.hash()).collect();
    filter.insert_all(&hashes).expect("Bloom filters are never full");
}

fn too_many_ids() -> CodecError {
    CodecError::TooMany { what: "ids in a set", most: MAX_SET as u64 }
}

fn too_many_bytes() -> CodecError {
    CodecError::TooMany { what: "bytes of a filter", most: MAX_FILTER_BYTES as u64 }
}
