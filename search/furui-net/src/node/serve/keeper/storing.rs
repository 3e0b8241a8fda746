//! Stores postings and records of other nodes after a check.

use std::collections::HashSet;

use furui_search::{
    Act, ContentId, Peer, Publication, PublisherKey, Record, Refusal, Response, Signature, WordPostings, limits,
};
use tokio::time::Instant;

use super::check::{Check, Verdict};
use super::event_loop::EventLoop;
use super::{LIFE, is_too_old, unix_milliseconds, unix_seconds};
use crate::net::{self, Prefix};
use crate::node::claims;
use crate::node::{self, doubts, record_key, word_key};
use crate::shelf::{Origin, Stored};

/// After a removal, the next removal waits for this multiple of the first one's duration. Chosen: removals take at most
/// a tenth of the time.
const REST: u32 = 9;

impl EventLoop {
    /// Stores those of the postings and records that this node may have to keep. Postings of other nodes are checked
    /// first; records are verified by their hashes.
    pub(super) fn store(
        &mut self,
        (from, prefix): (&Peer, Prefix),
        call: u64,
        mut postings: Vec<WordPostings>,
        mut records: Vec<(Signature, Vec<u8>)>,
        bytes: usize,
    ) -> furui::Result<Option<Response>> {
        let me = self.net.me();
        let now = self.now();
        if *from != me {
            if self.sources.refuses(from, now) {
                self.note_refusal(from, prefix, "it stated what a document's record disproves, less than an hour ago");
                return Ok(Some(Response::Refused(Refusal::Invalid)));
            }
            if !self.allowance.grants((from, prefix), bytes, now) {
                self.note_refusal(from, prefix, "it stored too much in a minute");
                return Ok(Some(Response::Refused(Refusal::Busy)));
            }
        }
        let brought = postings.len() + records.len();
        if *from != me {
            let sites = self.blocklist.sites();
            postings.retain(|(word, _)| !self.blocklist.has_word(word));
            records.retain(|(_, record)| !Record::decode(record).is_ok_and(|record| sites.have(&record.url)));
            if postings.len() + records.len() < brought {
                self.note_refusal(from, prefix, "the owner of this node has blocked a word or site of what it stored");
            }
        }
        postings.retain(|(word, _)| self.kept.near.may_keep(&me, &word_key(word)));
        let (mut published, mut kept) = (Vec::with_capacity(records.len()), Vec::with_capacity(records.len()));
        for (signature, record) in records {
            let id = ContentId::of(&record);
            if !self.kept.near.may_keep(&me, &record_key(id)) {
                continue;
            }
            let publisher = Record::publisher_in(&record);
            let Some(publisher) = publisher.filter(|it| net::is_signed(it, Act::Publish, id, &signature)) else {
                self.note_refusal(from, prefix, "a record is not signed by the publisher that it names");
                return Ok(Some(Response::Refused(Refusal::Invalid)));
            };
            if is_too_old(&signature) {
                self.note_refusal(from, prefix, "it published a record with a signature of months ago");
                return Ok(Some(Response::Refused(Refusal::Invalid)));
            }
            // Only of a publisher that brings its records itself it is known from where it publishes.
            let brings_it = PublisherKey::of_identity(from.identity()) == Some(publisher);
            let network = if brings_it { self.network(from, prefix) } else { 0 };
            let first = unix_milliseconds();
            published.push((id, publisher, Publication { signature, first, network }));
            kept.push((id, record));
        }
        let records = kept;
        if brought > 0 && postings.is_empty() && records.is_empty() {
            return Ok(Some(Response::Refused(Refusal::Invalid)));
        }
        if *from == me {
            let expires = unix_seconds() + LIFE.as_secs();
            let stored = self.kept.shelf.store((&postings, &records, &published), expires)?;
            return Ok(Some(Response::Stored { new: stored.new }));
        }
        if !records.is_empty() || postings.is_empty() {
            // A record is verified by its hash, so it is kept even if a liar that brought it before is removed.
            let ids: Vec<ContentId> = records.iter().map(|(id, _)| *id).collect();
            let proven = self.kept.shelf.of_others(&node::origin(from, prefix, false), &ids)?;
            let stored = self.store_brought((from, prefix), &proven, (&[], &records, &published))?;
            if postings.is_empty() || matches!(stored, Response::Refused(_)) {
                return Ok(Some(stored));
            }
        }
        self.check((from, prefix), call, postings, bytes)
    }

