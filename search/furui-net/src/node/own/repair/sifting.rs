use std::collections::{HashMap, HashSet};

use furui_search::{ContentId, WordPostings, limits};

use super::taking::{Dated, Taking, Why};
use crate::net::{self, Prefix};
use crate::node::claims::{self, TruePostings};
use crate::node::{doubts, origin};

/// If the records of more than one document in this number are unavailable for a sample of a neighbour's postings, all
/// documents are checked. The value is a choice, not a measurement.
const ONE_IN: usize = 4;
/// The minimum number of documents with false postings at which a neighbour counts as a liar. Only the postings that
/// are new to this node are checked; with a lower number, a publisher that deceives the neighbour about these few could
/// make other nodes distrust it. The value is a choice, not a measurement.
const MANY: usize = 1024;

impl Taking<'_> {
    /// Removes the postings that must not be stored from a neighbour's lists. A sample of the postings is compared with
    /// the records of their documents; if one is false or too many records are unavailable, all postings are compared.
    /// False and unproven postings are removed. The false ones are reported to the nodes that keep the words' lists. As
    /// the neighbour may have been deceived itself, it counts as a liar only if at least [`MANY`] documents, and more
    /// than half of those checked, have false postings. Among friends, everything is taken over.
    pub(super) async fn sift(&mut self, lists: &mut [Dated]) -> Result<(), Why> {
        if self.inner.net.is_private() {
            return Ok(());
        }
        let postings: Vec<WordPostings> = lists
            .iter()
            .map(|(word, list)| (word.clone(), list.iter().map(|(id, weight, _)| (*id, *weight)).collect()))
            .collect();
        let from = origin(self.from, Prefix::of_peer(self.from), true);
        let asked = self.inner.keeper.ask(move |shelf| {
            let additions = shelf.additions(&from, &postings);
            (postings, additions)
        });
        let (postings, additions) = asked.await.ok_or(Why::Stopped)?;
        let mut additions = additions.map_err(|_| Why::Stopped)?;
        // No peer is blamed for postings that this node has requested, so additions to other peers' documents need no
        // special check.
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
            let before = list.len();
            let mut is_silent = false;
            list.retain(|(id, ..)| {
                is_silent |= self.is_patient && unproven.contains(id) && !gone.contains(id);
                !unproven.contains(id) && lies.is_none_or(|lies| !lies.contains(id))
            });
            // Postings that a silent keeper may prove later are requested again.
            self.is_incomplete |= is_silent;
            if list.len() < before && !is_silent {
                self.leave_out(word);
            }
        }
        Ok(())
    }

    /// Returns the true postings of these documents as far as their records are available, and the documents whose
    /// records no node keeps.
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
