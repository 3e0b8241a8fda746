//! The answering side of a search.

mod exchange;
mod keys;
mod lists;
mod meeting;
mod scoring;
mod sessions;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::codec::encode_grades;
use super::message::{Meet, Met, Refusal, Request, Response, Search, Settle};
use super::{CodecError, CodedSet, Coding, Index, Matcher, Peer, Shunned, limits};
use keys::Keys;
use meeting::{Meeting, Next};
use sessions::Sessions;

/// The time limit of a meeting, which is a search that a node hosts for a peer. The peer that requested it has a
/// slightly longer limit.
const MEETING_TIMEOUT: Duration = Duration::from_secs(8);
/// The time for which a peer that has failed is asked after the others.
const SHUNNED_FOR: Duration = Duration::from_secs(30);
/// The maximum size, in bytes, of a `Met` message (the answer of an exchange) without its matches and steps.
const MET_OVERHEAD: usize = 32;

/// A task that an [`Answerer`] gives to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerEvent {
    /// Requests that the caller sends the answer to a request.
    Respond {
        /// The `call` that was passed to [`Answerer::on_request`].
        call: u64,
        /// The answer to the request.
        response: Response,
    },
    /// Requests that the caller sends a message to another node. The caller passes the answer to
    /// [`Answerer::on_response`], or calls [`Answerer::on_failure`] if there is none.
    Send {
        /// The node to which the request is sent.
        to: Peer,
        /// The number that the caller passes with the answer.
        call: u64,
        /// The encoded [`Request`].
        request: Vec<u8>,
    },
}

/// Answers requests for this node's lists, and hosts meetings of lists: searches that begin with one of its own lists.
///
/// ```text
///  Search ─▶ a slice of the own list ─▶ Meet ─▶ the next word's keeper ─▶ the ids left ─▶ Meet ─▶ … ─▶ Ranked
///                                    ◀─ Met ─┘     (if the keeper fails, lies or is slow, another replica is asked)
///  Meet   ─▶ the own list is read ─▶ Met          Settle ─▶ the session is compared ─▶ Settled
/// ```
///
/// The host always knows the ids of its own list, so false positives never leave it. Each further word costs one round
/// trip, or two if the exchange has three messages. For a word that must not occur, a keeper is asked in the same
/// way, and the ids that do not match are kept. A further list that the host keeps itself costs no traffic.
///
/// The answerer handles only [`Request`]s that need state between messages: [`on_request`](Self::on_request) returns
/// all others (sizes, storing, comparing, transferring, showing) to the caller.
///
/// Memory: at most [`limits::MEETING_IDS`] ids in meetings, [`limits::SESSION_IDS`] ids in sessions and
/// [`limits::KEY_BYTES`] bytes of keys. A request beyond these limits, or beyond the quota of its peer, is refused as
/// [`Refusal::Busy`].
///
/// **Source.** Sei, Matsuzaki and Honiden, sections 2.1 and 6.2. In the paper, the node of the second word sends the
/// filter of C₁ ∩ C₂ on to the node of the third word.
///
/// ```
/// use std::time::Duration;
/// use furui_search::{AnswerEvent, Answerer, Index, Peer, Request};
/// # use furui_search::{IdRange, ListPart, Listing};
/// # struct Empty;
/// # impl Index for Empty {
/// #     fn size(&mut self, _: &str) -> furui::Result<Listing> {
/// #         Ok(Listing { ids: 0, log_length: 6, whole: true })
/// #     }
/// #     fn slice(&mut self, _: &str, _: IdRange, _: usize) -> furui::Result<ListPart> {
/// #         Ok(ListPart::default())
/// #     }
/// # }
///
/// /// Takes a request of a peer, and returns the messages to send.
/// fn on_request(answerer: &mut Answerer, lists: &mut impl Index, peer: &Peer, request: Request) -> Vec<AnswerEvent> {
///     if let Some(other) = answerer.on_request(peer, 1, request, Duration::ZERO, lists) {
///         println!("the caller answers {other:?}");
///     }
///     std::iter::from_fn(|| answerer.poll()).collect()
/// }
/// # let (mut answerer, peer) = (Answerer::new(Peer::new(b"me", b"")), Peer::new(b"you", b""));
/// # let size = Request::Size { words: vec!["filter".into()] };
/// # assert!(on_request(&mut answerer, &mut Empty, &peer, size).is_empty());
/// ```
#[derive(Debug)]
pub struct Answerer {
    me: Peer,
    meetings: HashMap<u64, Meeting>,
    /// For each call to another node, the number of the [`Meeting`] (a search that this node hosts) that waits for its
    /// answer.
    calls: HashMap<u64, u64>,
    sessions: Sessions,
    keys: Keys,
    shunned: Shunned,
    /// The next number for a call or a meeting.
    next_number: u64,
    events: VecDeque<AnswerEvent>,
}

