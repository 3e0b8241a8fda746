use std::collections::{HashMap, HashSet};

use furui_search::{
    Act, Clause, ContentId, Part, Peer, Place, PublisherKey, Record, Request, Response, Showings, Shown, ShownDocument,
    Signature, limits,
};

use super::evidence::{Evidence, Heard};
use super::truth::{Criteria, Ranks, Truth};
use super::verdict::Verdict;
use crate::net;
use crate::node::asking::{Asking, KeeperEvent};
use crate::node::spent::Spent;
use crate::node::{Inner, PATIENCE};
use crate::shelf::{MAX_RECORD, packed};

/// One candidate of this number is fetched whole, as its record, to check the nodes that keep it, within the bounds
/// [`LEAST_SAMPLED`] and [`MOST_SAMPLED`]. The value is a choice, not a measurement.
const SAMPLED: usize = 5;
/// The minimum number of candidates of a page whose whole records are fetched. The value is a choice, not a
/// measurement.
const LEAST_SAMPLED: usize = 2;
/// The maximum number of candidates of a page whose whole records are fetched. The value is a choice, not a
/// measurement.
const MOST_SAMPLED: usize = 8;

/// A node that denies at least this number of candidates on a page, although other nodes keep them, is distrusted and
/// asked last for a while. The value is a choice, not a measurement.
const DENIED: usize = 3;

/// Asks the nodes that keep the candidates of one search for the contents of these documents, and verifies the answers.
///
/// For each candidate, the nearest node is asked for a snippet, and a second node whether it keeps the document too
/// and, in a query with phrases, whether the document has them. For a random sample of candidates, the whole record is
/// requested as well. If an answer contradicts the lists, the whole record decides, because its hash is the document's
/// id.
pub(in crate::node) struct Gathering<'a> {
    inner: &'a Inner,
    clauses: &'a [Clause],
    showings: &'a Showings<'a>,
    pub(in crate::node) spent: Spent,
}

impl<'a> Gathering<'a> {
    pub(in crate::node) fn new(inner: &'a Inner, clauses: &'a [Clause], showings: &'a Showings<'a>) -> Self {
        Self { inner, clauses, showings, spent: Spent::default() }
    }

    /// Returns the verdict on each of the candidates at these places, in their order. Waits at most [`PATIENCE`] for
    /// answers.
    pub(in crate::node) async fn judge(&mut self, places: &[Place], ranks: Option<&Ranks>) -> Vec<Verdict> {
        let me = self.inner.net.me();
        let mut criteria = Criteria {
            me: me.clone(),
            clauses: self.clauses,
            showings: self.showings,
            has_phrases: self.has_phrases(),
            ranks,
            trusting: self.inner.net.is_private(),
            is_suspicious: false,
            slow: HashSet::new(),
        };
        let mut candidates = self.open(places, &me).await;
        let mut asking = Asking::new(&self.inner.reputation, PATIENCE);
        loop {
            for (to, questions) in questions(&mut candidates, &criteria) {
                asking.ask(to, &self.request(&questions, &candidates), questions);
            }
            let is_open = |evidence: &Evidence| evidence.waits(&criteria) || evidence.hopes(&criteria);
            if !candidates.iter().any(is_open) {
                break;
            }
            match asking.next().await {
                Some(KeeperEvent::Answer { from, about, response }) => {
                    self.take(from, &about, response, &mut candidates, &mut criteria).await;
                }
                Some(KeeperEvent::Slow(peers)) => criteria.slow.extend(peers),
                None => break,
            }
        }
        self.spent.add(asking.spent);
        let mut denials: HashMap<&Peer, usize> = HashMap::new();
        candidates.iter().flat_map(Evidence::deniers).for_each(|denier| *denials.entry(denier).or_default() += 1);
        for (denier, _) in denials.into_iter().filter(|(_, count)| *count >= DENIED) {
            self.inner.reputation.distrust(denier.clone()).await;
        }
        candidates.iter().map(|evidence| evidence.verdict(&criteria)).collect()
    }

    /// Looks up the nodes that keep the candidates, and draws the candidates whose whole records are fetched. A node
    /// that has a record that others are to keep now is asked last, because it may not know that the document was
    /// withdrawn.
    async fn open(&self, places: &[Place], me: &Peer) -> Vec<Evidence> {
        let ids: Vec<ContentId> = places.iter().map(|place| place.id).collect();
        let mut keepers = self.inner.reputation.keepers_of(ids.iter().copied(), limits::REPLICAS).await;
        // A record that this node is to keep needs neither messages nor proofs, so this node is asked first.
        keepers.iter_mut().for_each(|keepers| keepers.sort_by_key(|keeper| keeper != me));
        let asked = self.inner.keeper.ask(move |shelf| {
            ids.into_iter().map(|id| shelf.has_record(id).unwrap_or_default()).collect::<Vec<bool>>()
        });
        for (keepers, has) in keepers.iter_mut().zip(asked.await.unwrap_or_default()) {
            if has && !keepers.contains(me) {
                keepers.push(me.clone());
            }
        }
        let mut others: Vec<usize> = (0..places.len()).filter(|&at| keepers[at].first() != Some(me)).collect();
        let mut sampled = HashSet::new();
        let wanted = match self.inner.net.is_private() {
            true => 0,
            false => places.len().div_ceil(SAMPLED).clamp(LEAST_SAMPLED, MOST_SAMPLED),
        };
        while sampled.len() < wanted && !others.is_empty() {
            let at = (furui::HashSpec::random().seed % others.len() as u64) as usize;
            sampled.insert(others.swap_remove(at));
        }
        let candidates = places.iter().zip(keepers).enumerate();
        candidates.map(|(at, (&place, keepers))| Evidence::new(place, keepers, sampled.contains(&at))).collect()
    }

