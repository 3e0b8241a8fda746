//! The lists of words. A word's row contains the length and the fingerprint of its list, and the postings if they are
//! few; longer lists are stored in blocks of their own.

use std::collections::BTreeMap;

use furui_search::Scale;
use redb::ReadableTable;

use super::documents::DocumentEntry;
use super::fault::{Fault, Outcome};
use super::packed::{self, Effort};
use super::posting::{self, Posting};
use super::tables::{Row, Tablets, View};
use super::varint;

/// The maximum encoded length, in bytes, of a list's postings that are stored in the row of the word itself. Longer
/// lists have blocks of their own. The value is a choice, not a measurement.
const INLINE_BYTES: usize = 256;
/// The maximum length of an unpacked block, in bytes, so that it fits into a page of the database even if packing does
/// not shorten it.
const BLOCK_BYTES: usize = 4064;

/// The number of postings of a list, its fingerprint, which is the sum of the hashes of its ids, and the sum of the
/// [logarithms](furui_search::Weight::log_length) of the lengths of its documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) ids: u64,
    pub(super) sum: u64,
    pub(super) lengths: u64,
}

impl Extent {
    /// Decodes a word's row. Returns the extent of the word's list, and the postings in the row itself, which are empty
    /// if the postings are in blocks.
    fn read(word: u32, row: &[u8]) -> Outcome<(Self, &[u8])> {
        let mut rest = row;
        let ids = varint::take(&mut rest).filter(|&ids| ids > 0);
        let lengths = varint::take(&mut rest);
        let (sum, inline) = rest.split_first_chunk().ok_or_else(|| Fault::damaged("words", word))?;
        let (ids, lengths) = ids.zip(lengths).ok_or_else(|| Fault::damaged("words", word))?;
        Ok((Self { ids, sum: u64::from_le_bytes(*sum), lengths }, inline))
    }

    /// The extent of the list with those of another part of it, which has none of its documents.
    pub(super) fn with(self, more: Self) -> Self {
        Self {
            ids: self.ids + more.ids,
            sum: self.sum.wrapping_add(more.sum),
            lengths: self.lengths.saturating_add(more.lengths),
        }
    }

    /// The rounded mean of the logarithms of the lengths, as an exponent of two in [`Scale::LENGTHS`].
    pub(super) fn log_length(self) -> u8 {
        let mean = self.lengths.saturating_add(8 * self.ids) / (16 * self.ids.max(1));
        let (least, most) = (*Scale::LENGTHS.start(), *Scale::LENGTHS.end());
        u8::try_from(mean).unwrap_or(most).clamp(least, most)
    }

    fn row(self) -> Vec<u8> {
        let mut row = Vec::with_capacity(28 + INLINE_BYTES);
        varint::put(&mut row, self.ids);
        varint::put(&mut row, self.lengths);
        row.extend(self.sum.to_le_bytes());
        row
    }
}

/// Reads the extent of a word's list from the tables.
pub(super) fn extent(words: &impl ReadableTable<u32, Row>, word: u32) -> Outcome<Extent> {
    match words.get(word)? {
        Some(row) => Ok(Extent::read(word, row.value())?.0),
        None => Ok(Extent::default()),
    }
}

/// Passes the postings of a list to `show` in portions, in ascending order.
pub(super) fn read(view: &View, word: u32, mut show: impl FnMut(&[Posting]) -> Outcome<()>) -> Outcome<()> {
    let mut postings = vec![];
    let Some(row) = view.words.get(word)? else { return Ok(()) };
    let (_, inline) = Extent::read(word, row.value())?;
    if !inline.is_empty() {
        decode(word, inline, &mut postings)?;
        return show(&postings);
    }
    for block in view.lists.range((word, 0)..=(word, u32::MAX))? {
        let (key, block) = block?;
        postings.clear();
        decode_block(key.value(), block.value(), &mut postings)?;
        show(&postings)?;
    }
    Ok(())
}

