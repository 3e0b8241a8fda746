use std::collections::{BTreeMap, BTreeSet};

use super::super::{Peer, Place, limits};
use super::calls::Path;

/// The maximum number of disputed documents for which it is remembered which paths named them.
const REMEMBERED: usize = 4 * limits::PAGE;
/// A path is discredited against one that has named nothing false once it has named this many documents that do not
/// hold.
const FALSE: u32 = 2;
/// For each document that does not hold and that the other path has named, a path is discredited this number of
/// documents later. A publisher may have given false postings to honest keepers, too, which they have not checked yet.
const FALSE_FOR_ONE: u32 = 4;

/// What only some of the answers to a request for a slice have named. Each answer has come over another [path](Path).
///
/// A disputed document counts neither as found nor as one of the best so far, because it may be made up: otherwise a
/// host could displace documents that others have found. Each path has its own place for its best documents. A path
/// that has named several documents that do not hold is not believed any more, where others that examined the same part
/// of the list contradict it.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    sources: Vec<Source>,
    claims: BTreeMap<Place, Claim>,
}

/// What has come over a path.
#[derive(Debug)]
struct Source {
    path: Path,
    /// The best documents that were named and not handed out yet.
    waiting: BTreeSet<Place>,
    /// The number of documents that were named and do not hold.
    disproved: u32,
}

/// A document that only some answers have named, with the numbers of their sources.
#[derive(Debug, Default)]
struct Claim {
    /// The sources that named the document.
    named: Vec<usize>,
    /// The sources that have examined the place of the document and did not name it.
    lacked: Vec<usize>,
    is_handed_out: bool,
}

/// The nodes to blame for a disputed document, now that its record has shown whether it holds.
#[derive(Debug, Default)]
pub(super) struct Blamed {
    /// The nodes that have lied.
    pub(super) liars: Vec<Peer>,
    /// The nodes that may have been lied to, or have not been given the document yet.
    pub(super) mistaken: Vec<Peer>,
}

impl Disputes {
    /// Adds a document that `named` have named and `lacked` have not. Of each path, the best `most` are kept.
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

    /// The next disputed document.
    pub(super) fn first(&self) -> Option<Place> {
        self.sources.iter().filter_map(|source| source.waiting.first()).min().copied()
    }

    /// Removes a document that is handed out, or that is not disputed any more.
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

    /// Ends a dispute: the record of the document has shown that it is at this place, or that it is not.
    pub(super) fn judge(&mut self, place: &Place, holds: bool) -> Blamed {
        let Some(Claim { named, lacked, .. }) = self.claims.remove(place) else { return Blamed::default() };
        if !holds {
            self.discredit(&named);
        }
        let wrong = if holds { lacked } else { named };
        // A host that answers from its own list alone has not been lied to.
        let is_own = wrong.iter().all(|&source| self.sources[source].path.len() == 1);
        let wrong = wrong.into_iter().map(|source| self.sources[source].path[0].clone()).collect();
        // Who lacks a document may not have been given it: a publisher may give a document to its accomplice alone, to
        // have others blamed.
        match is_own && !holds {
            true => Blamed { liars: wrong, mistaken: Vec::new() },
            false => Blamed { liars: Vec::new(), mistaken: wrong },
        }
    }

    /// Ends a dispute about a document of which no node has the record. Nobody is blamed for that, because the document
    /// may have been withdrawn.
    pub(super) fn miss(&mut self, place: &Place) {
        if let Some(Claim { named, .. }) = self.claims.remove(place) {
            self.discredit(&named);
        }
    }

    /// Forgets all documents, and keeps what is known about the paths.
    pub(super) fn restart(&mut self) {
        self.claims.clear();
        self.sources.iter_mut().for_each(|source| source.waiting.clear());
    }

    /// Notes that these sources have named a document that does not hold, and drops the documents for which nobody else
    /// stands.
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

    /// True if a document is not to be believed that these sources have named and those have not.
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

    /// The path of a host that answers from its own list.
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
        // What was handed out does not come again.
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
        assert_eq!((blamed.liars, blamed.mistaken), (vec![peer(1)], vec![]));
        let blamed = disputes.judge(&place(5, 2), true);
        assert_eq!((blamed.liars, blamed.mistaken), (vec![], vec![peer(2), peer(3)]));
        // The keeper of another word may have lied to the host.
        let blamed = disputes.judge(&place(5, 3), false);
        assert_eq!((blamed.liars, blamed.mistaken), (vec![], vec![peer(1)]));
        assert!(disputes.judge(&place(5, 3), false).mistaken.is_empty(), "it was judged already");
    }
    #[test]
    fn a_path_that_has_named_what_does_not_hold_displaces_nothing_more() {
        let mut disputes = Disputes::default();
        let [liar, honest] = [own(1), own(2)];
        for id in 1..=50 {
            disputes.add(place(u32::from(id), id), &[&liar], &[&honest], 50);
        }
        disputes.add(place(3, 99), &[&honest], &[&liar], 50);
        // Nobody else has examined this place.
        disputes.add(place(2, 98), &[&liar], &[], 50);
        for (false_one, left) in [(50, 50), (49, 2)] {
            disputes.remove(&place(u32::from(false_one), false_one));
            disputes.judge(&place(u32::from(false_one), false_one), false);
            assert_eq!(disputes.len(), left);
        }
        assert_eq!(disputes.first(), Some(place(3, 99)));
        disputes.add(place(60, 60), &[&liar], &[&honest], 50);
        assert_eq!(disputes.first(), Some(place(3, 99)));
        // A path that has named something false itself discredits others later.
        disputes.restart();
        disputes.add(place(9, 9), &[&honest], &[&liar], 50);
        disputes.miss(&place(9, 9));
        disputes.add(place(60, 60), &[&liar], &[&honest], 50);
        assert_eq!(disputes.first(), Some(place(60, 60)));
    }
}