    /// Makes the request for these questions; each has the index of its document in `candidates`.
    fn request(&self, questions: &[(usize, Part)], candidates: &[Evidence]) -> Request {
        let documents = questions.iter().map(|&(at, part)| (candidates[at].id(), part)).collect();
        // Only a node that makes a snippet or searches for phrases receives the query.
        let needs = |part| part == Part::Snippet || part == Part::Presence && self.has_phrases();
        let is_needed = questions.iter().any(|(_, part)| needs(*part));
        Request::Show { documents, clauses: if is_needed { self.clauses.to_vec() } else { vec![] } }
    }

    async fn take(
        &mut self,
        from: Peer,
        questions: &[(usize, Part)],
        response: Option<Response>,
        candidates: &mut [Evidence],
        criteria: &mut Criteria<'_>,
    ) {
        let mut is_false = false;
        match response {
            Some(Response::Shown { documents, settled }) if documents.len() == questions.len() => {
                let progresses = documents.iter().any(|shown| *shown != Shown::Later);
                for (&(at, question), shown) in questions.iter().zip(documents) {
                    // A node that postpones all documents of a request is not asked again.
                    if shown == Shown::Later && progresses {
                        candidates[at].ask_again(&from, question);
                        continue;
                    }
                    match self.heard(&mut candidates[at], question, shown) {
                        Some(heard) => candidates[at].hear(&from, question, heard, settled),
                        None => {
                            is_false = true;
                            candidates[at].hear(&from, question, Heard::Nothing, true);
                        }
                    }
                }
            }
            other => {
                is_false = !matches!(other, None | Some(Response::Refused(_)));
                questions.iter().for_each(|&(at, question)| candidates[at].hear(&from, question, Heard::Nothing, true));
            }
        }
        let mut liars: HashSet<Peer> = candidates.iter().flat_map(Evidence::liars).cloned().collect();
        if is_false {
            liars.insert(from);
        }
        for liar in liars.into_iter().filter(|liar| *liar != criteria.me) {
            criteria.is_suspicious = true;
            self.inner.reputation.distrust(liar).await;
        }
    }

    /// True if the publisher has signed this. Members of a network of friends need no proof: the keepers have checked
    /// it.
    fn is_signed(&self, publisher: &PublisherKey, act: Act, id: ContentId, signature: &Signature) -> bool {
        self.inner.net.is_private() || net::is_signed(publisher, act, id, signature)
    }

    fn has_phrases(&self) -> bool {
        self.clauses.iter().any(Clause::has_phrases)
    }

    /// Converts an answer about one document into a statement; `None` if the answer violates the protocol, does not
    /// match the document's id, or has a false signature.
    fn heard(&mut self, evidence: &mut Evidence, part: Part, shown: Shown) -> Option<Heard> {
        let id = evidence.id();
        Some(match (part, shown) {
            (Part::Snippet, Shown::Document(document)) => {
                let ShownDocument { showing, signature, others } = *document;
                let publisher = showing.head.publisher;
                let is_of_query = showing.grades.len() == self.showings.words().len();
                if showing.head.id() != id || !is_of_query || !self.is_signed(&publisher, Act::Publish, id, &signature)
                {
                    return None;
                }
                evidence.is_published(publisher, &signature);
                evidence.name_others(others);
                Heard::Showing(Box::new(showing))
            }
            (Part::Snippet, Shown::Unfit) => Heard::Unfit,
            (Part::Presence, Shown::Unfit) if self.has_phrases() => Heard::Unfit,
            (Part::Presence, Shown::Kept { others }) => {
                evidence.name_others(others);
                if self.has_phrases() { Heard::Fits } else { Heard::Kept }
            }
            (Part::Record, Shown::Record { publication, record }) => {
                let bytes = packed::unpack(&record, MAX_RECORD)?;
                if ContentId::of(&bytes) != id {
                    return None;
                }
                self.spent.fetched += 1;
                let record = Record::decode(&bytes).ok()?;
                if !self.is_signed(&record.publisher, Act::Publish, id, &publication.signature) {
                    return None;
                }
                evidence.is_published(record.publisher, &publication.signature);
                evidence.truth.get_or_insert_with(|| Truth::of(record, self.showings));
                Heard::Kept
            }
            (_, Shown::Unknown) => Heard::Unknown,
            (_, Shown::Withdrawn { publisher, signature }) => {
                if !self.is_signed(&publisher, Act::Withdraw, id, &signature) {
                    return None;
                }
                evidence.is_withdrawn_by(publisher, &signature);
                Heard::Withdrawn
            }
            (_, Shown::Later) => Heard::Nothing,
            _ => return None,
        })
    }
}

/// Collects the questions to send, grouped into messages: for each message, the receiving node, and the questions with
/// the indices of their documents in `candidates`.
fn questions(candidates: &mut [Evidence], criteria: &Criteria<'_>) -> Vec<(Peer, Vec<(usize, Part)>)> {
    let mut loads: HashMap<Peer, Vec<(usize, Part)>> = HashMap::new();
    for (at, evidence) in candidates.iter_mut().enumerate() {
        for (to, part) in evidence.ask(criteria) {
            loads.entry(to).or_default().push((at, part));
        }
    }
    let messages = loads.into_iter().flat_map(|(to, questions)| {
        let chunks: Vec<_> = questions.chunks(limits::FETCHED).map(<[_]>::to_vec).collect();
        chunks.into_iter().map(move |questions| (to.clone(), questions))
    });
    messages.collect()
}
