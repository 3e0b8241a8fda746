use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use furui::Result;
use furui_search::{ContentId, Weight, WordPostings};

use super::documents::Documents;
use super::fault::{Fault, Outcome};
use super::origins::{OWN, Origin};
use super::posting::{self, Posting};
use super::recent::Recent;
use super::tables::View;
use super::{Shelf, lists};

/// What some postings say of a document that the shelf does not know yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Novelty {
    /// The document.
    pub id: ContentId,
    /// True if the document does not go with the origin of the postings: another origin brought it, or it is proven, or
    /// the origin is counted together with others.
    pub strange: bool,
    /// The number of postings that are new.
    pub claims: u32,
    /// The weight of all these postings that occurs most often; of several, in the shortest document.
    pub best: Weight,
}

/// Collects the novelties of a call.
struct Novelties<'s> {
    recent: &'s Recent,
    view: &'s View,
    /// The novelties, each with the number of its document, if the document has one.
    all: Vec<(Novelty, Option<u32>)>,
    /// The places in `all`, by document.
    places: HashMap<ContentId, usize>,
}

impl Shelf {
    /// The documents of which these postings say something that the shelf does not know yet.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn novelties(&mut self, origin: &Origin, postings: &[WordPostings]) -> Result<Vec<Novelty>> {
        let origin = self.origins.number(origin);
        let is_crowd = !self.origins.is_one(origin);
        self.asking(|shelf| {
            let mut words = Vec::with_capacity(postings.len());
            for (word, _) in postings {
                words.push(shelf.number_of(word)?);
            }
            let Self { tables, recent, totals, .. } = shelf;
            let view = tables.view()?;
            let (hash, mut older) = (totals.id_hash(), Documents::new(view));
            let mut found = Novelties { recent, view, all: vec![], places: HashMap::new() };
            for (word, (_, ids)) in words.into_iter().zip(postings) {
                found.add(word, ids, |id| {
                    let number = match recent.ids.get(&id) {
                        Some(&number) => Some(number),
                        None => older.find(hash, id)?,
                    };
                    let Some(number) = number else { return Ok((None, is_crowd)) };
                    let document = recent.document(&mut older, number)?;
                    let document = document.ok_or_else(|| Fault::damaged("documents", number))?;
                    let is_its = document.origin == origin && origin != OWN && !document.proven && !is_crowd;
                    Ok((Some(number), !is_its))
                })?;
            }
            Ok(found.all.into_iter().map(|(novelty, _)| novelty).filter(|novelty| novelty.claims > 0).collect())
        })
    }
}

impl Shelf {
    /// The documents among these that another origin brought first.
    ///
    /// # Errors
    /// Those of [`novelties`](Self::novelties).
    pub fn of_others(&mut self, origin: &Origin, ids: &[ContentId]) -> Result<HashSet<ContentId>> {
        let origin = self.origins.find(origin);
        self.asking(|shelf| {
            let mut found = HashSet::new();
            for &id in ids {
                let Some(number) = shelf.number(id)? else { continue };
                let document = shelf.recent.document(&mut Documents::new(shelf.tables.view()?), number)?;
                let document = document.ok_or_else(|| Fault::damaged("documents", number))?;
                if Some(document.origin) != origin {
                    found.insert(id);
                }
            }
            Ok(found)
        })
    }
}

impl Novelties<'_> {
    /// Adds the postings of a word. `look_up` returns the number of a document, if it has one, and whether it is strange.
    fn add(
        &mut self,
        word: Option<u32>,
        ids: &[(ContentId, Weight)],
        mut look_up: impl FnMut(ContentId) -> Outcome<(Option<u32>, bool)>,
    ) -> Outcome<()> {
        let mut known: Vec<(u32, usize)> = vec![];
        for &(id, weight) in ids {
            let at = match self.places.entry(id) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let (number, strange) = look_up(id)?;
                    self.all.push((Novelty { id, strange, claims: 0, best: weight }, number));
                    *entry.insert(self.all.len() - 1)
                }
            };
            let (novelty, number) = &mut self.all[at];
            let rank = |weight: Weight| (weight.step(), u8::MAX - weight.length_step());
            if rank(weight) > rank(novelty.best) {
                novelty.best = weight;
            }
            match number.filter(|_| word.is_some()) {
                Some(number) => known.push((number, at)),
                None => novelty.claims += 1,
            }
        }
        let Some(word) = word.filter(|_| !known.is_empty()) else { return Ok(()) };
        known.sort_unstable();
        known.dedup();
        let recent = self.recent.lists.get(&word).map_or(&[][..], |fresh| &fresh.postings);
        let mut new: Vec<Posting> = known.iter().map(|&(number, _)| Posting { number, step: 0 }).collect();
        new.retain(|known| !posting::has(recent, known.number));
        lists::retain_new(self.view, word, &mut new)?;
        for (_, at) in known.iter().filter(|(number, _)| posting::has(&new, *number)) {
            self.all[*at].0.claims += 1;
        }
        Ok(())
    }
}
