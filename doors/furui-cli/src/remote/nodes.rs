//! Connections to the servers of a set: to a single server, or to those of a cluster.
//!
//! If `SEEN.ADD` is sent a second time because the connection was lost, the second answer calls a new key seen. The
//! cluster connection of the crate `redis` repeats commands without reporting it. So commands are distributed to the
//! servers here, and the answers to repeated commands are marked as uncertain.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};

use super::address::Address;
use super::failure::Failure;
use super::link::Link;
use super::node::Node;
use super::slots::{Slots, slot_of};

/// A command for one key, and the hash slot of the key.
pub struct Request {
    slot: u16,
    packed: Vec<u8>,
}

impl Request {
    /// A command whose first argument is this key.
    pub fn new<'a>(command: &str, key: &[u8], arguments: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut whole = redis::cmd(command);
        whole.arg(key);
        arguments.into_iter().for_each(|argument| _ = whole.arg(argument));
        Self { slot: slot_of(key), packed: whole.get_packed_command() }
    }
}

/// Connections to the servers of a set.
pub struct Nodes {
    address: Address,
    links: HashMap<Node, Link>,
    /// The hash slots of the cluster. `None` if the server is not part of a cluster.
    slots: Option<Slots>,
}

/// The answer of a server to a request.
pub struct Answer {
    /// The reply of the server. A refusal of the server is an error.
    pub reply: RedisResult<Value>,
    /// True if the connection was lost after the request was sent for the first time: the server may have executed it
    /// twice.
    pub is_uncertain: bool,
}

/// The state of a request that is being answered.
#[derive(Default)]
struct State {
    reply: Option<RedisResult<Value>>,
    is_uncertain: bool,
    /// The server to which a redirect sends the request, and true if the command `ASKING` must precede it there. `None`
    /// without a redirect.
    redirected: Option<(Node, bool)>,
}

/// The requests to send to each server: the index of each request in the list of all, and true if the command `ASKING`
/// precedes it.
type Trips = Vec<(Node, Vec<(usize, bool)>)>;

/// The server and the error because of which some requests have no answer yet. `None` if all have one.
type Trouble = Option<(Node, RedisError)>;

/// The time for which requests to a cluster are repeated, because it may be moving slots or choosing a new master.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time for which requests to a server that is not part of a cluster are repeated.
const PATIENCE_ALONE: Duration = Duration::from_secs(3);
/// The pause before requests without an answer are sent again.
const PAUSE: Duration = Duration::from_millis(100);

impl Nodes {
    /// Connects to the server of the address, and finds out if it belongs to a cluster.
    pub fn connect(address: Address) -> Result<Self, Failure> {
        let mut nodes = Self { address, links: HashMap::new(), slots: None };
        let first = nodes.address.node.clone();
        let learned = nodes.learn_from(&first).map_err(|error| Failure::new(&first, &error, false))?;
        nodes.slots = learned;
        Ok(nodes)
    }

    /// The address of the set.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends requests, and returns the answer to each. If the connection to a server is lost, the requests that it has
    /// not answered are sent again, to the servers that own their slots then.
    pub fn ask(&mut self, requests: &[Request]) -> Result<Vec<Answer>, Failure> {
        let mut states: Vec<State> = requests.iter().map(|_| State::default()).collect();
        let mut give_up = None;
        loop {
            let mut trouble = None;
            let trips = self.distribute(requests, &mut states);
            match self.make_ready(&trips) {
                Err(failed) => trouble = Some(failed),
                Ok(()) => {
                    self.send(requests, &trips, &mut states, &mut trouble);
                    self.receive(&trips, &mut states, &mut trouble);
                }
            }
            if states.iter().all(|state| state.reply.is_some()) {
                let answer = |state: State| Some(Answer { reply: state.reply?, is_uncertain: state.is_uncertain });
                return Ok(states.into_iter().filter_map(answer).collect());
            }
            if let Some((node, error)) = trouble {
                let patience = if self.slots.is_some() { PATIENCE } else { PATIENCE_ALONE };
                if !may_pass(&error) || Instant::now() > *give_up.get_or_insert(Instant::now() + patience) {
                    // Late answers to these requests must not be taken for answers to later requests, so the
                    // connections are closed.
                    self.links.clear();
                    let is_known = |state: &State| state.reply.is_none() && !state.is_uncertain;
                    return Err(Failure::new(&node, &error, !states.iter().all(is_known)));
                }
                if states.iter().any(|state| state.reply.is_none() && state.redirected.is_none()) {
                    thread::sleep(PAUSE);
                }
            }
            self.learn();
        }
    }

    /// Assigns each request that has no answer yet to the server that must get it next.
    fn distribute(&self, requests: &[Request], states: &mut [State]) -> Trips {
        let (mut trips, mut places): (Trips, _) = (vec![], HashMap::new());
        for (index, (request, state)) in requests.iter().zip(states).enumerate() {
            if state.reply.is_some() {
                continue;
            }
            let owner = self.slots.as_ref().and_then(|slots| slots.owner(request.slot));
            // A server that does not have the slot of a key replies with the address of the server that has it.
            let home = || (owner.unwrap_or(&self.address.node).clone(), false);
            let (node, is_asking) = state.redirected.take().unwrap_or_else(home);
            let place = *places.entry(node.clone()).or_insert_with(|| {
                trips.push((node, vec![]));
                trips.len() - 1
            });
            trips[place].1.push((index, is_asking));
        }
        trips
    }

