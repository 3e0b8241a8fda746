//! Publishes the files of a directory on one of five nodes, and prints the documents a second and the traffic.
//!
//! ```text
//! cargo run --release -p furui-net --example publishing -- DIRECTORY [DOCUMENTS]
//! ```

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Document, Node};
use furui_search::Record;

const NODES: usize = 5;
/// The number of documents that are published in one call.
const BATCH: usize = 512;
const MAX_BYTES: u64 = 64 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which directory?")?;
    let most: usize = arguments.next().map_or(Ok(2000), |text| text.parse())?;
    let mut files = vec![];
    find(Path::new(&directory), &mut files)?;
    files.sort();
    let identities: Vec<Identity> = (0..NODES).map(|_| Identity::generate()).collect();
    let mut documents = vec![];
    for file in files.iter().take(most) {
        let Ok(text) = fs::read_to_string(file) else { continue };
        let url = format!("http://files.example/{}", file.display());
        let (title, publisher) = (file.display().to_string(), identities[0].publisher());
        documents.push(Document::new(&Record { url, title, text, publisher })?);
    }
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
    let sent = |nodes: &[Node]| nodes.iter().map(|node| node.net().counters().wire_out).sum::<u64>();
    let (before, started) = (sent(&nodes), Instant::now());
    let (mut new, mut scarce) = (0, 0);
    for batch in documents.chunks(BATCH) {
        let published = nodes[0].publish(batch.to_vec(), false).await?;
        new += published.new;
        scarce += published.scarce;
    }
    let (seconds, bytes) = (started.elapsed().as_secs_f64(), sent(&nodes) - before);
    let text: usize = documents.iter().map(|document| document.record.len()).sum();
    println!(
        "{new} documents ({scarce} scarce) of {text} bytes in {seconds:.2} s: {:.0}/s, {bytes} bytes sent, {:.2} a byte of text",
        new as f64 / seconds,
        bytes as f64 / text as f64
    );
    let joined = Instant::now();
    let mut config = Config::new(Identity::generate(), Transport::Tcp);
    config.bootstrap = nodes[0].net().listen_addresses();
    let late = Node::start(None, config).await?;
    late.net().joined().await;
    late.repaired().await;
    let status = late.status().await?;
    println!(
        "a new node is whole after {:.2} s: {} postings, {} records, {} bytes received",
        joined.elapsed().as_secs_f64(),
        status.shelf.postings,
        status.shelf.records,
        status.traffic.wire_in
    );
    Ok(())
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            find(&entry.path(), files)?;
        } else if kind.is_file() && entry.metadata()?.len() <= MAX_BYTES {
            files.push(entry.path());
        }
    }
    Ok(())
}
