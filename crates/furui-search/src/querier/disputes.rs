use std::collections::{BTreeMap, BTreeSet};

use super::super::{Peer, Place, limits};

/// The maximum number of disputed documents for which it is remembered which hosts named them.
const REMEMBERED: usize = 4 * limits::PAGE;

/// What only some of the hosts that were asked for a slice have named.
///
/// A disputed document counts neither as found nor as one of the best so far, because it may be made up: otherwise a
/// host could displace documents that others have found. Each host has its own place for its best documents.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    hosts: Vec<Peer>,
    /// For each host, the best documents that it named and that were not handed out yet.
    waiting: Vec<BTreeSet<Place>>,
    claims: BTreeMap<Place, Claim>,
}

/// A document that only some hosts have named.
#[derive(Debug, Default)]
struct Claim {
    /// The hosts that named the document.
    named: Vec<usize>,
    /// The hosts that have examined the place of the document and did not name it.
    lacked: Vec<usize>,
    /// True if the hosts answer from their own lists alone.
    is_own: bool,
    is_handed_out: bool,
}

/// Who is to blame for a disputed document, now that its record has shown whether it holds.
#[derive(Debug, Default)]
pub(super) struct Blamed {
    /// The nodes that have lied.
    pub(super) liars: Vec<Peer>,
    /// The nodes that may have been lied to, or have not been given the document yet.
    pub(super) mistaken: Vec<Peer>,
}

impl Disputes {
    /// Adds a document that `named` have named and `lacked` have not. Of each host, the best `most` are kept. If the
    /// answers of the hosts do not depend on other nodes, `is_own` is true.
    pub(super) fn add(&mut self, place: Place, named: &[Peer], lacked: &[Peer], is_own: bool, most: usize) {
        let [named, lacked] =
            [named, lacked].map(|hosts| hosts.iter().map(|host| self.number(host)).collect::<Vec<_>>());
        let is_new = !self.claims.get(&place).is_some_and(|claim| claim.is_handed_out);
        for &host in named.iter().filter(|_| is_new) {
            self.waiting[host].insert(place);
            if self.waiting[host].len() > most {
                self.waiting[host].pop_last();
            }
        }
        if self.claims.len() < REMEMBERED || self.claims.contains_key(&place) {
            let claim = self.claims.entry(place).or_default();
            claim.named.extend(named);
            claim.lacked.extend(lacked);
            claim.is_own |= is_own;
        }
    }

    /// The next disputed document.
    pub(super) fn first(&self) -> Option<Place> {
        self.waiting.iter().filter_map(BTreeSet::first).min().copied()
    }

    /// Removes a document that is handed out, or that is not disputed any more.
    pub(super) fn remove(&mut self, place: &Place) {
        self.waiting.iter_mut().for_each(|waiting| {
            waiting.remove(place);
        });
        if let Some(claim) = self.claims.get_mut(place) {
            claim.is_handed_out = true;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.iter().map(BTreeSet::len).sum()
    }

    /// Ends a dispute: the record of the document has shown that it is at this place, or that it is not.
    pub(super) fn judge(&mut self, place: &Place, holds: bool) -> Blamed {
        let Some(Claim { named, lacked, is_own, .. }) = self.claims.remove(place) else { return Blamed::default() };
        let wrong = if holds { lacked } else { named };
        let wrong = wrong.into_iter().map(|host| self.hosts[host].clone()).collect();
        // Who lacks a document may not have been given it: a publisher may give a document to its accomplice alone, to
        // have others blamed.
        match is_own && !holds {
            true => Blamed { liars: wrong, mistaken: Vec::new() },
            false => Blamed { liars: Vec::new(), mistaken: wrong },
        }
    }

    fn number(&mut self, host: &Peer) -> usize {
        self.hosts.iter().position(|known| known == host).unwrap_or_else(|| {
            self.hosts.push(host.clone());
            self.waiting.push(BTreeSet::new());
            self.hosts.len() - 1
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

    #[test]
    fn a_host_displaces_only_what_it_has_named_itself() {
        let mut disputes = Disputes::default();
        disputes.add(place(5, 1), &[peer(1)], &[peer(2)], true, 3);
        for made_up in 10..60 {
            disputes.add(place(u32::from(made_up), made_up), &[peer(2)], &[peer(1)], true, 3);
        }
        assert_eq!(disputes.len(), 4);
        let mut came = Vec::new();
        while let Some(first) = disputes.first() {
            disputes.remove(&first);
            came.push(first);
        }
        assert_eq!(came, [place(59, 59), place(58, 58), place(57, 57), place(5, 1)]);
        // What was handed out does not come again.
        disputes.add(place(5, 1), &[peer(1)], &[peer(2)], true, 3);
        assert_eq!(disputes.first(), None);
    }

    #[test]
    fn who_made_a_document_up_has_lied_and_who_lacks_one_may_not_have_been_given_it() {
        let mut disputes = Disputes::default();
        for (id, is_own) in [(1, true), (2, true), (3, false)] {
            disputes.add(place(5, id), &[peer(1)], &[peer(2), peer(3)], is_own, 3);
        }
        let blamed = disputes.judge(&place(5, 1), false);
        assert_eq!((blamed.liars, blamed.mistaken), (vec![peer(1)], vec![]));
        let blamed = disputes.judge(&place(5, 2), true);
        assert_eq!((blamed.liars, blamed.mistaken), (vec![], vec![peer(2), peer(3)]));
        // The keeper of another word may have lied to the host.
        let blamed = disputes.judge(&place(5, 3), false);
        assert_eq!((blamed.liars, blamed.mistaken), (vec![], vec![peer(1)]));
        assert!(disputes.judge(&place(5, 3), false).mistaken.is_empty(), "it was judged already");
    }
}
