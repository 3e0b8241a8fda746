use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use furui::search::{AnswerEvent, Answerer, ContentId, Fetched, Index, Refusal, Request, Response, WordSize, limits};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::places::Places;
use super::word_key;
use crate::net::{Inbound, Net, Reply};
use crate::shelf::Shelf;

/// Orders of this node's own that wait for the shelf.
const ORDERS: usize = 64;
/// How long a document that is published is kept, if it is not published again.
pub(super) const LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Words of a shelf that are looked through for one answer to a comparison.
const COMPARED: usize = 4 << 10;
/// Bytes of records in one answer.
const FETCHED_BYTES: usize = limits::MESSAGE_BYTES - (16 << 10);

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// What the thread is to do next for its own node.
enum Order {
    Do(Job),
    Stop,
}

/// The thread that a node's shelf and its answering side live on: requests of others come in, answers go out, and jobs of
/// the node's own are done in between.
///
/// One thread, because the storage waits for the disk, and because lists are read and written whole.
#[derive(Clone)]
pub(super) struct Keeper {
    orders: mpsc::Sender<Order>,
    counts: Arc<Counts>,
}

/// What was done for others.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) answered: AtomicU64,
    pub(super) refused: AtomicU64,
}

impl Keeper {
    /// Starts the thread; it ends when it is [told so](Self::stop), or the last handle is dropped.
    pub(super) fn start(
        shelf: Shelf,
        net: Net,
        inbound: mpsc::Receiver<Inbound>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (orders, order_queue) = mpsc::channel(ORDERS);
        let counts = Arc::new(Counts::default());
        let runtime = Handle::current();
        let desk = Desk {
            answerer: Answerer::new(net.me()),
            shelf,
            net,
            replies: HashMap::new(),
            next_reply: 0,
            started: Instant::now(),
            counts: Arc::clone(&counts),
        };
        let thread = thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || runtime.block_on(desk.work(inbound, order_queue)))?;
        Ok((Self { orders, counts }, thread))
    }

    /// Has the shelf do something, in turn. `None` if the node is shut down.
    pub(super) async fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Shelf) -> T + Send + 'static) -> Option<T> {
        let (answer, receiver) = oneshot::channel();
        let job: Job = Box::new(move |shelf| {
            // An error: nobody waits for it any more.
            let _ = answer.send(job(shelf));
        });
        self.orders.send(Order::Do(job)).await.ok()?;
        receiver.await.ok()
    }

    /// Has the thread end, after what was asked before.
    pub(super) async fn stop(&self) {
        // An error: it has ended.
        let _ = self.orders.send(Order::Stop).await;
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }
}

struct Desk {
    shelf: Shelf,
    answerer: Answerer,
    net: Net,
    /// By the number that the answerer knows the request by.
    replies: HashMap<u64, Reply>,
    next_reply: u64,
    started: Instant,
    counts: Arc<Counts>,
}

/// What came back for a request of the answerer's.
struct Answer {
    call: u64,
    response: Option<Response>,
}

