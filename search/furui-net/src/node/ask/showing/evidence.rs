use std::collections::BTreeSet;

use furui_search::{ContentId, Part, Peer, Place, PublisherKey, Showing, Signature};

use super::truth::{Criteria, Truth};
use super::verdict::Verdict;

/// The number of nodes that should keep a document and must deny it before the document counts as gone. If fewer nodes
/// should keep it, all of them must deny it. Chosen: one lying node hides nothing.
const DENIALS: usize = 2;

/// The evidence about one candidate of a search: the nodes that should keep the document, the questions sent to them,
/// and their answers.
pub(super) struct Evidence {
    /// The place (score and id) that the lists claim for the document.
    pub(super) place: Place,
    /// The nodes that should keep the document, in the order in which they are asked. This node comes first if it is
    /// one of them.
    keepers: Vec<Keeper>,
    /// True if the whole record is fetched to check the nodes that keep it, even if nothing is disputed.
    is_sampled: bool,
    /// The contents of the document according to its verified record; `None` if the record was not fetched.
    pub(super) truth: Option<Truth>,
    /// The publisher of the document, and the time of its last known publication; `None` if no node has shown it.
    published: Option<(PublisherKey, u32)>,
    /// The publishers who have withdrawn the document according to the nodes, each with the time. Only the document's
    /// own publisher counts.
    withdrawn: Vec<(PublisherKey, u32)>,
    /// The other documents of the URL that the nodes have named.
    others: BTreeSet<ContentId>,
}

/// A node that should keep the document.
struct Keeper {
    peer: Peer,
    /// The questions sent to the node. Each is sent once, unless it is cleared for a repetition.
    asked: Vec<Part>,
    /// The questions that were sent and are not answered yet.
    waits: Vec<Part>,
    heard: Option<Heard>,
    is_settled: bool,
}

/// The last statement of a node about a document.
#[derive(Debug)]
pub(super) enum Heard {
    Showing(Box<Showing>),
    Unfit,
    /// The node keeps the document, which contains the words and phrases of the query.
    Fits,
    Kept,
    Unknown,
    Withdrawn,
    /// The node has not answered, or its answer is invalid.
    Nothing,
}

impl Heard {
    fn is_kept(&self) -> bool {
        matches!(self, Self::Showing(_) | Self::Unfit | Self::Fits | Self::Kept)
    }

    fn is_denied(&self) -> bool {
        matches!(self, Self::Unknown | Self::Withdrawn)
    }
}

impl Evidence {
    pub(super) fn new(place: Place, keepers: Vec<Peer>, is_sampled: bool) -> Self {
        let keeper = |peer| Keeper { peer, asked: vec![], waits: vec![], heard: None, is_settled: true };
        Self {
            place,
            keepers: keepers.into_iter().map(keeper).collect(),
            is_sampled,
            truth: None,
            published: None,
            withdrawn: vec![],
            others: BTreeSet::new(),
        }
    }

    pub(super) fn id(&self) -> ContentId {
        self.place.id
    }

    /// Records that the document's publisher has signed its publication.
    pub(super) fn is_published(&mut self, by: PublisherKey, signature: &Signature) {
        let at = self.published.map_or(0, |(_, at)| at).max(signature.at);
        self.published = Some((by, at));
    }

    /// Records that somebody, who may be the document's publisher, has signed its withdrawal.
    pub(super) fn is_withdrawn_by(&mut self, publisher: PublisherKey, signature: &Signature) {
        self.withdrawn.push((publisher, signature.at));
    }

    /// Records other documents of the URL, as a node names them.
    pub(super) fn name_others(&mut self, others: Vec<ContentId>) {
        self.others.extend(others);
    }

    /// True if the publisher has withdrawn the document after its last known publication.
    fn is_withdrawn(&self) -> bool {
        self.published.is_some_and(|(by, at)| self.withdrawn.iter().any(|(other, then)| *other == by && *then >= at))
    }

    /// Records a node's answer to a question. `is_settled` is true if the node says that it has been given everything
    /// that it should hold. An answer to a question that is not open is ignored.
    pub(super) fn hear(&mut self, from: &Peer, question: Part, heard: Heard, is_settled: bool) {
        let Some(keeper) = self.keepers.iter_mut().find(|keeper| keeper.peer == *from) else { return };
        let Some(wait) = keeper.waits.iter().position(|wait| *wait == question) else { return };
        keeper.waits.swap_remove(wait);
        keeper.is_settled = is_settled;
        match (&keeper.heard, heard) {
            // A failure does not replace an earlier statement, and a bare confirmation does not replace a more detailed
            // statement.
            (Some(_), Heard::Nothing) | (Some(Heard::Showing(_) | Heard::Unfit | Heard::Fits), Heard::Kept) => {}
            (_, heard) => keeper.heard = Some(heard),
        }
    }

