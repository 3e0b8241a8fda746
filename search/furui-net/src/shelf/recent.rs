use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// The new expiry times, in seconds since 1970, of documents in the tables, by number.
    pub(super) refreshed: BTreeMap<u32, u32>,
    /// The lengths, as steps of a weight, of documents in the tables whose length has become known, by number.
    pub(super) measured: BTreeMap<u32, u8>,
    /// The numbers of documents in the tables that other origins brought and that this node publishes too.
    pub(super) claimed: BTreeSet<u32>,
    /// The numbers of documents in the tables that have become [proven](DocumentEntry::proven).
    pub(super) proven: BTreeSet<u32>,
    /// The numbers of documents in the tables that have become [mixed](DocumentEntry::mixed).
    pub(super) mixed: BTreeSet<u32>,
    /// For each document in the tables, by number, the bytes that its origin has brought for it in recent changes.
    pub(super) charged: BTreeMap<u32, u32>,
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
    /// The sum of the hashes of the ids of `postings`.
    pub(super) sum: u64,
}

impl Fresh {
    /// The extent (length and fingerprint) of the whole list, new postings included.
    pub(super) fn extent(&self) -> Extent {
        Extent { ids: self.table.ids + self.postings.len() as u64, sum: self.table.sum.wrapping_add(self.sum) }
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
        for (id, length) in change.documents {
            self.ids.insert(id, self.next());
            let origin = change.origin;
            self.documents.push(DocumentEntry { id, expires: change.expires, length, origin, ..DocumentEntry::NONE });
        }
        for Posting { number, step: length } in change.measured {
            if self.document(&mut Documents::new(view), number)?.is_some_and(|document| document.length > 0) {
                // The cached weights contain the old length of the document.
                runs.clear();
            }
            match number.checked_sub(self.first) {
                Some(index) => {
                    let document = self.documents.get_mut(index as usize);
                    document.ok_or_else(|| Fault::damaged("journal", number))?.length = length;
                }
                None => {
                    self.measured.insert(number, length);
                }
            }
        }
        for number in change.refreshed {
            let expires = match number.checked_sub(self.first) {
                Some(index) => self.documents.get_mut(index as usize).map(|document| &mut document.expires),
                None => Some(self.refreshed.entry(number).or_default()),
            };
            let expires = expires.ok_or_else(|| Fault::damaged("journal", number))?;
            *expires = change.expires.max(*expires);
        }
        let mut older = Documents::new(view);
        for number in change.claimed {
            match change.origin {
                OWN => self.claim(&mut older, number, origins)?,
                origin => self.note(number, origins.is_taken_over(origin))?,
            }
        }
        let foreign = self.charge(&mut older, change.origin, charges, origins)?;
        for (word, postings) in change.postings {
            let mut sum = 0u64;
            for &Posting { number, .. } in &postings {
                let document = self.known(&mut older, number)?;
                sum = sum.wrapping_add(document.id.hash().get());
            }
            if word != RECORDS {
                new += postings.len() as u64;
                totals.postings += postings.len() as u64;
            }
            runs.add(word, &postings);
            let fresh = match self.lists.entry(word) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(Fresh { table: lists::extent(&view.words, word)?, postings: vec![], sum: 0 })
                }
            };
            fresh.sum = fresh.sum.wrapping_add(sum);
            posting::merge(&mut fresh.postings, &postings);
        }
        new += change.records.len() as u64;
        self.records.extend(change.records);
        Ok((new, foreign))
    }

    /// Records that this node itself publishes a document that another origin brought first.
    fn claim(&mut self, older: &mut Documents<'_>, number: u32, origins: &mut Origins) -> Outcome<()> {
        let document = self.known(older, number)?;
        origins.subtract(document.origin, 1, document.bytes.into());
        match number.checked_sub(self.first) {
            Some(index) => self.documents[index as usize].origin = OWN,
            None => {
                self.claimed.insert(number);
            }
        }
        Ok(())
    }

    /// Records that a document is mixed if `mixed` is true, and otherwise that it is proven.
    fn note(&mut self, number: u32, mixed: bool) -> Outcome<()> {
        match number.checked_sub(self.first) {
            Some(index) => {
                let document = self.documents.get_mut(index as usize);
                let document = document.ok_or_else(|| Fault::damaged("journal", number))?;
                let flag = if mixed { &mut document.mixed } else { &mut document.proven };
                *flag = true;
            }
            None => {
                let numbers = if mixed { &mut self.mixed } else { &mut self.proven };
                numbers.insert(number);
            }
        }
        Ok(())
    }

    /// Charges added bytes to the documents' entries and their origins. Returns the bytes added to documents of other
    /// origins.
    fn charge(
        &mut self,
        older: &mut Documents<'_>,
        origin: u32,
        charges: BTreeMap<u32, u32>,
        origins: &mut Origins,
    ) -> Outcome<u64> {
        let mut foreign = 0;
        for (number, bytes) in charges {
            let document = self.known(older, number)?;
            if document.origin != origin {
                foreign += u64::from(bytes);
                continue;
            }
            // The origin's sum must match the entry's bytes, which saturate.
            let sum = document.bytes.saturating_add(bytes);
            origins.add(origin, 0, (sum - document.bytes).into());
            match number.checked_sub(self.first) {
                Some(index) => self.documents[index as usize].bytes = sum,
                None => *self.charged.entry(number).or_default() += sum - document.bytes,
            }
        }
        Ok(foreign)
    }

    /// Reads the document with this number from the recent changes or else from the tables (`older`).
    pub(super) fn document(&self, older: &mut Documents<'_>, number: u32) -> Outcome<Option<DocumentEntry>> {
        if let Some(index) = number.checked_sub(self.first) {
            return Ok(self.documents.get(index as usize).copied());
        }
        let Some(document) = older.get(number)? else { return Ok(None) };
        let expires = self.refreshed.get(&number).copied().unwrap_or_default().max(document.expires);
        let length = self.measured.get(&number).copied().unwrap_or(document.length);
        let bytes = document.bytes + self.charged.get(&number).copied().unwrap_or_default();
        let origin = if self.claimed.contains(&number) { OWN } else { document.origin };
        let proven = document.proven || self.proven.contains(&number);
        let mixed = document.mixed || self.mixed.contains(&number);
        Ok(Some(DocumentEntry { expires, length, origin, proven, mixed, bytes, ..document }))
    }

    /// Reads the document with this number, to which lists or the journal refer, so that its absence is an error.
    pub(super) fn known(&self, older: &mut Documents<'_>, number: u32) -> Outcome<DocumentEntry> {
        self.document(older, number)?.ok_or_else(|| Fault::damaged("documents", number))
    }

    /// Finds the number of a document in the recent changes or else in the tables (`older`).
    pub(super) fn find(&self, older: &mut Documents<'_>, hash: HashSpec, id: ContentId) -> Outcome<Option<u32>> {
        self.ids.get(&id).map_or_else(|| older.find(hash, id), |&number| Ok(Some(number)))
    }

    /// The entries of documents to write to the tables. They do not contain the blocks of new records yet.
    pub(super) fn changed(&self, view: &View) -> Outcome<BTreeMap<u32, DocumentEntry>> {
        let mut older = Documents::new(view);
        let mut changed = BTreeMap::new();
        let numbers = self.refreshed.keys().chain(self.measured.keys()).chain(self.records.keys());
        let numbers = numbers.chain(&self.claimed).chain(&self.proven).chain(&self.mixed).chain(self.charged.keys());
        for &number in numbers.filter(|&&number| number < self.first) {
            let document = self.known(&mut older, number)?;
            changed.insert(number, document);
        }
        changed.extend((self.first..).zip(self.documents.iter().copied()));
        Ok(changed)
    }
}
