//! Removes expired documents from the shelf.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use super::documents::{self, DocumentEntry, Documents};
use super::fault::{Fault, Outcome};
use super::posting::Posting;
use super::tables::{META, ORIGINS, Row, Tablets, Totals, View};
use super::{RECORDS, Shelf, lists, records};

/// The maximum number of documents removed in one transaction, which bounds its memory. Chosen.
const PASS: usize = 1 << 18;

/// The documents to remove: their numbers in ascending order, with the hashes of their ids.
struct Dead(Vec<(u32, u64)>);

impl Dead {
    /// Finds the first documents, at most [`PASS`], for which `is_one` returns true. It is called in the order of
    /// document numbers.
    fn find(
        view: &View,
        mut is_one: impl FnMut(u32, &DocumentEntry) -> bool,
    ) -> Outcome<(Self, BTreeMap<u32, DocumentEntry>)> {
        let mut dead = BTreeMap::new();
        for row in view.documents.iter()? {
            let (chunk, row) = row?;
            dead.extend(
                documents::alive(chunk.value(), row.value())?.filter(|(number, document)| is_one(*number, document)),
            );
            if dead.len() >= PASS {
                break;
            }
        }
        Ok((Self(dead.iter().map(|(&number, document)| (number, document.id.hash().get())).collect()), dead))
    }

    /// Counts the documents to remove among the ascending `numbers`. Returns their number, and the sum of the hashes of
    /// their ids.
    fn among(&self, numbers: &[Posting]) -> (u64, u64) {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return (0, 0) };
        let start = self.0.partition_point(|(number, _)| *number < first.number);
        let end = self.0.partition_point(|(number, _)| *number <= last.number);
        let (mut count, mut sum, mut rest) = (0, 0u64, numbers);
        for (number, hash) in &self.0[start..end] {
            // Most blocks contain few documents to remove or few numbers, so a galloping search precedes the binary
            // search.
            let reach =
                (0..).map(|step| 1usize << step).find(|&reach| rest.get(reach).is_none_or(|at| at.number >= *number));
            let reach = reach.map_or(rest.len(), |reach| rest.len().min(reach + 1));
            rest = &rest[rest[..reach].partition_point(|at| at.number < *number)..];
            if rest.first().is_some_and(|at| at.number == *number) {
                count += 1;
                sum = sum.wrapping_add(*hash);
            }
        }
        (count, sum)
    }

    fn contains(&self, number: u32) -> bool {
        self.0.binary_search_by_key(&number, |(number, _)| *number).is_ok()
    }
}

impl Shelf {
    /// Removes all documents that expire by `now`, and returns their number.
    pub(super) fn forget(&mut self, now: u32) -> Outcome<u64> {
        self.forget_all(|_, document| document.expires <= now)
    }

    /// Removes all documents for which `is_one` returns true, and compacts the files. Returns the number of removed
    /// documents. `is_one` is called in the order of arrival; if there are many documents, it may be called again for
    /// the same one.
    pub(super) fn remove(&mut self, is_one: impl FnMut(u32, &DocumentEntry) -> bool) -> Outcome<u64> {
        let removed = self.forget_all(is_one)?;
        if removed > 0 {
            self.tables.compact()?;
        }
        Ok(removed)
    }

    /// Removes all documents for which `is_one` returns true, like [`remove`](Self::remove), but without compacting the
    /// files.
    pub(super) fn forget_all(&mut self, mut is_one: impl FnMut(u32, &DocumentEntry) -> bool) -> Outcome<u64> {
        self.flush()?;
        let mut forgotten = 0;
        loop {
            let (dead, documents) = Dead::find(self.tables.view()?, &mut is_one)?;
            if documents.is_empty() {
                return Ok(forgotten);
            }
            forgotten += documents.len() as u64;
            let words = self.forget_some(&dead, documents)?;
            self.forget_words(&words)?;
            self.runs.clear();
        }
    }

