//! Examines postings that other nodes doubt, because the documents' records lack the words or are withdrawn. A node
//! that keeps the words' lists trusts none of these reports: it fetches the documents' records itself.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use furui_search::{ContentId, IdRange, Index, Peer, Refusal, Response};

use super::event_loop::EventLoop;
use crate::net::Prefix;
use crate::node::claims::{self, TruePostings};
use crate::shelf::{Listed, Origin};

/// The number of nodes that must show a withdrawal of a document before its postings are removed: this node and others,
/// or one in a private network. Chosen: nobody can remove a posting alone.
const WITNESSES: usize = 2;
/// If a posting that was taken over from a neighbour is false, this number of further postings of the same list and
/// origin are examined. The value is a choice, not a measurement.
const MORE: usize = 64;
/// The number of postings from the beginning of the list among which the further ones are drawn at random. The value is
/// a choice, not a measurement.
const AMONG: usize = 4096;

impl EventLoop {
    /// Begins the examination of the postings that a peer doubts, as far as they are in the lists.
    pub(super) fn doubt(
        &mut self,
        (from, prefix): (&Peer, Prefix),
        claims: Vec<(String, ContentId)>,
    ) -> furui::Result<Response> {
        if self.sources.refuses(from, self.now()) {
            return Ok(Response::Refused(Refusal::Invalid));
        }
        let mut by_word: HashMap<String, Vec<ContentId>> = HashMap::new();
        for (word, id) in claims {
            if self.doubted.insert((word.clone(), id)) {
                by_word.entry(word).or_default().push(id);
            }
        }
        let mut lists = Vec::new();
        for (word, ids) in by_word {
            let listed = self.kept.shelf.listed(&word, &ids)?;
            // A posting that is not in the list needs no examination, and may be doubted again if it is stored later.
            ids.iter().filter(|id| listed.iter().all(|it| it.id != **id)).for_each(|id| {
                self.doubted.remove(&(word.clone(), *id));
            });
            if !listed.is_empty() {
                lists.push((word, listed));
            }
        }
        let examines = lists.is_empty() || self.examine(prefix, lists, None)?;
        Ok(if examines { Response::Stored { new: 0 } } else { Response::Refused(Refusal::Busy) })
    }

    /// Compares postings of this node's lists, which a peer with this prefix doubts, with the records of their
    /// documents. If the other postings of an origin were false, they are examined for that reason, and it is the
    /// `suspect`. Returns false, and does nothing, if the limits for examinations are exceeded.
    fn examine(
        &mut self,
        prefix: Prefix,
        lists: Vec<(String, Vec<Listed>)>,
        suspect: Option<Origin>,
    ) -> furui::Result<bool> {
        let ids: HashSet<ContentId> = lists.iter().flat_map(|(_, listed)| listed).map(|it| it.id).collect();
        let now = self.now();
        if !self.budget.grants(prefix, ids.len(), 0, now) {
            self.forget_doubts(&lists);
            return Ok(false);
        }
        self.checker.forget(&ids);
        let (own, missing) = claims::own_records(&mut self.kept.shelf, ids.into_iter().collect())?;
        let mut witnesses: HashMap<ContentId, usize> = HashMap::new();
        for &id in &missing {
            if self.kept.shelf.withdrawal(id)?.is_some() {
                witnesses.insert(id, 1);
            }
        }
        let (checker, net) = (self.checker.clone(), self.net.clone());
        self.later(async move {
            let found = checker.find_out(own, &missing).await;
            found.withdrawn.iter().for_each(|(id, others)| *witnesses.entry(*id).or_default() += others);
            let enough = if net.is_private() { 1 } else { WITNESSES.min(1 + net.peers().await.len()) };
            witnesses.retain(|id, count| *count >= enough && !found.known.contains_key(id));
            let withdrawn: HashSet<ContentId> = witnesses.into_keys().collect();
            move |this: &mut Self| {
                this.budget.charge(prefix, found.bytes, 0, this.now());
                this.on_examined(prefix, lists, &found.known, &withdrawn, suspect);
                None
            }
        });
        Ok(true)
    }

