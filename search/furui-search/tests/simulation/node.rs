//! A node with lists in memory, and its behaviour.

use std::collections::HashMap;
use std::sync::Arc;

use crate::villain::{self, Villain};

use furui::Result;
use furui_search::{
    Answerer, Asked, ContentId, IdRange, Index, ListPart, Listed, Listing, Met, Peer, Place, Ranked, Refusal, Request,
    Response, Scale, Score, Weight, limits,
};

use crate::random::Random;

/// The behaviour of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Honest,
    /// Connections to the node fail.
    Dead,
    /// The node accepts everything, and never answers.
    Silent,
    /// The node answers long after the caller has given up.
    Slow,
    /// The node has lost the session when the third message comes.
    Forgetful,
    /// The node answers with bytes that are not a message.
    Garbage,
    /// The node answers with more bytes than a message may have.
    Oversized,
    /// The node answers with impossible messages: ranks out of range, ids out of order, no progress, absurd sizes.
    Liar,
    /// The node answers as the protocol requires, but not with what it has been given.
    Villain(Villain),
}

pub const BAD: [Manner; 6] =
    [Manner::Dead, Manner::Silent, Manner::Slow, Manner::Garbage, Manner::Oversized, Manner::Liar];

pub struct Node {
    pub answerer: Answerer,
    pub lists: Lists,
    pub manner: Manner,
    /// The number of requests that the node got from queriers.
    pub asked: usize,
    /// The last answer of each kind that the node gave, if it repeats old answers.
    pub said: HashMap<u8, Vec<u8>>,
}

impl Node {
    /// Makes an honest node without lists.
    pub fn new(number: usize) -> Self {
        Self {
            answerer: Answerer::new(peer(number)),
            lists: Lists { lists: HashMap::new(), whole: true, longest: 0, bent: HashMap::new() },
            manner: Manner::Honest,
            asked: 0,
            said: HashMap::new(),
        }
    }
}

pub struct Lists {
    lists: HashMap<String, Arc<[ContentId]>>,
    pub whole: bool,
    /// The maximum length of the slices of lists that were requested.
    pub longest: usize,
    /// False lists, which are shown instead of the true ones.
    bent: HashMap<String, Arc<[ContentId]>>,
}

impl Lists {
    /// Replaces the node's list of a word.
    pub fn keep(&mut self, word: &str, list: Arc<[ContentId]>) {
        self.lists.insert(word.to_owned(), list);
    }

    /// Loses all lists.
    pub fn clear(&mut self) {
        self.lists.clear();
    }

    /// Shows a false list of each word for which `bend` makes one of the true list; the true list of all other words.
    pub fn bend(&mut self, bend: impl Fn(&str, &[ContentId]) -> Option<Vec<ContentId>>) {
        let bent = self.lists.iter().filter_map(|(word, list)| Some((word.clone(), bend(word, list)?.into())));
        self.bent = bent.collect();
    }

    /// The list that the node shows.
    fn shown(&self, word: &str) -> &[ContentId] {
        self.bent.get(word).or_else(|| self.lists.get(word)).map_or(&[], |list| list)
    }

    /// Loses all lists, and reports from then on that its lists are not whole.
    pub fn forget(&mut self) {
        self.lists.clear();
        self.whole = false;
    }
}

impl Index for Lists {
    fn size(&mut self, word: &str) -> Result<Listing> {
        Ok(Listing { ids: self.shown(word).len() as u64, log_length: LOG_LENGTH, whole: self.whole })
    }

    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<ListPart> {
        self.longest = self.longest.max(most);
        let list = self.shown(word);
        let list = &list[list.partition_point(|id| id.head() < range.first)..];
        let ids: Arc<[ContentId]> = list.iter().copied().take_while(|&id| range.contains(id)).take(most).collect();
        let weight = if self.bent.contains_key(word) { villain::weight } else { weight };
        let weights = ids.iter().map(|&id| weight(word, id)).collect();
        Ok((ids, weights))
    }
}

/// The mean length of the documents, as an exponent of two: they have 256 to some 8,000 words.
pub const LOG_LENGTH: u8 = 10;

/// The weight of a word in a document: mostly that of one occurrence.
pub fn weight(word: &str, id: ContentId) -> Weight {
    let mixed = word.bytes().fold(id.hash().get(), |hash, byte| Random(hash ^ u64::from(byte)).next());
    let (step, length) = (mixed.trailing_zeros().min(15) as u16, 80 + u16::from(id.as_bytes()[19] % 80));
    // Each has the word as it is asked for, and some have it in a title of four words.
    Weight::of_bits(step | 1 << 4 | ((mixed % 5) as u16) << 9, length | 4 << 8).expect("it has a form")
}

/// The score of a document that has the words of a conjunction, of which each has this idf.
pub fn score<'a>(words: impl Iterator<Item = &'a String>, idf: impl Fn(&str) -> u32, id: ContentId) -> u32 {
    let scale = Scale::new(LOG_LENGTH);
    let (mut score, mut all, mut size) = (Score::default(), 0, 0);
    for word in words {
        let weight = weight(word, id);
        (all, size) = (all + idf(word), weight.size_bits());
        score.add(&scale, idf(word), Asked::of(word).grade(weight).expect("it has a form"), size);
    }
    score.of(all, size)
}

pub fn peer(node: usize) -> Peer {
    Peer::new(&(node as u32).to_le_bytes(), b"address")
}

pub fn number(peer: &Peer) -> Option<usize> {
    Some(u32::from_le_bytes(peer.identity().try_into().ok()?) as usize)
}

/// The wrong answer that a node with this behaviour gives.
pub fn mischief(manner: Manner, request: &Request) -> Option<Vec<u8>> {
    let response = match (manner, request) {
        (Manner::Garbage, _) => return Some(vec![0xa5; 40]),
        (Manner::Oversized, _) => return Some(vec![1; limits::MESSAGE_BYTES + 1]),
        (Manner::Forgetful, Request::Settle(_)) => Response::Refused(Refusal::Forgotten),
        (Manner::Liar, Request::Meet(_)) => {
            Response::Met(Met { matches: vec![0xff; 50], whole: true, session: None, grades: vec![9] })
        }
        (Manner::Liar, Request::Search(search)) => {
            let place = |score, id: u32| {
                let mut bytes = [0; 20];
                bytes[..4].copy_from_slice(&id.swap_bytes().to_le_bytes());
                Place { score, id: ContentId::new(bytes) }
            };
            let places = [
                vec![place(1, 1), place(2, 2)],
                vec![place(u32::MAX, 9); 2],
                vec![],
                (0..=search.ranking.best).map(|id| place(1000, id)).collect(),
            ];
            let places = places[search.salt as usize % 4].clone();
            let (seen, found) = (places.len() as u64, places.len() as u64);
            let next = search.ranking.from.or(Some(place(3, 3)));
            Response::Ranked(Ranked { places, next, seen, found, whole: true, costs: vec![] })
        }
        (Manner::Liar, Request::List { most, .. }) => {
            let ids: Vec<ContentId> = (0..=*most).rev().map(|id| ContentId::new([id as u8; 20])).collect();
            Response::Listed(vec![Listed { days: vec![1; ids.len()], weights: vec![], ids, more: true }])
        }
        _ => return None,
    };
    Some(response.encode().unwrap_or_default())
}