    /// Removes these documents in one transaction. Returns the numbers of the words that have no postings left, in
    /// ascending order.
    fn forget_some(&mut self, dead: &Dead, mut changed: BTreeMap<u32, DocumentEntry>) -> Outcome<Vec<u32>> {
        let mut totals = self.totals;
        let mut origins = self.origins.clone();
        for document in changed.values() {
            origins.subtract(document.origin, 1, document.bytes.into());
        }
        origins.forget_empty();
        let hash = totals.id_hash();
        let gone = self.tables.rewrite(|transaction, view| {
            let mut tables = Tablets::open(transaction)?;
            let mut gone = vec![];
            for row in view.words.iter()? {
                let word = row?.0.value();
                let mut extent = lists::extent(&view.words, word)?;
                let (mut ids, mut sum) = (0, 0u64);
                lists::read(view, word, |numbers| {
                    let some = dead.among(numbers);
                    ids += some.0;
                    sum = sum.wrapping_add(some.1);
                    Ok(())
                })?;
                if ids == 0 {
                    continue;
                }
                extent.ids = extent.ids.checked_sub(ids).ok_or_else(|| Fault::damaged("words", word))?;
                extent.sum = extent.sum.wrapping_sub(sum);
                lists::rewrite(&mut tables, view, word, |number| !dead.contains(number), extent)?;
                if word != RECORDS {
                    totals.postings = totals.postings.saturating_sub(ids);
                    gone.extend((extent.ids == 0).then_some(word));
                }
            }
            for (&number, document) in &changed {
                tables.ids.remove((hash.hash(document.id.as_bytes()).get(), number))?;
            }
            let blocks: BTreeSet<u32> = changed.values().filter_map(|document| document.block).collect();
            totals.documents = totals.documents.saturating_sub(changed.len() as u64);
            changed.values_mut().for_each(|document| *document = DocumentEntry::NONE);
            write_without(&mut tables, view, &mut totals, changed, blocks)?;
            totals.write(&mut transaction.open_table(META)?)?;
            origins.write(&mut transaction.open_table(ORIGINS)?)?;
            Ok(gone)
        })?;
        self.totals = totals;
        self.origins = origins;
        Ok(gone)
    }

    /// Removes words from the dictionary after the tables have ceased to refer to them. A crash between these two
    /// changes leaves words without postings, which do no harm.
    pub(super) fn forget_words(&mut self, gone: &[u32]) -> Outcome<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let mut words = vec![];
        let mut entries = self.words.iter();
        while let Some((word, number)) = entries.next_entry().map_err(Fault::Other)? {
            if gone.binary_search(&number).is_ok() {
                words.push(word.to_vec());
            }
        }
        drop(entries);
        words.iter().try_for_each(|word| self.words.delete(word)).map_err(Fault::Other)?;
        self.words.sync().map_err(Fault::Other)
    }
}

/// Writes the entries of documents whose records in `blocks` are obsolete. Blocks with few living records are removed,
/// and these records are stored in other blocks.
pub(super) fn write_without(
    tables: &mut Tablets<'_>,
    view: &View,
    totals: &mut Totals,
    mut changed: BTreeMap<u32, DocumentEntry>,
    blocks: BTreeSet<u32>,
) -> Outcome<()> {
    let (mut living, mut older) = (vec![], Documents::new(view));
    for block in blocks {
        living.extend(empty(tables, &mut older, block, &mut changed)?);
    }
    living.sort_by_key(|(number, _)| *number);
    totals.next_block = records::append(tables, &mut older, totals.next_block, living, &mut changed)?;
    documents::write(tables, &changed)
}

/// Removes a block of records if at least half of them are obsolete. Returns the other records of a removed block,
/// which must be stored in other blocks.
fn empty(
    tables: &mut Tablets<'_>,
    older: &mut Documents<'_>,
    block: u32,
    changed: &mut BTreeMap<u32, DocumentEntry>,
) -> Outcome<records::RecordBlock> {
    let Some(row) = tables.records.get(block)?.map(|row: redb::AccessGuard<'_, Row>| row.value().to_vec()) else {
        return Err(Fault::damaged("records", block));
    };
    let all = records::unpack(block, &row)?;
    let before = all.len();
    let mut living = vec![];
    for (number, record) in all {
        let document = match changed.get(&number) {
            Some(document) => Some(*document),
            None => older.get(number)?,
        };
        if let Some(document) = document.filter(|document| document.block == Some(block)) {
            living.push(((number, record), document));
        }
    }
    if living.len() * 2 > before {
        return Ok(vec![]);
    }
    tables.records.remove(block)?;
    Ok(living
        .into_iter()
        .map(|(record, document)| {
            changed.insert(record.0, document);
            record
        })
        .collect())
}
