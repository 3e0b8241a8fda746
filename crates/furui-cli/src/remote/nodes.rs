//! The servers of a set: one, or those of a cluster.
//!
//! `FURUI.SEEN` is not sent a second time if it may have been executed: the second answer would call a new key seen. The
//! cluster connection of the crate `redis` does send it again when a connection is lost, so commands are distributed here.
//! A command is repeated only after an error by which a server says that it has not executed it.

use std::collections::HashMap;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};

use super::address::Address;
use super::failure::Failure;
use super::slots::{Slots, slot_of};

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// A command for one key, and the slot of the key.
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
    /// `None` if the server is no part of a cluster.
    slots: Option<Slots>,
}

/// A connection.
struct Link {
    connection: Connection,
    /// When the server last answered.
    used: Instant,
}

/// Requests on their way, by the server that they are sent to.
#[derive(Default)]
struct Trips {
    /// The indices of the requests, and whether the server must be told that it was asked for (`ASKING`).
    by_node: Vec<(Node, Vec<(usize, bool)>)>,
}

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a server may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// How long a cluster may move its slots or choose a new master before this is an error.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause before a cluster is asked again.
const PAUSE: Duration = Duration::from_millis(100);
/// A connection that was idle for longer is checked before it is used: the server or the network may have closed it.
const IDLE: Duration = Duration::from_secs(1);

impl Nodes {
    /// Connects to the server of the address, and learns whether it belongs to a cluster.
    pub fn connect(address: Address) -> Result<Self, Failure> {
        let mut nodes = Self { address, links: HashMap::new(), slots: None };
        let first = nodes.address.node.clone();
        let learned = nodes.learn_from(&first).map_err(|error| Failure::before(&first, &error))?;
        nodes.slots = learned;
        Ok(nodes)
    }

    /// Where the set is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends requests, and returns the answer of a server to each, or its refusal.
    pub fn ask(&mut self, requests: &[Request]) -> Result<Vec<RedisResult<Value>>, Failure> {
        let asked = self.ask_until(requests, Instant::now() + PATIENCE);
        if asked.is_err() {
            // Answers may be on their way, which must not be taken for those to later requests.
            self.links.clear();
        }
        asked
    }

    fn ask_until(&mut self, requests: &[Request], give_up: Instant) -> Result<Vec<RedisResult<Value>>, Failure> {
        let mut answers: Vec<Option<RedisResult<Value>>> = requests.iter().map(|_| None).collect();
        let mut redirected: HashMap<usize, (Node, bool)> = HashMap::new();
        let mut any_executed = false;
        loop {
            let left = (0..requests.len()).filter(|&index| answers[index].is_none());
            let trips = self.distribute(left, requests, &redirected);
            redirected.clear();
            if let Err((node, error)) = self.make_ready(&trips) {
                if self.slots.is_none() || Instant::now() > give_up {
                    return Err(Failure { may_have_recorded: any_executed, ..Failure::before(&node, &error) });
                }
                thread::sleep(PAUSE);
                self.learn();
                continue;
            }
            self.send(requests, &trips)?;
            let mut pause = false;
            for (node, index, answer) in self.receive(&trips)? {
                let Some(again) = answer.as_ref().err().and_then(|error| self.again(&node, error)) else {
                    any_executed |= answer.is_ok();
                    answers[index] = Some(answer);
                    continue;
                };
                if Instant::now() > give_up {
                    answers[index] = Some(answer);
                } else {
                    match again {
                        Again::At(node, is_asking) => _ = redirected.insert(index, (node, is_asking)),
                        Again::Later => pause = true,
                    }
                }
            }
            if answers.iter().all(Option::is_some) {
                return Ok(answers.into_iter().flatten().collect());
            }
            if pause {
                thread::sleep(PAUSE);
            }
            self.learn();
        }
    }

    /// Where each of these requests goes.
    fn distribute(
        &self,
        left: impl Iterator<Item = usize>,
        requests: &[Request],
        redirected: &HashMap<usize, (Node, bool)>,
    ) -> Trips {
        let (mut trips, mut places) = (Trips::default(), HashMap::new());
        for index in left {
            let owner = self.slots.as_ref().and_then(|slots| slots.owner(requests[index].slot));
            // A server that is asked for a slot that it does not have says who has it.
            let home = (owner.unwrap_or(&self.address.node), false);
            let (node, is_asking) = redirected.get(&index).map_or(home, |(node, is_asking)| (node, *is_asking));
            let place = *places.entry(node.clone()).or_insert_with(|| {
                trips.by_node.push((node.clone(), vec![]));
                trips.by_node.len() - 1
            });
            trips.by_node[place].1.push((index, is_asking));
        }
        trips
    }

