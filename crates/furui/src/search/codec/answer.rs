//! The answer's bytes.

use super::bit_reader::BitReader;
use super::coded_set::check_set;
use super::field::{Fields, push_number};
use super::rice::{self, Ascending};
use super::{CodecError, Coded, Golomb, IdRange, MAX_MATCHES, MAX_PER_CELL, Session};
use crate::bits::BitWriter;
use crate::search::ContentId;

/// The answer to a coded set: which ids of the other list may be in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// What is sent back, with T₂.
    pub coded: Coded,
    /// What to keep for the third message, if there is to be one.
    pub session: Option<Session>,
}

/// Codes strictly ascending numbers below `universe`.
pub(super) fn encode_ranks(ranks: &[u32], universe: u64) -> Coded {
    let count = ranks.len() as u64;
    let rice = rice::parameter(universe - count, count);
    let mut writer = BitWriter::default();
    rice::gaps(ranks.iter().map(|&rank| rank.into())).for_each(|gap| rice::push(&mut writer, gap, rice));
    sealed(count, writer)
}

/// Reads what [`encode_ranks`] wrote.
pub(super) fn decode_ranks(bytes: &[u8], universe: u64) -> Result<Vec<u32>, CodecError> {
    let mut fields = Fields(bytes);
    let count = read_count(&mut fields)?;
    let malformed = CodecError::Malformed("ranks that are out of order or range");
    let rice = rice::parameter(universe.checked_sub(count).ok_or(malformed.clone())?, count);
    let mut numbers = Ascending::new(count, rice);
    let mut ranks = Vec::new();
    while let Some(rank) = numbers.next(fields.0) {
        if rank >= universe {
            return Err(malformed);
        }
        ranks.push(rank as u32);
    }
    if numbers.is_done(fields.0) { Ok(ranks) } else { Err(malformed) }
}

/// Codes the ranks of cells, ascending, among `cells` of them, each with the check of the id that is in it.
pub(super) fn encode_checked(ranks: &[u32], ids: &[ContentId], cells: u64, golomb: &Golomb) -> Coded {
    let rice = rice::parameter(cells, ranks.len() as u64);
    let mut writer = BitWriter::default();
    let mut last = 0;
    for (&rank, &id) in ranks.iter().zip(ids) {
        rice::push(&mut writer, (rank - last).into(), rice);
        writer.push_bits(golomb.check(id), golomb.check_bits.into());
        last = rank;
    }
    sealed(ranks.len() as u64, writer)
}

/// Reads what [`encode_checked`] wrote: rank and check of each match.
pub(super) fn decode_checked(bytes: &[u8], cells: u64, golomb: &Golomb) -> Result<Vec<(u32, u64)>, CodecError> {
    let mut fields = Fields(bytes);
    let count = read_count(&mut fields)?;
    let rice = rice::parameter(cells, count);
    let mut reader = BitReader::new(fields.0, 0);
    let mut matches: Vec<(u32, u64)> = Vec::new();
    let mut last: u64 = 0;
    for _ in 0..count {
        let gap = reader.rice(rice);
        let rank = gap.and_then(|gap| last.checked_add(gap)).filter(|&rank| rank < cells);
        let (Some(rank), Some(check)) = (rank, reader.bits(golomb.check_bits.into())) else {
            return Err(CodecError::Malformed("ranks that are out of range, or fewer than it says"));
        };
        matches.push((rank as u32, check));
        last = rank;
    }
    if !reader.is_done() {
        return Err(CodecError::Malformed("bytes after the last match"));
    }
    if matches.chunk_by(|a, b| a.0 == b.0).any(|of_cell| of_cell.len() > MAX_PER_CELL) {
        return Err(CodecError::Malformed("more matches in one cell than there may be"));
    }
    Ok(matches)
}

/// Codes ids in full.
pub(super) fn encode_ids(ids: &[ContentId]) -> Coded {
    let mut bytes = Vec::new();
    push_number(&mut bytes, ids.len() as u64);
    ids.iter().for_each(|id| bytes.extend(id.as_bytes()));
    Coded { bytes, bits: ContentId::BITS * ids.len() as u64 }
}

/// Reads what [`encode_ids`] wrote; they are in order and range.
pub(super) fn decode_ids(bytes: &[u8], range: IdRange) -> Result<Vec<ContentId>, CodecError> {
    let mut fields = Fields(bytes);
    let count = read_count(&mut fields)?;
    let (ids, rest) = fields.0.as_chunks();
    if ids.len() as u64 != count || !rest.is_empty() {
        return Err(CodecError::Malformed("not as many ids as it says"));
    }
    let ids: Vec<_> = ids.iter().map(|&id| ContentId::new(id)).collect();
    check_set(&ids, range).map_err(|_| CodecError::Malformed("ids out of order or range"))?;
    Ok(ids)
}

fn read_count(fields: &mut Fields<'_>) -> Result<u64, CodecError> {
    let count = fields.number().ok_or(CodecError::Malformed("a number of matches"))?;
    if count > MAX_MATCHES as u64 {
        return Err(CodecError::Malformed("more matches than there may be"));
    }
    Ok(count)
}

fn sealed(count: u64, writer: BitWriter) -> Coded {
    let bits = writer.len();
    let mut bytes = Vec::new();
    push_number(&mut bytes, count);
    bytes.extend(&writer.finish()[..bits.div_ceil(8) as usize]);
    Coded { bytes, bits }
}
