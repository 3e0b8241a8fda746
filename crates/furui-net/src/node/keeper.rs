use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use furui::HashSpec;
use furui::search::{
    AnswerEvent, Answerer, ContentId, IdRange, Index, Listed, Listing, Lock, Peer, Refusal, Request, Response, SAMPLE,
    SURVEYED, WordPostings, WordSize, limits,
};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::allowance::Allowance;
use super::kept::Kept;
use super::places::Places;
use super::{fetch, record_key, word_key};
use crate::net::{Inbound, Net, Reply};
use crate::shelf::Shelf;

/// Orders of this node's own that wait for the shelf.
const ORDERS: usize = 64;
/// How long a document that is published is kept, if it is not published again.
pub(super) const LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Words of a shelf that are looked through for one answer to a comparison.
const COMPARED: usize = 4 << 10;
/// Bytes of ids in one answer, and of an id with its days.
const LISTED_BYTES: usize = limits::MESSAGE_BYTES - (64 << 10);
const LISTED_ID: usize = ContentId::BYTES + 1;
/// Room in an answer that is not worth beginning another list.
const SPARE: usize = 8 << 10;
/// How long nothing may have been stored before the shelf is made small: it takes the thread for as long as it takes to
/// write what the shelf holds.
const QUIET: Duration = Duration::from_secs(2 * 60);
/// How much must have changed for that: as many messages with something to store.
const CHANGES: u64 = 32;
/// Longer than it is ever waited.
const LONG: Duration = Duration::from_secs(3600);
const DAY: u64 = 24 * 60 * 60;

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// What the thread is to do next for its own node.
enum Order {
    Do(Job),
    Settled(Places),
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
    pub(super) async fn start(
        shelf: Shelf,
        net: Net,
        inbound: mpsc::Receiver<Inbound>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (orders, order_queue) = mpsc::channel(ORDERS);
        let counts = Arc::new(Counts::default());
        // A clock of its own: the thread outlives the runtime if the node is dropped without being shut down.
        let clock = Builder::new_current_thread().enable_time().build()?;
        let desk = Desk {
            answerer: Answerer::new(net.me()),
            kept: Kept::new(shelf, net.me(), Places::of(&net).await),
            state: HashSpec::random(),
            comings: 0,
            allowance: Allowance::default(),
            compacted: 0,
            quiet: None,
            net,
            runtime: Handle::current(),
            replies: HashMap::new(),
            next_reply: 0,
            started: Instant::now(),
            counts: Arc::clone(&counts),
        };
        let thread = thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || clock.block_on(desk.work(inbound, order_queue)))?;
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

    /// Tells that everything was taken over that this node should hold if these are the nodes around.
    pub(super) async fn settle(&self, places: Places) {
        // An error: it has ended.
        let _ = self.orders.send(Order::Settled(places)).await;
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
    /// Where that runs which waits for others.
    runtime: Handle,
    kept: Kept,
    answerer: Answerer,
    net: Net,
    /// How often one of the nearest came or went.
    comings: u64,
    /// How the state that others compare with is made of what it depends on.
    state: HashSpec,
    allowance: Allowance,
    /// The shelf's changes when it was last made small, and when it is to be made so.
    compacted: u64,
    quiet: Option<(u64, Instant)>,
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
        let mut neighbourhood = self.net.neighbourhood();
        loop {
            let deadline = self.answerer.deadline().map_or(Instant::now() + LONG, |at| self.started + at);
            let quiet = self.quiet.map_or(Instant::now() + LONG, |(_, at)| at);
            tokio::select! {
                answer = answered.recv() => {
                    if let Some(Answer { call, response }) = answer {
                        let now = self.now();
                        match response {
                            Some(response) => self.answerer.on_response(call, response, now, &mut self.kept),
                            None => self.answerer.on_failure(call, now, &mut self.kept),
                        }
                    }
                }
                request = inbound.recv() => match request {
                    Some(request) => self.on_request(request),
                    None => break,
                },
                order = orders.recv() => match order {
                    Some(Order::Do(job)) => job(&mut self.kept.shelf),
                    Some(Order::Settled(places)) => self.kept.settle(places),
                    Some(Order::Stop) | None => break,
                },
                Ok(()) = neighbourhood.changed() => {
                    self.comings += 1;
                    self.kept.met_others(Places::of(&self.net).await);
                }
                () = tokio::time::sleep_until(deadline) => {
                    let now = self.now();
                    self.answerer.on_time(now, &mut self.kept);
                }
                () = tokio::time::sleep_until(quiet) => self.compact(),
            }
            self.note_changes();
            while let Some(event) = self.answerer.poll() {
                match event {
                    AnswerEvent::Respond { call, response } => {
                        if let Some(reply) = self.replies.remove(&call) {
                            self.respond(reply, &response);
                        }
                    }
                    AnswerEvent::Send { to, call, request } => {
                        let (net, answers) = (self.net.clone(), answers.clone());
                        self.runtime.spawn(async move {
                            let response = super::call(&net, &to, &request).await;
                            // An error: the desk is closed.
                            let _ = answers.send(Answer { call, response });
                        });
                    }
                }
            }
        }
    }