    fn forget_doubts(&mut self, lists: &[(String, Vec<Listed>)]) {
        for (word, listed) in lists {
            listed.iter().for_each(|it| {
                self.doubted.remove(&(word.clone(), it.id));
            });
        }
    }

    /// Handles the result of an examination: the origins of false postings are blamed, and the lists are corrected:
    /// those of withdrawn documents are removed too.
    fn on_examined(
        &mut self,
        prefix: Prefix,
        lists: Vec<(String, Vec<Listed>)>,
        known: &TruePostings,
        withdrawn: &HashSet<ContentId>,
        suspect: Option<Origin>,
    ) {
        self.forget_doubts(&lists);
        let (mut examined, mut disproved) = (0, 0);
        for (word, listed) in lists {
            // Nobody is to blame for these.
            let gone: Vec<&Listed> = listed.iter().filter(|it| withdrawn.contains(&it.id)).collect();
            self.correct(&word, &gone, known);
            let hash = self.checker.word(&word);
            // A posting whose record is unavailable is neither proved nor disproved.
            let seen: Vec<&Listed> = listed.iter().filter(|it| known.contains_key(&it.id)).collect();
            let is_false = |it: &&&Listed| known[&it.id].weight(hash) != Some(it.weight);
            let wrong: Vec<&Listed> = seen.iter().filter(is_false).copied().collect();
            (examined, disproved) = (examined + seen.len(), disproved + wrong.len());
            let mut origins = HashSet::new();
            for it in &wrong {
                match &it.origin {
                    Some(origin) if it.sure => self.blame(origin),
                    Some(origin) if origin.taken_over && suspect.is_none() => {
                        origins.insert(origin.clone());
                    }
                    _ => {}
                }
            }
            // Postings that were removed together with their origin are not in the list any more.
            self.correct(&word, &wrong, known);
            for origin in origins {
                // If the storage fails, the next request to it reports that.
                let _ = self.suspect(prefix, &word, origin);
            }
        }
        if let Some(origin) = suspect.filter(|_| disproved > 0 && 2 * disproved >= examined) {
            self.remove(origin);
        }
    }

    /// Corrects a list: removes the false postings of these documents, and stores the true ones.
    fn correct(&mut self, word: &str, wrong: &[&Listed], known: &TruePostings) {
        let ids: Vec<ContentId> = wrong.iter().map(|it| it.id).collect();
        let hash = self.checker.word(word);
        let true_weight = |id: &ContentId| Some((*id, known.get(id)?.weight(hash)?));
        let there: Vec<ContentId> = match self.kept.shelf.listed(word, &ids) {
            Ok(listed) => listed.into_iter().map(|it| it.id).collect(),
            Err(_) => return,
        };
        // If the storage fails, the next request to it reports that.
        if there.is_empty() || self.kept.shelf.remove_postings(word, &there).is_err() {
            return;
        }
        let postings: Vec<_> = there.iter().filter_map(true_weight).collect();
        if !postings.is_empty() {
            let _ = self.kept.shelf.put_right(word, &postings);
        }
    }

    /// Begins the examination of further postings that an origin brought into the list of a word.
    fn suspect(&mut self, prefix: Prefix, word: &str, origin: Origin) -> furui::Result<()> {
        let mut ids = self.kept.shelf.slice(word, IdRange::ALL, AMONG)?.0.to_vec();
        let dice = RandomState::new();
        ids.sort_by_cached_key(|id| dice.hash_one(id));
        let mut listed = self.kept.shelf.listed(word, &ids)?;
        listed.retain(|it| it.origin.as_ref() == Some(&origin));
        listed.truncate(MORE);
        if !listed.is_empty() {
            self.examine(prefix, vec![(word.to_owned(), listed)], Some(origin))?;
        }
        Ok(())
    }
}
