//! Random queries over a network of nodes, in every coding: answers equal brute force, and bits and bytes equal the
//! predictions from the lists.

use crate::common::{Publishes, all_by};
use crate::local;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::answer::{all, search};
use crate::local::{Lists, Random};
use crate::predict::predict;
use furui_net::node::{Document, Node, SearchOptions};
use furui_search::{
    Coding, ContentId, Cost, Meet, Met, Peer, Report, Request, Response, Round, Settle, Wants, limits, plan,
};
use tokio::task::JoinSet;

const CODINGS: [(&str, Wants); 6] = [
    ("best", Wants::Best),
    ("naive", Wants::Naive),
    ("fixed 2^-5", Wants::Fixed { bits: 2164, probes: 5 }),
    ("ringed 2^-7", Wants::Ringed { probes: Some(7), delta: 1000 }),
    ("ringed best", Wants::Ringed { probes: None, delta: 1000 }),
    ("golomb", Wants::Golomb),
];

/// The number of concurrent queries, each at another node.
const AT_ONCE: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_nodes_find_what_brute_force_finds_in_every_coding_as_predicted() {
    let mut random = Random::new(1);
    let documents = local::zipf(2000, &mut random);
    check(30, documents, 200, random).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn a_hundred_nodes_answer_a_thousand_queries_in_every_coding_as_predicted() {
    let mut random = Random::new(2);
    let documents = local::zipf(10_000, &mut random);
    check(100, documents, 1000, random).await;
}

/// Reads documents, one a line, from `descriptions.txt` in the directory that `FURUI_DATA` names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn a_hundred_nodes_answer_a_thousand_queries_over_natural_texts() {
    let Some(directory) = std::env::var_os("FURUI_DATA") else {
        println!("SKIPPED: FURUI_DATA names no directory with descriptions.txt");
        return;
    };
    let texts = std::fs::read_to_string(Path::new(&directory).join("descriptions.txt")).unwrap();
    let texts: Vec<&str> = texts.lines().collect();
    let step = (texts.len() / 10_000).max(1);
    let documents = texts.iter().step_by(step).take(10_000).enumerate();
    let documents = documents.map(|(n, text)| local::document(format!("http://text.example/{n}"), (*text).to_owned()));
    check(100, documents.collect(), 1000, Random::new(3)).await;
}

/// Publishes at one node, sends every query in every coding to some node, and compares the answers with brute force.
async fn check(nodes: usize, documents: Vec<Document>, queries: usize, mut random: Random) {
    let start = Instant::now();
    let nodes = Arc::new(local::network(nodes).await);
    println!("{} nodes in {:.1} s", nodes.len(), start.elapsed().as_secs_f64());
    let documents = all_by(&nodes[0], documents);
    let lists = Arc::new(Lists::of(&documents));
    let queries: Arc<Vec<Asked>> = Arc::new((0..queries).map(|_| Asked::any(&documents, &mut random)).collect());

    let (start, count) = (Instant::now(), documents.len());
    for batch in documents.chunks(256) {
        assert_eq!(nodes[0].publishes(batch.to_vec(), false).await.unwrap().new, batch.len() as u64);
    }
    println!("{count} documents, {} words in {:.1} s", lists.words().count(), start.elapsed().as_secs_f64());

    // Before the measurement, all nodes have compared their lists, over connections that stay open.
    local::repaired(&nodes).await;
    let cold = look_up_bytes(&nodes, &mut random).await;
    let warm = look_up_bytes(&nodes, &mut random).await;
    println!("a look-up through a search: {cold} bytes a word at first, {warm} when nodes are connected");
    // All keepers are looked up, on two paths.
    assert!(warm <= 8192, "{warm} bytes a word");
    for (name, wants) in CODINGS {
        let (start, mut sums) = (Instant::now(), Sums::default());
        let mut askers = JoinSet::new();
        for first in 0..AT_ONCE {
            let (nodes, lists, queries) = (Arc::clone(&nodes), Arc::clone(&lists), Arc::clone(&queries));
            let mut random = Random::new(random.next());
            askers.spawn(async move {
                let mut sums = Sums::default();
                for asked in queries.iter().skip(first).step_by(AT_ONCE) {
                    sums.add(ask(&nodes, &lists, asked, wants, random.below(nodes.len())).await);
                }
                sums
            });
        }
        while let Some(some) = askers.join_next().await {
            sums.add(some.unwrap());
        }
        println!(
            "{name}: {} of {} equal to brute force in {:.1} s; {} exchanges as predicted ({} in three \
             messages): {} bits, {} bytes",
            sums.queries,
            queries.len(),
            start.elapsed().as_secs_f64(),
            sums.exchanges,
            sums.in_three,
            sums.bits,
            sums.bytes
        );
        assert_eq!(sums.queries, queries.len());
        assert!(sums.exchanges > queries.len() / 50, "too few exchanges to say anything");
    }
    local::shut_down(&nodes).await;
}