impl Answerer {
    /// Makes the answering side of the node that other nodes know as `me`.
    pub fn new(me: Peer) -> Self {
        Self {
            me,
            meetings: HashMap::new(),
            calls: HashMap::new(),
            sessions: Sessions::default(),
            keys: Keys::default(),
            shunned: Shunned::new(SHUNNED_FOR),
            next_number: 0,
            events: VecDeque::new(),
        }
    }

    /// Handles a request of the peer `from`. The caller chooses the number `call`, which is returned with the answer. A
    /// request other than [`Search`], [`Meet`] and [`Settle`] is returned, and the caller must answer it.
    pub fn on_request(
        &mut self,
        from: &Peer,
        call: u64,
        request: Request,
        now: Duration,
        index: &mut impl Index,
    ) -> Option<Request> {
        self.on_time(now, index);
        let response = match request {
            Request::Search(search) => match self.meeting(from, call, search, now, index) {
                Ok(meeting) => {
                    let number = self.number();
                    self.go_on(number, meeting, now, index);
                    return None;
                }
                Err(why) => Response::Refused(why),
            },
            Request::Meet(meet) => match self.meet(from, &meet, now, index) {
                Ok(met) => Response::Met(met),
                Err(why) => Response::Refused(why),
            },
            Request::Settle(settle) => self.settle(from, &settle),
            request => return Some(request),
        };
        self.events.push_back(AnswerEvent::Respond { call, response });
        None
    }

    /// Handles the answer to an [`AnswerEvent::Send`]. An answer to an unknown call is ignored.
    pub fn on_response(&mut self, call: u64, response: Response, now: Duration, index: &mut impl Index) {
        let Some((number, mut meeting)) = self.waits_for(call) else { return };
        // These peers violated the protocol or were too slow, so other peers are asked first from then on.
        for peer in meeting.on_response(call, response, now) {
            self.shunned.add(peer, now);
        }
        self.go_on(number, meeting, now, index);
    }

    /// Handles the failure of an [`AnswerEvent::Send`]: the request could not be sent, or no valid answer arrived.
    pub fn on_failure(&mut self, call: u64, now: Duration, index: &mut impl Index) {
        let Some((number, mut meeting)) = self.waits_for(call) else { return };
        if let Some(peer) = meeting.on_failure(call) {
            self.shunned.add(peer, now);
        }
        self.go_on(number, meeting, now, index);
    }

    /// Returns the next task for the caller; `None` if there is none at this time.
    pub fn poll(&mut self) -> Option<AnswerEvent> {
        self.events.pop_front()
    }

    /// The time at which [`on_time`](Self::on_time) must be called even if nothing arrives before; `None` if there is
    /// no such time.
    pub fn deadline(&self) -> Option<Duration> {
        self.meetings.values().map(Meeting::deadline).chain(self.sessions.deadline()).min()
    }

    /// Aborts the meetings (searches that this node hosts) and exchanges that have timed out.
    pub fn on_time(&mut self, now: Duration, index: &mut impl Index) {
        self.sessions.expire(now);
        let late: Vec<u64> = self.meetings.values().flat_map(|meeting| meeting.late(now)).collect();
        late.into_iter().for_each(|call| self.on_failure(call, now, index));
        let due = self.meetings.iter().filter(|(_, meeting)| meeting.deadline() <= now).map(|(&number, _)| number);
        for number in due.collect::<Vec<_>>() {
            let meeting = self.meetings.remove(&number).expect("it is due");
            self.go_on(number, meeting, now, index);
        }
    }

    /// The number of ids that the answerer keeps in meetings (searches that it hosts), and the number in sessions
    /// (exchanges that wait for a third message).
    pub fn ids_held(&self) -> (usize, usize) {
        (held(self.meetings.values()).1, self.sessions.ids_held())
    }