    /// Marks the question as not sent, so that the node is asked again, because its answer had no room for the
    /// document.
    pub(super) fn ask_again(&mut self, peer: &Peer, question: Part) {
        let Some(keeper) = self.keepers.iter_mut().find(|keeper| keeper.peer == *peer) else { return };
        keeper.waits.retain(|wait| *wait != question);
        keeper.asked.retain(|asked| *asked != question);
    }

    /// The nodes whose statements contradict the verified record. There are none if the record was not fetched.
    pub(super) fn liars(&self) -> impl Iterator<Item = &Peer> {
        let lies = |keeper: &&Keeper| match (&self.truth, &keeper.heard) {
            (Some(truth), Some(Heard::Showing(showing))) => !truth.allows(showing),
            (Some(truth), Some(Heard::Unfit)) => truth.fits,
            (Some(truth), Some(Heard::Fits)) => !truth.fits,
            _ => false,
        };
        self.keepers.iter().filter(lies).map(|keeper| &keeper.peer)
    }

    /// The nodes that deny that they keep the document, although another node keeps it and its publisher has not
    /// withdrawn it.
    pub(super) fn deniers(&self) -> impl Iterator<Item = &Peer> {
        let denies = |keeper: &&Keeper| keeper.is_settled && keeper.heard.as_ref().is_some_and(Heard::is_denied);
        let counts = self.is_kept() && !self.is_withdrawn();
        self.keepers.iter().filter(move |_| counts).filter(denies).map(|keeper| &keeper.peer)
    }

    /// Returns the questions about the candidate to send at this time, each with the node to ask, and marks them as
    /// sent.
    pub(super) fn ask(&mut self, criteria: &Criteria<'_>) -> Vec<(Peer, Part)> {
        let mut asks = vec![];
        if let Some(at) = self.to_show(criteria) {
            asks.push((at, Part::Snippet));
        }
        if let Some(at) = self.to_prove(criteria, asks.first().map(|(at, _)| *at)) {
            asks.push((at, Part::Record));
        }
        for &(at, question) in &asks {
            self.note(at, question);
        }
        while let Some(at) = self.to_check(criteria) {
            self.note(at, Part::Presence);
            asks.push((at, Part::Presence));
        }
        asks.into_iter().map(|(at, question)| (self.keepers[at].peer.clone(), question)).collect()
    }

    fn note(&mut self, at: usize, question: Part) {
        self.keepers[at].asked.push(question);
        self.keepers[at].waits.push(question);
    }

    /// True if a node that is not slow has not answered this question yet.
    fn waits_for(&self, criteria: &Criteria<'_>, question: Part) -> bool {
        self.keepers.iter().any(|keeper| keeper.waits.contains(&question) && !criteria.is_slow(&keeper.peer))
    }

    /// The index, in `keepers`, of the next node to ask for a snippet; `None` if none is to be asked.
    fn to_show(&self, criteria: &Criteria<'_>) -> Option<usize> {
        let question = Part::Snippet;
        let is_shown = |keeper: &Keeper| matches!(keeper.heard, Some(Heard::Showing(_) | Heard::Unfit));
        if self.keepers.iter().any(is_shown) || self.waits_for(criteria, question) {
            return None;
        }
        // The verified record makes a snippet unnecessary if some node keeps the document.
        if self.truth.is_some() && self.is_kept() {
            return None;
        }
        self.best(question, |keeper| match &keeper.heard {
            Some(Heard::Kept | Heard::Fits) => Some(0),
            None => Some(1),
            Some(_) => None,
        })
    }

