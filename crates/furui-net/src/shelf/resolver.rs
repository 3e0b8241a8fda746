use std::collections::HashMap;

use furui::HashSpec;
use furui::search::ContentId;

use super::change::Change;
use super::documents::Documents;
use super::fault::{Fault, Outcome};
use super::recent::Recent;
use super::tables::View;
use super::{RECORDS, lists};

/// Finds out what of a call is new, and what it changes.
pub(super) struct Resolver<'s> {
    recent: &'s Recent,
    view: &'s View,
    older: Documents<'s>,
    hash: HashSpec,
    /// All ids of the call.
    numbers: HashMap<ContentId, u32>,
    change: Change,
}

impl<'s> Resolver<'s> {
    pub(super) fn new(recent: &'s Recent, view: &'s View, hash: HashSpec, expires: u32) -> Self {
        let change = Change { expires, first: recent.next(), ..Change::default() };
        Self { recent, view, older: Documents::new(view), hash, numbers: HashMap::new(), change }
    }

    /// The number of a document, which from now on is known.
    pub(super) fn number(&mut self, id: ContentId) -> Outcome<u32> {
        if let Some(&number) = self.numbers.get(&id) {
            return Ok(number);
        }
        let known = match self.recent.ids.get(&id) {
            Some(&number) => Some(number),
            None => self.older.find(self.hash, id)?,
        };
        let number = match known {
            Some(number) => {
                let expires = match number.checked_sub(self.recent.first) {
                    Some(index) => self.recent.documents.get(index as usize).map(|(_, expires)| *expires),
                    None => self.recent.refreshed.get(&number).copied(),
                };
                if expires.is_none_or(|expires| expires < self.change.expires) {
                    self.change.refreshed.push(number);
                }
                number
            }
            None => {
                let number = self.change.first.checked_add(self.change.documents.len() as u32);
                self.change.documents.push(id);
                number.filter(|&number| number < u32::MAX).ok_or_else(|| {
                    let full = "all numbers below 2^32 - 1 have been given to documents: begin a new directory";
                    Fault::Other(furui::Error::Config(full.into()))
                })?
            }
        };
        self.numbers.insert(id, number);
        Ok(number)
    }

    /// A part of the list of a word.
    pub(super) fn postings(&mut self, word: u32, ids: &[ContentId]) -> Outcome<()> {
        let numbers = ids.iter().map(|&id| self.number(id)).collect::<Outcome<Vec<_>>>()?;
        self.change.postings.push((word, numbers));
        Ok(())
    }

    /// A record.
    pub(super) fn record(&mut self, id: ContentId, record: &[u8]) -> Outcome<()> {
        let number = self.number(id)?;
        self.change.records.push((number, record.to_vec()));
        self.change.postings.push((RECORDS, vec![number]));
        Ok(())
    }

    /// What is new of all that.
    pub(super) fn finish(mut self) -> Outcome<Change> {
        let change = &mut self.change;
        change.refreshed.sort_unstable();
        change.postings.sort_by_key(|(word, _)| *word);
        change.postings.dedup_by(|(word, numbers), (before, all)| {
            let same = word == before;
            if same {
                all.append(numbers);
            }
            same
        });
        for (word, numbers) in &mut change.postings {
            if !numbers.is_sorted_by(|a, b| a < b) {
                numbers.sort_unstable();
                numbers.dedup();
            }
            if numbers[0] < change.first {
                let recent = self.recent.lists.get(word).map_or(&[][..], |fresh| &fresh.numbers);
                numbers.retain(|number| recent.binary_search(number).is_err());
                let newer = numbers.split_off(numbers.partition_point(|&number| number < self.recent.first));
                lists::retain_new(self.view, *word, numbers)?;
                numbers.extend(newer);
            }
        }
        change.postings.retain(|(_, numbers)| !numbers.is_empty());
        // The list of all records says which are new.
        let new = match change.postings.last() {
            Some((RECORDS, numbers)) => numbers.as_slice(),
            _ => &[],
        };
        change.records.sort_by_key(|(number, _)| *number);
        change.records.dedup_by_key(|(number, _)| *number);
        change.records.retain(|(number, _)| new.binary_search(number).is_ok());
        Ok(self.change)
    }
}
