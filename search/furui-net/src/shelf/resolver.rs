use std::collections::{HashMap, HashSet};

use furui::HashSpec;
use furui_search::{ContentId, Weight, WordPostings};

use super::change::Change;
use super::documents::Documents;
use super::fault::{Fault, Outcome};
use super::origins::OWN;
use super::posting::{self, Posting};
use super::recent::Recent;
use super::tables::View;
use super::{Published, RECORDS, lists};

/// The data to store: postings, records, and the publications of these records.
pub type Brought<'b> = (&'b [WordPostings], &'b [(ContentId, Vec<u8>)], &'b [Published]);

/// The parameters of a call that stores data: its origin, the expiry time, and the documents that were checked.
#[derive(Clone, Copy)]
pub(super) struct Bringing<'s> {
    /// The shelf's number of the origin: the peer that sent the data of the call.
    pub(super) origin: u32,
    /// True if this node took the data over from the origin.
    pub(super) taken_over: bool,
    /// The time until which the documents are kept, in seconds since 1970.
    pub(super) expires: u32,
    /// The documents all of whose data in the call was compared with the record.
    pub(super) proven: &'s HashSet<ContentId>,
    /// The documents whose length, as the call states it, is known to be true.
    pub(super) exact: &'s HashSet<ContentId>,
}

/// Determines which parts of a call's data are new to the shelf, and makes the [`Change`] that adds them.
pub(super) struct Resolver<'s> {
    recent: &'s Recent,
    view: &'s View,
    older: Documents<'s>,
    hash: HashSpec,
    /// The number of each document of the call so far, and its size, or 0 if it is unknown.
    numbers: HashMap<ContentId, (u32, u16)>,
    bringing: Bringing<'s>,
    change: Change,
}

impl<'s> Resolver<'s> {
    pub(super) fn new(recent: &'s Recent, view: &'s View, hash: HashSpec, bringing: Bringing<'s>) -> Self {
        let Bringing { origin, expires, .. } = bringing;
        let change = Change { expires, origin, first: recent.next(), ..Change::default() };
        Self { recent, view, older: Documents::new(view), hash, numbers: HashMap::new(), bringing, change }
    }

    /// Returns the number of a document; a new document gets the next number. `size` has the [bits of its
    /// size](Weight::size_bits), or is 0 if the size is unknown.
    pub(super) fn number(&mut self, id: ContentId, size: u16) -> Outcome<u32> {
        let (number, known) = match self.numbers.get(&id) {
            Some(&numbered) => numbered,
            None => self.look_up(id, size)?,
        };
        let is_exact = self.bringing.exact.contains(&id);
        if size > 0 && (known == 0 || is_exact && known != size) {
            match number.checked_sub(self.change.first) {
                Some(index) => self.change.documents[index as usize].1 = size,
                None => self.change.measured.push(Posting { number, uses: size }),
            }
        }
        let size = if size > 0 && (known == 0 || is_exact) { size } else { known };
        self.numbers.insert(id, (number, size));
        Ok(number)
    }

    fn look_up(&mut self, id: ContentId, size: u16) -> Outcome<(u32, u16)> {
        if let Some(number) = self.recent.find(&mut self.older, self.hash, id)? {
            let document = self.recent.known(&mut self.older, number)?;
            if document.expires < self.change.expires {
                self.change.refreshed.push(number);
            }
            let is_claimed = match self.change.origin {
                OWN => document.origin != OWN,
                origin if self.bringing.taken_over => document.origin != origin && !document.mixed,
                _ => document.origin != OWN && !document.proven && self.bringing.proven.contains(&id),
            };
            if is_claimed {
                self.change.claimed.push(number);
            }
            return Ok((number, document.size));
        }
        let number = self.change.first.checked_add(self.change.documents.len() as u32);
        self.change.documents.push((id, size));
        let number = number
            .filter(|&number| number < u32::MAX)
            .ok_or_else(|| Fault::Other(furui::Error::NoNumberLeft { to: "documents" }))?;
        if self.change.origin != OWN && !self.bringing.taken_over && self.bringing.proven.contains(&id) {
            self.change.claimed.push(number);
        }
        Ok((number, size))
    }

    /// Adds the new ones of these postings of a word to the change.
    pub(super) fn postings(&mut self, word: u32, postings: &[(ContentId, Weight)]) -> Outcome<()> {
        let postings =
            postings.iter().map(|&(id, weight)| Ok(Posting::new(self.number(id, weight.size_bits())?, weight)));
        let postings = postings.collect::<Outcome<Vec<_>>>()?;
        self.change.postings.push((word, postings));
        Ok(())
    }

    /// Adds a record to the change if it is new.
    pub(super) fn record(&mut self, id: ContentId, record: &[u8]) -> Outcome<()> {
        let number = self.number(id, 0)?;
        self.change.records.push((number, record.to_vec()));
        self.change.postings.push((RECORDS, vec![Posting { number, uses: 0 }]));
        Ok(())
    }

    /// Returns the complete change of the call.
    pub(super) fn finish(mut self) -> Outcome<Change> {
        let change = &mut self.change;
        change.refreshed.sort_unstable();
        change.claimed.sort_unstable();
        change.measured.sort_unstable();
        change.postings.sort_by_key(|(word, _)| *word);
        change.postings.dedup_by(|(word, postings), (before, all)| {
            let same = word == before;
            if same {
                all.append(postings);
            }
            same
        });
        for (word, postings) in &mut change.postings {
            if !postings.is_sorted_by(|a, b| a.number < b.number) {
                postings.sort_by_key(|posting| posting.number);
                postings.dedup_by_key(|posting| posting.number);
            }
            if postings[0].number < change.first {
                let recent = self.recent.lists.get(word).map_or(&[][..], |fresh| &fresh.postings);
                postings.retain(|known| !posting::has(recent, known.number));
                let older = postings.partition_point(|posting| posting.number < self.recent.first);
                let newer = postings.split_off(older);
                lists::retain_new(self.view, *word, postings)?;
                postings.extend(newer);
            }
        }
        change.postings.retain(|(_, postings)| !postings.is_empty());
        // The new postings in the list of all records show which records are new.
        let new = match change.postings.last() {
            Some((RECORDS, postings)) => postings.as_slice(),
            _ => &[],
        };
        change.records.sort_by_key(|(number, _)| *number);
        change.records.dedup_by_key(|(number, _)| *number);
        change.records.retain(|(number, _)| posting::has(new, *number));
        if self.bringing.taken_over && !change.claimed.is_empty() {
            // An origin that adds nothing new to a document does not make it mixed.
            let lists = change.postings.iter().filter(|(word, _)| *word != RECORDS);
            let brought: HashSet<u32> = lists.flat_map(|(_, postings)| postings).map(|it| it.number).collect();
            change.claimed.retain(|number| brought.contains(number));
        }
        Ok(self.change)
    }
}
