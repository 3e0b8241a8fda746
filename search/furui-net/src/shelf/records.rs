//! Blocks of records that are compressed together.

use std::collections::BTreeMap;

use redb::ReadableTable;

use super::documents::{DocumentEntry, Documents};
use super::fault::{Fault, Outcome};
use super::packed::{self, Effort};
use super::tables::Tablets;
use super::{MAX_RECORD, varint};

/// The maximum length of a block of compressed records, in bytes: sixteen pages of the database, less the database's
/// own overhead.
const BLOCK_BYTES: usize = 65_400;
/// The minimum length in bytes at which a block of records counts as full, so that it is not extended. The value is a
/// choice, not a measurement.
const FULL: usize = BLOCK_BYTES * 7 / 8;
/// The maximum uncompressed length, in bytes, of the records in a block with more than one record. To read one record,
/// its whole block is decompressed. The value is a choice, not a measurement.
const RAW_BYTES: usize = 1 << 20;
/// The uncompressed length, in bytes, of the first attempt to fill a block of records. It suits text that compresses
/// well. The value is a choice, not a measurement.
const FIRST_RAW: usize = 320 << 10;
/// The maximum number of attempts to find the records that fill a compressed block. The value is a choice, not a
/// measurement.
const TRIES: usize = 3;
/// The maximum uncompressed length of a block of records, in bytes.
const MAX_RAW: usize = MAX_RECORD + RAW_BYTES + (1 << 20);

/// The records of a compressed block, each with the number of its document.
pub(super) type RecordBlock = Vec<(u32, Vec<u8>)>;

/// Compresses records into blocks, in their order. Returns for each block the number of its records, and its bytes.
pub(super) fn pack(mut records: &[(u32, Vec<u8>)]) -> Vec<(usize, Vec<u8>)> {
    let mut blocks = vec![];
    let mut aim = FIRST_RAW;
    while !records.is_empty() {
        let mut best = None;
        for _ in 0..TRIES {
            let (count, raw) = first_of(records, aim);
            let block = pack_block(&records[..count]);
            // The next attempt aims at the uncompressed length that would fill a block if the records compressed as
            // this block did.
            aim = (raw * BLOCK_BYTES / block.len() * 63 / 64).min(RAW_BYTES);
            let done = block.len() >= FULL || count == records.len() || raw >= RAW_BYTES * 7 / 8;
            let fits = block.len() <= BLOCK_BYTES || count == 1;
            if fits && best.as_ref().is_none_or(|&(most, _)| most < count) {
                best = Some((count, block));
            }
            if fits && done {
                break;
            }
        }
        let (count, block) = best.unwrap_or_else(|| (1, pack_block(&records[..1])));
        blocks.push((count, block));
        records = &records[count..];
    }
    blocks
}

/// Finds the longest prefix of the records with at most `aim` bytes in total, but at least one record. Returns the
/// number of these records, and the number of their bytes.
fn first_of(records: &[(u32, Vec<u8>)], aim: usize) -> (usize, usize) {
    let (mut count, mut raw) = (0, 0);
    for (_, record) in records {
        if count > 0 && raw + record.len() > aim {
            break;
        }
        count += 1;
        raw += record.len();
    }
    (count, raw)
}

fn pack_block(records: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut raw = vec![];
    varint::put(&mut raw, records.len() as u64);
    for (number, record) in records {
        varint::put(&mut raw, u64::from(*number));
        varint::put(&mut raw, record.len() as u64);
    }
    records.iter().for_each(|(_, record)| raw.extend(record));
    packed::pack(&raw, Effort::Much)
}

/// Decompresses the block with the number `block` to a buffer, which saves the memory of the next such call, and
/// returns the record of the document `number` in it.
pub(super) fn find(buffer: &mut Vec<u8>, block: u32, bytes: &[u8], number: u32) -> Outcome<Vec<u8>> {
    let records = if packed::unpack_into(buffer, bytes, MAX_RAW) { split(buffer) } else { None };
    let record = records.and_then(|records| records.into_iter().find(|(other, _)| *other == number));
    record.map(|(_, record)| record.to_vec()).ok_or_else(|| Fault::damaged("records", block))
}

/// The records in the bytes of a decompressed block, each with the number of its document; `None` if the bytes are no
/// block.
fn split(raw: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let mut rest = raw;
    let count = usize::try_from(varint::take(&mut rest)?).ok().filter(|&count| count <= rest.len())?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push((varint::take_u32(&mut rest)?, usize::try_from(varint::take(&mut rest)?).ok()?));
    }
    let records = lengths.into_iter().map(|(number, length)| Some((number, rest.split_off(..length)?)));
    let records = records.collect::<Option<_>>()?;
    rest.is_empty().then_some(records)
}

/// Returns the records of a block that are not obsolete, and the number of all its records. The entries of these
/// documents are added to `changed`, because their records may be stored in another block.
pub(super) fn living(
    block: u32,
    row: &[u8],
    older: &mut Documents<'_>,
    changed: &mut BTreeMap<u32, DocumentEntry>,
) -> Outcome<(RecordBlock, usize)> {
    let raw = packed::unpack(row, MAX_RAW);
    let all = raw.as_deref().and_then(split).ok_or_else(|| Fault::damaged("records", block))?;
    let mut records = vec![];
    for &(number, record) in &all {
        if let Some(document) = older.get(number)?.filter(|document| document.block == Some(block)) {
            changed.entry(number).or_insert(document);
        }
        if changed.get(&number).is_some_and(|document| document.block == Some(block)) {
            records.push((number, record.to_vec()));
        }
    }
    Ok((records, all.len()))
}

/// Writes records into blocks, which are numbered from `next` on. If the previous block is not full, it is rewritten
/// with its old records and the first new ones. Sets the block in the entry of each document in `changed`. Returns the
/// number after the last block.
pub(super) fn append(
    tables: &mut Tablets<'_>,
    older: &mut Documents<'_>,
    mut next: u32,
    mut records: RecordBlock,
    changed: &mut BTreeMap<u32, DocumentEntry>,
) -> Outcome<u32> {
    if records.is_empty() {
        return Ok(next);
    }
    if let Some(last) = next.checked_sub(1) {
        let open = tables.records.get(last)?.map(|row| row.value().to_vec()).filter(|row| row.len() < FULL);
        if let Some(row) = open {
            let (mut before, _) = living(last, &row, older, changed)?;
            before.append(&mut records);
            records = before;
            next = last;
        }
    }
    let mut rest = records.as_slice();
    for (count, block) in pack(rest) {
        let (here, after) = rest.split_at(count);
        for (number, _) in here {
            let document = changed.get_mut(number).ok_or_else(|| Fault::damaged("records", next))?;
            document.block = Some(next);
        }
        tables.records.insert(next, block.as_slice())?;
        next = next.checked_add(1).filter(|&next| next < u32::MAX).ok_or_else(|| Fault::damaged("records", next))?;
        rest = after;
    }
    Ok(next)
}
