//! Encodes and decodes the answers to coded sets.

use super::bit_reader::BitReader;
use super::bit_writer::BitWriter;
use super::rice::{self, Ascending};
use super::{CodecError, Coded, Golomb, MAX_MATCHES, MAX_PER_CELL};
use crate::{ContentId, varint};

/// Encodes strictly ascending numbers below `universe`: the ranks of matches in a set of that size.
pub(super) fn encode_ranks(ranks: &[u32], universe: u64) -> Coded {
    let count = ranks.len() as u64;
    let rice = rice::parameter(universe - count, count);
    let mut writer = BitWriter::default();
    rice::gaps(ranks.iter().map(|&rank| rank.into())).for_each(|gap| rice::push(&mut writer, gap, rice));
    sealed(count, None, writer)
}

/// Decodes ranks below `universe` that [`encode_ranks`] has encoded. Returns them and their number of bits.
pub(super) fn decode_ranks(mut bytes: &[u8], universe: u64) -> Result<(Vec<u32>, u64), CodecError> {
    let count = read_count(&mut bytes)?;
    let malformed = CodecError::Malformed("ranks out of order or out of range");
    let rice = rice::parameter(universe.checked_sub(count).ok_or(malformed.clone())?, count);
    let mut numbers = Ascending::new(count, rice);
    let mut ranks = Vec::new();
    while let Some(rank) = numbers.next(bytes) {
        if rank >= universe {
            return Err(malformed);
        }
        ranks.push(rank as u32);
    }
    if numbers.is_done(bytes) { Ok((ranks, numbers.position())) } else { Err(malformed) }
}

/// Encodes ascending ranks among `cells` occupied cells, each with the check bits of an id in the cell. If a third
/// message is allowed, the number of check bits is encoded too.
pub(super) fn encode_checked(ranks: &[u32], ids: &[ContentId], cells: u64, golomb: &Golomb) -> Coded {
    let count = ranks.len() as u64;
    let rice = rice::parameter(cells, count);
    let mut writer = BitWriter::default();
    let mut last = 0;
    for (&rank, &id) in ranks.iter().zip(ids) {
        rice::push(&mut writer, (rank - last).into(), rice);
        writer.push_bits(golomb.check(id), golomb.check_bits.into());
        last = rank;
    }
    let check_bits = (golomb.three_messages && count > 0).then_some(golomb.check_bits);
    sealed(count, check_bits, writer)
}

/// The decoded matches of a Golomb-Rice coded set.
pub(super) struct Checked {
    /// The rank and the check bits of each match.
    pub(super) matches: Vec<(u32, u64)>,
    /// The number of check bits of a match.
    pub(super) check_bits: u8,
    /// The number of bits of all ranks and check bits.
    pub(super) bits: u64,
}

/// Decodes matches that [`encode_checked`] has encoded.
pub(super) fn decode_checked(mut bytes: &[u8], cells: u64, golomb: &Golomb) -> Result<Checked, CodecError> {
    let count = read_count(&mut bytes)?;
    let mut check_bits = golomb.check_bits;
    if golomb.three_messages && count > 0 {
        let malformed = CodecError::Malformed("an invalid number of check bits");
        check_bits = *bytes.split_off_first().filter(|&&bits| bits <= golomb.check_bits).ok_or(malformed)?;
    }
    let rice = rice::parameter(cells, count);
    let mut reader = BitReader::new(bytes, 0);
    let mut matches: Vec<(u32, u64)> = Vec::new();
    let mut last: u64 = 0;
    for _ in 0..count {
        let gap = reader.rice(rice);
        let rank = gap.and_then(|gap| last.checked_add(gap)).filter(|&rank| rank < cells);
        let (Some(rank), Some(check)) = (rank, reader.bits(check_bits.into())) else {
            return Err(CodecError::Malformed("ranks out of range, or fewer ranks than it states"));
        };
        matches.push((rank as u32, check));
        last = rank;
    }
    if !reader.is_done() {
        return Err(CodecError::Malformed("bytes after the last match"));
    }
    if matches.chunk_by(|a, b| a.0 == b.0).any(|of_cell| of_cell.len() > MAX_PER_CELL) {
        return Err(CodecError::Malformed("too many matches in one cell"));
    }
    Ok(Checked { matches, check_bits, bits: reader.position() })
}

/// Appends ids in full, after their number. Returns their bits as the paper counts them.
pub(super) fn put_ids(bytes: &mut Vec<u8>, ids: &[ContentId]) -> u64 {
    varint::put(bytes, ids.len() as u64);
    ids.iter().for_each(|id| bytes.extend(id.as_bytes()));
    ContentId::BITS * ids.len() as u64
}

/// Decodes the ids of an answer to a filter.
pub(super) fn decode_ids(mut bytes: &[u8]) -> Result<Vec<ContentId>, CodecError> {
    let count = read_count(&mut bytes)?;
    take_ids(bytes, count)
}

/// Decodes `count` ids, to the end of the bytes. The error means that the bytes are invalid, or the ids not ascending.
pub(super) fn take_ids(bytes: &[u8], count: u64) -> Result<Vec<ContentId>, CodecError> {
    let (ids, rest) = bytes.as_chunks();
    if ids.len() as u64 != count || !rest.is_empty() {
        return Err(CodecError::Malformed("a different number of ids than it states"));
    }
    let ids: Vec<_> = ids.iter().map(|&id| ContentId::new(id)).collect();
    if ids.is_sorted_by(|a, b| a < b) { Ok(ids) } else { Err(CodecError::Malformed("ids out of order")) }
}

fn read_count(bytes: &mut &[u8]) -> Result<u64, CodecError> {
    let count = varint::take(bytes).ok_or(CodecError::Malformed("an invalid number of matches"))?;
    if count > MAX_MATCHES as u64 {
        return Err(CodecError::Malformed("too many matches"));
    }
    Ok(count)
}

fn sealed(count: u64, check_bits: Option<u8>, writer: BitWriter) -> Coded {
    let bits = writer.len();
    let mut bytes = Vec::new();
    varint::put(&mut bytes, count);
    bytes.extend(check_bits);
    bytes.extend(writer.finish());
    Coded { bytes, bits }
}
