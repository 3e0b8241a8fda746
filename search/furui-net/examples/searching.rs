//! Publishes the files of a directory on five nodes, searches for words that they hold, and prints what the queries
//! take.
//!
//! ```text
//! cargo run --release -p furui-net --example searching -- DIRECTORY [DOCUMENTS]
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Document, Node, SearchEvent, SearchOptions};
use furui_search::{Query, Record};
use tokio::sync::mpsc;

const NODES: usize = 5;
/// The number of documents that are published in one call.
const BATCH: usize = 512;
const QUERIES: usize = 400;
/// The number of clients that search concurrently.
const CLIENTS: usize = 20;
/// The maximum number of documents that a query returns, as one page of results.
const PAGE: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which directory?")?;
    let most: usize = arguments.next().map_or(Ok(2000), |text| text.parse())?;
    let mut files: Vec<_> = fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let identities: Vec<Identity> = (0..NODES).map(|_| Identity::generate()).collect();
    let mut documents = vec![];
    for file in files.iter().take(most) {
        let Ok(text) = fs::read_to_string(file) else { continue };
        let url = format!("http://files.example/{}", file.display());
        let (title, publisher) = (file.display().to_string(), identities[0].publisher());
        documents.push(Document::new(&Record { url, title, text, publisher })?);
    }
    let text: usize = documents.iter().map(|document| document.record.len()).sum();
    let queries = Arc::new(queries(&documents));
    println!("{} documents of {} bytes on average, {NODES} nodes", documents.len(), text / documents.len().max(1));
    let mut nodes: Vec<Node> = vec![];
    for identity in identities {
        let mut config = Config::new(identity, Transport::Tcp);
        config.bootstrap = nodes.first().map(|first| first.net().listen_addresses()).unwrap_or_default();
        nodes.push(Node::start(None, config).await?);
    }
    for node in &nodes {
        node.net().joined().await;
        node.net().refresh().await;
    }
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    for batch in documents.chunks(BATCH) {
        nodes[0].publish(batch.to_vec(), false).await?;
    }
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    let nodes = Arc::new(nodes);
    // Connections are made, and sizes of lists are known or not, as in a network that has been in use.
    crowd(&nodes, &queries, 1).await;
    for clients in [1, CLIENTS] {
        let (wire, cpu, started) = (wire(&nodes), cpu(), Instant::now());
        let hits = crowd(&nodes, &queries, clients).await;
        let (each, seconds) = (queries.len() as f64, started.elapsed().as_secs_f64());
        let bytes = (self::wire(&nodes) - wire) as f64 / each;
        let cpu = (self::cpu() - cpu).as_secs_f64() * 1e3 / each;
        println!(
            "{clients} clients: {:.1} documents, {bytes:.0} bytes and {cpu:.2} ms of processor time for a query of two \
             words, all nodes; {:.0} queries/s",
            hits as f64 / each,
            each / seconds
        );
    }
    Ok(())
}

/// Makes queries of two words each that occur in the same document. Neither of the words is rare.
fn queries(documents: &[Document]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for document in documents {
        document.words.iter().for_each(|(word, _)| *counts.entry(word).or_default() += 1);
    }
    let is_usual = |word: &str| {
        let is_plain = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        is_plain && counts[word] >= 20.min(documents.len() / 4)
    };
    let mut queries = vec![];
    let mut number = 0_usize;
    while queries.len() < QUERIES && number < 100 * QUERIES {
        number += 1;
        let document = &documents[number * 7919 % documents.len()];
        let words: Vec<&str> = document.words.iter().map(|(word, _)| &**word).filter(|word| is_usual(word)).collect();
        if words.len() > 1 {
            let (one, other) = (words[number * 31 % words.len()], words[number * 17 % words.len()]);
            if one != other {
                queries.push(format!("{one} {other}"));
            }
        }
    }
    queries
}

/// Sends all queries from `clients` concurrent tasks, to all nodes in turn. Returns the number of documents found.
async fn crowd(nodes: &Arc<Vec<Node>>, queries: &Arc<Vec<String>>, clients: usize) -> usize {
    let next = Arc::new(AtomicUsize::new(0));
    let client = || {
        let (nodes, queries, next) = (Arc::clone(nodes), Arc::clone(queries), Arc::clone(&next));
        tokio::spawn(async move {
            let mut found = 0;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(query) = queries.get(number) else { return found };
                found += ask(&nodes[number % nodes.len()], query).await;
            }
        })
    };
    let clients: Vec<_> = (0..clients).map(|_| client()).collect();
    futures::future::join_all(clients).await.into_iter().filter_map(Result::ok).sum()
}

async fn ask(node: &Node, query: &str) -> usize {
    let Ok(query) = Query::parse(query) else { return 0 };
    let (events, mut came) = mpsc::channel(16);
    let options = SearchOptions { limit: PAGE, ..SearchOptions::default() };
    let count = async {
        let mut found = 0;
        while let Some(event) = came.recv().await {
            if let SearchEvent::Hits(hits) = event {
                found += hits.len();
            }
        }
        found
    };
    let (done, found) = tokio::join!(node.search(&query, options, events), count);
    if done.is_ok() { found } else { 0 }
}

/// The sum over all nodes of the bytes that they have sent to the transport, encryption included.
fn wire(nodes: &[Node]) -> u64 {
    nodes.iter().map(|node| node.net().counters().wire_out).sum()
}

/// The processor time that this process has used, as Linux reports it; 0 on other systems.
fn cpu() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may have spaces.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok()).unwrap_or_default();
    TICK * (ticks(11) + ticks(12))
}
