use std::collections::{HashMap, HashSet};

use furui_search::{ContentId, Listed, WordPostings, limits};

use super::taking::{Taking, Why};
use crate::net::{self, Prefix};
use crate::node::claims::{self, TruePostings};
use crate::node::{doubts, origin};

/// If the records of more than one in this number of documents of a sample cannot be had, all documents are checked.
/// Chosen.
const ONE_IN: usize = 4;
/// A neighbour counts as a liar only if at least this number of documents are false. Of a neighbour that has everything
/// else, only what is new is taken over; a publisher who deceives it could otherwise make its neighbours distrust it.
/// Chosen.
const MANY: usize = 1024;

impl Taking<'_> {
    /// Leaves only those postings that may be stored: some are compared with the records of their documents and, if one
    /// is false, all of them, and those that no record proves are left out. The neighbour may have been deceived
    /// itself, so it counts as a liar only if many, and most of the documents, are false. The keepers of the words, and
    /// so the neighbour, are told what is false.
    pub(super) async fn sift(&mut self, lists: &mut [(String, Listed)]) -> Result<(), Why> {
        let postings: Vec<WordPostings> = lists
            .iter()
            .map(|(word, list)| (word.clone(), list.ids.iter().copied().zip(list.weights.iter().copied()).collect()))
            .collect();
        let from = origin(self.from, Prefix::of_peer(self.from), true);
        let asked = self.inner.keeper.ask(move |shelf| {
            let additions = shelf.additions(&from, &postings);
            (postings, additions)
        });
        let (postings, additions) = asked.await.ok_or(Why::Stopped)?;
        let mut additions = additions.map_err(|_| Why::Stopped)?;
        // Nobody is blamed for what this node has asked for, so the documents of others need no more care.
        additions.iter_mut().for_each(|addition| addition.strange = false);
        let drawn: Vec<ContentId> = claims::sample(&additions, false).into_iter().collect();
        let (mut known, mut gone) = self.find_out(&drawn).await?;
        let mut lies = self.inner.checker.lies(&known, &postings);
        let missing: HashSet<ContentId> = drawn.iter().copied().filter(|id| !known.contains_key(id)).collect();
        let mut unproven = missing;
        if !lies.is_empty() || ONE_IN * unproven.len() > drawn.len() {
            let rest: Vec<ContentId> =
                additions.iter().map(|addition| addition.id).filter(|id| !known.contains_key(id)).collect();
            let (more, more_gone) = self.find_out(&rest).await?;
            known.extend(more);
            gone.extend(more_gone);
            unproven = rest.into_iter().filter(|id| !known.contains_key(id)).collect();
            lies = self.inner.checker.lies(&known, &postings);
            let liars: HashSet<ContentId> = lies.iter().map(|(_, id)| *id).collect();
            if liars.len() >= MANY && 2 * liars.len() > known.len() {
                let who = format!("{} at {}", net::name(self.from), Prefix::of_peer(self.from));
                self.inner.net.refusals().note(who, "most of its lists is disproved by the documents' records");
                return Err(Why::Lied);
            }
        }
        doubts::tell(self.inner.net.clone(), lies.clone());
        let mut by_word: HashMap<String, HashSet<ContentId>> = HashMap::new();
        lies.into_iter().for_each(|(word, id)| {
            by_word.entry(word).or_default().insert(id);
        });
        for (word, list) in lists {
            let lies = by_word.get(word);
            let before = list.ids.len();
            let mut is_silent = false;
            retain(list, |id| {
                is_silent |= self.is_patient && unproven.contains(id) && !gone.contains(id);
                !unproven.contains(id) && lies.is_none_or(|lies| !lies.contains(id))
            });
            // What may be proven later is asked for again.
            self.is_incomplete |= is_silent;
            if list.ids.len() < before && !is_silent {
                self.leave_out(word);
            }
        }
        Ok(())
    }

    /// The true postings of these documents, and the documents whose records nobody has.
    async fn find_out(&mut self, ids: &[ContentId]) -> Result<(TruePostings, HashSet<ContentId>), Why> {
        self.checks = self.checks.checked_sub(ids.len()).ok_or(Why::Enough)?;
        let mut all_gone = HashSet::new();
        let (mut known, unknown) = self.inner.checker.remembered(ids.iter().copied());
        for some in unknown.chunks(limits::FETCHED) {
            let ids = some.to_vec();
            let asked = self.inner.keeper.ask(move |shelf| claims::own_records(shelf, ids));
            let (own, missing) = asked.await.ok_or(Why::Stopped)?.map_err(|_| Why::Stopped)?;
            let found = self.inner.checker.find_out(own, &missing).await;
            known.extend(found.known);
            all_gone.extend(found.gone);
        }
        Ok((known, all_gone))
    }
}

/// Leaves only the documents of a list that are to stay.
fn retain(list: &mut Listed, mut stays: impl FnMut(&ContentId) -> bool) {
    let stay: Vec<bool> = list.ids.iter().map(&mut stays).collect();
    let mut keep = stay.iter();
    list.ids.retain(|_| *keep.next().unwrap_or(&true));
    let mut keep = stay.iter();
    list.weights.retain(|_| *keep.next().unwrap_or(&true));
    let mut keep = stay.iter();
    list.days.retain(|_| *keep.next().unwrap_or(&true));
}