    /// The index, in `keepers`, of the next node to ask for the record; `None` if the record is not needed or was
    /// requested. `showing` is the index of the node that is being asked for a snippet.
    fn to_prove(&self, criteria: &Criteria<'_>, showing: Option<usize>) -> Option<usize> {
        let question = Part::Record;
        if !self.needs_truth(criteria) || self.waits_for(criteria, question) {
            return None;
        }
        // The keeper that states a snippet is asked last, because it should not know before it answers that its
        // statement is checked.
        let rank = |keeper: &Keeper| match &keeper.heard {
            Some(Heard::Kept | Heard::Fits) => Some(0),
            None => Some(1),
            Some(Heard::Showing(_) | Heard::Unfit) => Some(2),
            Some(Heard::Unknown | Heard::Withdrawn | Heard::Nothing) => None,
        };
        let shows = showing.map(|at| self.keepers[at].peer.clone());
        self.best(question, |keeper| {
            rank(keeper).map(|rank| if shows.as_ref() == Some(&keeper.peer) { 2 } else { rank })
        })
    }

    /// The index, in `keepers`, of the next node to ask if it keeps the document; `None` if enough nodes were asked.
    fn to_check(&self, criteria: &Criteria<'_>) -> Option<usize> {
        // Among friends, one that keeps the document is enough. One that lacks it may not have been given it.
        let counts = |heard: &Heard| !matches!(heard, Heard::Nothing) && (!criteria.trusting || heard.is_kept());
        let is_heard = |keeper: &&Keeper| keeper.heard.as_ref().is_some_and(counts);
        let is_awaited = |keeper: &&Keeper| !keeper.waits.is_empty() && !criteria.is_slow(&keeper.peer);
        let asked = self.keepers.iter().filter(|keeper| is_heard(keeper) || is_awaited(keeper)).count();
        // A node that is not settled may have missed a withdrawal, so all other keepers are asked.
        let is_unsure = self.keepers.iter().any(|keeper| !keeper.is_settled);
        let wanted = if is_unsure { self.keepers.len() } else { 2 - usize::from(criteria.trusting) };
        if asked >= wanted {
            return None;
        }
        self.best(Part::Presence, |keeper| (keeper.heard.is_none() && keeper.waits.is_empty()).then_some(0))
    }

    /// The index, in `keepers`, of the node with the least rank among those that were not asked this question. A node
    /// is skipped if `rank` returns `None`; `None` if no node is left.
    fn best(&self, question: Part, rank: impl Fn(&Keeper) -> Option<u8>) -> Option<usize> {
        let ranked = self.keepers.iter().enumerate().filter(|(_, keeper)| !keeper.asked.contains(&question));
        let ranked = ranked.filter_map(|(at, keeper)| Some((rank(keeper)?, at)));
        ranked.min().map(|(_, at)| at)
    }

    /// True if some node says that it keeps the document.
    fn is_kept(&self) -> bool {
        self.keepers.iter().any(|keeper| keeper.heard.as_ref().is_some_and(Heard::is_kept))
    }

    /// The first node that has stated what the document shows, with its statement; the statement is `None` if the node
    /// says that the document does not fit. The result is `None` if no node has stated anything.
    fn statement(&self) -> Option<(&Peer, Option<&Showing>)> {
        self.keepers.iter().find_map(|keeper| match &keeper.heard {
            Some(Heard::Showing(showing)) => Some((&keeper.peer, Some(&**showing))),
            Some(Heard::Unfit) => Some((&keeper.peer, None)),
            _ => None,
        })
    }

    /// True if the verdict requires the whole record, because a node's statement is sampled, suspicious or disputed.
    fn needs_truth(&self, criteria: &Criteria<'_>) -> bool {
        if self.truth.is_some() {
            return false;
        }
        let Some((from, showing)) = self.statement() else {
            // If this node keeps the document itself, no proof is needed.
            return self.is_sampled && self.keepers.first().is_some_and(|first| first.peer != criteria.me);
        };
        let agrees = match showing {
            Some(showing) => criteria.agrees(showing, self.place) && !self.is_disputed(criteria),
            // The lists cannot contradict a statement about phrases.
            None => criteria.has_phrases && !self.is_disputed(criteria),
        };
        *from != criteria.me && (self.is_sampled || criteria.is_suspicious || !agrees)
    }

    /// True if nodes contradict each other about the phrases of the query, or only one node has answered and it says
    /// that the document lacks them. No verdict that lists cannot confirm depends on one node.
    fn is_disputed(&self, criteria: &Criteria<'_>) -> bool {
        let (mut unfit, mut fits) = (0, 0);
        for keeper in &self.keepers {
            match keeper.heard {
                Some(Heard::Unfit) => unfit += 1,
                Some(Heard::Showing(_) | Heard::Fits) => fits += 1,
                _ => {}
            }
        }
        criteria.has_phrases && unfit > 0 && (fits > 0 || unfit == 1 && !self.waits(criteria))
    }

