//! Private networks: who has the key is in, and nobody else exchanges a byte.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use furui_net::http::{ServeOptions, Token, serve};
use furui_net::net::{Config, Identity, Invitation, Net, Network, PeerAddress, Transport};
use furui_net::node::{Node, NodeError, StartOptions};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::answer::best;
use crate::common::{Publishes, check, document, find, url};
use crate::face::Asked;

/// The time limit of what happens at once.
const LONG: Duration = Duration::from_secs(60);
/// What a node sends before it knows whether the other has the key: a random number for the cipher.
const NONCE: usize = 24;

fn config(network: Option<&Network>, join: Option<&Net>) -> Config {
    let mut config = Config::new(Identity::generate(), Transport::Tcp);
    config.network = network.cloned();
    config.bootstrap = join.map(Net::listen_addresses).unwrap_or_default();
    config
}

async fn net(network: Option<&Network>, join: Option<&Net>) -> Net {
    Net::start(config(network, join)).await.unwrap().0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_key_nodes_meet_and_without_it_they_do_not() {
    let network = Network::generate("lab").unwrap();
    let first = net(Some(&network), None).await;
    let member = net(Some(&network), Some(&first)).await;
    timeout(LONG, member.joined()).await.unwrap();
    assert_eq!(member.peers().await, [first.me()]);

    let other = Network::generate("lab").unwrap();
    for stranger in [None, Some(&other)] {
        let stranger = net(stranger, Some(&first)).await;
        let mut unreached = stranger.unreached();
        timeout(LONG, unreached.wait_for(|all| !all.is_empty())).await.unwrap().unwrap();
        assert!(stranger.peers().await.is_empty());
        assert_eq!(first.peers().await, [member.me()]);
        // A member that dials a stranger does not get to know it either.
        let caller = net(Some(&network), Some(&stranger)).await;
        let mut unreached = caller.unreached();
        timeout(LONG, unreached.wait_for(|all| !all.is_empty())).await.unwrap().unwrap();
        assert!(caller.peers().await.is_empty() && stranger.peers().await.is_empty());
    }
}

/// Sends these bytes to a node. Returns the number of bytes that it sent until it closed the connection.
fn sent_to(address: &str, bytes: &[u8]) -> usize {
    let mut parts = address.split('/').skip(2).step_by(2);
    let (ip, port) = (parts.next().unwrap(), parts.next().unwrap());
    let mut stream = std::net::TcpStream::connect(format!("{ip}:{port}")).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    // The node may close the connection before it has read everything.
    let _ = stream.write_all(bytes);
    let mut received = 0;
    loop {
        match stream.read(&mut [0; 1024]) {
            Ok(0) => return received,
            Ok(count) => received += count,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return received,
            Err(error) => panic!("the node does not close the connection: {error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_stranger_sends_it_gets_a_random_number_and_nothing_else() {
    let member = net(Some(&Network::generate("lab").unwrap()), None).await;
    let address = member.listen_addresses()[0].clone();
    let hello = b"\x13/multistream/1.0.0\n\x07/noise\n";
    let noise: Vec<u8> = (0..1u32 << 16).map(|n| (n.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let garbage = [
        [&[0; NONCE][..], hello].concat(),
        hello.repeat(3000),
        noise.clone(),
        vec![0; 1 << 17],
        vec![0xff; 1 << 17],
        [&noise[..NONCE], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"].concat(),
        noise[..NONCE - 1].to_vec(),
        vec![],
    ];
    let tasks = garbage.map(|bytes| {
        let address = address.clone();
        tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            (sent_to(&address, &bytes), began.elapsed())
        })
    });
    for (number, task) in tasks.into_iter().enumerate() {
        let (received, took) = task.await.unwrap();
        assert!(received <= NONCE, "{received} bytes for garbage {number}");
        assert!(took < Duration::from_secs(20), "{took:?} for garbage {number}");
    }
    assert!(member.peers().await.is_empty());
}

fn directory(name: &str) -> std::path::PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("private-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

async fn start(directory: &Path, network: Option<&Network>, rekey: bool) -> Result<Node, NodeError> {
    let config = Config { network: network.cloned(), ..Config::new(Identity::generate(), Transport::Memory) };
    Node::start_with(Some(directory), config, StartOptions { rekey, ..StartOptions::default() }).await
}

/// Ends a node. Its files are closed when the last handle is dropped.
async fn end(node: Node) {
    node.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_stays_in_its_network_and_takes_documents_along_only_if_it_is_told_to() {
    let directory = directory("stays");
    let (lab, club) = (Network::generate("lab").unwrap(), Network::generate("club").unwrap());
    // Without documents, a node may go wherever it wants.
    for network in [None, Some(&club), Some(&lab)] {
        end(start(&directory, network, false).await.unwrap()).await;
    }
    let node = start(&directory, None, false).await.unwrap();
    assert_eq!(node.network(), Some(&lab));
    let invitation: Invitation = node.invitation().unwrap().to_string().parse().unwrap();
    assert_eq!(invitation.network, lab);
    let at: Vec<String> = invitation.addresses.iter().map(PeerAddress::to_string).collect();
    assert_eq!(at, node.net().listen_addresses());
    node.publishes(vec![document(1)], false).await.unwrap();
    end(node).await;

    let refused = start(&directory, Some(&club), false).await.unwrap_err().to_string();
    assert!(refused.contains("the network lab") && refused.contains("--rekey"), "{refused}");
    let node = start(&directory, Some(&club), true).await.unwrap();
    assert_eq!((node.network(), find(&node, "document").await.unwrap()), (Some(&club), [url(1)].into()));
    end(node).await;
    let node = start(&directory, Some(&club), false).await.unwrap();
    assert_eq!(node.network(), Some(&club));
    end(node).await;

    let file = directory.join("network");
    std::fs::write(&file, "no key").unwrap();
    let damaged = start(&directory, None, false).await.unwrap_err().to_string();
    assert!(damaged.contains("private-stays") && damaged.contains("--rekey LINE"), "{damaged}");
    end(start(&directory, Some(&club), true).await.unwrap()).await;
    assert_eq!(Network::load(&file).unwrap(), Some(club.clone()));

    // A node of the open network with documents does not enter a private one either.
    std::fs::remove_file(&file).unwrap();
    let refused = start(&directory, Some(&club), false).await.unwrap_err().to_string();
    assert!(refused.contains("the open network"), "{refused}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_an_invitation_comes_by_a_click_only() {
    let network = Network::generate("lab").unwrap();
    let config = Config { network: Some(network), ..Config::new(Identity::generate(), Transport::Memory) };
    let node = Node::start(None, config).await.unwrap();
    let line = node.invitation().unwrap().to_string();
    let key = line.split(',').nth(1).unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, node.clone(), ServeOptions::default(), std::future::pending()));
    let guarded = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let guarded_address = guarded.local_addr().unwrap();
    let token = Some(Token::new("0123456789abcdef0123456789abcdef").unwrap());
    let options = ServeOptions { token, ..ServeOptions::default() };
    tokio::spawn(serve(guarded, node.clone(), options, std::future::pending()));
    let open = Node::start(None, Config::new(Identity::generate(), Transport::Memory)).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let open_address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, open, ServeOptions::default(), std::future::pending()));
    tokio::task::spawn_blocking(move || {
        let ask = |address, request: &str, headers: &str| {
            let host = format!("Host: {address}\r\n{headers}");
            Asked::new(address, request, &host, b"").answer()
        };
        let person = "Accept: text/html\r\n";
        let own = format!("{person}Origin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n");
        let (status, page) = ask(address, "POST /invite", &own);
        assert!(status == 200 && page.contains(&line) && page.contains("<svg class=\"code\""), "{page}");
        assert!(!page.contains("style="), "the policy forbids it");
        let (status, answer) = ask(address, "POST /invite", "");
        assert_eq!((status, answer), (200, format!("{{\"invitation\":\"{line}\"}}\n")));
        // Neither a link nor another site gets it, and no other page has it.
        let foreign = format!("{person}Origin: http://evil.example\r\n");
        for (address, request, headers, expected) in [
            (address, "GET /invite", person, 405),
            (address, "POST /invite", &foreign, 403),
            (address, "POST /invite", "Sec-Fetch-Site: cross-site\r\n", 403),
            (guarded_address, "POST /invite", "", 401),
            (open_address, "POST /invite", "", 404),
            (address, "GET /status", person, 200),
            (address, "GET /status", "", 200),
            (address, "GET /metrics", "", 200),
            (address, "GET /", person, 200),
        ] {
            let (status, body) = ask(address, request, headers);
            assert_eq!(status, expected, "{request} {headers}: {body}");
            assert!(!body.contains(&key), "{request} {headers}");
        }
        let (_, page) = ask(address, "GET /status", person);
        assert!(page.contains("<form method=\"post\" action=\"/invite\">") && page.contains("<strong>lab</strong>"));
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn friends_ask_one_of_them_and_answers_stay_exact_while_some_die_and_come() {
    const COUNT: usize = 120;
    let network = Network::generate("lab").unwrap();
    let start = async |first: Option<&Node>| {
        let mut config = config(Some(&network), first.map(Node::net));
        config.call_timeout = Duration::from_secs(3);
        let node = Node::start(None, config).await.unwrap();
        timeout(LONG, node.net().joined()).await.unwrap();
        node
    };
    let mut nodes = vec![start(None).await];
    for _ in 1..6 {
        nodes.push(start(nodes.first()).await);
    }
    for node in &nodes {
        node.net().refresh().await;
    }
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    nodes[0].publishes((0..COUNT).map(document).collect(), false).await.unwrap();
    check(&nodes, COUNT).await;
    // One keeper of each of two words is asked for its list's size, and one for the documents.
    let answer = best(&nodes[5], "cd kb", 10).await;
    assert!(answer.report.messages <= 3, "{:?}", answer.report);
    assert_eq!((answer.report.fetched, answer.whole), (0, true));

    // Two of six are gone, without a word.
    for dead in nodes.drain(4..) {
        dead.shutdown().await;
    }
    check(&nodes, COUNT).await;
    nodes.push(start(nodes.first()).await);
    check(&nodes[..4], COUNT).await;
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    check(&nodes, COUNT).await;
    let withdrawn: Vec<String> = (0..COUNT).filter(|number| number % 2 == 0).map(url).collect();
    nodes[0].withdraw(&withdrawn).await.unwrap();
    for node in &nodes {
        assert_eq!(find(node, "document").await.unwrap().len(), COUNT / 2, "at {}", node.net().name());
    }
    for node in &nodes {
        node.shutdown().await;
    }
}
