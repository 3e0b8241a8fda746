//! The lists of words: a word's row has their length and fingerprint, and the document numbers themselves if they are few;
//! longer lists are in blocks of their own.

use redb::ReadableTable;

use super::fault::{Fault, Outcome};
use super::tables::{Row, Tablets, View};
use super::varint;

/// The most bytes of document numbers in a word's own row.
const INLINE_BYTES: usize = 256;
/// The most bytes of a block: one fills a page of the database.
const BLOCK_BYTES: usize = 4064;

/// How long a list is, and the sum of the hashes of its ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) ids: u64,
    pub(super) sum: u64,
}

impl Extent {
    /// The extent of a word's row, and the numbers that are in the row itself: none if they are in blocks.
    fn read(word: u32, row: &[u8]) -> Outcome<(Self, &[u8])> {
        let mut rest = row;
        let ids = varint::take(&mut rest).filter(|&ids| ids > 0);
        let (ids, (sum, inline)) = ids.zip(rest.split_first_chunk()).ok_or_else(|| Fault::damaged("words", word))?;
        Ok((Self { ids, sum: u64::from_le_bytes(*sum) }, inline))
    }

    fn row(self) -> Vec<u8> {
        let mut row = Vec::with_capacity(18 + INLINE_BYTES);
        varint::put(&mut row, self.ids);
        row.extend(self.sum.to_le_bytes());
        row
    }
}

/// The extent of a list that is in the tables.
pub(super) fn extent(words: &impl ReadableTable<u32, Row>, word: u32) -> Outcome<Extent> {
    match words.get(word)? {
        Some(row) => Ok(Extent::read(word, row.value())?.0),
        None => Ok(Extent::default()),
    }
}

/// Shows the document numbers of a list in ascending order, some at a time.
pub(super) fn read(view: &View, word: u32, mut show: impl FnMut(&[u32]) -> Outcome<()>) -> Outcome<()> {
    let mut numbers = vec![];
    let Some(row) = view.words.get(word)? else { return Ok(()) };
    let (_, inline) = Extent::read(word, row.value())?;
    if !inline.is_empty() {
        decode(word, inline, &mut numbers)?;
        return show(&numbers);
    }
    for block in view.lists.range((word, 0)..=(word, u32::MAX))? {
        let (key, block) = block?;
        numbers.clear();
        decode_block(key.value(), block.value(), &mut numbers)?;
        show(&numbers)?;
    }
    Ok(())
}

/// Takes out of `numbers`, which ascend, those that are in the list.
pub(super) fn retain_new(view: &View, word: u32, numbers: &mut Vec<u32>) -> Outcome<()> {
    let Some(row) = view.words.get(word)? else { return Ok(()) };
    let (_, inline) = Extent::read(word, row.value())?;
    let mut block = vec![];
    if !inline.is_empty() {
        decode(word, inline, &mut block)?;
        numbers.retain(|number| block.binary_search(number).is_err());
        return Ok(());
    }
    let mut new = vec![];
    // The numbers that would be in the block at hand are those below this one.
    let mut until = Some(0);
    for &number in &*numbers {
        if until.is_some_and(|until| until <= number) {
            block.clear();
            if let Some(row) = view.lists.range((word, 0)..=(word, number))?.next_back() {
                let (key, row) = row?;
                decode_block(key.value(), row.value(), &mut block)?;
            }
            until = match view.lists.range((word, number.saturating_add(1))..=(word, u32::MAX))?.next() {
                Some(row) => Some(row?.0.value().1),
                None => None,
            };
        }
        if block.binary_search(&number).is_err() {
            new.push(number);
        }
    }
    *numbers = new;
    Ok(())
}

/// Adds numbers that ascend and are not in the list; `sum` is that of their ids' hashes. True if the list is new.
pub(super) fn add(tables: &mut Tablets<'_>, word: u32, fresh: &[u32], sum: u64) -> Outcome<bool> {
    let mut extent = Extent::default();
    let mut numbers = vec![];
    if let Some(row) = tables.words.get(word)? {
        let (found, inline) = Extent::read(word, row.value())?;
        extent = found;
        decode(word, inline, &mut numbers)?;
    }
    let new = extent.ids == 0;
    let in_blocks = !new && numbers.is_empty();
    extent.ids += fresh.len() as u64;
    extent.sum = extent.sum.wrapping_add(sum);
    let mut row = extent.row();
    if in_blocks {
        add_to_blocks(tables, word, fresh)?;
    } else {
        merge(&mut numbers, fresh);
        let head = row.len();
        varint::put_ascending(&mut row, &numbers);
        if row.len() - head > INLINE_BYTES {
            row.truncate(head);
            write_blocks(tables, word, &numbers, BLOCK_BYTES)?;
        }
    }
    tables.words.insert(word, row.as_slice())?;
    Ok(new)
}