    /// True if the answers do not suffice for a verdict yet, and that of a slow node might.
    pub(super) fn hopes(&self, criteria: &Criteria<'_>) -> bool {
        let is_open = matches!(self.verdict(criteria), Verdict::Missing | Verdict::Uncertain);
        is_open && self.keepers.iter().any(|keeper| !keeper.waits.is_empty())
    }

    /// True if a node that is not slow has not answered one of the questions about the candidate.
    pub(super) fn waits(&self, criteria: &Criteria<'_>) -> bool {
        self.keepers.iter().any(|keeper| !keeper.waits.is_empty() && !criteria.is_slow(&keeper.peer))
    }

    /// The verdict on a candidate that is gone.
    fn gone(&self, criteria: &Criteria<'_>) -> Verdict {
        let is_withdrawn = !self.withdrawn.is_empty();
        let doubts = if is_withdrawn { criteria.doubts(self.id(), None) } else { vec![] };
        Verdict::Gone { is_withdrawn, doubts }
    }

    /// The verdict on the candidate according to the answers so far.
    pub(super) fn verdict(&self, criteria: &Criteria<'_>) -> Verdict {
        if self.is_kept() && self.is_withdrawn() {
            return self.gone(criteria);
        }
        if !self.is_kept() {
            let denials =
                self.keepers.iter().filter(|keeper| keeper.heard.as_ref().is_some_and(Heard::is_denied)).count();
            return match denials {
                0 => Verdict::Missing,
                _ if denials >= DENIALS.min(self.keepers.len()) => self.gone(criteria),
                _ => Verdict::Uncertain,
            };
        }
        if let Some(truth) = &self.truth {
            return criteria.verdict(self.place, truth.fits, &truth.showing, &self.others);
        }
        match self.statement() {
            Some(_) if self.needs_truth(criteria) => Verdict::Uncertain,
            Some((_, Some(showing))) => criteria.verdict(self.place, true, showing, &self.others),
            // Without a proof, this statement comes from this node itself or is undisputed.
            Some((_, None)) if criteria.has_phrases => Verdict::Unfit,
            Some((_, None)) => Verdict::False { doubts: criteria.doubts(self.id(), None) },
            None => Verdict::Missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use furui_search::{Grade, Query, Record, Scale, Showings};

    use super::super::truth::Ranks;
    use super::*;

    /// The behaviour of a simulated keeper of the document.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Is {
        /// The keeper keeps the document and answers truthfully.
        Honest,
        /// The keeper keeps the document and is not settled, because it has been away.
        Back,
        /// The keeper has the publisher's withdrawal of the document.
        Told,
        New,
        Silent,
        /// The keeper claims that the document was withdrawn, by somebody who is not its publisher.
        Withdraws,
        /// The keeper states false weights, and withholds the record.
        Exaggerates,
        /// The keeper claims that the document does not fit the query, and withholds the record.
        Denies,
    }

    const ALL: [Is; 8] =
        [Is::Honest, Is::Back, Is::Told, Is::New, Is::Silent, Is::Withdraws, Is::Exaggerates, Is::Denies];

    fn key(number: u8) -> PublisherKey {
        PublisherKey::new([number; 32])
    }

    /// Simulates these three keepers, and returns the verdict on their document.
    fn judged(keepers: [Is; 3], is_sampled: bool, has_phrases: bool) -> Verdict {
        let record = Record { url: "u:1".into(), title: String::new(), text: "a sieve".into(), publisher: key(1) };
        let query = Query::parse("sieve").unwrap();
        let showings = Showings::new(query.clauses()).unwrap();
        let ranks = Ranks { idfs: vec![2000], scale: Scale::new(8) };
        let true_showing = showings.of(&record).unwrap();
        let score = showings.score(&true_showing.grades, true_showing.size_bits, &ranks.idfs, &ranks.scale).unwrap();
        let mut criteria = Criteria {
            me: Peer::new(b"me", b""),
            clauses: query.clauses(),
            showings: &showings,
            has_phrases,
            ranks: Some(&ranks),
            trusting: false,
            is_suspicious: false,
            slow: HashSet::new(),
        };
        let place = Place { score, id: true_showing.head.id() };
        let peers = [0, 1, 2].map(|number| Peer::new(&[number], b""));
        let mut evidence = Evidence::new(place, peers.to_vec(), is_sampled);
        let signature = |at| Signature { at, bytes: [0; 64] };
        for _ in 0..20 {
            let asks = evidence.ask(&criteria);
            if asks.is_empty() {
                assert!(!evidence.waits(&criteria));
                return evidence.verdict(&criteria);
            }
            for (peer, part) in asks {
                let at = usize::from(peer.identity()[0]);
                let is = keepers[at];
                let mut showing = true_showing.clone();
                let heard = match (is, part) {
                    (Is::Honest | Is::Back, Part::Record) => {
                        evidence.truth = Some(Truth::of(record.clone(), &showings));
                        evidence.is_published(key(1), &signature(5));
                        Heard::Kept
                    }
                    (Is::Honest | Is::Back, Part::Snippet) => {
                        evidence.is_published(key(1), &signature(5));
                        Heard::Showing(Box::new(showing))
                    }
                    (Is::Told, _) => {
                        evidence.is_withdrawn_by(key(1), &signature(5));
                        Heard::Withdrawn
                    }
                    (Is::New, _) | (Is::Exaggerates | Is::Denies, Part::Record) => Heard::Unknown,
                    (Is::Silent, _) => Heard::Nothing,
                    (Is::Withdraws, _) => {
                        evidence.is_withdrawn_by(key(2), &signature(9));
                        Heard::Withdrawn
                    }
                    (Is::Exaggerates, Part::Snippet) => {
                        showing.grades[0] = Grade::of_bits(15 << 4);
                        evidence.is_published(key(1), &signature(5));
                        Heard::Showing(Box::new(showing))
                    }
                    (Is::Denies, Part::Snippet) => Heard::Unfit,
                    (Is::Denies, Part::Presence) if has_phrases => Heard::Unfit,
                    (_, Part::Presence) if has_phrases => Heard::Fits,
                    (_, Part::Presence | Part::Version | Part::Publisher) => Heard::Kept,
                };
                evidence.hear(&peer, part, heard, is != Is::Back);
                criteria.is_suspicious |= evidence.liars().next().is_some();
            }
        }
        panic!("{keepers:?} are asked for ever");
    }

    #[test]
    fn whatever_three_keepers_are_the_truth_is_found_if_one_tells_it() {
        for (number, &first) in ALL.iter().enumerate() {
            for (second, third) in ALL.iter().flat_map(|&second| ALL.map(|third| (second, third))) {
                let keepers = [first, second, third];
                let has = |is| keepers.contains(&is);
                let verdict = judged(keepers, number % 2 == 0, false);
                let is_shown = matches!(&verdict, Verdict::Shown { doubts, .. } if doubts.is_empty());
                let what = format!("{keepers:?}: {verdict:?}");
                if has(Is::Told) && has(Is::Back) && !has(Is::Exaggerates) && !has(Is::Denies) {
                    // All keepers are asked because one is not settled. Only a lying keeper still claims to keep the
                    // document.
                    assert!(!is_shown, "{what}");
                } else if !has(Is::Told) {
                    assert_eq!(is_shown, has(Is::Honest) || has(Is::Back), "{what}");
                }
                if keepers == [Is::Honest, Is::Told, Is::Honest] || keepers == [Is::Told, Is::Honest, Is::Honest] {
                    assert!(matches!(verdict, Verdict::Gone { .. }), "{what}");
                }
                if keepers.iter().all(|is| matches!(is, Is::New | Is::Told)) {
                    assert!(matches!(verdict, Verdict::Gone { .. }), "{what}");
                }
                if keepers == [Is::Silent; 3] {
                    assert!(matches!(verdict, Verdict::Missing), "{what}");
                }
            }
        }
    }
    #[test]
    fn one_keeper_does_not_hide_a_document_by_saying_that_it_lacks_a_phrase() {
        for (first, second, third) in
            ALL.iter().flat_map(|&a| ALL.iter().flat_map(move |&b| ALL.map(|c| (a, b, c)))).filter(|(a, b, c)| {
                let all = [a, b, c];
                let count = |is| all.iter().filter(|it| ***it == is).count();
                !all.contains(&&Is::Told) && count(Is::Honest) > 0 && count(Is::Denies) == 1
            })
        {
            let verdict = judged([first, second, third], false, true);
            assert!(matches!(verdict, Verdict::Shown { .. }), "{first:?} {second:?} {third:?}: {verdict:?}");
        }
    }
}
