use furui_search::{ContentId, LockKey, Part, Peer, Place, Showing};

use super::truth::{Criteria, Truth};
use super::verdict::Verdict;

/// The number of keepers that must say that they do not keep a document, unless it has fewer, before it counts as gone.
/// Chosen: one liar hides nothing.
const DENIALS: usize = 2;

/// What is known about a candidate: which nodes should keep it, what they were asked, and what they said.
pub(super) struct Evidence {
    /// The place that the lists claim.
    pub(super) place: Place,
    /// The nodes that should keep the document, in the order in which to ask them. If this node is one, it is the
    /// first.
    keepers: Vec<Keeper>,
    /// True if the whole record is fetched in any case.
    is_sampled: bool,
    /// The proof of what the document is.
    pub(super) truth: Option<Truth>,
}

/// A node that should keep the document.
struct Keeper {
    peer: Peer,
    /// What the node was asked; each question is asked once, unless the node is asked again.
    asked: Vec<Question>,
    /// The questions that the node has not answered yet.
    waits: Vec<Question>,
    heard: Option<Heard>,
    /// The keys that the node was told, or is being told, by which others say that the document was withdrawn.
    told: Vec<LockKey>,
    is_settled: bool,
}

/// A question about a document, or an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Part(Part),
    /// The node is to try the keys by which others say that the document was withdrawn.
    Withdraw,
}

/// What a node last said about a document.
#[derive(Debug)]
pub(super) enum Heard {
    Showing(Box<Showing>),
    Unfit,
    /// The node keeps the document, which has the words and phrases of the query.
    Fits,
    Kept,
    Unknown,
    Withdrawn(Vec<LockKey>),
    /// There was no answer, or none that can be true.
    Nothing,
}

impl Heard {
    fn is_kept(&self) -> bool {
        matches!(self, Self::Showing(_) | Self::Unfit | Self::Fits | Self::Kept)
    }

    fn is_denied(&self) -> bool {
        matches!(self, Self::Unknown | Self::Withdrawn(_))
    }
}

impl Keeper {
    /// True if the node has tried all of these keys.
    fn knows(&self, keys: &[LockKey]) -> bool {
        keys.iter().all(|key| self.told.contains(key)) && !self.waits.contains(&Question::Withdraw)
    }
}

impl Evidence {
    pub(super) fn new(place: Place, keepers: Vec<Peer>, is_sampled: bool) -> Self {
        let keeper = |peer| Keeper { peer, asked: vec![], waits: vec![], heard: None, told: vec![], is_settled: true };
        Self { place, keepers: keepers.into_iter().map(keeper).collect(), is_sampled, truth: None }
    }

    pub(super) fn id(&self) -> ContentId {
        self.place.id
    }

    /// Takes an answer to a question.
    pub(super) fn hear(&mut self, from: &Peer, question: Question, heard: Heard, is_settled: bool) {
        let Some(keeper) = self.keepers.iter_mut().find(|keeper| keeper.peer == *from) else { return };
        // An answer from before the node was told of keys counts no more.
        let Some(wait) = keeper.waits.iter().position(|wait| *wait == question) else { return };
        keeper.waits.swap_remove(wait);
        keeper.is_settled = is_settled;
        if question == Question::Withdraw {
            // The node did not try the keys.
            keeper.told.clear();
        }
        match (&keeper.heard, heard) {
            // What was said before stays, and what is kept was shown already.
            (Some(_), Heard::Nothing) | (Some(Heard::Showing(_) | Heard::Unfit | Heard::Fits), Heard::Kept) => {}
            (_, heard) => keeper.heard = Some(heard),
        }
    }

    /// Takes the end of the order to try keys: the node is asked again.
    pub(super) fn was_told(&mut self, peer: &Peer) {
        let Some(keeper) = self.keepers.iter_mut().find(|keeper| keeper.peer == *peer) else { return };
        keeper.heard = None;
        keeper.asked.clear();
        keeper.waits.clear();
    }

    /// Makes the node be asked this again, because its answer had no room for the document.
    pub(super) fn ask_again(&mut self, peer: &Peer, question: Question) {
        let Some(keeper) = self.keepers.iter_mut().find(|keeper| keeper.peer == *peer) else { return };
        keeper.waits.retain(|wait| *wait != question);
        keeper.asked.retain(|asked| *asked != question);
    }

    /// The keys by which nodes say that the document was withdrawn.
    pub(super) fn keys(&self) -> Vec<LockKey> {
        let keys = self.keepers.iter().filter_map(|keeper| match &keeper.heard {
            Some(Heard::Withdrawn(keys)) => Some(keys),
            _ => None,
        });
        let mut all: Vec<LockKey> = vec![];
        for &key in keys.flatten() {
            if !all.contains(&key) {
                all.push(key);
            }
        }
        all
    }