    /// Makes sure that there is a connection to each server, before anything is sent. An error names the server.
    fn make_ready(&mut self, trips: &Trips) -> Result<(), (Node, RedisError)> {
        trips.iter().try_for_each(|(node, _)| self.link(node).map(drop).map_err(|error| (node.clone(), error)))
    }

    /// Sends all requests. If a connection is lost, it is closed, and its requests are marked as uncertain.
    fn send(&mut self, requests: &[Request], trips: &Trips, states: &mut [State], trouble: &mut Trouble) {
        let asking = redis::cmd("ASKING").get_packed_command();
        for (node, indices) in trips {
            let Some(link) = self.links.get_mut(node) else { continue };
            let mut packed = vec![];
            for &(index, is_asking) in indices {
                packed.extend_from_slice(if is_asking { &asking } else { &[] });
                packed.extend_from_slice(&requests[index].packed);
            }
            if let Err(error) = link.send(&packed) {
                self.links.remove(node);
                indices.iter().for_each(|&(index, _)| states[index].is_uncertain = true);
                *trouble = Some((node.clone(), error));
            }
        }
    }

    /// Receives the answers to all requests that were sent. If a connection is lost, it is closed, and its requests
    /// without an answer are marked as uncertain.
    fn receive(&mut self, trips: &Trips, states: &mut [State], trouble: &mut Trouble) {
        for (node, indices) in trips {
            for (nth, &(index, is_asking)) in indices.iter().enumerate() {
                let Some(link) = self.links.get_mut(node) else { break };
                let answer = match is_asking.then(|| link.receive()) {
                    Some(Err(error)) if !is_refusal(&error) => Err(error),
                    _ => link.receive(),
                };
                match answer {
                    Err(error) if !is_refusal(&error) => {
                        self.links.remove(node);
                        indices[nth..].iter().for_each(|&(index, _)| states[index].is_uncertain = true);
                        *trouble = Some((node.clone(), error));
                    }
                    Err(error) if may_pass(&error) && (self.slots.is_some() || is_loading(&error)) => {
                        states[index].redirected = redirect(&error, node);
                        *trouble = trouble.take().or(Some((node.clone(), error)));
                    }
                    reply => states[index].reply = Some(reply),
                }
            }
        }
    }

    /// Returns a connection to a server: the existing one if it still works, or a new one.
    fn link(&mut self, node: &Node) -> RedisResult<&mut Link> {
        if self.links.get_mut(node).is_some_and(|link| !link.works()) {
            self.links.remove(node);
        }
        if !self.links.contains_key(node) {
            self.links.insert(node.clone(), Link::connect(node, &self.address.login)?);
        }
        self.links.get_mut(node).ok_or_else(|| (ErrorKind::Client, "no connection").into())
    }

    /// Asks the known servers for the hash slots of the cluster, until one answers. If none answers, the known slots
    /// are kept.
    fn learn(&mut self) {
        let Some(slots) = &self.slots else { return };
        let mut known: Vec<Node> = vec![];
        for node in slots.nodes().chain([&self.address.node]) {
            if !known.contains(node) {
                known.push(node.clone());
            }
        }
        if let Some(slots) = known.iter().find_map(|node| self.learn_from(node).ok().flatten()) {
            self.slots = Some(slots);
        }
    }

    /// Asks a server for the hash slots of its cluster. `None` if it is not part of a cluster, or refuses to report
    /// them.
    fn learn_from(&mut self, node: &Node) -> RedisResult<Option<Slots>> {
        match self.link(node)?.ask(redis::cmd("CLUSTER").arg("SLOTS")) {
            Ok(answer) => Ok(Slots::read(&answer, node)),
            Err(error) => {
                if !is_refusal(&error) {
                    // A late answer must not be taken for the answer to another command.
                    self.links.remove(node);
                }
                let text = error.to_string().to_ascii_lowercase();
                let does_not_tell = ["cluster support disabled", "unknown command", "noperm", "no permission"];
                if does_not_tell.iter().any(|known| text.contains(known)) { Ok(None) } else { Err(error) }
            }
        }
    }
}

/// True if the error is an error reply of a server, which means that the connection works.
fn is_refusal(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// True if the error is the reply of a server that is still loading its data.
fn is_loading(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::BusyLoading)
}

/// True if the error may be temporary. If it is a server's reply, the command was not executed.
fn may_pass(error: &RedisError) -> bool {
    let ErrorKind::Server(kind) = error.kind() else { return !is_refusal(error) && error.is_io_error() };
    matches!(
        kind,
        ServerErrorKind::Moved
            | ServerErrorKind::Ask
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::BusyLoading
    )
}

/// The server to which an error reply of `node` redirects the client, and true if `ASKING` must precede the request
/// there. `None` if the error is not a redirect.
fn redirect(error: &RedisError, node: &Node) -> Option<(Node, bool)> {
    let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
    let host = if host.is_empty() { &node.host } else { host };
    let target = Node { host: host.to_owned(), port: port.parse().ok()? };
    Some((target, error.kind() == ErrorKind::Server(ServerErrorKind::Ask)))
}
