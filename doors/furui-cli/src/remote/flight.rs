use std::collections::VecDeque;

use redis::{RedisResult, Value};

use super::link::Link;
use super::node::Node;
use super::slots::slot_of;

/// A command for one key, and the hash slot of the key.
pub struct Request {
    pub slot: u16,
    pub packed: Vec<u8>,
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

/// The answer of a server to a request, and whether the request may have been executed twice.
pub struct Answer {
    /// The reply of the server. A refusal of the server is an error.
    pub reply: RedisResult<Value>,
    /// True if the connection was lost after the request was sent for the first time: the server may have executed it
    /// twice.
    pub is_uncertain: bool,
}

/// Requests that were sent together, and what is known of their answers.
pub struct Flight {
    pub requests: Vec<Request>,
    pub states: Vec<State>,
}

/// The state of a request that is being answered.
#[derive(Default)]
pub struct State {
    pub reply: Option<RedisResult<Value>>,
    pub is_uncertain: bool,
    /// True if the request was sent over a connection that still waits for its answer.
    pub is_sent: bool,
    /// The server to which a redirect sends the request, and true if the command `ASKING` must precede it there. `None`
    /// without a redirect.
    pub redirected: Option<(Node, bool)>,
}

impl Flight {
    pub fn new(requests: Vec<Request>) -> Self {
        let states = requests.iter().map(|_| State::default()).collect();
        Self { requests, states }
    }

    /// True if all requests have an answer.
    pub fn is_answered(&self) -> bool {
        self.states.iter().all(|state| state.reply.is_some())
    }

    /// True if a server may have executed one of the requests.
    pub fn may_be_executed(&self) -> bool {
        self.states.iter().any(|state| state.reply.is_some() || state.is_uncertain || state.is_sent)
    }

    /// The answers, if there are all of them.
    pub fn answers(self) -> Vec<Answer> {
        let answer = |state: State| Some(Answer { reply: state.reply?, is_uncertain: state.is_uncertain });
        self.states.into_iter().filter_map(answer).collect()
    }
}

/// The requests of a flight that were sent to a server together.
pub struct Trip {
    /// The number of the flight among all that were ever sent.
    pub flight: u64,
    /// The index of each request in the flight, and true if the command `ASKING` precedes it.
    pub requests: Vec<(usize, bool)>,
}

/// A connection to a server, and the trips whose answers it will give next, in this order.
pub struct Line {
    pub link: Link,
    pub trips: VecDeque<Trip>,
}
