//! Nodes find the nodes nearest to a key, call each other, and cope with peers that are dead, slow or hostile.

use crate::hostile;
use std::collections::HashSet;
use std::future::Future;
use std::time::Duration;

use crate::hostile::Hostile;
use furui_net::net::{CallError, Config, Identity, Inbound, MAX_MESSAGE, Net, Transport};
use furui_search::Peer;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::Receiver;

/// How long a test waits for an event before it fails. The limit is generous: each of the events comes at once.
const LONG: Duration = Duration::from_secs(60);

async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(LONG, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what} did not happen"),
    }
}

/// Every run has the same nodes: their keys are numbers.
fn identity(number: u8) -> Identity {
    Identity::from_secret(&[number; 32]).unwrap()
}

async fn node(number: u8, transport: Transport, join: Option<&Net>) -> (Net, Receiver<Inbound>) {
    let mut config = Config::new(identity(number), transport);
    config.bootstrap = join.map(Net::listen_addresses).unwrap_or_default();
    let (net, requests) = Net::start(config).await.unwrap();
    soon("joining", net.joined()).await;
    (net, requests)
}

/// A node that answers each request with its bytes in reverse.
async fn echo(number: u8, transport: Transport, join: Option<&Net>) -> Net {
    let (net, mut requests) = node(number, transport, join).await;
    tokio::spawn(async move {
        while let Some(Inbound { mut request, reply, .. }) = requests.recv().await {
            request.reverse();
            reply.send(request).unwrap();
        }
    });
    net
}

async fn network(size: u8, transport: Transport) -> Vec<Net> {
    let mut nodes = vec![echo(0, transport, None).await];
    for number in 1..size {
        nodes.push(echo(number, transport, nodes.first()).await);
    }
    for net in &nodes {
        soon("looking around", net.refresh()).await;
    }
    nodes
}

/// Some nodes join while the look-ups of others, which asked the first node before, are in progress.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_join_at_the_same_time_know_each_other_after_a_refresh() {
    for transport in [Transport::Memory, Transport::Tcp].repeat(5) {
        let first = echo(0, transport, None).await;
        let join = |number| echo(number, transport, Some(&first));
        let mut nodes = futures::future::join_all((1..8).map(join)).await;
        nodes.push(first);
        for net in &nodes {
            soon("looking around", net.refresh()).await;
        }
        for net in &nodes {
            assert_eq!(net.peers().await.len(), nodes.len() - 1, "{transport:?}");
        }
        for net in nodes {
            net.shutdown().await;
        }
    }
}

fn key(number: u32) -> [u8; 32] {
    Sha256::digest(number.to_le_bytes()).into()
}

/// All nodes, nearest to the key first. Kademlia hashes keys and identities, and compares by XOR.
fn by_distance(nodes: &[Net], key: &[u8]) -> Vec<Peer> {
    let place = Sha256::digest(key);
    let distance =
        |peer: &Peer| -> Vec<u8> { Sha256::digest(peer.identity()).iter().zip(&place).map(|(a, b)| a ^ b).collect() };
    let mut peers: Vec<Peer> = nodes.iter().map(Net::me).collect();
    peers.sort_by_key(distance);
    peers
}

