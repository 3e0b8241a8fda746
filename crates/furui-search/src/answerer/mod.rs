//! The answering side of a search.

mod exchange;
mod keys;
mod lists;
mod meeting;
mod scoring;
mod sessions;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::codec::encode_steps;
use super::message::{Meet, Met, Refusal, Request, Response, Search, Settle};
use super::{CodecError, CodedSet, Coding, Index, Matcher, Peer, Shunned, Weight, limits};
use keys::Keys;
use meeting::{Meeting, Next};
use sessions::Sessions;

/// How long the other side of an exchange may take for one message.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long until the next replica is asked beside it, and the first good answer is taken.
const HEDGE_AFTER: Duration = Duration::from_millis(300);
/// So much longer for each byte sent: what a link of 8 Mbit/s takes.
const HEDGE_A_BYTE: Duration = Duration::from_micros(1);
/// How long a meeting may take; whoever asked for it waits a little longer.
const MEETING_TIMEOUT: Duration = Duration::from_secs(8);
/// How long a peer that failed is asked after others.
const SHUNNED_FOR: Duration = Duration::from_secs(30);
/// What a message has around the matches in it, at most.
const MET_OVERHEAD: usize = 32;

/// What an [`Answerer`] wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerEvent {
    /// Answer a request.
    Respond {
        /// The number that [`Answerer::on_request`] was called with.
        call: u64,
        /// The answer.
        response: Response,
    },
    /// Send this, and tell the answer to [`Answerer::on_response`], or its absence to [`Answerer::on_failure`].
    Send {
        /// To whom.
        to: Peer,
        /// The number to name with the answer.
        call: u64,
        /// What: the bytes of a [`Request`].
        request: Vec<u8>,
    },
}

/// Answers what other nodes ask of this one's lists, and hosts the meetings of lists that begin with one of its own.
///
/// ```text
///  Search ─▶ a slice of the own list ─▶ Meet ─▶ the next word's keeper ─▶ what is left ─▶ Meet ─▶ … ─▶ Found
///                                    ◀─ Met ─┘     (another replica, if it fails or lies, and beside it if it is slow)
///  Meet   ─▶ the own list streams by ─▶ Met       Settle ─▶ the session is compared ─▶ Settled
/// ```
///
/// The host holds the truth all the time: it knows its own ids, so false positives never leave it, and each further word
/// costs one round trip (two in an exchange of three messages). Words that must not occur go the same way; what stays is
/// the complement. A list that the host keeps itself costs nothing.
///
/// [`Request`]s that need no memory between messages (sizes, storing, comparing, handing over, fetching) are not answered
/// here: [`on_request`](Self::on_request) gives them back.
///
/// Memory: [`limits::MEETING_IDS`] ids in meetings, [`limits::SESSION_IDS`] in sessions and [`limits::KEY_BYTES`] of keys, whoever asks for whatever; who
/// wants more is refused as [`Refusal::Busy`], one peer above its quota before others.
///
/// **Source.** The paper's sections 2.1 and 6.2. There, the node of a first word sends the filter of C₁ ∩ C₂ on to the third.
#[derive(Debug)]
pub struct Answerer {
    me: Peer,
    meetings: HashMap<u64, Meeting>,
    /// For each call the number of the meeting that waits for it.
    calls: HashMap<u64, u64>,
    sessions: Sessions,
    keys: Keys,
    shunned: Shunned,
    /// Of a call or a meeting.
    next_number: u64,
    events: VecDeque<AnswerEvent>,
}

impl Answerer {
    /// The answering side of the node that others know as `me`.
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

    /// Takes a request of `from`; `call`, any number of the network's, comes back with the answer. A request that is none
    /// of [`Search`], [`Meet`] and [`Settle`] is given back, for others to answer.
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

    /// The answer to an [`AnswerEvent::Send`]. Answers that nobody waits for are ignored.
    pub fn on_response(&mut self, call: u64, response: Response, now: Duration, index: &mut impl Index) {
        let Some((number, mut meeting)) = self.waits_for(call) else { return };
        // Who is overtaken is asked after others from now on.
        for peer in meeting.on_response(call, response, now) {
            self.shunned.add(peer, now);
        }
        self.go_on(number, meeting, now, index);
    }

