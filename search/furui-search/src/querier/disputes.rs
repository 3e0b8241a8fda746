use std::collections::{BTreeMap, BTreeSet};

use super::super::{Peer, Place, limits};
use super::calls::Path;

/// The maximum number of disputed documents of which the sources are remembered.
const REMEMBERED: usize = 4 * limits::PAGE;
/// A path (nodes on which an answer depends) is discredited by a contradicting path without false documents once it has
/// named this number of documents that their records have disproved.
const FALSE: u32 = 2;
/// For each disproved document that the contradicting path has named too, the threshold [`FALSE`] rises by this number.
/// A publisher may have sent false postings also to honest nodes, which have not checked them yet.
const FALSE_FOR_ONE: u32 = 4;

/// The documents that only some of the answers to a request for a slice have named. Each answer has come over another
/// [path](Path).
///
/// A disputed document counts neither as found nor as one of the best so far, because it may be invented: otherwise a
/// host could displace documents that others have found. The best documents are collected separately for each path. A
/// path that has named several disproved documents is ignored from then on where paths that have examined the same part
/// of the list contradict it.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    sources: Vec<Source>,
    claims: BTreeMap<Place, Claim>,
}

/// The disputed documents and the failures of one path.
#[derive(Debug)]
struct Source {
    path: Path,
    /// The best documents that the path has named and that were not returned yet.
    waiting: BTreeSet<Place>,
    /// The number of documents named by the path that their records have disproved.
    disproved: u32,
}

/// A disputed document, with the indices of the sources that named it or lacked it.
#[derive(Debug, Default)]
struct Claim {
    /// The indices, in `sources`, of the paths that named the document.
    named: Vec<usize>,
    /// The indices, in `sources`, of the paths that have examined the place of the document without naming it.
    lacked: Vec<usize>,
    is_handed_out: bool,
}

impl Disputes {
    /// Adds a disputed document that the paths `named` have named and the paths `lacked` have not. The best `most`
    /// documents of each path are kept.
    pub(super) fn add(&mut self, place: Place, named: &[&Path], lacked: &[&Path], most: usize) {
        let [named, lacked] =
            [named, lacked].map(|paths| paths.iter().map(|path| self.number(path)).collect::<Vec<_>>());
        let is_new = !self.claims.get(&place).is_some_and(|claim| claim.is_handed_out);
        if is_new && !self.is_discredited(&named, &lacked) {
            for &source in &named {
                let waiting = &mut self.sources[source].waiting;
                waiting.insert(place);
                if waiting.len() > most {
                    waiting.pop_last();
                }
            }
        }
        if self.claims.len() < REMEMBERED || self.claims.contains_key(&place) {
            let claim = self.claims.entry(place).or_default();
            claim.named.extend(named);
            claim.lacked.extend(lacked);
        }
    }

    /// The best disputed document; `None` if there is none.
    pub(super) fn first(&self) -> Option<Place> {
        self.sources.iter().filter_map(|source| source.waiting.first()).min().copied()
    }

