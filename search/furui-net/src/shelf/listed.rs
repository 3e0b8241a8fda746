//! Reads single postings of a list, and corrects them.

use std::collections::{BTreeMap, HashSet};

use furui::Result;
use furui_search::{ContentId, IdRange, Index, Weight};

use super::documents::Documents;
use super::fault::{Fault, Outcome};
use super::lists;
use super::origins::{OWN, Origin};
use super::resolver::Bringing;
use super::tables::{META, Tablets};
use super::{RECORDS, Shelf};

/// A posting of a list, with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The id of the document that the posting is about.
    pub id: ContentId,
    /// The weight of the posting.
    pub weight: Weight,
    /// The origin that brought the document first. `None` if this node itself publishes it.
    pub origin: Option<Origin>,
    /// True if no other origin than `origin` can have brought the posting.
    pub sure: bool,
}

impl Shelf {
    /// Returns the postings of these documents in the list of a word.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn listed(&mut self, word: &str, ids: &[ContentId]) -> Result<Vec<Listed>> {
        let mut found = vec![];
        for id in ids {
            let range = IdRange { first: id.head(), last: id.head() };
            let (ids, weights) = self.slice(word, range, usize::MAX)?;
            if let Some(at) = ids.iter().position(|other| other == id) {
                found.push((*id, weights[at]));
            }
        }
        self.asking(|shelf| {
            let mut listed = vec![];
            for (id, weight) in found {
                let Some(document) = shelf.entry(id)? else { continue };
                let origins = &shelf.origins;
                let sure = document.origin != OWN
                    && !document.proven
                    && !document.mixed
                    && origins.is_one(document.origin)
                    && !origins.is_taken_over(document.origin);
                listed.push(Listed { id, weight, origin: origins.of(document.origin).cloned(), sure });
            }
            Ok(listed)
        })
    }

    /// Removes the postings of these documents from the list of a word. Returns the number of postings removed.
    ///
    /// # Errors
    /// Those of [`expire`](Self::expire).
    pub fn remove_postings(&mut self, word: &str, ids: &[ContentId]) -> Result<u64> {
        self.changing(|shelf| {
            let mut numbers = HashSet::new();
            for id in ids {
                numbers.extend(shelf.number(*id)?);
            }
            shelf.remove_numbered(word, |number| numbers.contains(&number))
        })
    }

    /// Stores the true postings of a word in place of [removed](Self::remove_postings) ones. The lengths of their
    /// documents are corrected too. Returns the number of postings stored.
    ///
    /// # Errors
    /// Those of [`store`](Self::store).
    pub fn put_right(&mut self, word: &str, postings: &[(ContentId, Weight)]) -> Result<u64> {
        self.changing(|shelf| {
            let exact: HashSet<ContentId> = postings.iter().map(|(id, _)| *id).collect();
            let mut by_origin: BTreeMap<u32, Vec<(ContentId, Weight)>> = BTreeMap::new();
            for &(id, weight) in postings {
                let Some(document) = shelf.entry(id)? else { continue };
                by_origin.entry(document.origin).or_default().push((id, weight));
            }
            let mut stored = 0;
            for (origin, postings) in by_origin {
                let taken_over = shelf.origins.is_taken_over(origin);
                let (proven, expires) = (HashSet::new(), 0);
                let bringing = Bringing { origin, taken_over, expires, proven: &proven, exact: &exact };
                stored += shelf.try_store((&[(word.to_owned(), postings)], &[], &[]), bringing)?.new;
            }
            Ok(stored)
        })
    }

    /// Removes the list of a word. The documents in it are kept. Returns the number of postings.
    ///
    /// # Errors
    /// Those of [`expire`](Self::expire).
    pub fn remove_list(&mut self, word: &str) -> Result<u64> {
        self.changing(|shelf| shelf.remove_numbered(word, |_| true))
    }

    fn remove_numbered(&mut self, word: &str, is_one: impl Fn(u32) -> bool) -> Outcome<u64> {
        self.flush()?;
        let Some(word) = self.number_of(word)?.filter(|word| *word != RECORDS) else { return Ok(0) };
        let mut totals = self.totals;
        let (removed, is_empty) = self.tables.rewrite(|transaction, view| {
            let (mut gone, mut older) = (BTreeMap::new(), Documents::new(view));
            lists::read(view, word, |postings| {
                for number in postings.iter().map(|posting| posting.number).filter(|&number| is_one(number)) {
                    let document = older.get(number)?.ok_or_else(|| Fault::damaged("documents", number))?;
                    gone.insert(number, document);
                }
                Ok(())
            })?;
            let (removed, left) = lists::remove(&mut Tablets::open(transaction)?, view, word, &gone)?;
            totals.postings = totals.postings.saturating_sub(removed);
            totals.write(&mut transaction.open_table(META)?)?;
            Ok((removed, removed > 0 && left == 0))
        })?;
        self.totals = totals;
        if is_empty {
            self.forget_words(&[word])?;
        }
        self.runs.clear();
        Ok(removed)
    }
}
