//! Nodes, and a network between them in virtual time, which delays, loses and repeats the bytes of messages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use furui_search::{
    AnswerEvent, Clause, ContentId, Index, KnownWord, Listed, Listing, Peer, Place, Querier, QueryEvent, Report,
    Request, Response, WordSize, idf, limits,
};

use crate::node::{self, Manner, Node, mischief, number, peer};
use crate::random::Random;
use crate::villain::{self, PATIENT, Villain};

/// The behaviour of the links.
#[derive(Clone, Copy)]
pub struct Links {
    pub one_way: Duration,
    pub jitter: Duration,
    pub loss: f64,
    pub repeats: f64,
}

impl Links {
    pub const STEADY: Self =
        Self { one_way: Duration::from_millis(50), jitter: Duration::ZERO, loss: 0.0, repeats: 0.0 };
    pub const ROUGH: Self =
        Self { one_way: Duration::from_millis(20), jitter: Duration::from_millis(100), loss: 0.02, repeats: 0.05 };
}

/// The number of bits of a querier's call numbers. The bits above them are the number of the query.
const RUN: u32 = 32;

/// A message in flight.
#[derive(Clone)]
struct Parcel {
    from: usize,
    to: usize,
    call: u64,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Request(Vec<u8>),
    Response(Vec<u8>),
    Failure,
    Holders(String),
}

/// The result of a query.
pub struct Outcome {
    /// The documents found, ascending.
    pub ids: Vec<ContentId>,
    pub pages: Vec<Vec<Place>>,
    pub end: QueryEvent,
    pub first_page: Option<Duration>,
    pub took: Duration,
    pub most_ids_held: usize,
    pub known: Vec<KnownWord>,
    /// The peers to ask last in later queries.
    pub shun: Vec<Peer>,
    pub report: Report,
}

impl Outcome {
    pub fn is_done(&self) -> bool {
        matches!(self.end, QueryEvent::Done { .. })
    }
}

pub struct World {
    pub random: Random,
    pub nodes: Vec<Node>,
    pub links: Links,
    /// The number of keepers that the first look-up of a word in a query names. Other look-ups name all of them.
    pub named_first: usize,
    /// The true lists.
    pub lists: BTreeMap<String, BTreeSet<ContentId>>,
    pub now: Duration,
    /// The number of third messages that were sent.
    pub settles: usize,
    parcels: BinaryHeap<Reverse<(Duration, u64)>>,
    contents: HashMap<u64, Parcel>,
    next: u64,
    /// Requests that wait for a node's answer, each with the node that sent it and its call number.
    asked: HashMap<u64, (usize, u64)>,
    /// The number of queries. Answers to earlier queries are ignored.
    runs: u64,
    /// The nodes whose answering side has a deadline.
    busy: BTreeSet<usize>,
    /// For each node, the prefix of its address.
    pub prefixes: Vec<u32>,
    /// True if the keepers of a word have different prefixes.
    pub is_diverse: bool,
}