/// Looks up words that are in no document, each at some node. Returns the bytes that all nodes sent for a
/// word, without the requests and answers themselves.
async fn look_up_bytes(nodes: &[Node], random: &mut Random) -> u64 {
    const WORDS: usize = 500;
    let beside = || {
        nodes
            .iter()
            .map(|node| node.net().counters())
            .fold((0, 0), |(wire, exchange), counters| (wire + counters.wire_out, exchange + counters.exchange_out))
    };
    let before = beside();
    for _ in 0..WORDS {
        let node = &nodes[random.below(nodes.len())];
        let (events, mut came) = tokio::sync::mpsc::channel(4);
        let query = furui_search::Query::parse(&format!("unheard{}", random.next())).unwrap();
        let listen = async { while came.recv().await.is_some() {} };
        tokio::join!(node.search(&query, SearchOptions::default(), events), listen).0.unwrap();
    }
    let after = beside();
    ((after.0 - before.0) - (after.1 - before.1)) / WORDS as u64
}

/// A query and its meaning.
struct Asked {
    text: String,
    /// One word of each list must occur.
    must: Vec<Vec<String>>,
    without: Vec<String>,
}

impl Asked {
    /// Two to four words of one document, or of several documents; some have alternatives, some are excluded.
    fn any(documents: &[Document], random: &mut Random) -> Self {
        let word_of =
            |document: &Document, random: &mut Random| document.words[random.below(document.words.len())].0.clone();
        let some = &documents[random.below(documents.len())];
        let together = random.below(3) > 0;
        let word = |random: &mut Random| {
            if together { word_of(some, random) } else { word_of(&documents[random.below(documents.len())], random) }
        };
        let count = 2 + random.below(3);
        let kind = random.below(4);
        let mut must: Vec<Vec<String>> = (0..count).map(|_| vec![word(random)]).collect();
        let mut without = Vec::new();
        match kind {
            0 => must[0].push(word(random)),
            1 => without = must.pop().unwrap(),
            _ => {}
        }
        let alternatives = must.iter().map(|any| format!("({})", any.join(" OR ")));
        let text = alternatives.chain(without.iter().map(|word| format!("-{word}"))).collect::<Vec<_>>().join(" ");
        // A query that contradicts itself is refused.
        if must.iter().any(|any| any.iter().any(|word| without.contains(word))) {
            return Self::any(documents, random);
        }
        Self { text, must, without }
    }

    fn truth(&self, lists: &Lists) -> BTreeSet<ContentId> {
        let union = |words: &[String]| -> BTreeSet<ContentId> {
            words.iter().flat_map(|word| lists.of_word(word)).copied().collect()
        };
        let mut all = union(&self.must[0]);
        for words in &self.must[1..] {
            let other = union(words);
            all.retain(|id| other.contains(id));
        }
        let without = union(&self.without);
        all.retain(|id| !without.contains(id));
        all
    }

    /// True if the query is a word that must occur and another that must not. The keeper of the second word then does
    /// not say how often it occurs, so the lists alone predict the cost.
    fn is_pair(&self) -> bool {
        self.must.len() == 1 && self.must[0].len() == 1 && self.without.len() == 1
    }
}

/// The sums over everything that was compared.
#[derive(Default)]
struct Sums {
    queries: usize,
    exchanges: usize,
    in_three: usize,
    bits: u64,
    bytes: u64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.queries += other.queries;
        self.exchanges += other.exchanges;
        self.in_three += other.in_three;
        self.bits += other.bits;
        self.bytes += other.bytes;
    }
}

