use std::io;
use std::sync::Arc;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::{StreamProtocol, request_response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::buffer_budget::{BufferBudget, RequestMemory, RequestReader, STEP};
use super::counters::Tally;

/// The maximum length of a request or an answer, in bytes. The value is a choice, not a measurement.
pub const MAX_MESSAGE: usize = 1 << 20;

/// The maximum total size of the answers that this node reads at the same time, in bytes. Chosen: the same as for
/// requests.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The codec of the request-response protocol. A request is its length (4 bytes, little-endian) and its bytes. An
/// answer is the byte 0, its length and its bytes, or the single byte 1 if the node is busy.
///
/// libp2p clones the codec for each connection that it opens, and that clone for each stream of the connection. The
/// connection's clone takes the origin of the connection from [`BufferBudget`], where `IncomingLimits` has recorded it,
/// and passes it to the clones for the streams.
pub(super) struct Codec {
    tally: Arc<Tally>,
    buffers: Arc<BufferBudget>,
    origin: Option<RequestReader>,
    answers: Arc<Semaphore>,
}

impl Codec {
    pub(super) fn new(tally: Arc<Tally>, buffers: Arc<BufferBudget>) -> Self {
        Self { tally, buffers, origin: None, answers: Arc::new(Semaphore::new(MAX_ANSWER_BYTES)) }
    }
}

impl Clone for Codec {
    fn clone(&self) -> Self {
        Self {
            tally: Arc::clone(&self.tally),
            buffers: Arc::clone(&self.buffers),
            origin: self.origin.clone().or_else(|| self.buffers.opened()),
            answers: Arc::clone(&self.answers),
        }
    }
}

/// The bytes of a message. For a request of another node, it also owns the reserved memory.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) room: Option<RequestMemory>,
}

/// An answer to a request; `None` if the node is busy.
pub(super) type Answer = Option<Vec<u8>>;

const ANSWER: u8 = 0;
const BUSY: u8 = 1;

impl request_response::Codec for Codec {
    type Protocol = StreamProtocol;
    type Request = Body;
    type Response = Answer;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Body>
    where
        T: AsyncRead + Unpin + Send,
    {
        let length = length(io).await?;
        let origin = self.origin.as_ref().ok_or_else(|| io::Error::other("a connection without an origin"))?;
        let (bytes, room) = origin.read(io, length).await?;
        self.tally.add(|all| all.exchange_in += (4 + bytes.len()) as u64);
        Ok(Body { bytes, room: Some(room) })
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Answer>
    where
        T: AsyncRead + Unpin + Send,
    {
        let mut kind = [0];
        io.read_exact(&mut kind).await?;
        match kind[0] {
            ANSWER => {
                let bytes = read_answer(io, &self.answers).await?;
                self.tally.add(|all| all.exchange_in += (5 + bytes.len()) as u64);
                Ok(Some(bytes))
            }
            BUSY => {
                self.tally.add(|all| all.exchange_in += 1);
                Ok(None)
            }
            _ => Err(io::Error::other("an answer that begins with neither 0 nor 1")),
        }
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, request: Body) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        let bytes = framed(&[], &request.bytes);
        io.write_all(&bytes).await?;
        self.tally.add(|all| all.exchange_out += bytes.len() as u64);
        Ok(())
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, answer: Answer) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        let bytes = match answer {
            Some(bytes) => framed(&[ANSWER], &bytes),
            None => vec![BUSY],
        };
        io.write_all(&bytes).await?;
        self.tally.add(|all| all.exchange_out += bytes.len() as u64);
        Ok(())
    }
}

/// Puts a message and its header into one buffer, so that the layers below send as few packets as possible.
fn framed(kind: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("callers refuse bodies longer than MAX_MESSAGE");
    [kind, &length.to_le_bytes(), body].concat()
}

/// Reads the length of a message, and checks that it is at most [`MAX_MESSAGE`].
async fn length<T: AsyncRead + Unpin>(io: &mut T) -> io::Result<usize> {
    let mut length = [0; 4];
    io.read_exact(&mut length).await?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a message longer than MAX_MESSAGE"));
    }
    Ok(length)
}

async fn read_answer<T: AsyncRead + Unpin>(io: &mut T, room: &Arc<Semaphore>) -> io::Result<Vec<u8>> {
    let length = length(io).await?;
    let mut bytes = Vec::new();
    let mut taken: Option<OwnedSemaphorePermit> = None;
    while bytes.len() < length {
        let from = bytes.len();
        let step = STEP.min(length - from);
        let more = Arc::clone(room)
            .try_acquire_many_owned(step as u32)
            .map_err(|_| io::Error::new(io::ErrorKind::ResourceBusy, "too many bytes of messages at once"))?;
        match &mut taken {
            Some(taken) => taken.merge(more),
            None => taken = Some(more),
        }
        bytes.resize(from + step, 0);
        io.read_exact(&mut bytes[from..]).await?;
    }
    Ok(bytes)
}
