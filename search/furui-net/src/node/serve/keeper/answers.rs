//! Answers requests from the shelf (this node's own lists and records), without asking other nodes.

use std::sync::Arc;

use furui_search::{
    ContentId, IdRange, Index, Listed, Listing, Peer, Refusal, Request, Response, Spelling, Weight, WordSize, limits,
    list_of,
};

use super::event_loop::EventLoop;
use super::{REMEMBERED, unix_seconds};
use crate::net::{self, Prefix};
use crate::node::{record_key, showing, word_key};

/// The maximum number of words of the shelf that are examined for one answer to a comparison of lists. The value is a
/// choice, not a measurement.
const COMPARED: usize = 4 << 10;
/// The maximum number of bytes of ids in one answer, including the weight and the remaining days of each.
const LISTED_BYTES: usize = limits::MESSAGE_BYTES - (64 << 10);
/// The number of bytes of an id with its weight and its number of remaining days.
const LISTED_ID: usize = ContentId::BYTES + Weight::BYTES + 1;
/// A list is added to an answer only if the message has at least this number of free bytes. The value is a choice, not
/// a measurement.
const SPARE: usize = 8 << 10;
const DAY: u64 = 24 * 60 * 60;

impl EventLoop {
    /// Answers a request that needs no state between messages. `None` if it is answered later, under the number `call`.
    pub(super) fn answer(
        &mut self,
        (from, prefix): (&Peer, Prefix),
        call: u64,
        request: Request,
        bytes: usize,
    ) -> furui::Result<Option<Response>> {
        Ok(Some(match request {
            Request::Size { words } => {
                self.sizes(call, words)?;
                return Ok(None);
            }
            Request::Show { documents, clauses } => showing::answer(&mut self.kept, &documents, &clauses)?,
            Request::Store { postings, records } => {
                return self.store((from, prefix), call, postings, records, bytes);
            }
            Request::Withdraw { withdrawals } => {
                if *from != self.net.me() && !self.allowance.grants((from, prefix), bytes, self.now()) {
                    self.note_refusal(from, prefix, "it stored too much in a minute");
                    return Ok(Some(Response::Refused(Refusal::Busy)));
                }
                let expires = unix_seconds() + REMEMBERED.as_secs();
                if !withdrawals.iter().all(net::is_withdrawn) {
                    self.note_refusal(from, prefix, "a withdrawal is not signed by the publisher that it names");
                    return Ok(Some(Response::Refused(Refusal::Invalid)));
                }
                Response::Withdrawn { gone: self.kept.shelf.withdraw(&withdrawals, expires, false)? }
            }
            Request::Withdrawn { range } => self.withdrawn(from, range)?,
            Request::Compare { from: after, since } => self.compare(from, &after, since)?,
            Request::List { words, range, most } => Response::Listed(self.list(from, &words, range, most)?),
            Request::Near { word } => Response::Near(match Spelling::of(&word) {
                Some(spelling) => self.kept.shelf.words_near(&spelling)?,
                None => Vec::new(),
            }),
            Request::Beginning { word } => Response::Near(self.kept.shelf.words_beginning(&word)?),
            Request::Doubt { claims } => self.doubt((from, prefix), claims)?,
            // Searches and meetings are handled by the answerer before this function is called.
            Request::Search(_) | Request::Meet(_) | Request::Settle(_) => Response::Refused(Refusal::Invalid),
        }))
    }

    /// Answers with the sizes of lists, when their keepers are known.
    fn sizes(&mut self, call: u64, words: Vec<String>) -> furui::Result<()> {
        let listings = words.iter().map(|word| self.kept.size(&list_of(word))).collect::<furui::Result<Vec<_>>>()?;
        let net = self.net.clone();
        self.later(async move {
            let keys = words.iter().map(|word| word_key(&list_of(word))).collect();
            let holders = net.replicas(keys, limits::REPLICAS).await;
            let sizes = listings.into_iter().zip(holders);
            let sizes =
                sizes.map(|(Listing { ids, log_length, whole }, holders)| WordSize { ids, log_length, whole, holders });
            let response = Response::Sizes(sizes.collect());
            move |this: &mut Self| {
                this.respond(call, &response);
                None
            }
        });
        Ok(())
    }

