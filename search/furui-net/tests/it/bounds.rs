//! Strangers who try to take a node for themselves: its memory, its connections, its handshakes.

use crate::hostile;
use std::collections::VecDeque;
use std::future::Future;
use std::io::ErrorKind;
use std::time::Duration;

use crate::hostile::Hostile;
use furui_net::net::{CallError, Config, Identity, Inbound, MAX_MESSAGE, Net, Transport};
use furui_search::Peer;
use libp2p::{Multiaddr, PeerId};
use tokio::net::TcpSocket;

/// How long a test waits for an event before it fails. Each of the events comes at once.
const LONG: Duration = Duration::from_secs(60);

async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(LONG, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what} did not happen"),
    }
}

/// A node that answers each request with its bytes.
async fn echo(transport: Transport, join: Option<&Net>) -> Net {
    let mut config = Config::new(Identity::generate(), transport);
    config.bootstrap = join.map(Net::listen_addresses).unwrap_or_default();
    let (net, mut requests) = Net::start(config).await.unwrap();
    tokio::spawn(async move {
        while let Some(Inbound { request, reply, .. }) = requests.recv().await {
            reply.send(request).unwrap();
        }
    });
    soon("joining", net.joined()).await;
    net
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_that_withholds_the_ends_of_its_requests_silences_nobody() {
    let net = echo(Transport::Memory, None).await;
    let honest = echo(Transport::Memory, Some(&net)).await;
    let mut hog = Hostile::withholding(&net).await;
    let before = net.counters().wire_in;
    hog.send(66, || {
        let mut request = hostile::framed(&[7; MAX_MESSAGE]);
        request.pop();
        request
    });
    let hogging = tokio::spawn(async move { while hog.answer().await.is_err() {} });
    soon("hogging", async {
        while net.counters().wire_in - before < 4 << 20 || net.refusals().latest().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for length in [0, 1, 1000, MAX_MESSAGE, MAX_MESSAGE] {
        let answer = soon("an answer", honest.call(&net.me(), vec![5; length])).await;
        assert_eq!(answer.unwrap().len(), length);
    }
    hogging.abort();
    assert!(net.refusals().latest().iter().all(|refusal| refusal.why.contains("of its requests")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_begins_handshakes_without_end_keeps_no_newcomer_out() {
    let net = echo(Transport::Tcp, None).await;
    let port = net.listen_addresses()[0].split('/').nth(4).unwrap().to_owned();
    let victim = format!("127.0.0.1:{port}").parse().unwrap();
    let flood = tokio::spawn(async move {
        let mut open = VecDeque::new();
        loop {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            // Connecting fails when the system has no room for more.
            if let Ok(connection) = socket.connect(victim).await {
                open.push_back(connection);
            }
            if open.len() > 300 {
                open.pop_front();
            }
            tokio::task::yield_now().await;
        }
    });
    soon("refusing the flood", async {
        while !net.refusals().latest().iter().any(|refusal| refusal.who == "127.0.0.2/32") {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let newcomer = echo(Transport::Tcp, Some(&net)).await;
    assert_eq!(soon("an answer", newcomer.call(&net.me(), b"?".to_vec())).await.unwrap(), b"?");
    flood.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_in_public_dials_nothing_on_its_own_machine() {
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    service.set_nonblocking(true).unwrap();
    let address: Multiaddr = format!("/ip4/127.0.0.1/tcp/{}", service.local_addr().unwrap().port()).parse().unwrap();
    // A stranger states this address, for example as that of the keeper of a list.
    let peer = Peer::new(&PeerId::random().to_bytes(), &address.to_vec());
    let start = async |external: &[&str]| {
        let mut config = Config::new(Identity::generate(), Transport::Tcp);
        config.external = external.iter().map(|&text| text.to_owned()).collect();
        config.call_timeout = Duration::from_secs(2);
        Net::start(config).await.unwrap()
    };
    let (public, _requests) = start(&["/ip4/192.0.2.1/tcp/4001"]).await;
    assert_eq!(soon("an error", public.call(&peer, vec![])).await, Err(CallError::Unreachable));
    assert_eq!(service.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    // A node that is itself on loopback dials it.
    let (local, _requests) = start(&[]).await;
    soon("an error", local.call(&peer, vec![])).await.unwrap_err();
    assert!(service.accept().is_ok());
}
