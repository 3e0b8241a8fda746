use std::sync::Arc;

use furui_net::net::{Config, Identity, Net, Transport};
use furui_search::{
    Clause, CodedSet, Coding, ContentId, IdRange, Lock, LockKey, Meet, Part, Peer, Phrase, Ranking, Request, Response,
    Search, Settle, Term, Wants, Weight, limits, plan,
};

use super::Done;
use super::corpus::{Corpus, Dice};

/// The kinds of requests with which a node is flooded, each as costly as possible. `Store` comes last, because the node
/// keeps the stored data, and other nodes then take that data over.
pub(super) const KINDS: [Kind; 17] = [
    Kind::Size,
    Kind::Survey,
    Kind::Search,
    Kind::Meet,
    Kind::Filter,
    Kind::Sessions,
    Kind::Settle,
    Kind::Fetch,
    Kind::Show,
    Kind::Withdraw,
    Kind::Locks,
    Kind::Withdrawn,
    Kind::Compare,
    Kind::List,
    Kind::Records,
    Kind::Nonsense,
    Kind::Store,
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// New lists and a new record in each request.
    Store,
    /// Queries for the sizes of hot lists.
    Size,
    /// Queries for the number of all documents, which the node estimates.
    Survey,
    /// Searches for a hot word, whose whole list the node reads, and a word whose keeper never answers.
    Search,
    /// Requests to match a hot list with as many ids as a message holds.
    Meet,
    /// Requests to match a ringed filter of as many ids as a message holds, with the maximum number of probes.
    Filter,
    /// Sets of all ids, for exchanges in three messages whose third message is never sent.
    Sessions,
    /// Third messages of exchanges that never began.
    Settle,
    /// Fetches of as many records as a message holds.
    Fetch,
    /// Requests to show documents that must be searched for a phrase that no record contains.
    Show,
    /// Withdrawals with keys that open no lock.
    Withdraw,
    Locks,
    Withdrawn,
    Compare,
    /// Requests for whole hot lists.
    List,
    /// Requests for the ids of all records.
    Records,
    /// Random bytes, which are not a valid message.
    Nonsense,
}

/// A malicious node of the network.
pub(super) struct Hostile {
    pub(super) net: Net,
    pub(super) victim: Peer,
}

impl Hostile {
    pub(super) async fn join(bootstrap: &str) -> Done<Self> {
        let mut config = Config::new(Identity::generate(), Transport::Tcp);
        config.bootstrap = vec![bootstrap.to_owned()];
        let (net, mut inbound) = Net::start(config).await?;
        net.joined().await;
        // Requests to this node are kept and never answered.
        tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Some(request) = inbound.recv().await {
                kept.push(request.reply);
            }
        });
        let port = bootstrap.split('/').nth(4).and_then(|port| port.parse::<u16>().ok()).ok_or("no port")?;
        // A multiaddress consists of the protocol and the address of IPv4 (5 bytes), the protocol TCP (1 byte) and the
        // port.
        let is_victim = |peer: &Peer| peer.address().get(6..8) == Some(&[(port >> 8) as u8, port as u8]);
        let victim = net.peers().await.into_iter().find(is_victim).ok_or("the address of the victim is unknown")?;
        Ok(Self { net, victim })
    }

    /// The words of `words` whose lists the victim keeps.
    pub(super) async fn kept(&self, words: Vec<String>) -> Done<Vec<String>> {
        let request = Request::Size { words: words.clone() }.encode()?;
        let Response::Sizes(sizes) = Response::decode(&self.net.call(&self.victim, request).await?)? else {
            return Err("the victim does not report the lengths of its lists".into());
        };
        Ok(words.into_iter().zip(sizes).filter(|(_, size)| size.ids > 0).map(|(word, _)| word).collect())
    }
}

/// The data from which requests are made.
pub(super) struct Arms {
    /// The words with the longest lists that the victim keeps.
    hot: Vec<String>,
    ids: Vec<ContentId>,
}

impl Arms {
    pub(super) fn new(hot: Vec<String>, corpus: &Corpus) -> Done<Arc<Self>> {
        let mut ids = Vec::new();
        for record in corpus.records() {
            ids.push(ContentId::of(&record.encode()?));
        }
        ids.sort_unstable();
        Ok(Arc::new(Self { hot, ids }))
    }

