//! Removes data of origins, sites and words from the shelf.

use std::collections::HashSet;

use furui::Result;

use super::origins::{OWN, Origin};
use super::{Shelf, lists};

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
    /// [proven](Self::store_of) documents. The freed space is reused, but the files do not shrink. Returns the
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
}
