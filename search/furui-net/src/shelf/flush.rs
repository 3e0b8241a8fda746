//! Writes the journal's changes to the tables, and empties the journal.

use super::documents::{self, Documents};
use super::fault::{Fault, Outcome};
use super::lists;
use super::recent::Recent;
use super::records;
use super::tables::{JOURNAL, META, ORIGINS, Tablets};
use super::{Shelf, tables::Totals};

impl Shelf {
    /// Writes the recent changes, if there are any, to the tables in one transaction.
    pub(super) fn flush(&mut self) -> Outcome<()> {
        let Self { tables, words, recent, totals, origins, .. } = self;
        // The words must be durable before the tables use their numbers. A crash between these two writes leaves words
        // without postings, which do no harm.
        words.sync().map_err(Fault::Other)?;
        let mut after = Totals { next_document: recent.next(), next_word: words.next_id(), ..*totals };
        if after == *totals && recent.bytes == 0 {
            return Ok(());
        }
        tables.rewrite(|transaction, view| {
            let mut tablets = Tablets::open(transaction)?;
            let mut lists: Vec<_> = recent.lists.iter().collect();
            lists.sort_unstable_by_key(|(word, _)| **word);
            for (&word, fresh) in lists {
                lists::add(&mut tablets, word, &fresh.postings, fresh.new)?;
            }
            let mut changed = std::mem::take(&mut recent.changed);
            changed.extend((recent.first..).zip(recent.documents.iter().copied()));
            let hash = totals.id_hash();
            let mut ids: Vec<(u64, u32)> = (recent.first..)
                .zip(&recent.documents)
                .map(|(number, document)| (hash.hash(document.id.as_bytes()).get(), number))
                .collect();
            ids.sort_unstable();
            for key in ids {
                tablets.ids.insert(key, ())?;
            }
            let records = std::mem::take(&mut recent.records).into_iter().collect();
            after.next_block =
                records::append(&mut tablets, &mut Documents::new(view), totals.next_block, records, &mut changed)?;
            documents::write(&mut tablets, &changed)?;
            after.write(&mut transaction.open_table(META)?)?;
            origins.write(&mut transaction.open_table(ORIGINS)?)?;
            transaction.delete_table(JOURNAL)?;
            transaction.open_table(JOURNAL)?;
            Ok(())
        })?;
        *totals = after;
        *recent = Recent::new(after.next_document);
        Ok(())
    }
}