async fn ask(nodes: &[Node], lists: &Lists, asked: &Asked, wants: Wants, at: usize) -> Sums {
    let options = SearchOptions { wants, explain: true, ..all() };
    let answer = search(&nodes[at], &asked.text, options).await.unwrap();
    assert!(answer.ids() == asked.truth(lists), "{wants:?}: {}", asked.text);
    assert!(answer.whole, "{wants:?}: {}", asked.text);
    let mut sums = Sums { queries: 1, ..Sums::default() };
    if asked.is_pair() {
        compare(nodes, lists, &answer.report, wants, &mut sums);
    }
    sums
}

/// Compares the cost of the exchange with the one predicted from the lists, if the first slice was a whole list.
fn compare(nodes: &[Node], lists: &Lists, report: &Report, wants: Wants, sums: &mut Sums) {
    let mut keepers: HashMap<&str, Vec<Peer>> = HashMap::new();
    for round in &report.rounds {
        // A word that is in no document need not be excluded.
        let [first, second] = &round.words[..] else { continue };
        let (own, other) = (lists.of_word(first), lists.of_word(second));
        assert!(round.seen <= u64::from(round.most));
        let of_first = keepers.entry(first).or_insert_with(|| local::keepers(nodes, first));
        assert!(of_first.contains(&round.host));
        let of_second = keepers.entry(second).or_insert_with(|| local::keepers(nodes, second));
        if own.is_empty() || of_second.contains(&round.host) {
            assert_eq!(round.costs, []);
            continue;
        }
        if round.seen < own.len() as u64 {
            continue;
        }
        let cost = predicted(round, own, other, wants, report.salt as u32);
        // A keeper that lets the host wait too long is followed by another, which gets the same message, and all three
        // may answer.
        let is_sent =
            |times: u64, it: &Cost| (it.sent_bits, it.sent_bytes) == (times * cost.sent_bits, times * cost.sent_bytes);
        let sent_once = |it: &Cost| match (2..=limits::REPLICAS as u64).any(|times| is_sent(times, it)) {
            true => Cost { sent_bits: cost.sent_bits, sent_bytes: cost.sent_bytes, ..*it },
            false => *it,
        };
        let costs = vec![cost; round.costs.len().max(1)];
        let sent: Vec<Cost> = round.costs.iter().map(sent_once).collect();
        assert_eq!(sent, costs, "{wants:?}: {first} ({}), {second} ({})", own.len(), other.len());
        sums.exchanges += 1;
        sums.bits += cost.sent_bits + cost.back_bits;
        sums.bytes += cost.sent_bytes + cost.back_bytes;
        sums.in_three += usize::from(cost.in_three);
    }
}

/// The cost of a round's exchange by the definitions. Whether an exchange of three messages was repeated is taken from
/// the round.
fn predicted(round: &Round, own: &[ContentId], other: &[ContentId], wants: Wants, salt: u32) -> Cost {
    let sizes = (own.len() as u64, other.len() as u64);
    let coding = plan::choose_for_page(wants, sizes.0, sizes.1, salt);
    let mut cost = Cost { coding, ..Cost::default() };
    cost.in_three = add(&mut cost, round, own, other, coding);
    if cost.in_three && round.costs.first().is_some_and(|cost| !cost.in_three) {
        (cost.coding, cost.in_three) = (plan::golomb(sizes.0, sizes.1, salt), false);
        let again = cost.coding;
        add(&mut cost, round, own, other, again);
    }
    cost
}

/// Adds the cost of one coding. Returns whether there is a third message.
fn add(cost: &mut Cost, round: &Round, own: &[ContentId], other: &[ContentId], coding: Coding) -> bool {
    let predicted = predict(own, other, coding).unwrap();
    let body = |bytes: u64| vec![0; bytes as usize];
    let meet = Request::Meet(Meet { word: round.words[1].clone(), set: body(predicted.sent.bytes), weighted: false });
    let session = predicted.claim.map(|_| 0);
    let met = Response::Met(Met { matches: body(predicted.back.bytes), whole: true, session, grades: vec![] });
    cost.sent_bits += predicted.sent.bits;
    cost.back_bits += predicted.back.bits;
    cost.sent_bytes += meet.encode().unwrap().len() as u64;
    cost.back_bytes += met.encode().unwrap().len() as u64;
    if let Some(claim) = predicted.claim {
        let settle = Request::Settle(Settle { session: 0, rejected: body(claim.bytes), checksum: 0 });
        cost.sent_bits += claim.bits;
        cost.sent_bytes += settle.encode().unwrap().len() as u64;
        cost.back_bytes += Response::Settled(true).encode().unwrap().len() as u64;
    }
    predicted.claim.is_some()
}
