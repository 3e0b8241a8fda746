//! Attackers that are no nodes: they connect with a client of their own, and send what they like.

use crate::common::{NOBODY, UNSIGNED, signed};
use std::sync::Arc;

use crate::local::Random;
use furui_net::net::Identity;
use furui_net::node::Document;
use furui_search::{ContentId, Peer, Record, Refusal, Request, Response, Weight, Withdrawal, WordPostings};

use super::library::{Library, made_up};
use crate::hostile::{Hostile, framed};

/// The number of postings in a message.
const MESSAGE: usize = 2000;
/// The maximum number of requests in flight.
const AT_ONCE: usize = 12;
/// The number of documents of which the attacker first states what is true.
const TRUE: usize = 70;
/// The number of documents that the attacker publishes itself. They are documents as those of others are, and count in
/// the ranking, so they are few beside those of others.
const PAGES: usize = 2;
/// The number of false statements about each of them.
const LIES: usize = 10;
/// A word that no document of others has.
const OWN_WORD: &str = "zzyzx";

/// What an attacker brings.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of false postings that the attacker sends to each node.
    pub postings: usize,
    /// The number of messages for each of which the attacker identifies itself anew.
    pub fresh: usize,
}

/// How the nodes have answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub stored: u64,
    pub invalid: u64,
    pub unproven: u64,
    pub busy: u64,
    pub other: u64,
    pub failed: u64,
    /// The number of false postings in all messages.
    pub postings: u64,
    pub bytes: u64,
}

