use std::collections::HashSet;

use furui::store::Window;
use redis::Value;

use super::address::Address;
use super::batch::Batch;
use super::failure::Failure;
use super::nodes::{Answer, Nodes, Request};
use crate::error::Error;

/// A set that several processes share, in a server or a cluster. It is spread over many keys, `NAME:{000}` to
/// `NAME:{3ff}`, by the hash of a member.
pub struct RemoteSet {
    nodes: Nodes,
    /// The keys of the set in the server.
    keys: Vec<Vec<u8>>,
}

/// The number of keys of a set, unless its first user chose another.
const SHARDS: u32 = 1024;
/// The maximum number of keys of a set.
const MOST_SHARDS: u32 = 1 << 16;

impl RemoteSet {
    /// Connects to the server of a set. With `records`, a set that is not there yet is made.
    pub fn open(address: Address, records: bool) -> Result<Self, Error> {
        let url = address.to_string();
        let nodes = Nodes::connect(address).map_err(|failure| failure.at(&url))?;
        let mut set = Self { nodes, keys: vec![] };
        let shards = set.shards(records).map_err(|failure| failure.at(&url))?;
        let width = format!("{:x}", shards - 1).len();
        let name = set.nodes.address().name.clone();
        set.keys = (0..shards).map(|shard| format!("{name}:{{{shard:0width$x}}}").into_bytes()).collect();
        // Before any line is read, this finds a server without the module, and keys that are no sets.
        let first = Request::new("FURUI.CARD", &set.keys[0], []);
        set.ask(&[first]).map_err(|failure| failure.at(&url))?;
        Ok(set)
    }

    /// An empty batch of keys for this set.
    pub fn batch(&self) -> Batch {
        Batch::new(self.keys.len() as u32)
    }

    /// The URL of the set, without a password.
    pub fn url(&self) -> String {
        self.nodes.address().to_string()
    }

    /// A failure as an error that names the set.
    pub fn told(&self, failure: Failure) -> Error {
        failure.at(&self.url())
    }

    /// Makes the keys of the set remember a part of the stream. Keys that are there remember what they were made for.
    pub fn reserve(&mut self, window: Window) -> Result<(), Error> {
        let span = match window {
            Window::Keys(keys) => keys.get().div_ceil(self.keys.len() as u64).to_string(),
            Window::Milliseconds(time) => format!("{time}ms"),
        };
        let request = |key: &Vec<u8>| Request::new("FURUI.SEEN.RESERVE", key, [&b"WINDOW"[..], span.as_bytes()]);
        let requests: Vec<Request> = self.keys.iter().map(request).collect();
        let answers = self.nodes.ask(&requests).map_err(|failure| self.told(failure))?;
        let mut refusals = answers.into_iter().filter_map(|answer| answer.reply.err());
        match refusals.find(|error| !error.to_string().contains("exists already")) {
            Some(error) => Err(self.told(Failure::new(&self.nodes.address().node, &error, false))),
            None => Ok(()),
        }
    }

    /// Records keys. `out` tells for each whether it was new. If some cannot be recorded, none is.
    ///
    /// A key for which the connection was lost counts as new, because the server may have recorded it in vain. Returns
    /// how many of the new keys are uncertain in this way: another process may have got them, too.
    pub fn see(&mut self, keys: &Batch, out: &mut Vec<bool>) -> Result<u64, Failure> {
        match self.ask_all("FURUI.SEEN", keys, out) {
            Ok(uncertain) => {
                let (mut first, mut count) = (HashSet::new(), 0);
                for index in uncertain {
                    let is_new = first.insert(keys.key(index));
                    count += u64::from(is_new && !out[index]);
                    out[index] = is_new;
                }
                Ok(count)
            }
            Err((failure, true)) if self.forget(&keys.only(|index| out[index])).is_ok() => {
                Err(Failure { may_have_recorded: false, ..failure })
            }
            Err((failure, _)) => Err(failure),
        }
    }