impl World {
    /// Makes `nodes` nodes, and documents with words drawn with these probabilities.
    pub fn new(seed: u64, nodes: usize, documents: usize, words: &[(&str, f64)]) -> Self {
        let mut random = Random(seed);
        let mut lists: BTreeMap<String, BTreeSet<ContentId>> =
            words.iter().map(|(word, _)| ((*word).to_owned(), BTreeSet::new())).collect();
        for _ in 0..documents {
            let mut bytes = [0; 20];
            bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]));
            for (word, part) in words {
                if random.chance(*part) {
                    lists.get_mut(*word).unwrap().insert(ContentId::new(bytes));
                }
            }
        }
        let mut world = Self {
            random,
            nodes: (0..nodes).map(Node::new).collect(),
            links: Links::STEADY,
            named_first: limits::REPLICAS,
            lists: BTreeMap::new(),
            now: Duration::ZERO,
            settles: 0,
            parcels: BinaryHeap::new(),
            contents: HashMap::new(),
            next: 0,
            asked: HashMap::new(),
            runs: 0,
            busy: BTreeSet::new(),
            prefixes: (0..nodes as u32).collect(),
            is_diverse: false,
        };
        for (word, list) in &lists {
            let list: Arc<[ContentId]> = list.iter().copied().collect();
            for node in world.replicas(word) {
                world.nodes[node].lists.keep(word, Arc::clone(&list));
            }
        }
        world.lists = lists;
        world
    }

    /// Adds documents to a word's list at all of its keepers.
    pub fn publish(&mut self, word: &str, ids: &[ContentId]) {
        let list = self.lists.get_mut(word).unwrap();
        list.extend(ids);
        let list: Arc<[ContentId]> = list.iter().copied().collect();
        for node in self.replicas(word) {
            self.nodes[node].lists.keep(word, Arc::clone(&list));
        }
    }

    /// The nodes that keep a word's list.
    pub fn replicas(&self, word: &str) -> Vec<usize> {
        let distance = |node: usize| {
            word.bytes().fold(Random(node as u64).next(), |hash, byte| Random(hash ^ u64::from(byte)).next())
        };
        let mut nodes: Vec<usize> = (0..self.nodes.len()).collect();
        nodes.sort_by_cached_key(|&node| distance(node));
        if self.is_diverse {
            let mut taken = BTreeSet::new();
            nodes.retain(|&node| taken.len() < limits::REPLICAS && taken.insert(self.prefixes[node]));
        }
        nodes.truncate(limits::REPLICAS);
        nodes
    }

    /// The right answer.
    pub fn truth(&self, clauses: &[Clause]) -> Vec<ContentId> {
        let empty = BTreeSet::new();
        let list = |word: &String| self.lists.get(word).unwrap_or(&empty);
        let found = clauses.iter().flat_map(|Clause { must, without, .. }| {
            let fits = |id: &&ContentId| {
                must.iter().all(|word| list(word).contains(id)) && !without.iter().any(|word| list(word).contains(id))
            };
            list(&must[0]).iter().filter(fits)
        });
        found.copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The right answer, in the order of scores. A query gets these scores only if the keepers of its words tell the
    /// true sizes of their lists.
    pub fn ranked_truth(&self, clauses: &[Clause]) -> Vec<Place> {
        let size = |word: &str| self.lists.get(word).map_or(0, |list| list.len() as u64);
        // A conjunction that finds nothing, as its own words show, does not count.
        let may_find =
            |clause: &&Clause| clause.must.iter().all(|word| size(word) > 0 && !clause.without.contains(word));
        let words = clauses.iter().filter(may_find).flat_map(|clause| &clause.must);
        let longest = words.map(|word| size(word)).max().unwrap_or_default();
        self.ranked_by(clauses, |word| idf(longest, size(word)))
    }

    /// The right answer, in the order of the scores that these idfs give.
    pub fn ranked_by(&self, clauses: &[Clause], idf: impl Fn(&str) -> u32) -> Vec<Place> {
        let mut scores: BTreeMap<ContentId, u32> = BTreeMap::new();
        for clause in clauses {
            for id in self.truth(std::slice::from_ref(clause)) {
                let words: BTreeSet<&String> = clause.must.iter().collect();
                let best = scores.entry(id).or_default();
                *best = node::score(words.into_iter(), &idf, id).max(*best);
            }
        }
        let mut places: Vec<Place> = scores.into_iter().map(|(id, score)| Place { score, id }).collect();
        places.sort_unstable();
        places
    }

    /// Runs a query to its end.
    pub fn run(&mut self, mut querier: Querier) -> Outcome {
        self.run_by(&mut querier)
    }

    /// Runs a query to its end, for a caller that has questions to it afterwards.
    pub fn run_by(&mut self, querier: &mut Querier) -> Outcome {
        let (begun, me) = (self.now, self.nodes.len());
        self.runs += 1;
        let run = self.runs << RUN;
        let mut looked_up = BTreeSet::new();
        let mut outcome = Outcome {
            ids: vec![],
            pages: vec![],
            end: QueryEvent::Failed { word: String::new() },
            first_page: None,
            took: Duration::ZERO,
            most_ids_held: 0,
            known: vec![],
            shun: vec![],
            report: Report::default(),
        };
        loop {
            while let Some(event) = querier.poll(self.now) {
                outcome.most_ids_held = outcome.most_ids_held.max(querier.ids_held());
                match event {
                    QueryEvent::Lookup { word } => {
                        let parcel = Parcel { from: me, to: me, call: 0, content: Content::Holders(word) };
                        self.post(parcel, self.links.one_way * 4);
                    }
                    QueryEvent::Send { to, call, request } => self.request(me, &to, run | call, request),
                    QueryEvent::Prove { word, ids } => {
                        // Records of made-up documents are sought in vain.
                        let proved = ids.into_iter().map(|id| (id, self.lists[&word].contains(&id)));
                        querier.on_proof(&word, &proved.collect());
                    }
                    QueryEvent::Shun { peer } => outcome.shun.push(peer),
                    QueryEvent::Page { places } => {
                        outcome.first_page.get_or_insert(self.now - begun);
                        outcome.ids.extend(places.iter().map(|place| place.id));
                        outcome.pages.push(places);
                    }
                    end => {
                        assert!(querier.poll(self.now).is_none() && querier.deadline().is_none());
                        outcome.end = end;
                        outcome.ids.sort_unstable();
                        outcome.ids.dedup();
                        outcome.took = self.now - begun;
                        outcome.known = querier.known().collect();
                        outcome.report = querier.report();
                        return outcome;
                    }
                }
            }
            let arrival = self.parcels.peek().map(|Reverse((time, _))| *time);
            let deadlines = self.busy.iter().filter_map(|&node| self.nodes[node].answerer.deadline());
            let deadlines = deadlines.chain(querier.deadline());
            let time = arrival.into_iter().chain(deadlines).min().expect("a querier that waits has a deadline");
            self.now = self.now.max(time);
            for node in self.busy.clone() {
                if self.nodes[node].answerer.deadline().is_some_and(|deadline| deadline <= self.now) {
                    let Node { answerer, lists, .. } = &mut self.nodes[node];
                    answerer.on_time(self.now, lists);
                    self.drain(node);
                }
            }
            while let Some(parcel) = self.arrived() {
                if parcel.to < me {
                    self.arrive(parcel);
                } else if parcel.call == 0 || parcel.call >> RUN == self.runs {
                    let call = parcel.call & ((1 << RUN) - 1);
                    match parcel.content {
                        Content::Holders(word) => {
                            let named =
                                if looked_up.insert(word.clone()) { self.named_first } else { limits::REPLICAS };
                            let holders = self.replicas(&word).into_iter().take(named).map(peer).collect();
                            querier.on_holders(&word, holders, self.now);
                        }
                        Content::Response(bytes) => match Response::decode(&bytes) {
                            Ok(response) => querier.on_response(call, response, self.now),
                            Err(_) => querier.on_failure(call, self.now),
                        },
                        Content::Failure => querier.on_failure(call, self.now),
                        Content::Request(_) => unreachable!("nobody asks the querier"),
                    }
                }
            }
        }
    }

    fn arrived(&mut self) -> Option<Parcel> {
        let &Reverse((time, number)) = self.parcels.peek()?;
        if time > self.now {
            return None;
        }
        self.parcels.pop();
        self.contents.remove(&number)
    }

    fn post(&mut self, parcel: Parcel, after: Duration) {
        self.parcels.push(Reverse((self.now + after, self.next)));
        self.contents.insert(self.next, parcel);
        self.next += 1;
    }

    /// Sends a parcel over a link, which may delay, lose or repeat it.
    fn send(&mut self, parcel: Parcel) {
        let Links { one_way, jitter, loss, repeats } = self.links;
        while !self.random.chance(loss) {
            let late = jitter.mul_f64(self.random.next() as f64 / u64::MAX as f64);
            self.post(parcel.clone(), one_way + late);
            if !self.random.chance(repeats) {
                return;
            }
        }
    }

    fn request(&mut self, from: usize, to: &Peer, call: u64, bytes: Vec<u8>) {
        match number(to).filter(|&to| to < self.nodes.len() && self.nodes[to].manner != Manner::Dead) {
            Some(to) => self.send(Parcel { from, to, call, content: Content::Request(bytes) }),
            None => self.post(Parcel { from, to: from, call, content: Content::Failure }, self.links.one_way * 2),
        }
    }

    /// Makes a part of the nodes hostile. Their addresses have `prefixes` prefixes; every other node has its own.
    pub fn besiege(&mut self, part: f64, villains: &[Villain], prefixes: u32) {
        let mut hostile: Vec<usize> = (0..self.nodes.len()).collect();
        for place in (1..hostile.len()).rev() {
            hostile.swap(place, self.random.below(place + 1));
        }
        hostile.truncate((part * self.nodes.len() as f64).round() as usize);
        for (number, &node) in hostile.iter().enumerate() {
            self.nodes[node].manner = Manner::Villain(villains[number % villains.len()]);
            self.prefixes[node] = u32::MAX - number as u32 % prefixes;
        }
        self.nodes.iter_mut().for_each(|node| node.lists.clear());
        let keepers: Vec<(String, Vec<usize>)> =
            self.lists.keys().map(|word| (word.clone(), self.replicas(word))).collect();
        for (word, keepers) in &keepers {
            let list: Arc<[ContentId]> = self.lists[word].iter().copied().collect();
            keepers.iter().for_each(|&node| self.nodes[node].lists.keep(word, Arc::clone(&list)));
        }
        let in_company: BTreeSet<&String> = keepers
            .iter()
            .filter(|(_, keepers)| keepers.iter().filter(|&&node| self.is_hostile(node)).count() >= 2)
            .map(|(word, _)| word)
            .collect();
        for &node in &hostile {
            let Node { lists, manner: Manner::Villain(villain), .. } = &mut self.nodes[node] else { continue };
            lists.bend(|word, list| match villain {
                Villain::Hides | Villain::Forges => Some(villain.bend(word, list)),
                Villain::Together => in_company.contains(&word.to_owned()).then(|| villain.bend(word, list)),
                Villain::Replays | Villain::Silent | Villain::Waits => None,
            });
        }
    }

    pub fn is_hostile(&self, node: usize) -> bool {
        matches!(self.nodes[node].manner, Manner::Villain(_))
    }

    /// Makes a node that was honest long enough lie from now on.
    fn lose_patience(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        if node.manner == Manner::Villain(Villain::Waits) && node.asked == PATIENT {
            node.lists.bend(|word, list| Some(Villain::Waits.bend(word, list)));
        }
    }

    /// Delivers a parcel to a node.
    fn arrive(&mut self, Parcel { from, to, call, content }: Parcel) {
        let (now, token) = (self.now, self.next);
        self.next += 1;
        let me = self.nodes.len();
        self.lose_patience(to);
        let Node { answerer, lists, manner, asked, said } = &mut self.nodes[to];
        match content {
            Content::Request(bytes) => {
                let request = Request::decode(&bytes).expect("what is sent is a message");
                *asked += usize::from(from == me);
                self.asked.insert(token, (from, call));
                let manner = *manner;
                self.settles += usize::from(matches!(request, Request::Settle(_)));
                if let Some(response) = mischief(manner, &request) {
                    return self.respond(to, token, response);
                }
                if manner == Manner::Villain(Villain::Replays)
                    && let Some(response) = said.get(&villain::answer_kind(&request))
                {
                    let response = response.clone();
                    return self.respond(to, token, response);
                }
                match answerer.on_request(&peer(from), token, request, now, lists) {
                    Some(Request::Size { words }) => {
                        let sizes = words.iter().map(|word| {
                            let Listing { ids, log_length, whole } = self.nodes[to].lists.size(word).unwrap();
                            let ids = match manner {
                                Manner::Liar => u64::MAX,
                                Manner::Villain(villain) => villain.size(ids, self.lists[word].len() as u64),
                                _ => ids,
                            };
                            WordSize {
                                ids,
                                log_length,
                                whole,
                                holders: self.replicas(word).into_iter().map(peer).collect(),
                            }
                        });
                        let sizes = Response::Sizes(sizes.collect());
                        self.respond(to, token, sizes.encode().unwrap());
                    }
                    Some(Request::List { words, range, most }) => {
                        let mut list = |word: &String| {
                            let mut ids = lists.slice(word, range, most as usize + 1).unwrap().0.to_vec();
                            let more = ids.len() > most as usize;
                            ids.truncate(most as usize);
                            Listed { days: vec![1; ids.len()], weights: vec![], ids, more }
                        };
                        let listed = Response::Listed(words.iter().map(&mut list).collect());
                        self.respond(to, token, listed.encode().unwrap());
                    }
                    Some(other) => panic!("a simulated node is not asked for {other:?}"),
                    None => {}
                }
            }
            Content::Response(bytes) => match Response::decode(&bytes) {
                Ok(response) => answerer.on_response(call, response, now, lists),
                Err(_) => answerer.on_failure(call, now, lists),
            },
            Content::Failure => answerer.on_failure(call, now, lists),
            Content::Holders(_) => unreachable!("nodes look nothing up"),
        }
        self.drain(to);
    }

    /// Carries out the tasks of a node.
    fn drain(&mut self, node: usize) {
        if self.nodes[node].answerer.deadline().is_some() {
            self.busy.insert(node);
        } else {
            self.busy.remove(&node);
        }
        let (meetings, sessions) = self.nodes[node].answerer.ids_held();
        assert!(meetings <= limits::MEETING_IDS && sessions <= limits::SESSION_IDS);
        while let Some(event) = self.nodes[node].answerer.poll() {
            match event {
                AnswerEvent::Send { to, call, request } => {
                    assert!(to != peer(node), "a node asks itself");
                    self.request(node, &to, call, request);
                }
                AnswerEvent::Respond { call, response } => {
                    let bytes = response.encode().expect("a machine's answer fits into a message");
                    self.respond(node, call, bytes);
                }
            }
        }
    }

    fn respond(&mut self, node: usize, token: u64, bytes: Vec<u8>) {
        let Some((to, call)) = self.asked.remove(&token) else { panic!("an answer to nothing, or a second one") };
        if self.nodes[node].manner == Manner::Villain(Villain::Replays) {
            // The second byte of a message is its kind.
            self.nodes[node].said.entry(bytes[1]).or_insert_with(|| bytes.clone());
        }
        let parcel = Parcel { from: node, to, call, content: Content::Response(bytes) };
        match self.nodes[node].manner {
            Manner::Silent | Manner::Villain(Villain::Silent) => {}
            Manner::Slow => self.post(parcel, Duration::from_secs(15)),
            _ => self.send(parcel),
        }
    }
}
