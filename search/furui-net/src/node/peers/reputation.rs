use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use furui_search::{ContentId, Peer, Response, Shunned, limits};
use futures::future::join_all;
use tokio::time::Instant;

use crate::net::Net;
use crate::node::{record_key, send_counted};

/// The time for which a peer that lied or did not answer is asked after all others. For a silent peer, it ends early if
/// the peer answers. Chosen: longer than a peer needs to restart.
const SHUNNED_FOR: Duration = Duration::from_secs(5 * 60);

/// Remembers the peers that recently did not answer this node or lied to it. They are asked after the other nodes that
/// keep a key.
///
/// Only behaviour on a connection on which the peer has proved its identity counts, so no node can make another one
/// look silent by spreading a wrong address. A peer that answers, however late, stops being counted as silent. A peer
/// that was proved to lie counts as a liar for the whole time, whatever it answers.
///
/// Clones share their state.
#[derive(Clone)]
pub(in crate::node) struct Reputation {
    net: Net,
    started: Instant,
    shunned: Arc<Mutex<Shunned>>,
    liars: Arc<Mutex<Shunned>>,
}

impl Reputation {
    pub(in crate::node) fn new(net: Net) -> Self {
        let [shunned, liars] = [(); 2].map(|()| Arc::new(Mutex::new(Shunned::new(SHUNNED_FOR))));
        Self { net, started: Instant::now(), shunned, liars }
    }

    /// Sends a request to a peer, and decodes the answer. `None` if there is no valid answer. The outcome is recorded
    /// even if the caller has stopped waiting.
    pub(in crate::node) async fn ask(&self, to: &Peer, request: Vec<u8>) -> Option<Response> {
        self.ask_counted(to, request).await.map(|(response, _)| response)
    }

    /// Sends a request like [`ask`](Self::ask), and returns the answer with its size in bytes.
    pub(in crate::node) async fn ask_counted(&self, to: &Peer, request: Vec<u8>) -> Option<(Response, u64)> {
        let (reputation, to) = (self.clone(), to.clone());
        let asking = tokio::spawn(async move {
            let response = send_counted(&reputation.net, &to, request).await;
            match response {
                Some(_) => reputation.forgive(&to),
                None => reputation.shun(to).await,
            }
            response
        });
        asking.await.ok().flatten()
    }

    /// Records that the peer did not answer in time, or violated the protocol.
    pub(in crate::node) async fn shun(&self, peer: Peer) {
        if self.net.is_connected(&peer).await {
            let now = self.started.elapsed();
            self.shunned().add(peer, now);
        }
    }

    /// Records that an answer of the peer was proved false.
    pub(in crate::node) async fn distrust(&self, peer: Peer) {
        if self.net.is_connected(&peer).await {
            let now = self.started.elapsed();
            locked(&self.liars).add(peer, now);
        }
    }

    /// Records that the peer has answered, so that it does not count as silent.
    pub(in crate::node) fn forgive(&self, peer: &Peer) {
        self.shunned().remove(peer);
    }

    /// Returns the peers that are to be asked after all others.
    pub(in crate::node) fn to_ask_last(&self) -> Vec<Peer> {
        let now = self.started.elapsed();
        let liars: Vec<Peer> = locked(&self.liars).peers(now).cloned().collect();
        let mut peers: Vec<Peer> = self.shunned().peers(now).cloned().collect();
        peers.extend(liars);
        peers
    }

    /// Looks up the first `n` nodes that should keep a key, those to be asked last at the end. If all of these `n`
    /// nodes are to be asked last, returns all nodes that should keep the key.
    pub(in crate::node) async fn keepers(&self, key: &[u8], n: usize) -> Vec<Peer> {
        let now = self.started.elapsed();
        let comes_last = |peer: &Peer| {
            let is_silent = self.shunned().has(peer, now);
            is_silent || locked(&self.liars).has(peer, now)
        };
        let mut nearest = self.net.keepers(key, n).await;
        if n < limits::REPLICAS && nearest.iter().all(comes_last) {
            nearest = self.net.keepers(key, limits::REPLICAS).await;
        }
        nearest.sort_by_key(comes_last);
        nearest
    }

    /// The peer that stands for this node itself.
    pub(in crate::node) fn me(&self) -> Peer {
        self.net.me()
    }

