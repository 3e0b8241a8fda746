//! Connections to the servers of a set: to a single server, or to those of a cluster.
//!
//! If `SEEN.ADD` is sent a second time because the connection was lost, the second answer calls a new key seen. The
//! cluster connection of the crate `redis` repeats commands without reporting it. So commands are distributed to the
//! servers here, and the answers to repeated commands are marked as uncertain.
//!
//! Requests may be sent before the answers to earlier ones were received, so that no time is lost by waiting for a
//! server that is far away.

use std::collections::{HashMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind};

use super::address::Address;
use super::failure::Failure;
use super::flight::{Answer, Flight, Line, Request, State, Trip};
use super::link::Link;
use super::node::Node;
use super::slots::Slots;

/// Connections to the servers of a set.
pub struct Nodes {
    address: Address,
    /// The server that gets all requests unless it is part of a cluster.
    home: Node,
    lines: HashMap<Node, Line>,
    /// The hash slots of the cluster. `None` if the server is not part of a cluster.
    slots: Option<Slots>,
    /// The requests whose answers were not [received](Self::receive) yet, in the order in which they were sent.
    flights: VecDeque<Flight>,
    /// The number of the first of the flights, of all that ever were.
    first: u64,
}

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
        let home = match &address.watched {
            None => address.node.clone(),
            Some(watched) => watched.master().map_err(|error| Failure::new(&address.node, &error, false))?,
        };
        let (lines, flights) = (HashMap::new(), VecDeque::new());
        let mut nodes = Self { address, home: home.clone(), lines, slots: None, flights, first: 0 };
        let learned = nodes.learn_from(&home).map_err(|error| Failure::new(&home, &error, false))?;
        nodes.slots = learned;
        Ok(nodes)
    }

    /// The address of the set, with its name and the login.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends requests, and returns the answer to each. There must be none that were [sent](Self::send) and whose
    /// answers were not received.
    pub fn ask(&mut self, requests: Vec<Request>) -> Result<Vec<Answer>, Failure> {
        debug_assert!(self.flights.is_empty());
        self.send(requests);
        self.receive()
    }

    /// Sends requests, whose answers [`receive`](Self::receive) returns. If a server cannot be reached, that sends them
    /// again.
    pub fn send(&mut self, requests: Vec<Request>) {
        self.flights.push_back(Flight::new(requests));
        self.dispatch();
    }

    /// The number of times that requests were [sent](Self::send) whose answers were not received.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Returns the answers to the requests that were [sent](Self::send) first of those without answers. If the
    /// connection to a server is lost, all requests that it has not answered are sent again, to the servers that own
    /// their slots then. After an error, no answers are expected any more.
    pub fn receive(&mut self) -> Result<Vec<Answer>, Failure> {
        let mut give_up = None;
        loop {
            let mut trouble = self.dispatch();
            while let Some(node) = self.line_of_first() {
                self.receive_trip(&node, &mut trouble);
            }
            if self.flights.front().is_none_or(Flight::is_answered) {
                self.first += 1;
                return Ok(self.flights.pop_front().map_or(vec![], Flight::answers));
            }
            if let Some((node, error)) = trouble {
                let patience = if self.follows() { PATIENCE } else { PATIENCE_ALONE };
                if !may_pass(&error) || Instant::now() > *give_up.get_or_insert(Instant::now() + patience) {
                    // Late answers to these requests must not be taken for answers to later requests, so the
                    // connections are closed.
                    self.lines.clear();
                    let may_be_executed = self.flights.iter().any(Flight::may_be_executed);
                    self.first += self.flights.len() as u64;
                    self.flights.clear();
                    return Err(Failure::new(&node, &error, may_be_executed));
                }
                let waits = |state: &State| state.reply.is_none() && state.redirected.is_none();
                if self.flights.front().is_some_and(|first| first.states.iter().any(waits)) {
                    thread::sleep(PAUSE);
                }
            }
            self.learn();
        }
    }

    /// True if another server may take the place of one that fails.
    fn follows(&self) -> bool {
        self.slots.is_some() || self.address.watched.is_some()
    }

    /// Sends all requests that have no answer and wait for none, in the order of the flights, so that requests for a
    /// key keep their order. Stops at the first flight that cannot be sent.
    fn dispatch(&mut self) -> Trouble {
        for index in 0..self.flights.len() {
            let flight = &self.flights[index];
            if flight.states.iter().all(|state| state.is_sent || state.reply.is_some()) {
                continue;
            }
            let trips = self.distribute(index);
            // No request is sent before all servers are connected. An error names the server.
            for (node, _) in &trips {
                if let Err(error) = self.line(node) {
                    return Some((node.clone(), error));
                }
            }
            let mut trouble = None;
            for (node, trip) in trips {
                self.send_trip(&node, trip, &mut trouble);
            }
            if trouble.is_some() {
                return trouble;
            }
        }
        None
    }

    /// Groups the requests of a flight that wait to be sent by the server to which each goes next: the one to which it
    /// was redirected, or the one that has the slot of its key. `index` is the place of the flight in `flights`.
    fn distribute(&mut self, index: usize) -> Vec<(Node, Trip)> {
        let (number, flight) = (self.first + index as u64, &mut self.flights[index]);
        let (mut trips, mut places): (Vec<(Node, Trip)>, _) = (vec![], HashMap::new());
        for (index, (request, state)) in flight.requests.iter().zip(&mut flight.states).enumerate() {
            if state.is_sent || state.reply.is_some() {
                continue;
            }
            let owner = self.slots.as_ref().and_then(|slots| slots.owner(request.slot));
            // A server that does not have the slot of a key replies with the address of the server that has it.
            let home = || (owner.unwrap_or(&self.home).clone(), false);
            let (node, is_asking) = state.redirected.take().unwrap_or_else(home);
            let place = *places.entry(node.clone()).or_insert_with(|| {
                trips.push((node, Trip { flight: number, requests: vec![] }));
                trips.len() - 1
            });
            trips[place].1.requests.push((index, is_asking));
        }
        trips
    }

    /// Sends the requests of a trip to a server that is connected. If the connection is lost, the requests are
    /// uncertain.
    fn send_trip(&mut self, node: &Node, trip: Trip, trouble: &mut Trouble) {
        let Some(line) = self.lines.get_mut(node) else { return };
        let flight = &mut self.flights[(trip.flight - self.first) as usize];
        let asking = redis::cmd("ASKING").get_packed_command();
        let mut packed = vec![];
        for &(index, is_asking) in &trip.requests {
            packed.extend_from_slice(if is_asking { &asking } else { &[] });
            packed.extend_from_slice(&flight.requests[index].packed);
            flight.states[index].is_sent = true;
        }
        line.trips.push_back(trip);
        if let Err(error) = line.link.send(&packed) {
            self.lose(node);
            *trouble = Some((node.clone(), error));
        }
    }

    /// The server that will answer requests of the first flight. `None` if there is none.
    fn line_of_first(&self) -> Option<Node> {
        let has = |line: &Line| line.trips.iter().any(|trip| trip.flight == self.first);
        self.lines.iter().find(|(_, line)| has(line)).map(|(node, _)| node.clone())
    }

    /// Receives the answers to the requests of the trip whose turn it is.
    fn receive_trip(&mut self, node: &Node, trouble: &mut Trouble) {
        let follows = self.follows();
        let Some(line) = self.lines.get_mut(node) else { return };
        let Some(Trip { flight, requests }) = line.trips.front() else { return };
        let flight = &mut self.flights[(flight - self.first) as usize];
        for &(index, is_asking) in requests {
            let answer = match is_asking.then(|| line.link.receive()) {
                Some(Err(error)) if !is_refusal(&error) => Err(error),
                _ => line.link.receive(),
            };
            let state = &mut flight.states[index];
            match answer {
                Err(error) if !is_refusal(&error) => {
                    *trouble = Some((node.clone(), error));
                    return self.lose(node);
                }
                Err(error) if may_pass(&error) && (follows || is_loading(&error)) => {
                    state.redirected = redirect(&error, node);
                    *trouble = trouble.take().or(Some((node.clone(), error)));
                }
                reply => state.reply = Some(reply),
            }
            state.is_sent = false;
        }
        line.trips.pop_front();
    }

    /// Closes a connection. The requests that it has not answered are uncertain, and will be sent again.
    fn lose(&mut self, node: &Node) {
        for Trip { flight, requests } in self.lines.remove(node).into_iter().flat_map(|line| line.trips) {
            let states = &mut self.flights[(flight - self.first) as usize].states;
            for (index, _) in requests {
                if std::mem::take(&mut states[index].is_sent) {
                    states[index].is_uncertain = true;
                }
            }
        }
    }

    /// Returns a connection to a server: the existing one if it still works, or a new one.
    fn line(&mut self, node: &Node) -> RedisResult<&mut Line> {
        if self.lines.get_mut(node).is_some_and(|line| line.trips.is_empty() && !line.link.works()) {
            self.lines.remove(node);
        }
        if !self.lines.contains_key(node) {
            let line = Line { link: Link::connect(node, &self.address.login)?, trips: VecDeque::new() };
            self.lines.insert(node.clone(), line);
        }
        self.lines.get_mut(node).ok_or_else(|| (ErrorKind::Client, "no connection").into())
    }

    /// Asks the Sentinels for the present master, and the known servers for the hash slots of the cluster, until one
    /// answers. If none answers, what was known is kept.
    fn learn(&mut self) {
        if let Some(watched) = &self.address.watched
            && let Ok(master) = watched.master()
            && master != self.home
        {
            // Its answers are not awaited: it is no master any more, or cut off.
            let old = std::mem::replace(&mut self.home, master);
            self.lose(&old);
        }
        let Some(slots) = &self.slots else { return };
        let mut known: Vec<Node> = vec![];
        for node in slots.nodes().chain([&self.home]) {
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
        // Answers to earlier requests come first.
        while self.lines.get(node).is_some_and(|line| !line.trips.is_empty()) {
            self.receive_trip(node, &mut None);
        }
        match self.line(node)?.link.ask(redis::cmd("CLUSTER").arg("SLOTS")) {
            Ok(answer) => Ok(Slots::read(&answer, node)),
            Err(error) => {
                if !is_refusal(&error) {
                    // A late answer must not be taken for the answer to another command.
                    self.lines.remove(node);
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
    Some((node.other(host, port.parse().ok()?), error.kind() == ErrorKind::Server(ServerErrorKind::Ask)))
}