    /// Tells that an [`AnswerEvent::Send`] could not be sent, or that what came back was no message.
    pub fn on_failure(&mut self, call: u64, now: Duration, index: &mut impl Index) {
        let Some((number, mut meeting)) = self.waits_for(call) else { return };
        if let Some(peer) = meeting.on_failure(call) {
            self.shunned.add(peer, now);
        }
        self.go_on(number, meeting, now, index);
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<AnswerEvent> {
        self.events.pop_front()
    }

    /// When [`on_time`](Self::on_time) is to be called, whatever has come.
    pub fn deadline(&self) -> Option<Duration> {
        self.meetings.values().map(Meeting::deadline).chain(self.sessions.deadline()).min()
    }

    /// Gives up what took too long.
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

    /// How many ids it holds, in meetings and in sessions.
    pub fn ids_held(&self) -> (usize, usize) {
        (held(self.meetings.values()).1, self.sessions.ids_held())
    }

    /// Begins a meeting, if there is room for it.
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
        if search.ranking.as_ref().is_some_and(|ranking| !scoring::is_valid(ranking, search.must.len())) {
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

    /// Takes a meeting as far as it goes without an answer from elsewhere.
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
        // Calls of exchanges that were overtaken are forgotten with them.
        let meeting = self.meetings.get(&number);
        self.calls.retain(|call, of| *of != number || meeting.is_some_and(|meeting| meeting.waits_for(*call)));
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Takes out the meeting that waits for the call.
    fn waits_for(&mut self, call: u64) -> Option<(u64, Meeting)> {
        let number = self.calls.remove(&call)?;
        Some((number, self.meetings.remove(&number)?))
    }

    fn meet(&mut self, from: &Peer, meet: &Meet, now: Duration, index: &mut impl Index) -> Result<Met, Refusal> {
        let set = CodedSet::decode(&meet.set, meet.range).map_err(|_| Refusal::Invalid)?;
        let mut matcher = Matcher::new(set);
        let whole = index.size(&meet.word).map_err(|_| Refusal::Failed)?.whole;
        let ringed = if let Coding::Ringed(params) = matcher.coding() { Some(params) } else { None };
        let keys = &mut self.keys;
        let mut steps = Vec::new();
        let feed = |ids: &[_], weights: &[Weight]| {
            match ringed.and_then(|params| keys.of(&meet.word, ids, params)) {
                Some(keys) => matcher.feed_keys(ids, keys)?,
                None => matcher.feed(ids)?,
            }
            if meet.weighted {
                let matched = matcher.matched().iter();
                steps.extend(matched.map(|&place| weights.get(place as usize).map_or(0, |weight| weight.step())));
            }
            Ok::<(), CodecError>(())
        };
        lists::stream(index, &meet.word, meet.range, meet.weighted, feed)
            .map_err(|_| Refusal::Failed)?
            .map_err(|_| Refusal::Crowded)?;
        if !self.sessions.has_room(from, matcher.matches()) {
            matcher = matcher.without_session();
        }
        let matches = matcher.finish();
        let steps = encode_steps(&steps).bytes;
        if matches.coded.bytes.len() + steps.len() > limits::MESSAGE_BYTES - MET_OVERHEAD {
            return Err(Refusal::Crowded);
        }
        let session = match matches.session {
            Some(session) => Some(self.sessions.keep(from, session, now).ok_or(Refusal::Busy)?),
            None => None,
        };
        Ok(Met { matches: matches.coded.bytes, session, whole, steps })
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

/// How many meetings these are, and how many ids they hold.
fn held<'a>(meetings: impl Iterator<Item = &'a Meeting>) -> (usize, usize) {
    meetings.fold((0, 0), |(count, ids), meeting| (count + 1, ids + meeting.ids_held()))
}
