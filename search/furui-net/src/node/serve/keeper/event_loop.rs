use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use furui::{HashSpec, KeyHasher};
use furui_search::{AnswerEvent, Answerer, ContentId, Peer, Refusal, Request, Response};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::scheduler::Scheduler;
use super::{Counts, Order};
use crate::net::{Inbound, Net, Prefix, Reply};
use crate::node;
use crate::node::allowance::Allowance;
use crate::node::claims::{Budget, Checker};
use crate::node::kept::Kept;
use crate::node::owner_list::OwnerList;
use crate::node::places::Places;
use crate::node::sources::Sources;
use crate::shelf::Origin;

/// The time without changes after which the shelf (the node's storage) is compacted. Compaction blocks the thread while
/// it rewrites the shelf's files. The value is a choice, not a measurement.
const QUIET: Duration = Duration::from_secs(2 * 60);
/// The minimum number of changes of the shelf (the node's storage) between two compactions. Each message that stores
/// something counts as one change, and so does each lock that is opened. The value is a choice, not a measurement.
const CHANGES: u64 = 32;
/// The interval at which the shelf (the node's storage) is opened again after the disk was full, or too many files were
/// open. The value is a choice, not a measurement.
const REOPEN: Duration = Duration::from_secs(5);
/// A sleep duration that stands for no deadline.
const LONG: Duration = Duration::from_secs(3600);

/// The state of the thread of a [`Keeper`](super::Keeper), which owns the node's storage.
pub(super) struct EventLoop {
    /// The runtime for tasks that wait for other nodes.
    pub(super) runtime: Handle,
    pub(super) kept: Kept,
    answerer: Answerer,
    pub(super) net: Net,
    /// The number of times that one of the nearest nodes has joined or left.
    comings: u64,
    /// The hasher that makes the [`state`](Self::state). Its seed is random.
    state: KeyHasher,
    pub(super) allowance: Allowance,
    pub(super) checker: Checker,
    pub(super) budget: Budget,
    pub(super) sources: Sources,
    /// The sender by which tasks return what they have fetched: see [`later`](Self::later). The length of this channel
    /// is bounded by the number of messages that wait for a check, which the budget limits, and by the number of
    /// meetings (searches that this node hosts), each of which waits for one answer.
    done: mpsc::UnboundedSender<Done>,
    ended: mpsc::UnboundedReceiver<Done>,
    /// The postings, each as its word and its document, whose examination is in progress.
    pub(super) doubted: HashSet<(String, ContentId)>,
    /// The peers, each with its address prefix, whose unproven data is to be removed.
    pub(super) to_remove: HashSet<Origin>,
    /// The time before which no peer's data is removed, so that removals do not take up the thread.
    pub(super) removes_after: Instant,
    /// The number of changes of the shelf (the node's storage) when it was last compacted.
    compacted: u64,
    /// The number of changes of the shelf (the node's storage) when a compaction was planned, and the time for which it
    /// was planned.
    quiet: Option<(u64, Instant)>,
    /// The requests of other nodes that wait for the thread of the node's storage.
    scheduler: Scheduler,
    /// The senders of answers, by the numbers under which the answerer knows the requests.
    pub(super) replies: HashMap<u64, Reply>,
    next_reply: u64,
    started: Instant,
    pub(super) counts: Arc<Counts>,
    pub(super) blocklist: Arc<OwnerList>,
    /// The directory of the shelf; `None` if the shelf is in memory.
    directory: Option<PathBuf>,
    /// The time at which to reopen the shelf after the disk was full or too many files were open; `None` if there was
    /// no such failure.
    reopen: Option<Instant>,
}

/// The continuation that runs on the thread after a task has fetched something. It returns the address prefix and the
/// peer to which the work is charged, if any.
type Done = Box<dyn FnOnce(&mut EventLoop) -> Option<(Prefix, Peer)> + Send>;

impl EventLoop {
    /// Makes the state of the thread that owns the node's storage. Must be called on a thread of the runtime that runs
    /// the tasks which wait for other nodes.
    pub(super) fn new(kept: Kept, net: Net, counts: Arc<Counts>, blocklist: Arc<OwnerList>, checker: Checker) -> Self {
        let (done, ended) = mpsc::unbounded_channel();
        Self {
            checker,
            budget: Budget::default(),
            sources: Sources::default(),
            done,
            ended,
            doubted: HashSet::new(),
            to_remove: HashSet::new(),
            removes_after: Instant::now(),
            runtime: Handle::current(),
            answerer: Answerer::new(net.me()),
            directory: kept.shelf.directory().map(Path::to_owned),
            reopen: None,
            kept,
            net,
            comings: 0,
            state: HashSpec::random().hasher(),
            allowance: Allowance::default(),
            compacted: 0,
            quiet: None,
            scheduler: Scheduler::default(),
            replies: HashMap::new(),
            next_reply: 0,
            started: Instant::now(),
            counts,
            blocklist,
        }
    }

