use std::collections::hash_map;
use std::collections::{HashMap, HashSet};

use furui::Result;
use furui_search::{ContentId, Weight, WordPostings};

use super::documents::Documents;
use super::fault::Outcome;
use super::origins::{OWN, Origin};
use super::posting::{self, Posting};
use super::recent::Recent;
use super::tables::View;
use super::{Shelf, lists};

/// What the postings of one call would add to one document, if the shelf (the node's storage) does not have all of them
/// from this origin yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The id of the document.
    pub id: ContentId,
    /// True if the document is kept when the postings' origin is removed: another origin brought it first, or it is
    /// proven, or the origin is counted together with others.
    pub strange: bool,
    /// The number of new postings. It is 0 if the origin only confirms postings that another publisher has brought: if
    /// they are checked, the document is proven and is kept when the other publisher's data is removed.
    pub claims: u32,
    /// The highest weight of these postings; of equal ones, that with the shorter document length.
    pub best: Weight,
}

/// The state of one document while the postings of a call are collected.
struct Entry {
    addition: Addition,
    /// The shelf's number of the document; `None` if the shelf does not have the document.
    number: Option<u32>,
    /// True if the call may confirm postings that another publisher has brought.
    confirms: bool,
}

/// Collects the [`Addition`]s of a call, one per document.
struct Additions<'s> {
    recent: &'s Recent,
    view: &'s View,
    all: Vec<Entry>,
    /// For each document, the index of its addition in `all`.
    places: HashMap<ContentId, usize>,
}

impl Shelf {
    /// Returns an [`Addition`] for each document of which these postings contain something that the shelf does not
    /// have, or has from another origin only.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn additions(&mut self, origin: &Origin, postings: &[WordPostings]) -> Result<Vec<Addition>> {
        let origin = self.origins.number(origin);
        let is_crowd = !self.origins.is_one(origin);
        self.asking(|shelf| {
            let mut words = Vec::with_capacity(postings.len());
            for (word, _) in postings {
                words.push(shelf.number_of(word)?);
            }
            let Self { tables, recent, totals, origins, .. } = shelf;
            let view = tables.view()?;
            let (hash, mut older) = (totals.id_hash(), Documents::new(view));
            let mut found = Additions { recent, view, all: vec![], places: HashMap::new() };
            for (word, (_, ids)) in words.into_iter().zip(postings) {
                found.add(word, ids, |id| {
                    let Some(number) = recent.find(&mut older, hash, id)? else { return Ok((None, is_crowd, false)) };
                    let document = recent.known(&mut older, number)?;
                    let is_its = document.origin == origin && origin != OWN && !document.proven && !is_crowd;
                    let is_of_one = document.origin != origin && document.origin != OWN;
                    let confirms = is_of_one && !document.proven && !origins.is_taken_over(document.origin);
                    Ok((Some(number), !is_its, confirms))
                })?;
            }
            let added = found.all.into_iter().filter(|entry| entry.addition.claims > 0 || entry.confirms);
            Ok(added.map(|entry| entry.addition).collect())
        })
    }

    /// Returns those of these documents that another origin has brought first.
    ///
    /// # Errors
    /// Those of [`additions`](Self::additions).
    pub fn of_others(&mut self, origin: &Origin, ids: &[ContentId]) -> Result<HashSet<ContentId>> {
        let origin = self.origins.find(origin);
        self.asking(|shelf| {
            let mut found = HashSet::new();
            for &id in ids {
                if shelf.entry(id)?.is_some_and(|document| Some(document.origin) != origin) {
                    found.insert(id);
                }
            }
            Ok(found)
        })
    }
}

impl Additions<'_> {
    /// Adds the postings of a word; `word` is its number on the shelf, if it has one. `look_up` returns three facts
    /// about a document: its number on the shelf, if it has one; true if it is [strange](Addition::strange); and true
    /// if the call may confirm postings of another publisher.
    fn add(
        &mut self,
        word: Option<u32>,
        ids: &[(ContentId, Weight)],
        mut look_up: impl FnMut(ContentId) -> Outcome<(Option<u32>, bool, bool)>,
    ) -> Outcome<()> {
        let mut known: Vec<(u32, usize)> = vec![];
        for &(id, weight) in ids {
            let at = match self.places.entry(id) {
                hash_map::Entry::Occupied(entry) => *entry.get(),
                hash_map::Entry::Vacant(entry) => {
                    let (number, strange, confirms) = look_up(id)?;
                    let addition = Addition { id, strange, claims: 0, best: weight };
                    self.all.push(Entry { addition, number, confirms });
                    *entry.insert(self.all.len() - 1)
                }
            };
            let Entry { addition, number, .. } = &mut self.all[at];
            let rank = |weight: Weight| (weight.step(), u8::MAX - weight.length_step());
            if rank(weight) > rank(addition.best) {
                addition.best = weight;
            }
            match number.filter(|_| word.is_some()) {
                Some(number) => known.push((number, at)),
                None => addition.claims += 1,
            }
        }
        let Some(word) = word.filter(|_| !known.is_empty()) else { return Ok(()) };
        known.sort_unstable();
        known.dedup();
        let recent = self.recent.lists.get(&word).map_or(&[][..], |fresh| &fresh.postings);
        let mut new: Vec<Posting> = known.iter().map(|&(number, _)| Posting { number, uses: 0 }).collect();
        new.retain(|known| !posting::has(recent, known.number));
        lists::retain_new(self.view, word, &mut new)?;
        for (_, at) in known.iter().filter(|(number, _)| posting::has(&new, *number)) {
            self.all[*at].addition.claims += 1;
        }
        Ok(())
    }
}