/// Removes from `fresh`, the ascending postings to add to the word's list, those whose documents are in the list
/// already.
pub(super) fn retain_new(view: &View, word: u32, fresh: &mut Vec<Posting>) -> Outcome<()> {
    let Some(row) = view.words.get(word)? else { return Ok(()) };
    let (_, inline) = Extent::read(word, row.value())?;
    let mut block = vec![];
    if !inline.is_empty() {
        decode(word, inline, &mut block)?;
        fresh.retain(|posting| !posting::has(&block, posting.number));
        return Ok(());
    }
    let mut new = vec![];
    // A number below `until` can only be in the current block; if `until` is `None`, this holds for all numbers.
    // Initially, there is no block.
    let mut until = Some(0);
    for &posting in &*fresh {
        let number = posting.number;
        if until.is_some_and(|until| until <= number) {
            block.clear();
            if let Some((key, row)) = view.lists.range((word, 0)..=(word, number))?.next_back().transpose()? {
                decode_block(key.value(), row.value(), &mut block)?;
            }
            let next = view.lists.range((word, number.saturating_add(1))..=(word, u32::MAX))?.next().transpose()?;
            until = next.map(|(key, _)| key.value().1);
        }
        if !posting::has(&block, number) {
            new.push(posting);
        }
    }
    *fresh = new;
    Ok(())
}

/// Adds ascending postings to a word's list, which has none of their documents. `more` is their extent.
pub(super) fn add(tables: &mut Tablets<'_>, word: u32, fresh: &[Posting], more: Extent) -> Outcome<()> {
    let mut extent = Extent::default();
    let mut postings = vec![];
    if let Some(row) = tables.words.get(word)? {
        let (found, inline) = Extent::read(word, row.value())?;
        extent = found;
        decode(word, inline, &mut postings)?;
    }
    let in_blocks = extent.ids > 0 && postings.is_empty();
    extent = extent.with(more);
    if in_blocks {
        add_to_blocks(tables, word, fresh)?;
        tables.words.insert(word, extent.row().as_slice())?;
        return Ok(());
    }
    posting::merge(&mut postings, fresh);
    write(tables, word, extent, &postings, false)
}

/// Writes the row of a word with its last postings: into blocks if the list is already `in_blocks`, or they are many.
fn write(tables: &mut Tablets<'_>, word: u32, extent: Extent, postings: &[Posting], in_blocks: bool) -> Outcome<()> {
    let mut row = extent.row();
    let head = row.len();
    posting::put_all(&mut row, postings);
    if in_blocks || row.len() - head > INLINE_BYTES {
        row.truncate(head);
        write_blocks(tables, word, postings, BLOCK_BYTES)?;
    }
    tables.words.insert(word, row.as_slice())?;
    Ok(())
}

fn add_to_blocks(tables: &mut Tablets<'_>, word: u32, mut fresh: &[Posting]) -> Outcome<()> {
    let mut postings = vec![];
    while let Some(&Posting { number: first, .. }) = fresh.first() {
        // The key of the last block that does not begin after the posting, or of the first block if all begin after it.
        let mut key = None;
        if let Some(row) = tables.lists.range((word, 0)..=(word, first))?.next_back() {
            key = Some(row?.0.value());
        } else if let Some(row) = tables.lists.range((word, 0)..=(word, u32::MAX))?.next() {
            key = Some(row?.0.value());
        }
        let key = key.ok_or_else(|| Fault::damaged("words", word))?;
        postings.clear();
        if let Some(row) = tables.lists.remove(key)? {
            decode_block(key, row.value(), &mut postings)?;
        }
        let next = tables.lists.range((word, key.1)..=(word, u32::MAX))?.next().transpose()?;
        let next = next.map(|(key, _)| key.value().1);
        let part = next.map_or(fresh.len(), |next| fresh.partition_point(|posting| posting.number < next));
        let (here, rest) = fresh.split_at(part);
        if here.is_empty() {
            return Err(Fault::damaged("blocks", key));
        }
        posting::merge(&mut postings, here);
        fresh = rest;
        // The last block grows at its end, and leaves full blocks behind. A block in the middle that has become too
        // long is divided into equal parts, so that each part has room for further postings.
        let bytes = encoded_length(&postings);
        let limit = if next.is_none() { BLOCK_BYTES } else { bytes.div_ceil(bytes.div_ceil(BLOCK_BYTES)) + 6 };
        write_blocks(tables, word, &postings, limit.min(BLOCK_BYTES))?;
    }
    Ok(())
}