    /// Starts a meeting, which is a search that this node hosts, if the limits allow it.
    fn meeting(
        &mut self,
        from: &Peer,
        call: u64,
        search: Search,
        now: Duration,
        index: &mut impl Index,
    ) -> Result<Meeting, Refusal> {
        let words = search.must.len() + search.without.len();
        if search.must.is_empty() || words > limits::WORDS || search.most == 0 || search.most as usize > limits::IDS {
            return Err(Refusal::Invalid);
        }
        if !scoring::is_valid(&search.ranking, search.must.len()) {
            return Err(Refusal::Invalid);
        }
        let (all, all_ids) = held(self.meetings.values());
        let (of_peer, ids_of_peer) = held(self.meetings.values().filter(|meeting| meeting.from == *from));
        let most = search.most as usize;
        let has_room = all < limits::MEETINGS
            && of_peer < limits::MEETINGS_A_PEER
            && all_ids + most <= limits::MEETING_IDS
            && ids_of_peer + most <= limits::MEETING_IDS_A_PEER;
        if !has_room {
            return Err(Refusal::Busy);
        }
        Meeting::new(from.clone(), call, search, now + MEETING_TIMEOUT, index).map_err(|_| Refusal::Failed)
    }

    /// Advances a meeting as far as possible without an answer from another node.
    fn go_on(&mut self, number: u64, mut meeting: Meeting, now: Duration, index: &mut impl Index) {
        loop {
            match meeting.next(&self.me, &self.shunned, now, index) {
                Next::Send { exchange, request } => {
                    let (call, to) = (self.number(), exchange.with.clone());
                    meeting.sent(call, exchange, request.len(), now);
                    self.calls.insert(call, number);
                    self.events.push_back(AnswerEvent::Send { to, call, request });
                }
                Next::Wait => {
                    self.meetings.insert(number, meeting);
                    break;
                }
                Next::Respond(response) => {
                    self.events.push_back(AnswerEvent::Respond { call: meeting.call, response });
                    break;
                }
            }
        }
        // When one keeper has answered, the exchanges with other keepers of the word are dropped, and so are their
        // calls here.
        let meeting = self.meetings.get(&number);
        self.calls.retain(|call, of| *of != number || meeting.is_some_and(|meeting| meeting.waits_for(*call)));
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Removes and returns the meeting (a search that another node has requested) that waits for the answer to the
    /// call.
    fn waits_for(&mut self, call: u64) -> Option<(u64, Meeting)> {
        let number = self.calls.remove(&call)?;
        Some((number, self.meetings.remove(&number)?))
    }

    fn meet(&mut self, from: &Peer, meet: &Meet, now: Duration, index: &mut impl Index) -> Result<Met, Refusal> {
        let set = CodedSet::decode(&meet.set).map_err(|_| Refusal::Invalid)?;
        let mut matcher = Matcher::new(set);
        let whole = lists::size(index, &meet.word).map_err(|_| Refusal::Failed)?.whole;
        let is_ringed = matches!(matcher.coding(), Coding::Ringed(_));
        let keys = &mut self.keys;
        let mut grades = Vec::new();
        let feed = |ids: &[_], graded: &[lists::Match]| {
            match if is_ringed { keys.of(&meet.word, ids) } else { None } {
                Some(keys) => matcher.feed_keys(ids, keys)?,
                None => matcher.feed(ids)?,
            }
            if meet.weighted {
                let matched = matcher.matched().iter();
                grades.extend(matched.map(|&place| graded[place as usize].0));
            }
            Ok::<(), CodecError>(())
        };
        lists::stream(index, &meet.word, feed).map_err(|_| Refusal::Failed)?.map_err(|_| Refusal::Crowded)?;
        if !self.sessions.has_room(from, matcher.matches()) {
            matcher = matcher.without_session();
        }
        let matches = matcher.finish();
        let grades = encode_grades(&grades).bytes;
        if matches.coded.bytes.len() + grades.len() > limits::MESSAGE_BYTES - MET_OVERHEAD {
            return Err(Refusal::Crowded);
        }
        let session = match matches.session {
            Some(session) => Some(self.sessions.keep(from, session, now).ok_or(Refusal::Busy)?),
            None => None,
        };
        Ok(Met { matches: matches.coded.bytes, session, whole, grades })
    }

    fn settle(&mut self, from: &Peer, settle: &Settle) -> Response {
        let Some(session) = self.sessions.take(settle.session, from) else {
            return Response::Refused(Refusal::Forgotten);
        };
        match session.confirm(&settle.rejected, settle.checksum) {
            Ok(same) => Response::Settled(same),
            Err(_) => Response::Refused(Refusal::Invalid),
        }
    }
}

/// The number of these meetings (searches that a node hosts), and the total number of ids that they keep.
fn held<'a>(meetings: impl Iterator<Item = &'a Meeting>) -> (usize, usize) {
    meetings.fold((0, 0), |(count, ids), meeting| (count + 1, ids + meeting.ids_held()))
}
