use furui_search::Peer;
use thiserror::Error;
use tokio::sync::oneshot;

use super::Prefix;
use super::buffer_budget::RequestMemory;
use super::codec::MAX_MESSAGE;

/// A request received from another node.
#[derive(Debug)]
pub struct Inbound {
    /// The node that sent the request.
    pub from: Peer,
    /// The address prefix of the connection with the node that sent the request.
    pub prefix: Prefix,
    /// The bytes of the request.
    pub request: Vec<u8>,
    /// The handle with which the request is answered.
    pub reply: Reply,
}

/// Sends the answer to a request. If it is dropped without an answer, the other node's call fails with
/// [`CallError::Closed`].
#[derive(Debug)]
pub struct Reply {
    answer: oneshot::Sender<Vec<u8>>,
    /// The memory of the request, which is reserved until the request is answered.
    _room: Option<RequestMemory>,
}

impl Reply {
    pub(crate) fn new(room: Option<RequestMemory>) -> (Self, oneshot::Receiver<Vec<u8>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { answer, _room: room }, receiver)
    }

    /// Sends the answer. There is no indication whether the other node receives it.
    ///
    /// # Errors
    /// If the answer is longer than [`MAX_MESSAGE`]. Then nothing is sent.
    pub fn send(self, answer: Vec<u8>) -> Result<(), CallError> {
        if answer.len() > MAX_MESSAGE {
            return Err(CallError::TooLong);
        }
        // Sending fails if the other node has closed the stream.
        let _ = self.answer.send(answer);
        Ok(())
    }
}

/// The reason that a call to another node has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The peer's identity or address is invalid.
    #[error("the peer's identity or address is invalid")]
    NoPeer,
    /// None of the peer's addresses could be reached.
    #[error("the peer cannot be reached at any of its addresses")]
    Unreachable,
    /// The connection or the request's stream ended before the answer.
    #[error("the peer ended the connection before it answered")]
    Closed,
    /// The answer did not arrive within the time limit.
    #[error("the peer did not answer in time")]
    TimedOut,
    /// The peer already serves its maximum number of requests. Another peer can be asked, or this one later.
    #[error("the peer is busy with earlier requests")]
    Busy,
    /// The request, or the peer's answer, is longer than [`MAX_MESSAGE`].
    #[error("the message is longer than the protocol allows")]
    TooLong,
    /// The peer does not support the request-response protocol of this network.
    #[error("the peer does not speak furui's protocol")]
    Foreign,
    /// This node is shut down.
    #[error("this node is shut down")]
    Stopped,
}
