//! The command `furui demo`: a search network within one process, for trying the search engine.

mod browser;
mod corpus;

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::process::ExitCode;

use furui_net::http::{self, PublishSums, ServeOptions};
use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Node, NodeError};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::Error;
use crate::client::Client;
use crate::node::interruption;
use crate::options::demo::DemoOptions;
use crate::program::Program;

/// The default port of the demo's search page, which is also the default port of `furui search`.
const PORT: u16 = 7717;

/// The suggested queries, each of which has results. The browser is opened with the first.
const SUGGESTED: [&str; 9] = [
    "bloom filter",
    "\"morning star\"",
    "filter -coffee -water",
    "noble gas",
    "(planet OR moon) ice",
    "capital Oceania",
    "prime Fibonacci",
    "篩",
    "篩 site:ja.wikipedia.org",
];

/// Runs `furui demo`.
pub fn run(options: &DemoOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::io("cannot start", "threads", source))?;
    let done = runtime.block_on(demo(options, program));
    // Everything is in memory, so nothing in progress needs to finish.
    runtime.shutdown_background();
    done.map(|()| ExitCode::SUCCESS)
}

/// Runs the demo until the user interrupts it.
async fn demo(options: &DemoOptions, program: &dyn Program) -> Result<(), Error> {
    let interrupted = interruption().map_err(|source| Error::io("cannot listen to", "signals", source))?;
    let mut interrupted = pin!(interrupted);
    let listener = listen(options.port).await?;
    let address = listener.local_addr().map_err(|source| Error::io("cannot listen on", "127.0.0.1", source))?;
    let url = format!("http://{address}");
    let nodes = tokio::select! {
        nodes = network(options.nodes) => nodes.map_err(|error| Error::Message(error.to_string()))?,
        () = &mut interrupted => return Ok(()),
    };
    let shown = async {
        let client = Client::new(&url, None);
        let published = tokio::task::spawn_blocking(move || publish(&client)).await;
        published.map_err(|error| Error::Message(error.to_string()))??;
        announce(&url, program)?;
        if !options.no_open {
            browser::open(&format!("{url}/?q={}", asked_as(SUGGESTED[0])));
        }
        std::future::pending::<Result<(), Error>>().await
    };
    let served = tokio::select! {
        shown = shown => shown,
        // The first node serves the user's page.
        () = http::serve(listener, nodes[0].clone(), ServeOptions::default(), std::future::pending()) => Ok(()),
        () = interrupted => Ok(()),
        why = nodes[0].failed() => Err(Error::Message(why)),
    };
    for node in &nodes {
        node.shutdown().await;
    }
    served
}

/// Listens on this port. Without one, listens on the default port or, if that is taken, on any free one.
async fn listen(port: Option<u16>) -> Result<TcpListener, Error> {
    let on = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let listener = match (on(port.unwrap_or(PORT)).await, port) {
        (Err(_), None) => on(0).await,
        (listener, _) => listener,
    };
    listener.map_err(|source| Error::io("cannot listen on", format!("127.0.0.1:{}", port.unwrap_or(0)), source))
}

/// Starts `count` nodes, which know each other and have compared their contents.
async fn network(count: u8) -> Result<Vec<Node>, NodeError> {
    eprintln!("starting {count} nodes on this machine; one of them is yours");
    let mut nodes: Vec<Node> = Vec::new();
    for _ in 0..count {
        let mut config = Config::new(Identity::generate(), Transport::Tcp);
        config.bootstrap = nodes.first().map(|first| first.net().listen_addresses()).unwrap_or_default();
        nodes.push(Node::start(None, config).await?);
    }
    for node in &nodes {
        node.net().joined().await;
    }
    for node in &nodes {
        node.net().refresh().await;
    }
    // All nodes start to repair their lists at once, because a node does so by itself only at intervals.
    let repaired = nodes.iter().cloned().map(|node| async move { node.repaired().await });
    repaired.collect::<JoinSet<()>>().join_all().await;
    Ok(nodes)
}

/// Publishes the sample documents through a node's HTTP interface, as `furui publish` would.
fn publish(client: &Client) -> Result<(), Error> {
    let documents = corpus::documents();
    let count = documents.len();
    let body: Vec<u8> = documents
        .iter()
        .flat_map(|it| {
            let line = serde_json::json!({ "url": it.url, "title": it.title, "text": it.text });
            format!("{line}\n").into_bytes()
        })
        .collect();
    let mut lines = client.post("/publish", &body)?;
    loop {
        let sums: PublishSums = lines.read()?;
        eprintln!("published {} of {count} documents", sums.documents);
        if sums.done {
            return Ok(());
        }
    }
}

/// Prints the address of the search page, and the suggested queries.
fn announce(url: &str, program: &dyn Program) -> Result<(), Error> {
    let mut text = format!("\nThe page is at {url}\n\nTry\n");
    for query in SUGGESTED {
        // A character of double width shifts the column of addresses in its line, which is tolerable here.
        text += &format!("  {query:24} {url}/?q={}\n", asked_as(query));
    }
    text += "\n^C ends it and leaves nothing behind.\n";
    program.print(text.as_bytes()).map(drop)
}

/// Encodes a query as a value in a URL.
fn asked_as(query: &str) -> String {
    url::form_urlencoded::byte_serialize(query.as_bytes()).collect()
}
