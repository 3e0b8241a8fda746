use furui_search::Peer;
use thiserror::Error;
use tokio::sync::oneshot;

use super::Prefix;
use super::buffer_budget::RequestMemory;
use super::codec::MAX_MESSAGE;

/// A request of another node.
#[derive(Debug)]
pub struct Inbound {
    /// The node that sent the request.
    pub from: Peer,
    /// The address prefix from which the node is connected.
    pub prefix: Prefix,
    /// The bytes of the request.
    pub request: Vec<u8>,
    /// Sends the answer.
    pub reply: Reply,
}

/// Sends the answer to a request. If it is dropped, the request ends without an answer, and the other side sees
/// [`CallError::Closed`].
#[derive(Debug)]
pub struct Reply {
    answer: oneshot::Sender<Vec<u8>>,
    /// The memory for the request, held until it is answered.
    _room: Option<RequestMemory>,
}

impl Reply {
    pub(crate) fn new(room: Option<RequestMemory>) -> (Self, oneshot::Receiver<Vec<u8>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { answer, _room: room }, receiver)
    }

    /// Sends the answer. It is unknown whether the other side still waits for it.
    ///
    /// # Errors
    /// If the answer is longer than [`MAX_MESSAGE`]. Then nothing is sent.
    pub fn send(self, answer: Vec<u8>) -> Result<(), TooLong> {
        if answer.len() > MAX_MESSAGE {
            return Err(TooLong { bytes: answer.len() });
        }
        // Sending fails if the other side has given up.
        let _ = self.answer.send(answer);
        Ok(())
    }
}

/// A message is longer than [`MAX_MESSAGE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a message of {bytes} bytes; the maximum is {MAX_MESSAGE}: send it in parts")]
pub struct TooLong {
    /// The length of the message.
    pub bytes: usize,
}

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The peer's identity or address is invalid.
    #[error("the peer's identity or address is invalid")]
    NoPeer,
    /// None of the peer's addresses answers.
    #[error("the peer cannot be reached at any of its addresses")]
    Unreachable,
    /// The connection or the request's stream ended before the answer.
    #[error("the peer ended the connection before it answered")]
    Closed,
    /// The answer did not arrive in time.
    #[error("the peer did not answer in time")]
    TimedOut,
    /// The peer already serves its maximum number of requests. Ask another peer, or ask later.
    #[error("the peer is busy with earlier requests")]
    Busy,
    /// The request, or the peer's answer, is longer than [`MAX_MESSAGE`].
    #[error("the message is longer than the protocol allows")]
    TooLong,
    /// The peer does not speak this protocol.
    #[error("the peer does not speak furui's protocol")]
    Foreign,
    /// This node is shut down.
    #[error("this node is shut down")]
    Stopped,
}