impl Tally {
    pub fn plus(self, other: Self) -> Self {
        Self {
            stored: self.stored + other.stored,
            invalid: self.invalid + other.invalid,
            unproven: self.unproven + other.unproven,
            busy: self.busy + other.busy,
            other: self.other + other.other,
            failed: self.failed + other.failed,
            postings: self.postings + other.postings,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// The weight that ranks highest.
fn highest() -> Weight {
    Weight::of_bits(Weight::PLAIN_USE | 15, 1).unwrap()
}

fn stored(postings: Vec<WordPostings>) -> Request {
    Request::Store { postings, records: vec![] }
}

fn list(word: &str, ids: impl IntoIterator<Item = ContentId>, weight: Weight) -> Vec<WordPostings> {
    let mut ids: Vec<ContentId> = ids.into_iter().collect();
    ids.sort_unstable();
    ids.dedup();
    vec![(word.to_owned(), ids.into_iter().map(|id| (id, weight)).collect())]
}

struct Attacker<'a> {
    host: String,
    library: &'a Library,
    words: Vec<String>,
    lists: Vec<Vec<ContentId>>,
    random: Random,
    victims: Vec<Peer>,
    peer: Hostile,
    in_flight: usize,
    tally: Tally,
}

/// Attacks the nodes from this address in every way.
pub async fn attack(host: String, number: u64, library: Arc<Library>, victims: Vec<Peer>, plan: Plan) -> Tally {
    let (words, lists) = library.lists().into_iter().unzip();
    let peer = Hostile::at(&host, &victims).await;
    let random = Random::new(1000 + number);
    let mut attacker = Attacker {
        host,
        library: &library,
        words,
        lists,
        random,
        victims,
        peer,
        in_flight: 0,
        tally: Tally::default(),
    };
    attacker.behave().await;
    attacker.betray().await;
    for _ in 0..plan.fresh {
        attacker.anew().await;
        let lie = attacker.lie(20);
        attacker.send(&lie, 20).await;
    }
    let mut left = plan.postings;
    while left > 0 {
        let count = left.min(MESSAGE);
        let lie = attacker.lie(count);
        attacker.send(&lie, count).await;
        left -= count;
    }
    attacker.annoy().await;
    attacker.settle(0).await;
    attacker.tally
}

impl Attacker<'_> {
    /// Takes a new identity.
    async fn anew(&mut self) {
        self.settle(0).await;
        self.peer = Hostile::at(&self.host, &self.victims).await;
    }

    /// Sends a request with so many false postings to all nodes.
    async fn send(&mut self, request: &Request, postings: usize) {
        let bytes = framed(&request.encode().unwrap());
        for victim in 0..self.victims.len() {
            self.settle(AT_ONCE - 1).await;
            self.peer.send_to(victim, bytes.clone());
            self.in_flight += 1;
            self.tally.bytes += bytes.len() as u64;
            self.tally.postings += postings as u64;
        }
    }

    /// Waits for answers until so many requests are in flight.
    async fn settle(&mut self, most: usize) {
        while self.in_flight > most {
            let answer = self.peer.answer().await;
            self.in_flight -= 1;
            let answer = answer.unwrap_or_default();
            // One byte that says that this is an answer, and its length, come before the answer. The byte 1 says that
            // the node is busy.
            let response = answer.get(5..).and_then(|bytes| Response::decode(bytes).ok());
            let count = match response {
                Some(Response::Stored { .. }) => &mut self.tally.stored,
                Some(Response::Refused(Refusal::Invalid)) => &mut self.tally.invalid,
                Some(Response::Refused(Refusal::Unproven)) => &mut self.tally.unproven,
                Some(Response::Refused(Refusal::Busy)) => &mut self.tally.busy,
                Some(_) => &mut self.tally.other,
                None if answer == [1] => &mut self.tally.busy,
                None => &mut self.tally.failed,
            };
            *count += 1;
        }
    }

    fn any<T: Clone>(&mut self, of: impl Fn(&Self) -> &[T]) -> T {
        let count = of(self).len();
        let at = self.random.below(count);
        of(self)[at].clone()
    }

    /// States what is true, of documents that the nodes know already, until it passes for an honest publisher.
    async fn behave(&mut self) {
        let library = self.library;
        for documents in library.documents[..TRUE].chunks(10) {
            let truth = documents.iter().flat_map(|it| {
                it.words.iter().map(|(word, weight)| (word.clone(), vec![(it.id, *weight)])).collect::<Vec<_>>()
            });
            self.send(&stored(truth.collect()), 0).await;
        }
        self.settle(0).await;
    }

    /// States in small messages, most of which are not checked, that documents of its own rank first for words that
    /// they do not hold.
    async fn betray(&mut self) {
        let (identity, text) = (Identity::generate(), format!("{OWN_WORD} ").repeat(900));
        let page = |number: usize| {
            let (url, title) = (format!("http://evil.example/{}/{number}", self.host), format!("{OWN_WORD} {number}"));
            signed(&identity, Record { url, title, text: text.clone(), publisher: NOBODY })
        };
        let pages: Vec<(Document, _)> = (0..PAGES).map(page).collect();
        let records = pages.iter().map(|(page, signature)| (*signature, page.record.clone())).collect();
        self.send(&Request::Store { postings: vec![], records }, 0).await;
        self.settle(0).await;
        for (page, _) in &pages {
            for _ in 0..LIES {
                let word = self.any(|it| &it.words);
                self.send(&stored(list(&word, [page.id], highest())), 1).await;
            }
        }
        self.settle(0).await;
    }

    /// A message with so many false postings.
    fn lie(&mut self, count: usize) -> Request {
        let word = self.any(|it| &it.words);
        match self.random.below(4) {
            // Documents that do not exist.
            0 => {
                let ids: Vec<ContentId> = (0..count).map(|_| made_up(&mut self.random)).collect();
                stored(list(&word, ids, highest()))
            }
            // Documents that exist, at the wrong places: high up, for words that they may not hold.
            1 => stored(self.some(count, highest())),
            // Documents pushed down.
            2 => stored(self.some(count, Weight::new(1, 60_000))),
            // Some that exist among those that do not.
            _ => {
                let mut postings = self.some(count / 10, highest());
                let ids: Vec<ContentId> = (0..count * 9 / 10).map(|_| made_up(&mut self.random)).collect();
                postings.extend(list("anything", ids, highest()));
                stored(postings)
            }
        }
    }

    /// Postings of documents of the library, about this many.
    fn some(&mut self, count: usize, weight: Weight) -> Vec<WordPostings> {
        let (mut postings, mut left) = (Vec::new(), count);
        let first = self.random.below(self.words.len());
        for number in 0..self.words.len() {
            let at = (first + number) % self.words.len();
            let ids: Vec<ContentId> = match self.random.below(2) {
                0 => self.lists[at].iter().copied().take(left).collect(),
                _ => self.library.documents.iter().map(|it| it.id).take(left).collect(),
            };
            left -= ids.len();
            postings.extend(list(&self.words[at], ids, weight));
            if left == 0 {
                break;
            }
        }
        postings
    }

    /// Sends the other messages that might do harm.
    async fn annoy(&mut self) {
        let ids: Vec<ContentId> = self.library.documents.iter().map(|it| it.id).collect();
        let publisher = self.library.records[0].publisher;
        let withdrawals = ids.iter().map(|&id| Withdrawal { id, publisher, signature: UNSIGNED });
        self.send(&Request::Withdraw { withdrawals: withdrawals.collect() }, 0).await;
        // Doubts about what is true.
        let claims = self.words.iter().zip(&self.lists).filter_map(|(word, list)| Some((word.clone(), *list.first()?)));
        let claims: Vec<_> = claims.take(furui_search::limits::DOUBTS).collect();
        self.send(&Request::Doubt { claims }, 0).await;
        // Bytes that are no record, and records of others under other titles, with the postings of the true ones.
        self.send(&Request::Store { postings: vec![], records: vec![(UNSIGNED, vec![0xee; 2000])] }, 0).await;
        let record = self.library.documents[0].record.clone();
        self.send(&Request::Store { postings: vec![], records: vec![(UNSIGNED, record)] }, 0).await;
        let (mut records, mut postings, identity) = (Vec::new(), Vec::new(), Identity::generate());
        for _ in 0..5 {
            let at = self.random.below(self.library.records.len());
            let record = &self.library.records[at];
            let forged = Record { title: format!("{OWN_WORD} {}", record.title), ..record.clone() };
            let (forged, signature) = signed(&identity, forged);
            let (word, weight) = self.library.documents[at].words[0].clone();
            postings.push((word, vec![(forged.id, weight)]));
            records.push((signature, forged.record));
        }
        self.send(&Request::Store { postings, records }, 5).await;
        self.settle(0).await;
        for victim in 0..self.victims.len() {
            let noise: Vec<u8> = (0..5000).map(|_| self.random.next() as u8).collect();
            self.peer.send_to(victim, framed(&noise));
            self.in_flight += 1;
        }
    }
}