/// Removes postings from a list. `gone` contains each document to remove, by its number. A list without postings is
/// removed too. Returns the numbers of removed and of remaining postings.
pub(super) fn remove(
    tables: &mut Tablets<'_>,
    view: &View,
    word: u32,
    gone: &BTreeMap<u32, DocumentEntry>,
) -> Outcome<(u64, u64)> {
    let mut extent = extent(&view.words, word)?;
    let mut removed = 0;
    read(view, word, |postings| {
        let (Some(first), Some(last)) = (postings.first(), postings.last()) else { return Ok(()) };
        let here = gone.range(first.number..=last.number);
        for (_, document) in here.filter(|(number, _)| posting::has(postings, **number)) {
            removed += 1;
            extent.sum = extent.sum.wrapping_sub(document.id.hash().get());
            extent.lengths = extent.lengths.saturating_sub(document.weight(0).log_length());
        }
        Ok(())
    })?;
    if removed == 0 {
        return Ok((0, extent.ids));
    }
    extent.ids = extent.ids.checked_sub(removed).ok_or_else(|| Fault::damaged("words", word))?;
    tables.lists.retain_in((word, 0)..=(word, u32::MAX), |_, _| false)?;
    if extent.ids == 0 {
        tables.words.remove(word)?;
        return Ok((removed, 0));
    }
    let mut postings: Vec<Posting> = vec![];
    let mut in_blocks = false;
    read(view, word, |some| {
        postings.extend(some.iter().copied().filter(|posting| !gone.contains_key(&posting.number)));
        // A long list is written in portions, to bound the memory. Some postings are held back, so that the last block
        // is not short.
        if postings.len() > 2 * BLOCK_BYTES {
            in_blocks = true;
            let rest = postings.split_off(postings.len() - BLOCK_BYTES);
            write_blocks(tables, word, &postings, BLOCK_BYTES)?;
            postings = rest;
        }
        Ok(())
    })?;
    write(tables, word, extent, &postings, in_blocks)?;
    Ok((removed, extent.ids))
}

fn write_blocks(tables: &mut Tablets<'_>, word: u32, postings: &[Posting], limit: usize) -> Outcome<()> {
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let (mut first, mut least) = (0, 0);
    for posting in postings {
        if !block.is_empty() && block.len() + posting.length(least) > limit {
            tables.lists.insert((word, first), packed::pack(&block, Effort::Much).as_slice())?;
            block.clear();
        }
        if block.is_empty() {
            (first, least) = (posting.number, 0);
        }
        posting.put(least, &mut block);
        least = posting.next();
    }
    if !block.is_empty() {
        tables.lists.insert((word, first), packed::pack(&block, Effort::Much).as_slice())?;
    }
    Ok(())
}

fn encoded_length(postings: &[Posting]) -> usize {
    let mut least = 0;
    let length = |posting: &Posting| posting.length(std::mem::replace(&mut least, posting.next()));
    postings.iter().map(length).sum()
}

fn decode(word: u32, inline: &[u8], postings: &mut Vec<Posting>) -> Outcome<()> {
    posting::take_all(inline, postings).ok_or_else(|| Fault::damaged("words", word))
}

fn decode_block(key: (u32, u32), block: &[u8], postings: &mut Vec<Posting>) -> Outcome<()> {
    packed::unpack(block, BLOCK_BYTES)
        .and_then(|block| posting::take_all(&block, postings))
        .filter(|()| postings.first().is_some_and(|first| first.number == key.1))
        .ok_or_else(|| Fault::damaged("blocks", key))
}