fn add_to_blocks(tables: &mut Tablets<'_>, word: u32, mut fresh: &[u32]) -> Outcome<()> {
    let mut numbers = vec![];
    while let Some(&first) = fresh.first() {
        // The block that begins before, or else the first.
        let mut key = None;
        if let Some(row) = tables.lists.range((word, 0)..=(word, first))?.next_back() {
            key = Some(row?.0.value());
        } else if let Some(row) = tables.lists.range((word, 0)..=(word, u32::MAX))?.next() {
            key = Some(row?.0.value());
        }
        let key = key.ok_or_else(|| Fault::damaged("words", word))?;
        numbers.clear();
        if let Some(row) = tables.lists.remove(key)? {
            decode_block(key, row.value(), &mut numbers)?;
        }
        let next = match tables.lists.range((word, key.1)..=(word, u32::MAX))?.next() {
            Some(row) => Some(row?.0.value().1),
            None => None,
        };
        let part = next.map_or(fresh.len(), |next| fresh.partition_point(|&number| number < next));
        let (here, rest) = fresh.split_at(part);
        if here.is_empty() {
            return Err(Fault::damaged("lists", key));
        }
        merge(&mut numbers, here);
        fresh = rest;
        // The last block takes more at its end, and is left behind full; in the middle, halves have room for more.
        let bytes = encoded_length(&numbers);
        let limit = if next.is_none() { BLOCK_BYTES } else { bytes.div_ceil(bytes.div_ceil(BLOCK_BYTES)) + 5 };
        write_blocks(tables, word, &numbers, limit.min(BLOCK_BYTES))?;
    }
    Ok(())
}

/// Makes the list anew from those of its numbers that are to be kept, of this extent. Nothing kept: no list.
pub(super) fn rewrite(
    tables: &mut Tablets<'_>,
    view: &View,
    word: u32,
    mut keep: impl FnMut(u32) -> bool,
    extent: Extent,
) -> Outcome<()> {
    let mut blocks = vec![];
    for block in view.lists.range((word, 0)..=(word, u32::MAX))? {
        blocks.push(block?.0.value());
    }
    for key in blocks {
        tables.lists.remove(key)?;
    }
    if extent.ids == 0 {
        tables.words.remove(word)?;
        return Ok(());
    }
    let mut row = extent.row();
    let mut numbers: Vec<u32> = vec![];
    let mut in_blocks = false;
    read(view, word, |some| {
        numbers.extend(some.iter().copied().filter(|&number| keep(number)));
        // Blocks that come next go behind: what is written now is full ones.
        if numbers.len() > 2 * BLOCK_BYTES {
            in_blocks = true;
            let rest = numbers.split_off(numbers.len() - BLOCK_BYTES);
            write_blocks(tables, word, &numbers, BLOCK_BYTES)?;
            numbers = rest;
        }
        Ok(())
    })?;
    let head = row.len();
    varint::put_ascending(&mut row, &numbers);
    if in_blocks || row.len() - head > INLINE_BYTES {
        row.truncate(head);
        write_blocks(tables, word, &numbers, BLOCK_BYTES)?;
    }
    tables.words.insert(word, row.as_slice())?;
    Ok(())
}

fn write_blocks(tables: &mut Tablets<'_>, word: u32, numbers: &[u32], limit: usize) -> Outcome<()> {
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let (mut first, mut least) = (0, 0);
    for &number in numbers {
        let gap = u64::from(number) - least;
        if !block.is_empty() && block.len() + varint::length(gap) > limit {
            tables.lists.insert((word, first), block.as_slice())?;
            block.clear();
        }
        if block.is_empty() {
            first = number;
            varint::put(&mut block, u64::from(number));
        } else {
            varint::put(&mut block, gap);
        }
        least = u64::from(number) + 1;
    }
    if !block.is_empty() {
        tables.lists.insert((word, first), block.as_slice())?;
    }
    Ok(())
}

fn encoded_length(numbers: &[u32]) -> usize {
    let mut least = 0;
    let gap = |&number: &u32| {
        let gap = u64::from(number) - least;
        least = u64::from(number) + 1;
        varint::length(gap)
    };
    numbers.iter().map(gap).sum()
}

fn decode(word: u32, inline: &[u8], numbers: &mut Vec<u32>) -> Outcome<()> {
    varint::take_ascending(inline, numbers).ok_or_else(|| Fault::damaged("words", word))
}

fn decode_block(key: (u32, u32), block: &[u8], numbers: &mut Vec<u32>) -> Outcome<()> {
    varint::take_ascending(block, numbers)
        .filter(|()| numbers.first() == Some(&key.1))
        .ok_or_else(|| Fault::damaged("lists", key))
}

/// Puts ascending numbers into others.
pub(super) fn merge(numbers: &mut Vec<u32>, more: &[u32]) {
    let in_order = numbers.last().zip(more.first()).is_none_or(|(last, first)| last < first);
    numbers.extend_from_slice(more);
    if !in_order {
        // Two runs, which the stable sort merges.
        numbers.sort();
        numbers.dedup();
    }
}
