//! Removes data of origins, sites and words from the shelf.

use std::collections::HashSet;

use furui::Result;

use super::fault::{Fault, Outcome};
use super::lists::{self, Extent};
use super::origins::{OWN, Origin};
use super::tables::{META, Tablets};
use super::{RECORDS, Shelf};

impl Shelf {
    /// Removes the documents that were brought first by origins for which `is_one` returns true, with all of their
    /// postings. Returns the number of documents.
    ///
    /// # Errors
    /// Those of [`expire`](Self::expire).
    pub fn remove_of(&mut self, is_one: impl Fn(&Origin) -> bool) -> Result<u64> {
        let all = self.origins.all().filter(|(_, usage)| is_one(&usage.origin));
        let numbers: HashSet<u32> = all.map(|(number, _)| number).collect();
        self.changing(|shelf| shelf.remove(|_, document| numbers.contains(&document.origin)))
    }

    /// Removes the documents that were brought first by these origins, with all of their postings, except
    /// [proven](Self::store_proven) documents. The freed space is reused, but the files do not shrink. Returns the
    /// number of documents.
    ///
    /// # Errors
    /// Those of [`expire`](Self::expire).
    pub fn remove_claims(&mut self, origins: &[Origin]) -> Result<u64> {
        let numbers: HashSet<u32> = origins.iter().filter_map(|origin| self.origins.find(origin)).collect();
        if numbers.is_empty() {
            return Ok(0);
        }
        self.changing(|shelf| shelf.forget_all(|_, document| !document.proven && numbers.contains(&document.origin)))
    }

    /// Removes the documents in the list of a word, with all of their postings, except documents that this node
    /// publishes itself. Returns the number of documents.
    ///
    /// # Errors
    /// Those of [`expire`](Self::expire).
    pub fn remove_listed(&mut self, word: &str) -> Result<u64> {
        self.changing(|shelf| {
            shelf.flush()?;
            let Some(word) = shelf.number_of(word)? else { return Ok(0) };
            let mut listed = HashSet::new();
            lists::read(shelf.tables.view()?, word, |postings| {
                listed.extend(postings.iter().map(|posting| posting.number));
                Ok(())
            })?;
            shelf.remove(|number, document| document.origin != OWN && listed.contains(&number))
        })
    }

    /// Removes the list of a word. The documents in it are kept. Returns the number of postings.
    ///
    /// # Errors
    /// Those of [`expire`](Self::expire).
    pub fn remove_list(&mut self, word: &str) -> Result<u64> {
        self.changing(|shelf| {
            shelf.flush()?;
            match shelf.number_of(word)? {
                Some(word) => shelf.remove_numbered_list(word),
                None => Ok(0),
            }
        })
    }

    fn remove_numbered_list(&mut self, word: u32) -> Outcome<u64> {
        if word == RECORDS {
            return Err(Fault::damaged("words", word));
        }
        let mut totals = self.totals;
        let removed = self.tables.rewrite(|transaction, view| {
            let ids = lists::extent(&view.words, word)?.ids;
            let mut tables = Tablets::open(transaction)?;
            lists::rewrite(&mut tables, view, word, |_| false, Extent::default())?;
            totals.postings = totals.postings.saturating_sub(ids);
            totals.write(&mut transaction.open_table(META)?)?;
            Ok(ids)
        })?;
        self.totals = totals;
        self.forget_words(&[word])?;
        self.runs.clear();
        Ok(removed)
    }
}