    /// Returns for each node the documents of which it is one of the first `n` [keepers](Self::keepers) other than
    /// `except`.
    pub(in crate::node) async fn loads(
        &self,
        ids: &[ContentId],
        n: usize,
        except: Option<&Peer>,
    ) -> HashMap<Peer, Vec<ContentId>> {
        let mut loads: HashMap<Peer, Vec<ContentId>> = HashMap::new();
        for (&id, keepers) in ids.iter().zip(self.keepers_of(ids.iter().copied(), n).await) {
            let others = keepers.into_iter().filter(|keeper| Some(keeper) != except).take(n);
            others.for_each(|keeper| loads.entry(keeper).or_default().push(id));
        }
        loads
    }

    /// Looks up the nodes that keep the record of each of these documents; see [`keepers`](Self::keepers).
    pub(in crate::node) async fn keepers_of(
        &self,
        ids: impl IntoIterator<Item = ContentId>,
        n: usize,
    ) -> Vec<Vec<Peer>> {
        let keys: Vec<Vec<u8>> = ids.into_iter().map(record_key).collect();
        join_all(keys.iter().map(|key| self.keepers(key, n))).await
    }

    fn shunned(&self) -> MutexGuard<'_, Shunned> {
        locked(&self.shunned)
    }
}

fn locked(peers: &Mutex<Shunned>) -> MutexGuard<'_, Shunned> {
    peers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use furui_search::{Refusal, Request};
    use tokio::sync::mpsc::Receiver;

    use super::*;
    use crate::net::{Config, Identity, Inbound, Transport};

    async fn start() -> (Net, Receiver<Inbound>) {
        Net::start(Config::new(Identity::generate(), Transport::Memory)).await.expect("a node in memory")
    }

    fn request() -> Vec<u8> {
        Request::Size { words: vec!["word".to_owned()] }.encode().expect("a short message")
    }

    #[tokio::test]
    async fn who_answers_late_was_not_silent() {
        let (net, _inbound) = start().await;
        let (other, mut inbound) = start().await;
        let reputation = Reputation::new(net);
        let asking = tokio::spawn({
            let (reputation, other) = (reputation.clone(), other.me());
            async move { reputation.ask(&other, request()).await }
        });
        let asked = inbound.recv().await.expect("a request");
        // The request is cancelled because another peer answers first.
        reputation.shun(other.me()).await;
        assert_eq!(reputation.to_ask_last(), [other.me()]);
        asking.abort();
        assert!(asking.await.is_err());
        let answer = Response::Refused(Refusal::Busy).encode().expect("a short message");
        asked.reply.send(answer).expect("a short message");
        let forgiven = async {
            while !reputation.to_ask_last().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), forgiven).await.expect("it is heard");
    }

    #[tokio::test]
    async fn who_was_proved_to_lie_is_asked_last_although_it_answers() {
        let (net, _inbound) = start().await;
        let (other, mut inbound) = start().await;
        let reputation = Reputation::new(net);
        let answer = Response::Refused(Refusal::Busy).encode().expect("a short message");
        let serve = async {
            let asked = inbound.recv().await.expect("a request");
            asked.reply.send(answer.clone()).expect("a short message");
        };
        let me = other.me();
        let (response, ()) = tokio::join!(reputation.ask(&me, request()), serve);
        assert_eq!(response, Some(Response::Refused(Refusal::Busy)));
        reputation.distrust(me.clone()).await;
        reputation.forgive(&me);
        assert_eq!(reputation.to_ask_last(), [me]);
    }

    #[tokio::test]
    async fn who_hangs_up_or_talks_nonsense_is_shunned_and_who_was_named_with_a_wrong_address_is_not() {
        let (net, _inbound) = start().await;
        let (other, mut inbound) = start().await;
        let reputation = Reputation::new(net);
        let (third, _inbound) = start().await;
        let wrong = Peer::new(other.me().identity(), third.me().address());
        assert_eq!(reputation.ask(&wrong, request()).await, None);
        reputation.shun(wrong).await;
        assert!(reputation.to_ask_last().is_empty());

        for answer in [None, Some(vec![0xa5; 40])] {
            let serve = async {
                let asked = inbound.recv().await.expect("a request");
                match answer {
                    Some(answer) => asked.reply.send(answer).expect("a short message"),
                    None => drop(asked.reply),
                }
            };
            let me = other.me();
            let (response, ()) = tokio::join!(reputation.ask(&me, request()), serve);
            assert_eq!(response, None);
            assert_eq!(reputation.to_ask_last(), [other.me()]);
            reputation.forgive(&me);
        }
    }
}