    /// An encoded request of this kind.
    pub(super) fn request(&self, kind: Kind, me: Peer, dice: &mut Dice) -> Vec<u8> {
        let word = self.hot[dice.below(self.hot.len())].clone();
        let mut some_ids = |most| (0..most).map(|_| self.ids[dice.below(self.ids.len())]).collect::<Vec<_>>();
        let request = match kind {
            Kind::Store => {
                let posting = |dice: &mut Dice| (id(dice), Weight::default());
                let list = |dice: &mut Dice| (format!("x{}", dice.next()), (0..1000).map(|_| posting(dice)).collect());
                Request::Store {
                    postings: (0..40).map(|_| list(dice)).collect(),
                    records: vec![(Lock::new([7; Lock::BYTES]), vec![7; 100_000])],
                }
            }
            Kind::Size => Request::Size { words: vec![word; limits::WORDS] },
            Kind::Survey => Request::Survey,
            Kind::Search => search(word, me, dice),
            Kind::Meet => meet(word, &ids(dice), Coding::Ids),
            Kind::Filter => {
                let wants = Wants::Ringed { probes: Some(64), delta: 1000 };
                meet(word, &ids(dice), plan::choose(wants, 1, 1, IdRange::ALL, 0))
            }
            Kind::Sessions => {
                let (own, other) = (self.ids.len() as u64, self.ids.len() as u64);
                meet(word, &self.ids, plan::golomb_in_three(own, other, IdRange::ALL, dice.next() as u32))
            }
            Kind::Settle => {
                Request::Settle(Settle { session: dice.next(), rejected: vec![7; 1000], checksum: dice.next() })
            }
            Kind::Fetch => Request::Fetch { ids: some_ids(limits::FETCHED) },
            Kind::Show => {
                let phrase = Phrase::of("no document holds these words one after the other");
                let clause = Clause { phrases: phrase.into_iter().collect(), ..Clause::default() };
                let documents = some_ids(limits::FETCHED).into_iter().map(|id| (id, Part::Snippet)).collect();
                Request::Show { documents, clauses: vec![clause] }
            }
            Kind::Withdraw => {
                let key = LockKey::new([9; LockKey::BYTES]);
                Request::Withdraw { keys: some_ids(limits::KEYS).into_iter().map(|id| (id, key)).collect() }
            }
            Kind::Locks => Request::Locks { ids: some_ids(limits::FETCHED) },
            Kind::Withdrawn => Request::Withdrawn { range: IdRange::ALL },
            Kind::Compare => Request::Compare { from: String::new(), since: 0 },
            Kind::List => Request::List { words: vec![word; limits::LISTED], range: IdRange::ALL, most: limits::IDS as u32 },
            Kind::Records => {
                let (words, range) = (vec![String::new(); limits::LISTED], IdRange::ALL);
                Request::List { words, range, most: limits::IDS as u32 }
            }
            Kind::Nonsense => return (0..100_000).flat_map(|_| dice.next().to_le_bytes()).collect(),
        };
        request.encode().unwrap_or_default()
    }
}

fn search(word: String, me: Peer, dice: &mut Dice) -> Request {
    let best = limits::PAGE as u32;
    let ranking = Ranking { mean_length: 25, idfs: vec![limits::IDF; 2], best, floor: 0, after: None, from: None };
    let term = |word: String, holders| Term { word, size: 1 << 40, holders };
    Request::Search(Search {
        must: vec![term(word, Vec::new()), term("other".to_owned(), vec![me])],
        without: Vec::new(),
        most: limits::IDS as u32,
        wants: Wants::Best,
        salt: dice.next(),
        ranking,
    })
}

fn meet(word: String, ids: &[ContentId], coding: Coding) -> Request {
    let set = CodedSet::encode(ids, IdRange::ALL, coding).map(|set| set.bytes).unwrap_or_default();
    Request::Meet(Meet { word, set, weighted: true })
}

/// As many random ids as a set may have, in ascending order.
fn ids(dice: &mut Dice) -> Vec<ContentId> {
    let mut ids: Vec<ContentId> = (0..limits::IDS).map(|_| id(dice)).collect();
    ids.sort_unstable();
    ids
}

fn id(dice: &mut Dice) -> ContentId {
    let mut bytes = [0; ContentId::BYTES];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&dice.next().to_le_bytes()[..chunk.len()]));
    ContentId::new(bytes)
}
