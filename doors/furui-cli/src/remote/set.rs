use std::collections::HashSet;
use std::path::Path;

use furui::store::Window;
use redis::Value;

use super::address::Address;
use super::failure::Failure;
use super::flight::{Answer, Request};
use super::keys::RemoteKeys;
use super::layout::Layout;
use super::nodes::Nodes;
use crate::error::Error;
use crate::say::number::grouped;
use crate::say::windows::said;

/// A set in a server or a cluster that several processes share. It is spread over many keys, `NAME:{000}` to
/// `NAME:{3ff}` by default, by the hash of a member.
pub struct RemoteSet {
    nodes: Nodes,
    layout: Layout,
    /// The names of the server's keys that hold the set.
    keys: Vec<Vec<u8>>,
    /// The keys that count as new because the connection was lost while they were in flight. In the keys that were in
    /// flight with them, they are repeats.
    told_new: HashSet<Vec<u8>>,
}

/// The minimum number of lines in the part of a set's window that one key of the server has.
const LEAST: u32 = 16;

impl RemoteSet {
    /// Connects to the server of the set at this URL. If the set does not exist and `records` is true, it is created,
    /// with this window. A set with another window is an error.
    pub fn open(url: &Path, records: bool, window: Option<Window>) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let url = address.to_string();
        let nodes = Nodes::connect(address).map_err(|failure| failure.at(&url))?;
        let mut set = Self { nodes, layout: Layout::new(window), keys: vec![], told_new: HashSet::new() };
        set.begin(records, window).map_err(|failure| failure.at(&url))?;
        Ok(set)
    }

    fn begin(&mut self, records: bool, window: Option<Window>) -> Result<(), Failure> {
        let name = self.nodes.address().name.clone();
        let noted = noted(&name);
        let found = self.layout_at(&noted)?;
        if found.is_none() && self.ask(vec![Request::new("EXISTS", name.as_bytes(), [])])? != [Value::Int(0)] {
            return Err(Failure::of(format!(
                "{name} is a single key of the server, no set that furui spreads over many: name another set; \
                 SEEN.ADD and SEEN.HAS use the key"
            )));
        }
        let mut layout = found.unwrap_or(self.layout);
        if let Some(Window::Keys(keys)) = window
            && keys.get() < u64::from(LEAST * layout.shards)
        {
            let least = grouped((LEAST * layout.shards).into());
            return Err(Failure::of(format!(
                "--window {keys}: the window of a set in a server has {least} lines at least"
            )));
        }
        self.keys = layout.keys(&name);
        // Before anything is written, this finds a server without the module, and keys that are no sets.
        let first = Request::new("SEEN.CARD", &self.keys[0], []);
        self.ask(vec![first])?;
        if records {
            // If another process has written a layout first, that one counts.
            let text = layout.to_string();
            self.ask(vec![Request::new("SET", &noted, [text.as_bytes(), b"NX"])])?;
            layout = self.layout_at(&noted)?.unwrap_or(layout);
            self.keys = layout.keys(&name);
        }
        if window.is_some() && window != layout.window {
            return Err(Failure::of(format!(
                "the set remembers {}: give the --window that it was made with, or name another set",
                said(layout.window)
            )));
        }
        self.layout = layout;
        if records { self.reserve() } else { Ok(()) }
    }

    /// An empty list of keys for this set.
    pub fn no_keys(&self) -> RemoteKeys {
        RemoteKeys::new(self.layout)
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The names of the server's keys that hold the set.
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// Opens a set that exists, to read it. A set that does not exist is an error.
    pub fn open_existing(url: &Path) -> Result<Self, Error> {
        let mut set = Self::open(url, false, None)?;
        let noted = noted(&set.nodes.address().name);
        match set.layout_at(&noted).map_err(|failure| set.told(failure))? {
            Some(_) => Ok(set),
            None => Err(set.told(Failure::of("the server has no set of this name".into()))),
        }
    }

    /// The URL of the set, without a password.
    pub fn url(&self) -> String {
        self.nodes.address().to_string()
    }

    /// Makes an error that names the set from a failure of its server.
    pub fn told(&self, failure: Failure) -> Error {
        failure.at(&self.url())
    }

    /// Creates the server's keys of the set that are missing. Existing keys are not changed.
    fn reserve(&mut self) -> Result<(), Failure> {
        let (seed, span) = (self.layout.seed.to_string(), self.layout.span());
        let mut arguments = vec!["SEED", &seed];
        arguments.extend(span.iter().flat_map(|span| ["WINDOW", span]));
        let request = |key: &Vec<u8>| Request::new("SEEN.RESERVE", key, arguments.iter().map(|word| word.as_bytes()));
        let requests: Vec<Request> = self.keys.iter().map(request).collect();
        let mut refusals = self.nodes.ask(requests)?.into_iter().filter_map(|answer| answer.reply.err());
        match refusals.find(|error| !error.to_string().contains("exists already")) {
            Some(error) => Err(Failure::new(&self.nodes.address().node, &error, false)),
            None => Ok(()),
        }
    }

    /// Sends keys, to record them or only to look them up. [`receive`](Self::receive) returns the answers, in the same
    /// order if several lists of keys are sent.
    pub fn send(&mut self, keys: &RemoteKeys, records: bool) {
        self.send_all(if records { "SEEN.ADD" } else { "SEEN.HAS" }, keys);
    }

    /// The number of lists of keys whose answers were not received.
    pub fn in_flight(&self) -> usize {
        self.nodes.in_flight()
    }

    /// Receives the answers for the keys that were [sent](Self::send) first of those without answers. `out` gets true
    /// for each key that was recorded and new, or that is in the set if it was only looked up.
    ///
    /// If a connection was lost, its keys count as new, because the server may have recorded them without the answer
    /// having arrived. Returns the number of keys that are uncertain in this way: another process may have got them as
    /// new, too. After an error, the keys that were recorded are true in `out`, unless the failure says that the server
    /// may have recorded more.
    pub fn receive(&mut self, keys: &RemoteKeys, records: bool, out: &mut Vec<bool>) -> Result<u64, Failure> {
        let received = self.receive_all(keys, out);
        if !records {
            return received.map(|_| 0).map_err(|failure| Failure { may_have_recorded: false, ..failure });
        }
        let uncertain = received?;
        let mut count = 0;
        if uncertain.is_empty() {
            self.told_new.clear();
        }
        for index in uncertain {
            let key = keys.key(index);
            let is_new = !self.told_new.contains(key) && self.told_new.insert(key.to_vec());
            count += u64::from(is_new && !out[index]);
            out[index] = is_new;
        }
        Ok(count)
    }

    /// Looks up keys. `out` gets true for each key that is in the set.
    pub fn has(&mut self, keys: &RemoteKeys, out: &mut Vec<bool>) -> Result<(), Failure> {
        self.send(keys, false);
        self.receive(keys, false, out).map(drop)
    }

    /// Removes keys from the set in the server.
    pub fn forget(&mut self, keys: &RemoteKeys) -> Result<(), Failure> {
        self.send_all("SEEN.FORGET", keys);
        self.receive_all(keys, &mut vec![]).map(drop)
    }

    /// Sends a command for all keys, in one trip to each server.
    fn send_all(&mut self, command: &str, keys: &RemoteKeys) {
        let order = keys.by_shard();
        let request = |share: &[usize]| {
            let place = keys.place(share[0]) as usize;
            Request::new(command, &self.keys[place], share.iter().map(|&index| keys.key(index)))
        };
        let requests = order.chunk_by(|&a, &b| keys.place(a) == keys.place(b)).map(request).collect();
        self.nodes.send(requests);
    }

    /// Receives the answers to a command for all keys. `out` gets true for each key that was answered with 1. Returns
    /// the indices in `keys` of those whose answers are uncertain, ascending in each shard.
    fn receive_all(&mut self, keys: &RemoteKeys, out: &mut Vec<bool>) -> Result<Vec<usize>, Failure> {
        out.clear();
        out.resize(keys.len(), false);
        let order = keys.by_shard();
        let shares: Vec<&[usize]> = order.chunk_by(|&a, &b| keys.place(a) == keys.place(b)).collect();
        let answers = self.nodes.receive()?;
        if answers.len() != shares.len() {
            return Err(Failure::nonsense("another number of answers than of requests"));
        }
        let (mut failure, mut uncertain) = (None, vec![]);
        for (share, Answer { reply, is_uncertain }) in shares.into_iter().zip(answers) {
            if is_uncertain {
                uncertain.extend_from_slice(share);
            }
            match reply {
                Ok(Value::Array(bits)) if bits.len() == share.len() => {
                    for (&index, bit) in share.iter().zip(bits) {
                        match bit {
                            Value::Int(bit @ (0 | 1)) => out[index] = bit == 1,
                            other => return Err(Failure::nonsense(&format!("{other:?}"))),
                        }
                    }
                }
                Ok(other) => return Err(Failure::nonsense(&format!("{other:?}"))),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(Failure::new(&self.nodes.address().node, &error, !uncertain.is_empty())),
            None => Ok(uncertain),
        }
    }

    /// Reads the layout that the first user of the set has decided. `None` if the set has no user yet.
    fn layout_at(&mut self, key: &[u8]) -> Result<Option<Layout>, Failure> {
        let Some(Value::BulkString(text)) = self.ask(vec![Request::new("GET", key, [])])?.pop() else {
            return Ok(None);
        };
        let layout = Layout::parse(&text);
        layout.map(Some).ok_or_else(|| {
            let key = String::from_utf8_lossy(key);
            Failure::of(format!("the key {key} is not that of a set: another program has made it: name another set"))
        })
    }

    /// Sends requests, and returns the replies. Returns an error if a server refuses one of the requests.
    pub fn ask(&mut self, requests: Vec<Request>) -> Result<Vec<Value>, Failure> {
        let replies = self.nodes.ask(requests)?.into_iter().map(|answer| answer.reply);
        let replies: redis::RedisResult<Vec<_>> = replies.collect();
        replies.map_err(|error| Failure::new(&self.nodes.address().node, &error, false))
    }
}

/// The name of the server's key that has the layout of the set with this name.
fn noted(name: &str) -> Vec<u8> {
    format!("{name}:shards").into_bytes()
}