impl Desk {
    async fn work(mut self, mut inbound: mpsc::Receiver<Inbound>, mut orders: mpsc::Receiver<Order>) {
        // Its length is bounded by the meetings that the answerer has: each waits for one answer.
        let (answers, mut answered) = mpsc::unbounded_channel::<Answer>();
        loop {
            let deadline = self.answerer.deadline().map_or(Duration::from_secs(3600), |at| at);
            tokio::select! {
                answer = answered.recv() => {
                    if let Some(Answer { call, response }) = answer {
                        let now = self.now();
                        match response {
                            Some(response) => self.answerer.on_response(call, response, now, &mut self.shelf),
                            None => self.answerer.on_failure(call, now, &mut self.shelf),
                        }
                    }
                }
                request = inbound.recv() => match request {
                    Some(request) => self.on_request(request),
                    None => break,
                },
                order = orders.recv() => match order {
                    Some(Order::Do(job)) => job(&mut self.shelf),
                    Some(Order::Stop) | None => break,
                },
                () = tokio::time::sleep_until(self.started + deadline) => {
                    let now = self.now();
                    self.answerer.on_time(now, &mut self.shelf);
                }
            }
            while let Some(event) = self.answerer.poll() {
                match event {
                    AnswerEvent::Respond { call, response } => {
                        if let Some(reply) = self.replies.remove(&call) {
                            self.respond(reply, &response);
                        }
                    }
                    AnswerEvent::Send { to, call, request } => {
                        let (net, answers) = (self.net.clone(), answers.clone());
                        tokio::spawn(async move {
                            let response = super::call(&net, &to, &request).await;
                            // An error: the desk is closed.
                            let _ = answers.send(Answer { call, response });
                        });
                    }
                }
            }
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn on_request(&mut self, Inbound { from, request, reply }: Inbound) {
        let request = match Request::decode(&request) {
            Ok(request) => request,
            Err(_) => return self.respond(reply, &Response::Refused(Refusal::Invalid)),
        };
        let call = self.next_reply;
        self.next_reply += 1;
        self.replies.insert(call, reply);
        let now = self.now();
        let Some(request) = self.answerer.on_request(&from, call, request, now, &mut self.shelf) else { return };
        let Some(reply) = self.replies.remove(&call) else { return };
        match self.answer(request) {
            Ok(Later::Now(response)) => self.respond(reply, &response),
            Ok(Later::Sizes(sizes)) => {
                let (net, counts) = (self.net.clone(), Arc::clone(&self.counts));
                tokio::spawn(async move {
                    let mut answer = Vec::with_capacity(sizes.len());
                    for (word, mut size) in sizes {
                        size.holders = net.replicas(&word_key(&word), limits::REPLICAS).await;
                        answer.push(size);
                    }
                    respond(&counts, reply, &Response::Sizes(answer));
                });
            }
            Ok(Later::Compared { lists, more }) => {
                let (net, counts) = (self.net.clone(), Arc::clone(&self.counts));
                tokio::spawn(async move {
                    let places = Places::of(&net).await;
                    // The last stays, for the other side to go on after it.
                    let last = if more { lists.len() } else { usize::MAX };
                    let lists = lists
                        .into_iter()
                        .enumerate()
                        .filter(|(at, (word, ..))| at + 1 == last || places.keeps(&from, &word_key(word)));
                    let lists = lists.map(|(_, list)| list).collect();
                    respond(&counts, reply, &Response::Compared { lists, more });
                });
            }
            Err(_) => self.respond(reply, &Response::Refused(Refusal::Failed)),
        }
    }

    /// Answers what needs no memory between messages.
    fn answer(&mut self, request: Request) -> furui::Result<Later> {
        let shelf = &mut self.shelf;
        let response = match request {
            Request::Size { words } => {
                let mut sizes = Vec::with_capacity(words.len());
                for word in words {
                    let listing = shelf.size(&word)?;
                    sizes.push((word, WordSize { ids: listing.ids, whole: listing.whole, holders: Vec::new() }));
                }
                return Ok(Later::Sizes(sizes));
            }
            Request::Fetch { ids } => Response::Fetched(fetch(shelf, &ids)?),
            Request::Store { postings, records } => {
                let records: Vec<_> = records.into_iter().map(|record| (ContentId::of(&record), record)).collect();
                let expires = unix_seconds() + LIFE.as_secs();
                Response::Stored { new: shelf.store(&postings, &records, expires)?.new }
            }
            Request::Compare { from } => {
                let lists = shelf.words_after(&from, COMPARED)?;
                let more = lists.len() == COMPARED;
                let lists = lists.into_iter().map(|list| (list.word, list.ids, list.fingerprint)).collect();
                return Ok(Later::Compared { lists, more });
            }
            Request::List { word, range } => {
                // The list of no word is that of the records.
                let ids = match word.is_empty() {
                    true => shelf.records(range, limits::IDS)?,
                    false => shelf.slice(&word, range, limits::IDS)?,
                };
                let more = ids.len() == limits::IDS;
                Response::Listed { ids: ids.to_vec(), more }
            }
            // The answerer keeps these for itself.
            Request::Search(_) | Request::Meet(_) | Request::Settle(_) => Response::Refused(Refusal::Invalid),
        };
        Ok(Later::Now(response))
    }

    fn respond(&self, reply: Reply, response: &Response) {
        respond(&self.counts, reply, response);
    }
}

/// An answer, or what is still missing in it.
enum Later {
    Now(Response),
    Sizes(Vec<(String, WordSize)>),
    Compared { lists: Vec<(String, u64, u64)>, more: bool },
}

/// The records of these documents, as many as fit into a message.
fn fetch(shelf: &mut Shelf, ids: &[ContentId]) -> furui::Result<Vec<Fetched>> {
    let mut room = FETCHED_BYTES;
    let mut fetched = Vec::with_capacity(ids.len());
    for id in ids {
        fetched.push(match shelf.document(*id)? {
            None => Fetched::Unknown,
            Some(record) if record.len() <= room => {
                room -= record.len();
                Fetched::Record(record)
            }
            Some(_) => Fetched::Later,
        });
    }
    Ok(fetched)
}

fn respond(counts: &Counts, reply: Reply, response: &Response) {
    let count = if matches!(response, Response::Refused(_)) { &counts.refused } else { &counts.answered };
    count.fetch_add(1, Ordering::Relaxed);
    let bytes = response.encode().or_else(|_| Response::Refused(Refusal::Failed).encode());
    if let Ok(bytes) = bytes {
        // An error: too long, which the encoder excludes.
        let _ = reply.send(bytes);
    }
}

pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