    /// The nodes whose statements differ from what the record proves.
    pub(super) fn liars(&self) -> impl Iterator<Item = &Peer> {
        let lies = |keeper: &&Keeper| match (&self.truth, &keeper.heard) {
            (Some(truth), Some(Heard::Showing(showing))) => !truth.allows(showing),
            (Some(truth), Some(Heard::Unfit)) => truth.fits,
            (Some(truth), Some(Heard::Fits)) => !truth.fits,
            _ => false,
        };
        self.keepers.iter().filter(lies).map(|keeper| &keeper.peer)
    }

    /// The nodes that say that they do not keep the document, although others keep it and know of no key that withdraws
    /// it.
    pub(super) fn deniers(&self) -> impl Iterator<Item = &Peer> {
        let denies = |keeper: &&Keeper| keeper.is_settled && keeper.heard.as_ref().is_some_and(Heard::is_denied);
        self.keepers.iter().filter(|_| self.is_kept()).filter(denies).map(|keeper| &keeper.peer)
    }

    /// The questions to ask now. They count as asked.
    pub(super) fn ask(&mut self, criteria: &Criteria<'_>) -> Vec<(Peer, Question)> {
        let mut asks = vec![];
        if let Some(at) = self.to_tell(criteria) {
            asks.push((at, Question::Withdraw));
        } else if let Some(at) = self.to_show(criteria) {
            asks.push((at, Question::Part(Part::Snippet)));
        }
        if let Some(at) = self.to_prove(criteria, asks.first().map(|(at, _)| *at)) {
            asks.push((at, Question::Part(Part::Record)));
        }
        for &(at, question) in &asks {
            self.note(at, question);
        }
        while let Some(at) = self.to_check(criteria) {
            self.note(at, Question::Part(Part::Presence));
            asks.push((at, Question::Part(Part::Presence)));
        }
        asks.into_iter().map(|(at, question)| (self.keepers[at].peer.clone(), question)).collect()
    }

    fn note(&mut self, at: usize, question: Question) {
        if question == Question::Withdraw {
            self.keepers[at].told = self.keys();
        }
        self.keepers[at].asked.push(question);
        self.keepers[at].waits.push(question);
    }

    /// True if an answer to such a question is on its way, from a node that is not slow.
    fn waits_for(&self, criteria: &Criteria<'_>, question: Question) -> bool {
        self.keepers.iter().any(|keeper| keeper.waits.contains(&question) && !criteria.is_slow(&keeper.peer))
    }

    /// The next node to ask what to show.
    fn to_show(&self, criteria: &Criteria<'_>) -> Option<usize> {
        let question = Question::Part(Part::Snippet);
        let is_shown = |keeper: &Keeper| matches!(keeper.heard, Some(Heard::Showing(_) | Heard::Unfit));
        if self.keepers.iter().any(is_shown) || self.waits_for(criteria, question) {
            return None;
        }
        // The record says all, if somebody keeps it.
        if self.truth.is_some() && self.is_kept() {
            return None;
        }
        self.best(question, |keeper| match &keeper.heard {
            Some(Heard::Kept | Heard::Fits) => Some(0),
            None => Some(1),
            Some(_) => None,
        })
    }

    /// The node from which to request the record next, if the record is needed.
    fn to_prove(&self, criteria: &Criteria<'_>, showing: Option<usize>) -> Option<usize> {
        let question = Question::Part(Part::Record);
        if !self.needs_truth(criteria) || self.waits_for(criteria, question) {
            return None;
        }
        // Whoever shows the document is asked last: it should not know that the document is checked before it answers.
        let rank = |keeper: &Keeper| match &keeper.heard {
            Some(Heard::Kept | Heard::Fits) => Some(0),
            None => Some(1),
            Some(Heard::Showing(_) | Heard::Unfit) => Some(2),
            Some(Heard::Unknown | Heard::Withdrawn(_) | Heard::Nothing) => None,
        };
        let shows = showing.map(|at| self.keepers[at].peer.clone());
        self.best(question, |keeper| {
            rank(keeper).map(|rank| if shows.as_ref() == Some(&keeper.peer) { 2 } else { rank })
        })
    }

    /// The next node to ask whether it keeps the document.
    fn to_check(&self, criteria: &Criteria<'_>) -> Option<usize> {
        let is_heard = |keeper: &&Keeper| keeper.heard.as_ref().is_some_and(|heard| !matches!(heard, Heard::Nothing));
        let is_awaited = |keeper: &&Keeper| !keeper.waits.is_empty() && !criteria.is_slow(&keeper.peer);
        let asked = self.keepers.iter().filter(|keeper| is_heard(keeper) || is_awaited(keeper)).count();
        // A node that has been away may not know what was withdrawn meanwhile, so the word of all others is wanted.
        let is_unsure = self.keepers.iter().any(|keeper| !keeper.is_settled);
        let wanted = if is_unsure { self.keepers.len() } else { 2 };
        if asked >= wanted {
            return None;
        }
        self.best(Question::Part(Part::Presence), |keeper| {
            (keeper.heard.is_none() && keeper.waits.is_empty()).then_some(0)
        })
    }