/// Looks up the `n` nodes nearest to each of 200 keys, each from another node. Returns the bytes on the wire that all
/// nodes sent for these look-ups.
async fn look_up_200(nodes: &[Net], n: usize) -> u64 {
    let sent = || nodes.iter().map(|net| net.counters().wire_out).sum::<u64>();
    let before = sent();
    for number in 0..200 {
        let key = key(number);
        let net = &nodes[number as usize % nodes.len()];
        let nearest = &by_distance(nodes, &key)[..n];
        let mut found = soon("a look-up", net.closest(&key, n)).await;
        if found != nearest {
            // A look-up leaves out who is slow to answer; the next one finds him.
            found = soon("a look-up", net.closest(&key, n)).await;
        }
        assert_eq!(found, nearest, "key {number} from {net:?}");
    }
    sent() - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_nodes_find_the_nearest_with_few_bytes_and_again_when_a_quarter_is_dead() {
    let mut nodes = network(60, Transport::Memory).await;

    look_up_200(&nodes, 1).await;
    // Each node looks up other keys than before, so that connections are open but answers are not cached.
    for (n, most) in [(1, 8 << 10), (3, 16 << 10)] {
        nodes.rotate_left(1);
        let bytes = look_up_200(&nodes, n).await / 200;
        println!("look-up of {n} at 60 nodes, warm: {bytes} bytes a key");
        assert!(bytes <= most, "{bytes} bytes a key");
    }
    let asked = || nodes.iter().map(|net| net.counters().asked).sum::<u64>();
    let before = asked();
    look_up_200(&nodes, 1).await;
    assert_eq!(asked(), before, "answers are kept");

    for number in 0..50 {
        let key = key(1000 + number);
        let (here, nearest) = (&nodes[number as usize], by_distance(&nodes, &key));
        assert_eq!(soon("a look-up", here.closest(&key, 3)).await, nearest[..3]);
        let holder = nodes.iter().find(|net| net.me() == nearest[0]).unwrap();
        assert_eq!(holder.replicas(vec![key.to_vec()], 3).await, [&nearest[..3]]);
        let mut question = key.to_vec();
        let answer = soon("an answer", here.call(&nearest[0], question.clone())).await.unwrap();
        question.reverse();
        assert_eq!(answer, question);
    }

    let dead: Vec<Net> = nodes.drain(..15).collect();
    let gone: HashSet<Peer> = dead.iter().map(Net::me).collect();
    let mut neighbourhood = nodes[0].neighbourhood();
    neighbourhood.mark_unchanged();
    for net in dead {
        net.shutdown().await;
    }
    soon("forgetting the dead", async {
        for net in &nodes {
            while net.peers().await.iter().any(|peer| gone.contains(peer)) {
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
    // A bucket may have been emptied, and is filled by the next refresh: of this node or, if all whom it asked had lost
    // the same peer, after theirs.
    for net in nodes.iter().chain(&nodes) {
        soon("looking around", net.refresh()).await;
    }
    look_up_200(&nodes, 1).await;
    assert!(neighbourhood.has_changed().unwrap());
}

#[tokio::test]
async fn five_nodes_over_tcp_know_each_other_without_look_ups() {
    let nodes = network(5, Transport::Tcp).await;
    let asked = || nodes.iter().map(|net| net.counters().asked).sum::<u64>();
    for number in 0..50 {
        let key = key(number);
        let here = &nodes[number as usize % 5];
        let nearest = soon("a look-up", here.closest(&key, 3)).await;
        assert_eq!(nearest, by_distance(&nodes, &key)[..3]);
        let answer = soon("an answer", here.call(&nearest[0], b"abc".to_vec())).await;
        assert_eq!(answer.unwrap(), b"cba");
    }
    assert_eq!(asked(), 0);
}

#[tokio::test]
async fn the_bytes_of_requests_and_answers_are_counted_exactly() {
    let a = echo(1, Transport::Memory, None).await;
    let b = echo(2, Transport::Memory, Some(&a)).await;
    for length in [0, 1, 1000, MAX_MESSAGE] {
        let (a0, b0) = (a.counters(), b.counters());
        assert_eq!(soon("an answer", a.call(&b.me(), vec![7; length])).await.unwrap().len(), length);
        let (a1, b1) = (a.counters(), b.counters());
        assert_eq!(a1.exchange_out - a0.exchange_out, length as u64 + 4);
        assert_eq!(a1.exchange_in - a0.exchange_in, length as u64 + 5);
        assert_eq!(b1.exchange_in - b0.exchange_in, length as u64 + 4);
        assert!(a1.wire_out - a0.wire_out > length as u64);
    }
}

#[tokio::test]
async fn a_node_calls_itself() {
    let net = echo(1, Transport::Memory, None).await;
    let nearest = net.closest(&key(0), 3).await;
    assert_eq!(nearest, [net.me()]);
    assert_eq!(net.call(&nearest[0], b"ab".to_vec()).await.unwrap(), b"ba");
    assert_eq!(net.counters().wire_out, 0);
}

/// The system lets nobody dial from a port that another program has, also at another address of the machine.
#[tokio::test]
async fn a_node_dials_although_another_program_has_a_port_of_the_number_of_its_own() {
    let (caller, called) = (echo(1, Transport::Tcp, None).await, echo(2, Transport::Tcp, None).await);
    let address = &caller.listen_addresses()[0];
    let port: u16 = address.split('/').nth(4).unwrap().parse().unwrap();
    let _program = std::net::TcpListener::bind(("127.0.0.2", port)).unwrap();
    assert_eq!(soon("a call", caller.call(&called.me(), vec![1, 2])).await, Ok(vec![2, 1]));
}

#[tokio::test]
async fn a_dead_peer_is_unreachable_and_forgotten() {
    let a = echo(1, Transport::Memory, None).await;
    let b = echo(2, Transport::Memory, Some(&a)).await;
    let peer = b.me();
    assert_eq!(a.peers().await, std::slice::from_ref(&peer));
    b.shutdown().await;
    assert_eq!(soon("an error", b.call(&a.me(), vec![])).await, Err(CallError::Stopped));
    let error = soon("an error", a.call(&peer, vec![])).await.unwrap_err();
    assert!(matches!(error, CallError::Unreachable | CallError::Closed), "{error:?}");
    soon("forgetting it", async {
        while !a.peers().await.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(a.closest(&key(0), 3).await, [a.me()]);
    assert_eq!(soon("an error", a.call(&peer, vec![])).await, Err(CallError::Unreachable));
}

#[tokio::test]
async fn what_is_no_peer_is_not_called() {
    let net = echo(1, Transport::Memory, None).await;
    assert_eq!(net.call(&Peer::new(b"who?", b""), vec![]).await, Err(CallError::NoPeer));
    assert_eq!(net.call(&Peer::new(net.me().identity(), b""), vec![0; MAX_MESSAGE + 1]).await, Err(CallError::TooLong));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_times_out_and_the_peer_is_left() {
    let a = echo(1, Transport::Memory, None).await;
    let (b, mut requests) = node(2, Transport::Memory, Some(&a)).await;
    // Peers identify themselves by a clock that is not paused, while the clock of the calls jumps ahead.
    while a.peers().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let mut unanswered = Vec::new();
    for known in [1, 0] {
        let peer = b.me();
        let (result, request) = tokio::join!(a.call(&peer, vec![1, 2, 3]), requests.recv());
        assert_eq!(result, Err(CallError::TimedOut));
        unanswered.push(request.unwrap());
        assert_eq!(a.peers().await.len(), known);
    }
}

#[tokio::test]
async fn a_reply_dropped_ends_the_call() {
    let a = echo(1, Transport::Memory, None).await;
    let (b, mut requests) = node(2, Transport::Memory, Some(&a)).await;
    let peer = b.me();
    let (result, ()) = tokio::join!(a.call(&peer, vec![1]), async {
        let Inbound { from, reply, .. } = requests.recv().await.unwrap();
        assert_eq!(from, a.me());
        assert_eq!(reply.send(vec![0; MAX_MESSAGE + 1]), Err(CallError::TooLong));
    });
    assert_eq!(result, Err(CallError::Closed));
}

#[tokio::test]
async fn many_calls_to_one_peer_wait_for_a_permit() {
    let a = echo(1, Transport::Memory, None).await;
    let b = echo(2, Transport::Memory, Some(&a)).await;
    let peer = b.me();
    let calls = (0..300u32).map(|n| a.call(&peer, n.to_le_bytes().to_vec()));
    for (n, answer) in (0..300u32).zip(soon("all answers", futures::future::join_all(calls)).await) {
        assert_eq!(answer.unwrap(), n.swap_bytes().to_le_bytes());
    }
    assert_eq!(b.counters().refused, 0);
}

#[tokio::test]
async fn a_flood_from_one_peer_is_refused_and_others_are_served() {
    let (net, mut requests) = node(1, Transport::Memory, None).await;
    let mut hostile = Hostile::new(&net).await;
    hostile.send(60, || hostile::framed(b"x"));
    let (mut held, mut busy) = (Vec::new(), 0);
    while held.len() < 32 || busy < 28 {
        tokio::select! {
            request = soon("a request", requests.recv()) => held.push(request.unwrap()),
            answer = hostile.answer() => {
                assert_eq!(answer.unwrap(), [1], "busy");
                busy += 1;
            }
        }
    }
    assert!(requests.try_recv().is_err());
    assert_eq!(net.counters().refused, 28);

    let other = echo(2, Transport::Memory, Some(&net)).await;
    let me = net.me();
    let (answer, ()) = tokio::join!(other.call(&me, b"?".to_vec()), async {
        requests.recv().await.unwrap().reply.send(b"!".to_vec()).unwrap();
    });
    assert_eq!(answer.unwrap(), b"!");

    for inbound in held {
        inbound.reply.send(vec![]).unwrap();
    }
    for _ in 0..32 {
        assert_eq!(hostile.answer().await.unwrap(), [0, 0, 0, 0, 0]);
    }
}

#[tokio::test]
async fn an_oversize_or_broken_request_reaches_no_one() {
    let (net, mut requests) = node(1, Transport::Memory, None).await;
    let mut hostile = Hostile::new(&net).await;
    for bytes in [
        (MAX_MESSAGE as u32 + 1).to_le_bytes().to_vec(),
        u32::MAX.to_le_bytes().to_vec(),
        vec![9, 0],
        vec![5, 0, 0, 0, 1],
    ] {
        hostile.send(1, || bytes.clone());
        assert!(hostile.answer().await.is_err());
    }
    assert!(requests.try_recv().is_err());
    assert_eq!(net.counters().exchange_in, 0);
}

#[tokio::test]
async fn an_oversize_or_broken_answer_is_an_error() {
    let net = echo(1, Transport::Memory, None).await;
    let mut hostile = Hostile::new(&net).await;
    let too_long = [&[0][..], &(MAX_MESSAGE as u32 + 1).to_le_bytes()].concat();
    for (answer, expected) in [
        (too_long, CallError::TooLong),
        (vec![0, 9, 0, 0, 0, 1], CallError::Closed),
        (vec![2], CallError::Closed),
        (vec![], CallError::Closed),
        (vec![1], CallError::Busy),
    ] {
        let peer = hostile.peer();
        let (result, ()) = tokio::join!(soon("an error", net.call(&peer, vec![1])), hostile.serve(answer));
        assert_eq!(result, Err(expected));
    }
}

#[tokio::test]
async fn addresses_that_cannot_be_used_are_refused_at_the_start() {
    for (listen, bootstrap) in
        [("/ip4/127.0.0.1/tpc/0", None), ("/ip4/192.0.2.1/tcp/0", None), ("/ip4/127.0.0.1/tcp/0", Some("x"))]
    {
        let mut config = Config::new(identity(1), Transport::Tcp);
        config.listen = vec![listen.to_owned()];
        config.bootstrap = bootstrap.into_iter().map(str::to_owned).collect();
        let error = Net::start(config).await.unwrap_err().to_string();
        assert!(error.contains(bootstrap.unwrap_or(listen)), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn an_identity_is_kept_in_a_file_that_only_its_owner_reads() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("identity");
    fs::remove_file(&path).ok();
    let new = Identity::load_or_create(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(format!("{:?}", Identity::load_or_create(&path).unwrap()), format!("{new:?}"));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(Identity::load_or_create(&path).unwrap_err().to_string().contains("chmod 600"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    for length in [0, 31, 33, 1000] {
        fs::write(&path, vec![1; length]).unwrap();
        assert!(Identity::load_or_create(&path).is_err(), "{length}");
    }
}