    /// Handles requests, orders and finished tasks until an order to stop arrives or all senders are dropped.
    pub(super) async fn work(mut self, mut inbound: mpsc::Receiver<Inbound>, mut orders: mpsc::Receiver<Order>) {
        let mut neighbourhood = self.net.neighbourhood();
        loop {
            let deadline = self.answerer.deadline().map_or(Instant::now() + LONG, |at| self.started + at);
            let reopen = self.reopen.unwrap_or(Instant::now() + LONG);
            let quiet = self.quiet.map_or(Instant::now() + LONG, |(_, at)| at);
            let (mut began, mut acting) = (std::time::Instant::now(), None);
            tokio::select! {
                Some(done) = self.ended.recv() => {
                    began = std::time::Instant::now();
                    acting = done(&mut self);
                }
                () = tokio::time::sleep_until(self.removes_after), if !self.to_remove.is_empty() => self.remove_all(),
                request = inbound.recv() => match request {
                    Some(request) => self.scheduler.push(request),
                    None => break,
                },
                () = std::future::ready(()), if !self.scheduler.is_empty() => {
                    // All requests that have arrived so far take part in the scheduler's choice.
                    while let Ok(request) = inbound.try_recv() {
                        self.scheduler.push(request);
                    }
                    if let Some(request) = self.scheduler.pop() {
                        (began, acting) = (std::time::Instant::now(), Some((request.prefix, request.from.clone())));
                        self.on_request(request);
                    }
                }
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
                () = tokio::time::sleep_until(reopen) => self.reopen(),
            }
            self.note_changes();
            if let Some(why) = self.kept.shelf.fault() {
                if self.kept.shelf.may_pass() && self.directory.is_some() {
                    // These failures may pass: other programs may free disk space, and closed connections free files.
                    // Nothing is stored until the shelf is reopened.
                    self.counts.pass(Some(why));
                    self.reopen.get_or_insert_with(|| Instant::now() + REOPEN);
                } else {
                    self.counts.fail(why);
                }
            }
            while let Some(event) = self.answerer.poll() {
                match event {
                    AnswerEvent::Respond { call, response } => self.respond(call, &response),
                    AnswerEvent::Send { to, call, request } => {
                        // Work on the answer is charged to the peer for which the request is sent.
                        let (net, acting) = (self.net.clone(), acting.clone());
                        self.later(async move {
                            let answer = node::send_counted(&net, &to, request).await;
                            move |this: &mut Self| {
                                let now = this.now();
                                match answer {
                                    Some((answer, _)) => this.answerer.on_response(call, answer, now, &mut this.kept),
                                    None => this.answerer.on_failure(call, now, &mut this.kept),
                                }
                                acting
                            }
                        });
                    }
                }
            }
            if let Some((prefix, peer)) = acting {
                self.scheduler.charge(prefix, &peer, began.elapsed());
            }
        }
    }

    /// Plans a compaction after [`QUIET`] without changes, if there were at least [`CHANGES`] since the last one.
    fn note_changes(&mut self) {
        let changes = self.kept.shelf.changes();
        let is_worth_it = changes >= self.compacted + CHANGES;
        if is_worth_it && self.quiet.is_none_or(|(then, _)| then != changes) {
            self.quiet = Some((changes, Instant::now() + QUIET));
        }
    }

    fn compact(&mut self) {
        // If the storage fails, the next change reports it.
        let _ = self.kept.shelf.compact();
        self.compacted = self.kept.shelf.changes();
        self.quiet = None;
    }

    /// Reopens the shelf after a change has failed for a reason that may pass. Data that could not be stored is
    /// missing, so no list counts as complete until the node has taken over everything again.
    fn reopen(&mut self) {
        let Some(directory) = &self.directory else { return };
        self.reopen = match self.kept.reopen(directory) {
            Ok(()) => {
                self.counts.pass(None);
                None
            }
            Err(_) => Some(Instant::now() + REOPEN),
        };
        self.state = HashSpec::random().hasher();
        (self.compacted, self.quiet) = (self.kept.shelf.changes(), None);
    }

    /// The state number that this node sends to its neighbours: a hash that no other node can predict. It changes when
    /// other nodes may have to take over data from this one.
    pub(super) fn state(&self) -> u64 {
        let depends_on = [self.kept.shelf.changes().to_le_bytes(), self.comings.to_le_bytes()].concat();
        self.state.hash(&depends_on).get().max(1)
    }

    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn on_request(&mut self, Inbound { from, prefix, request, reply }: Inbound) {
        let bytes = request.len();
        let call = self.next_reply;
        self.next_reply += 1;
        self.replies.insert(call, reply);
        let Ok(request) = Request::decode(&request) else {
            return self.respond(call, &Response::Refused(Refusal::Invalid));
        };
        let now = self.now();
        let Some(request) = self.answerer.on_request(&from, call, request, now, &mut self.kept) else { return };
        match self.answer((&from, prefix), call, request, bytes) {
            Ok(Some(response)) => self.respond(call, &response),
            Ok(None) => {}
            Err(_) => self.respond(call, &Response::Refused(Refusal::Failed)),
        }
    }

    /// Sends the answer to the request with the number `call`.
    /// Awaits `work` on the runtime, and then runs the continuation that it returns on this thread.
    pub(super) fn later<D>(&self, work: impl Future<Output = D> + Send + 'static)
    where
        D: FnOnce(&mut Self) -> Option<(Prefix, Peer)> + Send + 'static,
    {
        let done = self.done.clone();
        self.runtime.spawn(async move {
            // Sending fails if the thread has ended.
            let _ = done.send(Box::new(work.await));
        });
    }

    pub(super) fn respond(&mut self, call: u64, response: &Response) {
        let Some(reply) = self.replies.remove(&call) else { return };
        let is_refusal = matches!(response, Response::Refused(_));
        let count = if is_refusal { &self.counts.refused } else { &self.counts.answered };
        count.fetch_add(1, Ordering::Relaxed);
        let bytes = response.encode().or_else(|_| Response::Refused(Refusal::Failed).encode());
        if let Ok(bytes) = bytes {
            // Sending fails only if the answer is too long, which the encoder prevents.
            let _ = reply.send(bytes);
        }
    }
}