    /// The next node to be told by which keys the document was withdrawn.
    fn to_tell(&self, criteria: &Criteria<'_>) -> Option<usize> {
        let keys = self.keys();
        if keys.is_empty() || self.waits_for(criteria, Question::Withdraw) || self.is_kept() {
            return None;
        }
        // A node that has still something to answer might answer it before it tries the keys.
        let may_keep = |keeper: &Keeper| {
            let keeps = keeper.heard.as_ref().is_some_and(Heard::is_kept);
            keeps && !keeper.knows(&keys) && keeper.waits.is_empty()
        };
        self.best(Question::Withdraw, |keeper| may_keep(keeper).then_some(0))
    }

    /// The first keeper with the least rank that was not asked this yet.
    fn best(&self, question: Question, rank: impl Fn(&Keeper) -> Option<u8>) -> Option<usize> {
        let may_ask =
            |keeper: &Keeper| !keeper.asked.contains(&question) && !keeper.waits.contains(&Question::Withdraw);
        let ranked = self.keepers.iter().enumerate().filter(|(_, keeper)| may_ask(keeper));
        let ranked = ranked.filter_map(|(at, keeper)| Some((rank(keeper)?, at)));
        ranked.min().map(|(_, at)| at)
    }

    /// True if a node keeps the document although it knows all keys by which it may have been withdrawn.
    fn is_kept(&self) -> bool {
        let keys = self.keys();
        self.keepers.iter().any(|keeper| keeper.heard.as_ref().is_some_and(Heard::is_kept) && keeper.knows(&keys))
    }

    /// The first statement about what the document shows, and who made it.
    fn statement(&self) -> Option<(&Peer, Option<&Showing>)> {
        self.keepers.iter().find_map(|keeper| match &keeper.heard {
            Some(Heard::Showing(showing)) => Some((&keeper.peer, Some(&**showing))),
            Some(Heard::Unfit) => Some((&keeper.peer, None)),
            _ => None,
        })
    }

    /// True if only the whole record can decide.
    fn needs_truth(&self, criteria: &Criteria<'_>) -> bool {
        if self.truth.is_some() {
            return false;
        }
        let Some((from, showing)) = self.statement() else {
            // This node itself needs no proof.
            return self.is_sampled && self.keepers.first().is_some_and(|first| first.peer != criteria.me);
        };
        let agrees = match showing {
            Some(showing) => criteria.agrees(&showing.weights, self.place) && !self.is_disputed(criteria),
            // The lists know nothing about phrases.
            None => criteria.has_phrases && !self.is_disputed(criteria),
        };
        *from != criteria.me && (self.is_sampled || criteria.is_suspicious || !agrees)
    }

    /// True if a keeper says that the document has the phrases of the query, and another one that it has not; or if a
    /// single one says that it has not, and nobody else answers. What lists do not know should not depend on one node.
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

    /// True if a slow answer may still change the verdict.
    pub(super) fn hopes(&self, criteria: &Criteria<'_>) -> bool {
        let is_open = matches!(self.verdict(criteria), Verdict::Missing | Verdict::Uncertain);
        is_open && self.keepers.iter().any(|keeper| !keeper.waits.is_empty())
    }

    /// True if an answer is on its way from a node that is not slow.
    pub(super) fn waits(&self, criteria: &Criteria<'_>) -> bool {
        self.keepers.iter().any(|keeper| !keeper.waits.is_empty() && !criteria.is_slow(&keeper.peer))
    }

