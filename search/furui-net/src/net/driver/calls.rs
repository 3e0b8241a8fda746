//! Sends the calls of this node to other nodes, and handles the requests of other nodes and the answers to both.

use std::time::Duration;

use furui_search::Peer;
use libp2p::request_response::{self, InboundRequestId, OutboundFailure, OutboundRequestId, ResponseChannel};
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::super::behaviour;
use super::super::codec::{Answer, Body};
use super::super::{CallError, Inbound, Prefix, Reply, known};
use super::{Call, Driver};

/// The maximum number of calls in flight to one peer: half of the number that a peer serves, so that it does not refuse
/// them.
const CALLS_PER_PEER: usize = 16;
/// The number of consecutive calls that time out after which a peer is removed from the routing table. The value is a
/// choice, not a measurement.
const STRIKES: u8 = 2;
/// The delay between the removal of a peer from the routing table and the next refresh, which may find it again. The
/// value is a choice, not a measurement.
const SECOND_CHANCE: Duration = Duration::from_secs(60);

impl Driver {
    pub(in crate::net) fn call(
        &mut self,
        to: &Peer,
        request: Vec<u8>,
        answer: oneshot::Sender<Result<Vec<u8>, CallError>>,
        permit: OwnedSemaphorePermit,
    ) {
        let address = Multiaddr::try_from(to.address().to_vec());
        let (Some(peer), Ok(address)) = (known::id(to), address) else {
            let _ = answer.send(Err(CallError::NoPeer));
            return;
        };
        let addresses =
            if behaviour::dialable(&address, self.transport, &self.shared.reach) { vec![address] } else { Vec::new() };
        self.lanes.entry(peer).or_default().waiting.push_back((
            addresses,
            request,
            Call { peer, answer, _permit: permit },
        ));
        self.send_next(peer);
    }

    /// Sends the waiting calls to this peer until the maximum number of calls to it is in flight.
    fn send_next(&mut self, peer: PeerId) {
        let Some(lane) = self.lanes.get_mut(&peer) else { return };
        while lane.on_the_way < CALLS_PER_PEER
            && let Some((addresses, request, call)) = lane.waiting.pop_front()
        {
            if call.answer.is_closed() {
                continue;
            }
            let body = Body { bytes: request, room: None };
            let id = self.swarm.behaviour_mut().exchange.send_request_with_addresses(&peer, body, addresses);
            self.calls.insert(id, call);
            lane.on_the_way += 1;
        }
        if lane.on_the_way == 0 {
            self.lanes.remove(&peer);
        }
    }

    fn called(&mut self, id: OutboundRequestId, result: Result<Vec<u8>, CallError>) {
        let Some(call) = self.calls.remove(&id) else { return };
        match &result {
            Ok(_) => {
                self.strikes.remove(&call.peer);
            }
            // A busy peer has answered, so it has not failed. The handle measures time-outs, and reports them by a
            // command.
            Err(CallError::Busy | CallError::TimedOut) => {}
            Err(_) => self.routes.failed(&call.peer),
        }
        let _ = call.answer.send(result);
        if let Some(lane) = self.lanes.get_mut(&call.peer) {
            lane.on_the_way -= 1;
        }
        self.send_next(call.peer);
    }

    pub(in crate::net) fn timed_out(&mut self, peer: &Peer) {
        let Some(peer) = known::id(peer) else { return };
        self.routes.failed(&peer);
        if self.address_of(&peer).is_none() {
            return;
        }
        let strikes = self.strikes.entry(peer).or_default();
        *strikes += 1;
        if *strikes >= STRIKES {
            self.forget(&peer);
            // The peer may only have been overloaded. Then its neighbours still name it, and a refresh adds it again.
            self.refresh_at = self.refresh_at.min(Instant::now() + SECOND_CHANCE);
        }
    }

    pub(super) fn on_exchange(&mut self, event: request_response::Event<Body, Answer>) {
        use request_response::{Event, Message};
        match event {
            Event::Message { peer, connection_id, message: Message::Request { request_id, request, channel } } => {
                let prefix = self.swarm.behaviour().incoming_limits.prefix(connection_id);
                self.requested((peer, prefix), request_id, request, channel);
            }
            Event::Message { message: Message::Response { request_id, response }, .. } => {
                self.called(request_id, response.ok_or(CallError::Busy));
            }
            Event::OutboundFailure { request_id, error, .. } => self.called(request_id, Err(call_error(&error))),
            Event::InboundFailure { request_id, .. } | Event::ResponseSent { request_id, .. } => {
                if let Some((peer, prefix)) = self.served.remove(&request_id) {
                    self.quotas.done(&peer, prefix);
                }
            }
        }
    }

    fn requested(
        &mut self,
        (peer, prefix): (PeerId, Prefix),
        id: InboundRequestId,
        request: Body,
        channel: ResponseChannel<Answer>,
    ) {
        let (reply, answer) = Reply::new(request.room);
        let from = known::peer(&peer, self.address_of(&peer).as_ref());
        let admitted = self.quotas.admit(peer, prefix, Instant::now());
        if admitted.is_ok() {
            self.served.insert(id, (peer, prefix));
        }
        let inbound = Inbound { from, prefix, request: request.bytes, reply };
        let passed = admitted.and_then(|()| self.inbound.try_send(inbound).map_err(|_| "the node had too much to do"));
        if let Err(why) = passed {
            self.shared.refusals.note(format!("{peer} at {prefix}"), why);
            self.shared.tally.add(|all| all.refused += 1);
            // Sending fails if the connection has ended.
            let _ = self.swarm.behaviour_mut().exchange.send_response(channel, None);
        } else {
            self.answers.push(Box::pin(async move { (channel, answer.await.ok()) }));
        }
    }

    pub(super) fn send_answer(&mut self, channel: ResponseChannel<Answer>, answer: Option<Vec<u8>>) {
        // Dropping the channel closes the stream, which tells the peer that there is no answer.
        if let Some(bytes) = answer {
            let _ = self.swarm.behaviour_mut().exchange.send_response(channel, Some(bytes));
        }
    }
}

fn call_error(failure: &OutboundFailure) -> CallError {
    match failure {
        OutboundFailure::DialFailure => CallError::Unreachable,
        OutboundFailure::Timeout => CallError::TimedOut,
        OutboundFailure::ConnectionClosed => CallError::Closed,
        OutboundFailure::UnsupportedProtocols => CallError::Foreign,
        OutboundFailure::Io(e) if e.kind() == std::io::ErrorKind::FileTooLarge => CallError::TooLong,
        OutboundFailure::Io(_) => CallError::Closed,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{mpsc, watch};

    use super::super::super::{Config, Identity, Transport};
    use super::*;

    #[tokio::test]
    async fn a_crowd_of_strangers_that_do_not_answer_changes_nothing_for_a_peer_of_the_table() {
        let config = Config::new(Identity::generate(), Transport::Memory);
        let (status, _) = watch::channel(super::super::Status::Joining);
        let driver = Driver::start(config, Arc::default(), mpsc::channel(1).0, status, watch::channel(0).0);
        let mut driver = driver.await.expect("a node in memory");
        let struck = PeerId::random();
        driver.met(&struck, vec!["/memory/7".parse().expect("an address")]);
        driver.timed_out(&known::peer(&struck, None));
        for _ in 0..5000 {
            driver.timed_out(&known::peer(&PeerId::random(), None));
        }
        assert_eq!((driver.strikes.len(), driver.table().len()), (1, 1));
        driver.timed_out(&known::peer(&struck, None));
        assert!(driver.strikes.is_empty() && driver.table().is_empty());
    }
}