    /// Removes a document that is returned, or that has ceased to be disputed.
    pub(super) fn remove(&mut self, place: &Place) {
        self.sources.iter_mut().for_each(|source| {
            source.waiting.remove(place);
        });
        if let Some(claim) = self.claims.get_mut(place) {
            claim.is_handed_out = true;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sources.iter().map(|source| source.waiting.len()).sum()
    }

    /// Ends a dispute: the document's record has shown whether the document belongs at this place. Returns the nodes
    /// that were wrong, and true if they have lied; others may have been deceived, or have not received the document
    /// yet.
    pub(super) fn judge(&mut self, place: &Place, holds: bool) -> (Vec<Peer>, bool) {
        let Some(Claim { named, lacked, .. }) = self.claims.remove(place) else { return (Vec::new(), false) };
        if !holds {
            self.discredit(&named);
        }
        let wrong = if holds { lacked } else { named };
        // A host that answers from its own list alone cannot have been deceived by another keeper.
        let is_own = wrong.iter().all(|&source| self.sources[source].path.len() == 1);
        let wrong = wrong.into_iter().map(|source| self.sources[source].path[0].clone()).collect();
        // A node that lacks a document may not have received it: a publisher may send a document only to its
        // accomplice, so that other nodes are blamed.
        (wrong, is_own && !holds)
    }

    /// True if only some of the paths have named the document.
    pub(super) fn has(&self, place: &Place) -> bool {
        self.claims.contains_key(place)
    }

    /// Ends a dispute about a document of which no node has the record. No node is reported as a liar for that, because
    /// the document may have been withdrawn.
    pub(super) fn miss(&mut self, place: &Place) {
        if let Some(Claim { named, .. }) = self.claims.remove(place) {
            self.discredit(&named);
        }
    }

    /// Removes all documents, and keeps the failures of the paths.
    pub(super) fn restart(&mut self) {
        self.claims.clear();
        self.sources.iter_mut().for_each(|source| source.waiting.clear());
    }

    /// Counts a disproved document for each of the sources with these indices, and drops the documents that only
    /// discredited sources have named.
    fn discredit(&mut self, named: &[usize]) {
        named.iter().for_each(|&source| self.sources[source].disproved += 1);
        let discredited = self.claims.iter().filter(|(_, it)| self.is_discredited(&it.named, &it.lacked));
        let discredited: Vec<Place> = discredited.map(|(place, _)| *place).collect();
        for source in &mut self.sources {
            discredited.iter().for_each(|place| {
                source.waiting.remove(place);
            });
        }
    }

    /// True if a disputed document is to be ignored. `named` and `lacked` are the indices of the sources that have
    /// named it and of those that have not. It is ignored if even the most reliable source that named it has named
    /// [`FALSE`] disproved documents, and [`FALSE_FOR_ONE`] more for each disproved document of the most reliable one
    /// that lacked it.
    fn is_discredited(&self, named: &[usize], lacked: &[usize]) -> bool {
        let disproved = |source: &usize| self.sources[*source].disproved;
        let (best, other) = (named.iter().map(disproved).min(), lacked.iter().map(disproved).min());
        let needed = |other: u32| FALSE.saturating_add(other.saturating_mul(FALSE_FOR_ONE));
        best.zip(other).is_some_and(|(best, other)| best >= needed(other))
    }

    fn number(&mut self, path: &Path) -> usize {
        self.sources.iter().position(|known| known.path == *path).unwrap_or_else(|| {
            self.sources.push(Source { path: path.clone(), waiting: BTreeSet::new(), disproved: 0 });
            self.sources.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ContentId;
    use super::*;

    fn place(score: u32, id: u8) -> Place {
        Place { score, id: ContentId::new([id; 20]) }
    }

    fn peer(number: u8) -> Peer {
        Peer::new(&[number], b"")
    }

    /// Makes the path of a host that answers from its own list.
    fn own(number: u8) -> Path {
        vec![peer(number)]
    }

    #[test]
    fn a_host_displaces_only_what_it_has_named_itself() {
        let mut disputes = Disputes::default();
        disputes.add(place(5, 1), &[&own(1)], &[&own(2)], 3);
        for made_up in 10..60 {
            disputes.add(place(u32::from(made_up), made_up), &[&own(2)], &[&own(1)], 3);
        }
        assert_eq!(disputes.len(), 4);
        let mut came = Vec::new();
        while let Some(first) = disputes.first() {
            disputes.remove(&first);
            came.push(first);
        }
        assert_eq!(came, [place(59, 59), place(58, 58), place(57, 57), place(5, 1)]);
        // A document that was returned is not returned again.
        disputes.add(place(5, 1), &[&own(1)], &[&own(2)], 3);
        assert_eq!(disputes.first(), None);
    }

    #[test]
    fn who_made_a_document_up_has_lied_and_who_lacks_one_may_not_have_been_given_it() {
        let mut disputes = Disputes::default();
        for id in [1, 2] {
            disputes.add(place(5, id), &[&own(1)], &[&own(2), &own(3)], 3);
        }
        disputes.add(place(5, 3), &[&vec![peer(1), peer(4)]], &[&vec![peer(2), peer(5)]], 3);
        let blamed = disputes.judge(&place(5, 1), false);
        assert_eq!(blamed, (vec![peer(1)], true));
        let blamed = disputes.judge(&place(5, 2), true);
        assert_eq!(blamed, (vec![peer(2), peer(3)], false));
        // The keeper of another word may have deceived the host.
        let blamed = disputes.judge(&place(5, 3), false);
        assert_eq!(blamed, (vec![peer(1)], false));
        assert!(disputes.judge(&place(5, 3), false).0.is_empty(), "it was judged already");
    }
    #[test]
    fn a_path_that_has_named_what_does_not_hold_displaces_nothing_more() {
        let mut disputes = Disputes::default();
        let [liar, honest] = [own(1), own(2)];
        for id in 1..=50 {
            disputes.add(place(u32::from(id), id), &[&liar], &[&honest], 50);
        }
        disputes.add(place(3, 99), &[&honest], &[&liar], 50);
        // No other source has examined this place.
        disputes.add(place(2, 98), &[&liar], &[], 50);
        for (false_one, left) in [(50, 50), (49, 2)] {
            disputes.remove(&place(u32::from(false_one), false_one));
            disputes.judge(&place(u32::from(false_one), false_one), false);
            assert_eq!(disputes.len(), left);
        }
        assert_eq!(disputes.first(), Some(place(3, 99)));
        disputes.add(place(60, 60), &[&liar], &[&honest], 50);
        assert_eq!(disputes.first(), Some(place(3, 99)));
        // A path that has itself named a disproved document can still discredit others, only later.
        disputes.restart();
        disputes.add(place(9, 9), &[&honest], &[&liar], 50);
        disputes.miss(&place(9, 9));
        disputes.add(place(60, 60), &[&liar], &[&honest], 50);
        assert_eq!(disputes.first(), Some(place(60, 60)));
    }
}