    /// Returns the words of lists that the peer may have to keep, with sizes and fingerprints, after the word `after`.
    /// The answer has no lists if nothing has changed since the state `since`, in which the peer received all of them.
    fn compare(&mut self, from: &Peer, after: &str, since: u64) -> furui::Result<Response> {
        let state = self.state();
        if state == since {
            return Ok(Response::Compared { state, lists: Vec::new(), more: false });
        }
        let lists = self.kept.shelf.words_after(after, COMPARED)?;
        let more = lists.len() == COMPARED;
        // The last list is always included, so that the peer can continue after it.
        let last = if more { lists.len() } else { usize::MAX };
        let lists = lists
            .into_iter()
            .zip(1..)
            .filter(|(list, number)| *number == last || self.kept.near.may_keep(from, &word_key(&list.word)));
        let lists = lists.map(|(list, _)| (list.word, list.ids, list.fingerprint)).collect();
        Ok(Response::Compared { state, lists, more })
    }

    /// For each word, returns the part of its list in `range`, at most `most` ids. The answer ends when the message is
    /// full.
    fn list(&mut self, from: &Peer, words: &[String], range: IdRange, most: u32) -> furui::Result<Vec<Listed>> {
        let (now, shelf) = (unix_seconds(), &mut self.kept.shelf);
        let mut room = LISTED_BYTES;
        let mut lists = Vec::new();
        for word in words {
            if room < SPARE {
                break;
            }
            let most = limits::IDS.min(room / LISTED_ID).min(most as usize).max(1);
            // The empty word stands for the list of all records.
            let (ids, weights) = match word.as_str() {
                "" => (shelf.records(range, most)?, Arc::default()),
                word => shelf.slice(&list_of(word), range, most)?,
            };
            let (more, looked_at) = (ids.len() == most, ids.len());
            let (mut ids, weights) = (ids.to_vec(), weights.to_vec());
            if word.is_empty() {
                let last = ids.last().copied().filter(|_| more);
                ids.retain(|id| last == Some(*id) || self.kept.near.may_keep(from, &record_key(*id)));
            }
            let expiries = shelf.expiries(&ids)?;
            let days = expiries.into_iter().map(|at| days(at, now)).collect();
            // Ids that the peer need not keep are counted too, because reading them took time.
            room = room.saturating_sub(looked_at * LISTED_ID);
            lists.push(Listed { ids, weights, days, more });
        }
        Ok(lists)
    }

    /// Returns the withdrawals of documents in `range`, if the peer may have to keep these documents.
    fn withdrawn(&mut self, from: &Peer, range: IdRange) -> furui::Result<Response> {
        let now = unix_seconds();
        let mut all = self.kept.shelf.withdrawn(range, limits::WITHDRAWALS)?;
        let more = all.len() == limits::WITHDRAWALS;
        let last = all.last().filter(|_| more).map(|(it, _)| it.id.head());
        // The peer's next request starts after the head (first 64 bits) of the last id that is sent. The last head in
        // `all` may have further withdrawals that `all` does not hold, so it is left to the next request, unless it is
        // the only head.
        if let Some(last) = last.filter(|last| all.first().is_some_and(|(it, _)| it.id.head() < *last)) {
            all.retain(|(it, _)| it.id.head() < last);
        }
        let last = all.last().filter(|_| more).map(|(it, _)| it.id);
        all.retain(|(it, _)| last == Some(it.id) || self.kept.near.may_keep(from, &record_key(it.id)));
        let withdrawals = all.into_iter().map(|(withdrawal, expires)| (withdrawal, days(expires, now))).collect();
        Ok(Response::Withdrawals { withdrawals, more })
    }
}

/// The number of whole days from `now` until the time `until`.
fn days(until: u64, now: u64) -> u8 {
    (until.saturating_sub(now) / DAY).min(u8::MAX.into()) as u8
}