    /// Tells for each key whether it is in the set.
    pub fn has(&mut self, keys: &Batch, out: &mut Vec<bool>) -> Result<(), Failure> {
        let asked = self.ask_all("FURUI.HAS", keys, out).map(drop);
        asked.map_err(|(failure, _)| Failure { may_have_recorded: false, ..failure })
    }

    /// Removes keys from the set.
    pub fn forget(&mut self, keys: &Batch) -> Result<(), Failure> {
        self.ask_all("FURUI.FORGET", keys, &mut vec![]).map(drop).map_err(|(failure, _)| failure)
    }

    /// Sends a command for all keys, in one round trip to each server. `out` gets true for each key that was answered
    /// with 1. Returns the indices of the keys whose answers are uncertain, in the order of the keys. After an error,
    /// the flag tells whether every key that was recorded is true in `out`.
    fn ask_all(&mut self, command: &str, keys: &Batch, out: &mut Vec<bool>) -> Result<Vec<usize>, (Failure, bool)> {
        out.clear();
        out.resize(keys.len(), false);
        let order = keys.by_shard();
        let shares: Vec<&[usize]> = order.chunk_by(|&a, &b| keys.place(a) == keys.place(b)).collect();
        let request = |share: &&[usize]| {
            let place = keys.place(share[0]) as usize;
            Request::new(command, &self.keys[place], share.iter().map(|&index| keys.key(index)))
        };
        let requests: Vec<Request> = shares.iter().map(request).collect();
        let answers = self.nodes.ask(&requests).map_err(|failure| (failure, false))?;
        let (mut failure, mut uncertain) = (None, vec![]);
        for (share, Answer { reply, is_uncertain }) in shares.iter().zip(answers) {
            if is_uncertain {
                uncertain.extend_from_slice(share);
            }
            match reply {
                Ok(Value::Array(bits)) if bits.len() == share.len() => {
                    for (&index, bit) in share.iter().zip(bits) {
                        match bit {
                            Value::Int(bit @ (0 | 1)) => out[index] = bit == 1,
                            other => return Err((Failure::nonsense(&format!("{other:?}")), false)),
                        }
                    }
                }
                Ok(other) => return Err((Failure::nonsense(&format!("{other:?}")), false)),
                Err(error) => failure = failure.or(Some(Failure::new(&self.nodes.address().node, &error, true))),
            }
        }
        match failure {
            Some(failure) => Err((failure, uncertain.is_empty())),
            None => Ok(uncertain),
        }
    }

    /// The number of keys over which the set is spread. With `records`, a new set gets the usual number.
    fn shards(&mut self, records: bool) -> Result<u32, Failure> {
        let key = format!("{}:shards", self.nodes.address().name).into_bytes();
        let usual = SHARDS.to_string();
        let mut requests = vec![];
        if records {
            requests.push(Request::new("SET", &key, [usual.as_bytes(), b"NX"]));
        }
        requests.push(Request::new("GET", &key, []));
        let mut answers = vec![];
        for request in requests {
            answers = self.ask(&[request])?;
        }
        let noted = match answers.pop() {
            Some(Value::BulkString(text)) => text,
            _ => usual.into_bytes(),
        };
        let number = std::str::from_utf8(&noted).ok().and_then(|text| text.parse().ok());
        number.filter(|number| (1..=MOST_SHARDS).contains(number)).ok_or_else(|| Failure {
            reason: format!(
                "the key {:?} has {:?}, which is no number of shards: another program has made it: name another set",
                String::from_utf8_lossy(&key),
                String::from_utf8_lossy(&noted)
            ),
            may_have_recorded: false,
        })
    }

    /// Sends requests of which none may be refused.
    fn ask(&mut self, requests: &[Request]) -> Result<Vec<Value>, Failure> {
        let replies = self.nodes.ask(requests)?.into_iter().map(|answer| answer.reply);
        let replies: redis::RedisResult<Vec<_>> = replies.collect();
        replies.map_err(|error| Failure::new(&self.nodes.address().node, &error, false))
    }
}