    /// Stores postings at once if none of them needs a check, as among friends; otherwise begins the check.
    fn check(
        &mut self,
        (from, prefix): (&Peer, Prefix),
        call: u64,
        postings: Vec<WordPostings>,
        bytes: usize,
    ) -> furui::Result<Option<Response>> {
        let now = self.now();
        if self.net.is_private() {
            return self.store_brought((from, prefix), &HashSet::new(), (&postings, &[], &[])).map(Some);
        }
        let mut additions = self.kept.shelf.additions(&node::origin(from, prefix, false), &postings)?;
        if self.sources.distrusts(prefix, now) {
            additions.iter_mut().for_each(|addition| addition.strange = true);
        }
        let drawn: Vec<ContentId> = claims::sample(&additions, self.sources.knows(from)).into_iter().collect();
        if drawn.is_empty() {
            return self.store_brought((from, prefix), &HashSet::new(), (&postings, &[], &[])).map(Some);
        }
        if !self.budget.grants(prefix, drawn.len(), bytes, now) {
            self.note_refusal(from, prefix, "this node has checked too much of what it stored in a minute");
            return Ok(Some(Response::Refused(Refusal::Busy)));
        }
        let (known, unknown) = self.checker.remembered(drawn.iter().copied());
        let (own, missing) = claims::own_records(&mut self.kept.shelf, unknown)?;
        let strange = additions.iter().filter(|addition| addition.strange).map(|addition| addition.id).collect();
        let from = from.clone();
        let mut check = Check { call, from, prefix, bytes, postings, drawn, strange, known, own, missing };
        let checker = self.checker.clone();
        self.later(async move {
            let (verdict, bytes) = check.carry_out(&checker).await;
            move |this: &mut Self| {
                let of = (check.prefix, check.from.clone());
                this.on_checked(check, verdict, bytes);
                Some(of)
            }
        });
        Ok(None)
    }

    /// Handles the result of a check: stores the message if it is true, and answers it. `bytes` is the size of the
    /// records that were fetched.
    fn on_checked(&mut self, check: Check, verdict: Verdict, bytes: u64) {
        let Check { call, from, prefix, bytes: message, postings, strange, known, .. } = check;
        let now = self.now();
        self.budget.charge(prefix, bytes, message, now);
        let response = match verdict {
            _ if self.sources.refuses(&from, now) => Response::Refused(Refusal::Invalid),
            Verdict::True => {
                self.sources.praise(&from, known.len() as u64);
                let stored = self.store_brought((&from, prefix), &strange, (&postings, &[], &[]));
                stored.unwrap_or(Response::Refused(Refusal::Failed))
            }
            Verdict::Unproven => {
                self.note_refusal(&from, prefix, "no node has the records that prove what it stored");
                Response::Refused(Refusal::Unproven)
            }
            Verdict::False(mut lies) => {
                self.blame(&node::origin(&from, prefix, false));
                // The other keepers of the words may have stored the false postings, so they are informed.
                lies.truncate(limits::DOUBTS);
                let _runtime = self.runtime.enter();
                doubts::tell(self.net.clone(), lies);
                Response::Refused(Refusal::Invalid)
            }
        };
        self.respond(call, &response);
    }

    /// Stores postings or records that another node has sent. All postings of the documents in `proven` were checked.
    fn store_brought(
        &mut self,
        (from, prefix): (&Peer, Prefix),
        proven: &HashSet<ContentId>,
        brought: crate::shelf::Brought<'_>,
    ) -> furui::Result<Response> {
        let expires = unix_seconds() + LIFE.as_secs();
        match self.kept.shelf.store_of(&node::origin(from, prefix, false), proven, brought, expires)? {
            Ok(Stored { new, foreign }) => {
                // Additions to other peers' documents are charged to the peer, because they are not removed with its
                // own documents.
                let now = self.now();
                self.allowance.charge_foreign(from, foreign, now);
                Ok(Response::Stored { new })
            }
            Err(full) => {
                self.note_refusal(from, prefix, full.why());
                Ok(Response::Refused(Refusal::Busy))
            }
        }
    }

    /// Refuses further data of the peer of `origin`, which has sent a false posting, and removes its data that is not
    /// proven.
    pub(super) fn blame(&mut self, origin: &Origin) {
        let (now, peer) = (self.now(), Peer::new(&origin.peer, &[]));
        if self.sources.refuses(&peer, now) {
            return;
        }
        self.sources.add(&peer, &origin.prefix, now);
        let who = format!("{} at {}", net::name(&peer), origin.prefix);
        self.net.refusals().note(who, "it stated what a document's record disproves");
        self.remove(origin.clone());
    }

    /// Removes the data that the peer of `origin` has sent and that no check has proven. As this reads all lists, it is
    /// postponed if the last removal was recent.
    pub(super) fn remove(&mut self, origin: Origin) {
        if self.kept.shelf.usages().iter().any(|usage| usage.origin == origin) {
            self.to_remove.insert(origin);
        }
        if self.removes_after <= Instant::now() {
            self.remove_all();
        }
    }

    /// Removes the unproven data of all peers whose removal was postponed.
    pub(super) fn remove_all(&mut self) {
        if self.to_remove.is_empty() {
            return;
        }
        let began = Instant::now();
        let origins: Vec<Origin> = self.to_remove.drain().collect();
        // If the storage fails, the next request to it reports that.
        let _ = self.kept.shelf.remove_claims(&origins);
        self.removes_after = Instant::now() + REST * began.elapsed();
    }

    /// The hash of the network of a peer. That of this node is the network of the address at which others reach it.
    fn network(&self, from: &Peer, prefix: Prefix) -> u32 {
        if *from == self.net.me() { Prefix::of_peer(from).network() } else { prefix.network() }
    }

    pub(super) fn note_refusal(&self, from: &Peer, prefix: Prefix, why: &'static str) {
        self.net.refusals().note(format!("{} at {prefix}", net::name(from)), why);
    }
}