    /// Puts off what waits for a time when nothing is stored.
    fn note_changes(&mut self) {
        let changes = self.kept.shelf.changes();
        let is_worth_it = changes >= self.compacted + CHANGES;
        if is_worth_it && self.quiet.is_none_or(|(then, _)| then != changes) {
            self.quiet = Some((changes, Instant::now() + QUIET));
        }
    }

    fn compact(&mut self) {
        // A storage that fails says so to whoever stores something next.
        let _ = self.kept.shelf.compact();
        self.compacted = self.kept.shelf.changes();
        self.quiet = None;
    }

    /// A number that is another when others may have to take something over, and is not known to any before.
    fn state(&self) -> u64 {
        let depends_on = [self.kept.shelf.changes().to_le_bytes(), self.comings.to_le_bytes()].concat();
        self.state.hash(&depends_on).get().max(1)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn on_request(&mut self, Inbound { from, request, reply }: Inbound) {
        let bytes = request.len();
        let request = match Request::decode(&request) {
            Ok(request) => request,
            Err(_) => return self.respond(reply, &Response::Refused(Refusal::Invalid)),
        };
        let call = self.next_reply;
        self.next_reply += 1;
        self.replies.insert(call, reply);
        let now = self.now();
        let Some(request) = self.answerer.on_request(&from, call, request, now, &mut self.kept) else { return };
        let Some(reply) = self.replies.remove(&call) else { return };
        match self.answer(&from, request, bytes) {
            Ok(Later::Now(response)) => self.respond(reply, &response),
            Ok(Later::Sizes(sizes)) => {
                let (net, counts) = (self.net.clone(), Arc::clone(&self.counts));
                self.runtime.spawn(async move {
                    let keys = sizes.iter().map(|(word, _)| word_key(word)).collect();
                    let holders = net.replicas(keys, limits::REPLICAS).await;
                    let answer =
                        sizes.into_iter().zip(holders).map(|((_, size), holders)| WordSize { holders, ..size });
                    respond(&counts, reply, &Response::Sizes(answer.collect()));
                });
            }
            Err(_) => self.respond(reply, &Response::Refused(Refusal::Failed)),
        }
    }

    /// Answers what needs no memory between messages.
    fn answer(&mut self, from: &Peer, request: Request, bytes: usize) -> furui::Result<Later> {
        let response = match request {
            Request::Size { words } => {
                let mut sizes = Vec::with_capacity(words.len());
                for word in words {
                    let listing = self.kept.size(&word)?;
                    let mean_length = self.mean_length(&word)?;
                    let Listing { ids, whole } = listing;
                    sizes.push((word, WordSize { ids, whole, mean_length, holders: Vec::new() }));
                }
                return Ok(Later::Sizes(sizes));
            }
            Request::Fetch { ids, clauses } => fetch::answer(&mut self.kept.shelf, &ids, &clauses)?,
            Request::Store { postings, records } => self.store(from, postings, records, bytes)?,
            Request::Withdraw { keys } => {
                if *from != self.net.me() && !self.allowance.grants(from, bytes, self.now()) {
                    return Ok(Later::Now(Response::Refused(Refusal::Busy)));
                }
                let expires = unix_seconds() + LIFE.as_secs();
                Response::Withdrawn { opened: self.kept.shelf.withdraw(&keys, expires, false)? }
            }
            Request::Locks { ids } => Response::Locks(locks(&mut self.kept.shelf, &ids)?),
            Request::Withdrawn { range } => self.withdrawn(from, range)?,
            Request::Compare { from: after, since } => self.compare(from, &after, since)?,
            Request::List { words, range } => Response::Listed(self.list(from, &words, range)?),
            // The answerer keeps these for itself.
            Request::Search(_) | Request::Meet(_) | Request::Settle(_) => Response::Refused(Refusal::Invalid),
        };
        Ok(Later::Now(response))
    }

    /// How long the documents of the sample are on average, if the word is the sample's.
    fn mean_length(&mut self, word: &str) -> furui::Result<u32> {
        if word != SAMPLE {
            return Ok(0);
        }
        let weights = self.kept.weights(word, IdRange::ALL, SURVEYED)?;
        let lengths: u64 = weights.iter().map(|weight| u64::from(weight.length())).sum();
        Ok(u32::try_from(lengths / (weights.len() as u64).max(1)).unwrap_or(u32::MAX))
    }

    /// Keeps what this node may well be the one to keep.
    fn store(
        &mut self,
        from: &Peer,
        mut postings: Vec<WordPostings>,
        records: Vec<(Lock, Vec<u8>)>,
        bytes: usize,
    ) -> furui::Result<Response> {
        let me = self.net.me();
        let now = self.now();
        if *from != me && !self.allowance.grants(from, bytes, now) {
            return Ok(Response::Refused(Refusal::Busy));
        }
        let brought = postings.len() + records.len();
        postings.retain(|(word, _)| self.kept.near.may_keep(&me, &word_key(word)));
        let (mut locks, mut kept) = (Vec::with_capacity(records.len()), Vec::with_capacity(records.len()));
        for (lock, record) in records {
            let id = ContentId::of(&record);
            if self.kept.near.may_keep(&me, &record_key(id)) {
                locks.push((id, lock));
                kept.push((id, record));
            }
        }
        let records = kept;
        if brought > 0 && postings.is_empty() && records.is_empty() {
            return Ok(Response::Refused(Refusal::Invalid));
        }
        let expires = unix_seconds() + LIFE.as_secs();
        Ok(Response::Stored { new: self.kept.shelf.store_locked(&postings, &records, &locks, expires)?.new })
    }

    /// The lists that another may well have to keep, in short; none if nothing has changed since it had them all.
    fn compare(&mut self, from: &Peer, after: &str, since: u64) -> furui::Result<Response> {
        let state = self.state();
        if state == since {
            return Ok(Response::Compared { state, lists: Vec::new(), more: false });
        }
        let lists = self.kept.shelf.words_after(after, COMPARED)?;
        let more = lists.len() == COMPARED;
        // The last stays, for the other side to go on after it.
        let last = if more { lists.len() } else { usize::MAX };
        let lists = lists
            .into_iter()
            .zip(1..)
            .filter(|(list, number)| *number == last || self.kept.near.may_keep(from, &word_key(&list.word)));
        let lists = lists.map(|(list, _)| (list.word, list.ids, list.fingerprint)).collect();
        Ok(Response::Compared { state, lists, more })
    }

    /// Parts of these lists, as much as fits into a message.
    fn list(&mut self, from: &Peer, words: &[String], range: IdRange) -> furui::Result<Vec<Listed>> {
        let (now, shelf) = (unix_seconds(), &mut self.kept.shelf);
        let mut room = LISTED_BYTES;
        let mut lists = Vec::new();
        for word in words {
            if room < SPARE {
                break;
            }
            let most = limits::IDS.min(room / LISTED_ID);
            // The list of no word is that of the records.
            let ids = if word.is_empty() { shelf.records(range, most)? } else { shelf.slice(word, range, most)? };
            let (more, looked_at) = (ids.len() == most, ids.len());
            let weights = if word.is_empty() { Vec::new() } else { shelf.weights(word, range, most)?.to_vec() };
            let mut ids = ids.to_vec();
            if word.is_empty() {
                let last = ids.last().copied().filter(|_| more);
                ids.retain(|id| last == Some(*id) || self.kept.near.may_keep(from, &record_key(*id)));
            }
            let expiries = shelf.expiries(&ids)?;
            let days = expiries.into_iter().map(|at| days(at, now)).collect();
            // Those that are not for the other side took time all the same.
            room = room.saturating_sub(looked_at * LISTED_ID);
            lists.push(Listed { ids, weights, days, more });
        }
        Ok(lists)
    }

    /// Keys that opened locks of what another may well have to keep.
    fn withdrawn(&mut self, from: &Peer, range: IdRange) -> furui::Result<Response> {
        let now = unix_seconds();
        let mut keys = self.kept.shelf.withdrawn(range, limits::KEYS)?;
        let more = keys.len() == limits::KEYS;
        let last = keys.last().filter(|_| more).map(|(id, ..)| id.head());
        // The other side goes on after the head of the last, whose keys may not all be here.
        if let Some(last) = last.filter(|last| keys.first().is_some_and(|(id, ..)| id.head() < *last)) {
            keys.retain(|(id, ..)| id.head() < last);
        }
        let last = keys.last().filter(|_| more).map(|(id, ..)| *id);
        keys.retain(|(id, ..)| last == Some(*id) || self.kept.near.may_keep(from, &record_key(*id)));
        let keys = keys.into_iter().map(|(id, key, expires)| (id, key, days(expires, now))).collect();
        Ok(Response::Keys { keys, more })
    }

    fn respond(&self, reply: Reply, response: &Response) {
        respond(&self.counts, reply, response);
    }
}

/// An answer, or what is still missing in it.
enum Later {
    Now(Response),
    Sizes(Vec<(String, WordSize)>),
}

/// How many days are left, rounded down.
fn days(until: u64, now: u64) -> u8 {
    (until.saturating_sub(now) / DAY).min(u8::MAX.into()) as u8
}

/// The locks of these documents.
fn locks(shelf: &mut Shelf, ids: &[ContentId]) -> furui::Result<Vec<Vec<(Lock, u8)>>> {
    let now = unix_seconds();
    let mut locks = Vec::with_capacity(ids.len());
    for id in ids {
        locks.push(shelf.locks(*id)?.into_iter().map(|(lock, expires)| (lock, days(expires, now))).collect());
    }
    Ok(locks)
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