    /// Makes sure that there is a connection to each server, before anything is sent.
    fn make_ready(&mut self, trips: &Trips) -> Result<(), (Node, RedisError)> {
        for (node, _) in &trips.by_node {
            self.link(node).map_err(|error| (node.clone(), error))?;
        }
        Ok(())
    }

    fn send(&mut self, requests: &[Request], trips: &Trips) -> Result<(), Failure> {
        let asking = redis::cmd("ASKING").get_packed_command();
        for (node, indices) in &trips.by_node {
            let Some(link) = self.links.get_mut(node) else { continue };
            let mut packed = vec![];
            for &(index, is_asking) in indices {
                packed.extend_from_slice(if is_asking { &asking } else { &[] });
                packed.extend_from_slice(&requests[index].packed);
            }
            link.connection.send_packed_command(&packed).map_err(|error| Failure::after(node, &error))?;
        }
        Ok(())
    }

    fn receive(&mut self, trips: &Trips) -> Result<Vec<(Node, usize, RedisResult<Value>)>, Failure> {
        let mut answers = vec![];
        for (node, indices) in &trips.by_node {
            let Some(link) = self.links.get_mut(node) else { continue };
            for &(index, is_asking) in indices {
                if is_asking {
                    link.receive().map_err(|error| Failure::after(node, &error))?;
                }
                match link.receive() {
                    Err(error) if !is_refusal(&error) => return Err(Failure::after(node, &error)),
                    answer => answers.push((node.clone(), index, answer)),
                }
            }
            link.used = Instant::now();
        }
        Ok(answers)
    }

    /// A connection that works, as far as one can know.
    fn link(&mut self, node: &Node) -> RedisResult<&mut Link> {
        if self.links.get_mut(node).is_some_and(|link| !link.works()) {
            self.links.remove(node);
        }
        if !self.links.contains_key(node) {
            let connection = redis::Client::open(self.address.connect_to(node)?)?.get_connection_with_timeout(CONNECT)?;
            connection.set_read_timeout(Some(ANSWER))?;
            connection.set_write_timeout(Some(ANSWER))?;
            self.links.insert(node.clone(), Link { connection, used: Instant::now() });
        }
        self.links.get_mut(node).ok_or_else(|| (ErrorKind::Client, "no connection").into())
    }

    /// Asks the servers that are known for the slots of the cluster. If none answers, what is known stays.
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

    /// Asks a server for the slots of its cluster. `None` if it is in no cluster, or does not tell.
    fn learn_from(&mut self, node: &Node) -> RedisResult<Option<Slots>> {
        let link = self.link(node)?;
        link.connection.send_packed_command(&redis::cmd("CLUSTER").arg("SLOTS").get_packed_command())?;
        match link.receive() {
            Ok(answer) => Ok(Slots::read(&answer, node)),
            Err(error) => {
                let text = error.to_string().to_ascii_lowercase();
                let does_not_tell = ["cluster support disabled", "unknown command", "noperm", "no permission"];
                if does_not_tell.iter().any(|known| text.contains(known)) { Ok(None) } else { Err(error) }
            }
        }
    }

    /// Whether a request that got this error has not been executed, and can be sent again.
    fn again(&self, node: &Node, error: &RedisError) -> Option<Again> {
        let ErrorKind::Server(kind) = error.kind() else { return None };
        let target = || {
            let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
            let host = if host.is_empty() { &node.host } else { host };
            Some(Node { host: host.to_owned(), port: port.parse().ok()? })
        };
        match kind {
            // The answer may come from a server of a cluster that does not tell its slots.
            ServerErrorKind::Moved => Some(Again::At(target()?, false)),
            ServerErrorKind::Ask => Some(Again::At(target()?, true)),
            ServerErrorKind::BusyLoading => Some(Again::Later),
            ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly => self.slots.is_some().then_some(Again::Later),
            _ => None,
        }
    }
}

/// Where, or when, a request is sent again.
enum Again {
    At(Node, bool),
    Later,
}

impl Link {
    /// The next answer. A refusal of the server is an error.
    fn receive(&mut self) -> RedisResult<Value> {
        match self.connection.recv_response()? {
            Value::ServerError(error) => Err(error.into()),
            answer => Ok(answer),
        }
    }

    /// False if the connection was idle, and does not work any more.
    fn works(&mut self) -> bool {
        if self.used.elapsed() < IDLE {
            return true;
        }
        let sent = self.connection.send_packed_command(&redis::cmd("PING").get_packed_command());
        let works = sent.is_ok() && self.receive().is_ok_and(|answer| answer == Value::SimpleString("PONG".into()));
        self.used = Instant::now();
        works
    }
}

/// True if a server has answered with an error, which means that the connection works.
fn is_refusal(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}
