//! Removes expired documents from the shelf.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use super::documents::{self, DocumentEntry, Documents};
use super::fault::{Fault, Outcome};
use super::publications::Publications;
use super::tables::{META, ORIGINS, Tablets, Totals, View};
use super::{RECORDS, Shelf, lists, records};

/// The maximum number of documents that are removed in one transaction, which bounds its memory. The value is a choice,
/// not a measurement.
const PASS: usize = 1 << 18;

impl Shelf {
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
            let mut dead = BTreeMap::new();
            for row in self.tables.view()?.documents.iter()? {
                let (chunk, row) = row?;
                let alive = documents::alive(chunk.value(), row.value())?;
                dead.extend(alive.filter(|(number, document)| is_one(*number, document)));
                if dead.len() >= PASS {
                    break;
                }
            }
            if dead.is_empty() {
                return Ok(forgotten);
            }
            forgotten += dead.len() as u64;
            let words = self.forget_some(dead)?;
            self.forget_words(&words)?;
            self.runs.clear();
        }
    }

    /// Removes these documents in one transaction. Returns the numbers of the words that have no postings left, in
    /// ascending order.
    fn forget_some(&mut self, mut changed: BTreeMap<u32, DocumentEntry>) -> Outcome<Vec<u32>> {
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
                let (removed, left) = lists::remove(&mut tables, view, word, &changed)?;
                if word != RECORDS && removed > 0 {
                    totals.postings = totals.postings.saturating_sub(removed);
                    gone.extend((left == 0).then_some(word));
                }
            }
            let mut publications = Publications::open(transaction)?;
            for (&number, document) in &changed {
                publications.clear(number, document.id)?;
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

/// Writes the entries of documents whose records in `blocks` are obsolete. A block is removed if at least half of its
/// records are, and the others are stored in other blocks.
pub(super) fn write_without(
    tables: &mut Tablets<'_>,
    view: &View,
    totals: &mut Totals,
    mut changed: BTreeMap<u32, DocumentEntry>,
    blocks: BTreeSet<u32>,
) -> Outcome<()> {
    let (mut living, mut older) = (vec![], Documents::new(view));
    for block in blocks {
        let row = tables.records.get(block)?.map(|row| row.value().to_vec());
        let row = row.ok_or_else(|| Fault::damaged("records", block))?;
        let (left, before) = records::living(block, &row, &mut older, &mut changed)?;
        if left.len() * 2 <= before {
            tables.records.remove(block)?;
            living.extend(left);
        }
    }
    living.sort_by_key(|(number, _)| *number);
    totals.next_block = records::append(tables, &mut older, totals.next_block, living, &mut changed)?;
    documents::write(tables, &changed)
}