    /// Judges by what is known.
    pub(super) fn verdict(&self, criteria: &Criteria<'_>) -> Verdict {
        if !self.is_kept() {
            let denials =
                self.keepers.iter().filter(|keeper| keeper.heard.as_ref().is_some_and(Heard::is_denied)).count();
            return match denials {
                0 => Verdict::Missing,
                _ if denials >= DENIALS.min(self.keepers.len()) => Verdict::Gone,
                _ => Verdict::Uncertain,
            };
        }
        if let Some(truth) = &self.truth {
            return criteria.verdict(self.place, truth.fits, &truth.showing);
        }
        match self.statement() {
            Some(_) if self.needs_truth(criteria) => Verdict::Uncertain,
            Some((_, Some(showing))) => criteria.verdict(self.place, true, showing),
            // The record of this node itself is proof enough.
            Some((_, None)) if criteria.has_phrases => Verdict::Unfit,
            Some((_, None)) => Verdict::False { doubts: criteria.doubts(self.id(), None) },
            None => Verdict::Missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use furui_search::{Query, Record, Scale, Showings, Weight};

    use super::super::truth::Ranks;
    use super::*;

    /// What a keeper of the document is.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Is {
        /// It keeps the document. The true key opens its lock.
        Honest,
        /// It keeps the document too, and has been away.
        Back,
        /// It was told of a withdrawal, with the true key.
        Told,
        New,
        Silent,
        /// It says that the document was withdrawn, with a key that opens nothing.
        Withdraws,
        /// It makes weights up, and withholds the record.
        Exaggerates,
        /// It says that the document does not fit, and withholds the record.
        Denies,
    }

    const ALL: [Is; 8] =
        [Is::Honest, Is::Back, Is::Told, Is::New, Is::Silent, Is::Withdraws, Is::Exaggerates, Is::Denies];

    fn key(number: u8) -> LockKey {
        LockKey::new([number; 20])
    }

    /// The verdict on a document with these keepers.
    fn judged(keepers: [Is; 3], is_sampled: bool, has_phrases: bool) -> Verdict {
        let record = Record { url: "u:1".into(), title: String::new(), text: "a sieve".into(), publisher: None };
        let query = Query::parse("sieve").unwrap();
        let showings = Showings::new(query.clauses()).unwrap();
        let ranks = Ranks { idfs: vec![2000], scale: Scale::new(2) };
        let true_showing = showings.of(&record).unwrap();
        let score = showings.score(&true_showing.weights, &ranks.idfs, &ranks.scale).unwrap();
        let mut criteria = Criteria {
            me: Peer::new(b"me", b""),
            clauses: query.clauses(),
            showings: &showings,
            has_phrases,
            ranks: Some(&ranks),
            is_suspicious: false,
            slow: HashSet::new(),
        };
        let place = Place { score, id: true_showing.head.id() };
        let peers = [0, 1, 2].map(|number| Peer::new(&[number], b""));
        let mut evidence = Evidence::new(place, peers.to_vec(), is_sampled);
        let mut has_lock = [true; 3];
        for _ in 0..20 {
            let asks = evidence.ask(&criteria);
            if asks.is_empty() {
                assert!(!evidence.waits(&criteria));
                return evidence.verdict(&criteria);
            }
            for (peer, question) in asks {
                let at = usize::from(peer.identity()[0]);
                let is = keepers[at];
                let part = match question {
                    Question::Withdraw if is == Is::Silent => {
                        evidence.hear(&peer, question, Heard::Nothing, true);
                        continue;
                    }
                    Question::Withdraw => {
                        has_lock[at] &= !evidence.keys().contains(&key(1));
                        evidence.was_told(&peer);
                        continue;
                    }
                    Question::Part(part) => part,
                };
                let mut showing = true_showing.clone();
                let heard = match (is, part) {
                    (Is::Honest | Is::Back, _) if !has_lock[at] => Heard::Withdrawn(vec![key(1)]),
                    (Is::Honest | Is::Back, Part::Record) => {
                        evidence.truth = Some(Truth::of(record.clone(), &showings));
                        Heard::Kept
                    }
                    (Is::Honest | Is::Back, Part::Snippet) => Heard::Showing(Box::new(showing)),
                    (Is::Told, _) => Heard::Withdrawn(vec![key(1)]),
                    (Is::New, _) | (Is::Exaggerates | Is::Denies, Part::Record) => Heard::Unknown,
                    (Is::Silent, _) => Heard::Nothing,
                    (Is::Withdraws, _) => Heard::Withdrawn(vec![key(2)]),
                    (Is::Exaggerates, Part::Snippet) => {
                        showing.weights[0] = Some(Weight::new(64, 64));
                        Heard::Showing(Box::new(showing))
                    }
                    (Is::Denies, Part::Snippet) => Heard::Unfit,
                    (Is::Denies, Part::Presence) if has_phrases => Heard::Unfit,
                    (_, Part::Presence) if has_phrases => Heard::Fits,
                    (_, Part::Presence) => Heard::Kept,
                };
                evidence.hear(&peer, question, heard, is != Is::Back);
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
                    // All are asked, because one has been away. Only a keeper that lies still says that it keeps it.
                    assert!(!is_shown, "{what}");
                } else if !has(Is::Told) {
                    assert_eq!(is_shown, has(Is::Honest) || has(Is::Back), "{what}");
                }
                if keepers == [Is::Honest, Is::Told, Is::Honest] || keepers == [Is::Told, Is::Honest, Is::Honest] {
                    assert!(matches!(verdict, Verdict::Gone), "{what}");
                }
                if keepers.iter().all(|is| matches!(is, Is::New | Is::Told)) {
                    assert!(matches!(verdict, Verdict::Gone), "{what}");
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
