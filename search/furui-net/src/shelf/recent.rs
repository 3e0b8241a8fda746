use std::collections::{BTreeMap, HashMap};

use furui::HashSpec;
use furui_search::ContentId;

use super::change::Change;
use super::documents::{DocumentEntry, Documents};
use super::fault::{Fault, Outcome};
use super::lists::{self, Extent};
use super::origins::{OWN, Origins};
use super::posting::{self, Posting};
use super::tables::{Totals, View};
use super::{RECORDS, Runs};

/// The contents of the journal in memory: all changes since the tables were last updated.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The number of the first document in the journal. Documents with smaller numbers are in the tables.
    pub(super) first: u32,
    /// The entries of the documents in the journal, numbered from `first` on.
    pub(super) documents: Vec<DocumentEntry>,
    /// The numbers of the documents in the journal, by id.
    pub(super) ids: HashMap<ContentId, u32>,
    /// The entries of older documents that have changed, as they are now.
    pub(super) changed: BTreeMap<u32, DocumentEntry>,
    /// The new postings of lists, by word number.
    pub(super) lists: HashMap<u32, Fresh>,
    /// The new records, by document number.
    pub(super) records: BTreeMap<u32, Vec<u8>>,
    /// The approximate size of the contents of all fields, in bytes.
    pub(super) bytes: usize,
}

/// The new postings of a list, with the length and fingerprint of the list's older part.
#[derive(Debug)]
pub(super) struct Fresh {
    /// The extent (length and fingerprint) of the list's older part, which is in the tables.
    pub(super) table: Extent,
    /// The new postings in ascending order.
    pub(super) postings: Vec<Posting>,
    /// The extent of `postings`.
    pub(super) new: Extent,
}

impl Fresh {
    /// The extent (length and fingerprint) of the whole list, new postings included.
    pub(super) fn extent(&self) -> Extent {
        self.table.with(self.new)
    }
}

impl Recent {
    /// Makes an empty state of the journal. `first` is the number of documents in the tables.
    pub(super) fn new(first: u32) -> Self {
        Self { first, ..Self::default() }
    }

    /// The number that the next new document gets.
    pub(super) fn next(&self) -> u32 {
        self.first + self.documents.len() as u32
    }

    /// Applies a change of the journal. Returns the number of its postings and records, and the bytes that it added to
    /// documents of other origins.
    pub(super) fn apply(
        &mut self,
        change: Change,
        view: &View,
        (totals, origins): (&mut Totals, &mut Origins),
        runs: &mut Runs,
    ) -> Outcome<(u64, u64)> {
        if change.first != self.next() {
            return Err(Fault::damaged("journal", change.first));
        }
        let mut new = 0;
        self.bytes += change.size();
        totals.documents += change.documents.len() as u64;
        origins.add(change.origin, change.documents.len() as u64, 0);
        let charges = change.charges();
        for (id, size) in change.documents {
            self.ids.insert(id, self.next());
            let origin = change.origin;
            self.documents.push(DocumentEntry { id, expires: change.expires, size, origin, ..DocumentEntry::NONE });
        }
        let mut older = Documents::new(view);
        for Posting { number, uses: size } in change.measured {
            let document = self.entry(&mut older, number)?;
            if document.size > 0 {
                // The cached weights contain the old size of the document.
                runs.clear();
            }
            document.size = size;
        }
        for number in change.refreshed {
            let document = self.entry(&mut older, number)?;
            document.expires = change.expires.max(document.expires);
        }
        for number in change.claimed {
            let document = self.entry(&mut older, number)?;
            match change.origin {
                OWN => {
                    origins.subtract(document.origin, 1, document.bytes.into());
                    document.origin = OWN;
                }
                origin if origins.is_taken_over(origin) => document.mixed = true,
                _ => document.proven = true,
            }
        }
        let mut foreign = 0;
        for (number, bytes) in charges {
            let document = self.known(&mut older, number)?;
            if document.origin != change.origin {
                foreign += u64::from(bytes);
                continue;
            }
            // The origin's sum must match the entry's bytes, which saturate.
            let sum = document.bytes.saturating_add(bytes);
            origins.add(change.origin, 0, (sum - document.bytes).into());
            self.entry(&mut older, number)?.bytes = sum;
        }
        for (word, postings) in change.postings {
            let (mut added, mut weighted) = (Extent::default(), Vec::with_capacity(postings.len()));
            for &Posting { number, uses } in &postings {
                let document = self.known(&mut older, number)?;
                let weight = document.weight(uses);
                let one = Extent { ids: 1, sum: document.id.hash().get(), lengths: weight.log_length() };
                added = added.with(one);
                weighted.push((document.id, weight));
            }
            if word != RECORDS {
                new += postings.len() as u64;
                totals.postings += postings.len() as u64;
            }
            runs.add(word, &weighted);
            let table = lists::extent(&view.words, word)?;
            let fresh = self.lists.entry(word).or_insert(Fresh { table, postings: vec![], new: Extent::default() });
            fresh.new = fresh.new.with(added);
            posting::merge(&mut fresh.postings, &postings);
        }
        new += change.records.len() as u64;
        for (number, record) in change.records {
            // Its block changes when the record is written to the tables.
            self.entry(&mut older, number)?;
            self.records.insert(number, record);
        }
        Ok((new, foreign))
    }

    /// The entry of a document, to be changed. That of an older document is copied from the tables (`older`).
    fn entry(&mut self, older: &mut Documents<'_>, number: u32) -> Outcome<&mut DocumentEntry> {
        let entry = match number.checked_sub(self.first) {
            Some(index) => self.documents.get_mut(index as usize),
            None => {
                if !self.changed.contains_key(&number) {
                    self.changed.insert(number, self.known(older, number)?);
                    self.bytes += size_of::<DocumentEntry>();
                }
                self.changed.get_mut(&number)
            }
        };
        entry.ok_or_else(|| Fault::damaged("journal", number))
    }

    /// Reads a document from the recent changes or else from the tables (`older`). Lists or the journal refer to it, so
    /// its absence is an error.
    pub(super) fn known(&self, older: &mut Documents<'_>, number: u32) -> Outcome<DocumentEntry> {
        let document = match number.checked_sub(self.first) {
            Some(index) => self.documents.get(index as usize).copied(),
            None => self.changed.get(&number).map_or_else(|| older.get(number), |document| Ok(Some(*document)))?,
        };
        document.ok_or_else(|| Fault::damaged("documents", number))
    }

    /// Finds the number of a document in the recent changes or else in the tables (`older`).
    pub(super) fn find(&self, older: &mut Documents<'_>, hash: HashSpec, id: ContentId) -> Outcome<Option<u32>> {
        self.ids.get(&id).map_or_else(|| older.find(hash, id), |&number| Ok(Some(number)))
    }
}
