use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use furui_search::{
    Act, ContentId, IdRange, Listed, Peer, Record, Request, Response, Weight, Withdrawal, WordPostings, limits,
};

use crate::net::{self, Prefix};
use crate::node::fetch::{self, Found, Records};
use crate::node::keeper::{LIFE, REMEMBERED, is_too_old, unix_seconds};
use crate::node::places::Places;
use crate::node::{Inner, call, origin, record_key, word_key};
use crate::shelf::Published;

/// The maximum number of postings taken over from one neighbour in one round. It is bounded because any node can become
/// a neighbour.
const POSTINGS: u64 = 4 << 20;
/// The maximum number of bytes of records that are taken over from one neighbour in one round of repair. The value is a
/// choice, not a measurement.
const RECORD_BYTES: u64 = 256 << 20;
/// The maximum number of documents whose postings are checked for one neighbour in one round of repair. The value is a
/// choice, not a measurement.
const CHECKS: usize = 1 << 16;
/// The maximum number of lists per neighbour that are remembered because postings of them were rejected. Further ones
/// are requested again in each round. The value is a choice, not a measurement.
const LEFT_OUT: usize = 1 << 16;
/// The maximum number of messages to one neighbour in one round of repair. The value is a choice, not a measurement.
const CALLS: u32 = 1 << 14;
const DAY: u64 = 24 * 60 * 60;

/// Takes over the data that this node should hold and lacks from one neighbour.
///
/// ```text
///  List of no word ─▶ ids of records ─▶ those to keep here, where they are missing ─▶ Show ─▶ store
///  Compare ─▶ words, sizes and fingerprints ─▶ those to keep here, where they differ ─▶ List ─▶ sift ─▶ store
/// ```
///
/// Postings are unproven claims, even those from a neighbour. They are [sifted](sifting): a sample of each message is
/// compared with the documents' records, and if one posting is false, all are compared.
pub(super) struct Taking<'a> {
    pub(super) inner: &'a Inner,
    pub(super) from: &'a Peer,
    places: &'a Places,
    /// The number of postings and records taken over that this node did not have.
    pub(super) new: u64,
    postings: u64,
    record_bytes: u64,
    calls: u32,
    /// The number of documents whose postings may still be checked in this round of repair.
    pub(super) checks: usize,
    /// The lists of which postings were rejected, by word, with the sizes and fingerprints that the neighbour stated.
    /// They are requested again only when these change.
    pub(super) left_out: &'a mut LeftOut,
    /// True if postings were left out although a record that is not available yet may prove them.
    pub(super) is_incomplete: bool,
    /// True if postings are requested again in the next round when no node that keeps their documents' records answers;
    /// false if they are rejected like false ones.
    pub(super) is_patient: bool,
    /// The sizes and fingerprints, as the neighbour stated them, of the lists that are being taken over.
    stated: LeftOut,
}

/// The size and fingerprint of each list, by word.
pub(super) type LeftOut = HashMap<String, (u64, u64)>;

/// The postings, records and publications that expire on the same day.
#[derive(Default)]
struct Taken {
    postings: Vec<WordPostings>,
    records: Vec<(ContentId, Vec<u8>)>,
    published: Vec<Published>,
}

/// The part of a word's list that a neighbour has sent. The numbers are the days until the postings expire.
pub(super) type Dated = (String, Vec<(ContentId, Weight, u8)>);

/// The reason that a neighbour's data was not taken over completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The neighbour does not answer or refuses, or no node that keeps the records answers, so that postings are not
    /// proven.
    Silent,
    /// The neighbour violates the protocol, or most of its postings are false.
    Lied,
    /// The neighbour has more data than one round takes over.
    Enough,
    /// The node has reached its storage limit for other nodes' data.
    Full,
    /// This node is shut down, or its storage fails.
    Stopped,
}

impl<'a> Taking<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        from: &'a Peer,
        places: &'a Places,
        left_out: &'a mut LeftOut,
        is_patient: bool,
    ) -> Self {
        Self {
            inner,
            from,
            places,
            new: 0,
            postings: POSTINGS,
            record_bytes: RECORD_BYTES,
            calls: CALLS,
            checks: CHECKS,
            left_out,
            is_incomplete: false,
            is_patient,
            stated: LeftOut::new(),
        }
    }

    /// Takes over all missing data from the neighbour that this node should hold, unless the neighbour's state number
    /// is still `since`. Returns the neighbour's state number.
    pub(super) async fn take_over(&mut self, since: u64) -> Result<u64, Why> {
        let mut state = None;
        let mut after = String::new();
        loop {
            let since = if state.is_none() { since } else { 0 };
            let request = Request::Compare { from: after.clone(), since };
            let (now, lists, more) = match self.ask(&request).await? {
                Response::Compared { state, lists, more } => (state, lists, more),
                _ => return Err(Why::Lied),
            };
            // The first state number counts: if the state changes meanwhile, the next round notices that.
            let state = *state.get_or_insert(now);
            if state == since {
                return Ok(state);
            }
            if after.is_empty() {
                // Records are taken over first, because postings are checked against them.
                self.take_withdrawals().await?;
                self.take_records().await?;
            }
            if !lists.is_sorted_by(|a, b| a.0 < b.0) || lists.first().is_some_and(|first| first.0 <= after) {
                return Err(Why::Lied);
            }
            let last = lists.last().map(|(word, ..)| word.clone());
            let me = self.inner.net.me();
            let is_left = |word: &String, ids, sum| self.left_out.get(word) == Some(&(ids, sum));
            let mine = lists.into_iter().filter(|(word, ids, sum)| !is_left(word, *ids, *sum));
            let mut mine: Vec<_> = mine.filter(|(word, ..)| self.is_wanted(&me, word)).collect();
            let differing = self.inner.keeper.ask(move |shelf| {
                mine.retain(|(word, ids, sum)| shelf.fingerprint(word).ok() != Some((*ids, *sum)));
                mine
            });
            let differing = differing.await.ok_or(Why::Stopped)?;
            let words = differing.iter().map(|(word, ..)| word.clone()).collect();
            self.stated = differing.into_iter().map(|(word, ids, sum)| (word, (ids, sum))).collect();
            self.take_lists(words).await?;
            match last {
                Some(last) if more => after = last,
                _ => break,
            }
        }
        if self.is_incomplete { Err(Why::Silent) } else { Ok(state.unwrap_or_default()) }
    }

    /// True if this node should keep the word's list, and the node's owner has not blocked the word.
    fn is_wanted(&self, me: &Peer, word: &str) -> bool {
        self.places.keeps(me, &word_key(word)) && !self.inner.blocklist.has_word(word)
    }

    async fn ask(&mut self, request: &Request) -> Result<Response, Why> {
        self.calls = self.calls.checked_sub(1).ok_or(Why::Enough)?;
        match call(&self.inner.net, self.from, request).await {
            None | Some(Response::Refused(_)) => Err(Why::Silent),
            Some(response) => Ok(response),
        }
    }

    /// Takes over the whole lists of these words, requesting many of them per message.
    async fn take_lists(&mut self, words: Vec<String>) -> Result<(), Why> {
        // The requests that are still to be made, the next one last.
        let mut left: Vec<_> = words.chunks(limits::LISTED).rev().map(|words| (IdRange::ALL, words.to_vec())).collect();
        while let Some((range, mut asked)) = left.pop() {
            let lists = self.list(&asked, range).await?;
            let unanswered = asked.split_off(lists.len());
            if !unanswered.is_empty() {
                left.push((range, unanswered));
            }
            for (word, list) in asked.iter().zip(&lists) {
                left.extend(next(list.ids.last(), list.more, range).map(|after| (after, vec![word.clone()])));
            }
            self.store_postings(asked.into_iter().zip(lists).collect()).await?;
        }
        Ok(())
    }

    /// Requests the part in `range` of each of these words' lists. The answer contains at least a part of the first
    /// word's list.
    async fn list(&mut self, words: &[String], range: IdRange) -> Result<Vec<Listed>, Why> {
        let request = Request::List { words: words.to_vec(), range, most: limits::IDS as u32 };
        let Response::Listed(lists) = self.ask(&request).await? else { return Err(Why::Lied) };
        let is_honest = |(word, list): (&String, &Listed)| {
            list.ids.is_sorted_by(|a, b| a < b)
                && list.ids.iter().all(|id| range.contains(*id))
                && (!list.more || !list.ids.is_empty())
                && (word.is_empty() || list.weights.len() == list.ids.len())
        };
        let fits = (1..=words.len()).contains(&lists.len()) && words.iter().zip(&lists).all(is_honest);
        if fits { Ok(lists) } else { Err(Why::Lied) }
    }

    async fn store_postings(&mut self, lists: Vec<(String, Listed)>) -> Result<(), Why> {
        for (_, list) in &lists {
            self.postings = self.postings.checked_sub(list.ids.len() as u64).ok_or(Why::Enough)?;
        }
        let dated = |(word, list): (String, Listed)| {
            let postings = list.ids.into_iter().zip(list.weights).zip(list.days);
            (word, postings.map(|((id, weight), days)| (id, weight, days)).collect())
        };
        let mut lists: Vec<Dated> = lists.into_iter().map(dated).collect();
        self.sift(&mut lists).await?;
        let mut by_days: BTreeMap<u8, Taken> = BTreeMap::new();
        for (word, list) in lists {
            for (id, weight, days) in list {
                let lists = &mut by_days.entry(days).or_default().postings;
                match lists.last_mut() {
                    Some((last, postings)) if *last == word => postings.push((id, weight)),
                    _ => lists.push((word.clone(), vec![(id, weight)])),
                }
            }
        }
        self.store(by_days).await
    }

    /// Records that postings of a word's list were rejected.
    pub(super) fn leave_out(&mut self, word: &str) {
        if let Some(stated) = self.stated.get(word).filter(|_| self.left_out.len() < LEFT_OUT) {
            self.left_out.insert(word.to_owned(), *stated);
        }
    }

    /// Takes over the withdrawals of those documents that this node should keep.
    async fn take_withdrawals(&mut self) -> Result<(), Why> {
        let me = self.inner.net.me();
        let mut left = Some(IdRange::ALL);
        while let Some(range) = left {
            let Response::Withdrawals { withdrawals: all, more } = self.ask(&Request::Withdrawn { range }).await?
            else {
                return Err(Why::Lied);
            };
            let ids = || all.iter().map(|(withdrawal, _)| withdrawal.id);
            if !ids().is_sorted() || !ids().all(|id| range.contains(id)) || more && all.is_empty() {
                return Err(Why::Lied);
            }
            left = next(all.last().map(|(withdrawal, _)| &withdrawal.id), more, range);
            let mut by_days: BTreeMap<u8, Vec<Withdrawal>> = BTreeMap::new();
            for (withdrawal, days) in all {
                if days > 0 && self.places.keeps(&me, &record_key(withdrawal.id)) {
                    if !net::is_withdrawn(&withdrawal) {
                        return Err(Why::Lied);
                    }
                    by_days.entry(days).or_default().push(withdrawal);
                }
            }
            for (days, withdrawals) in by_days {
                let until = until(days, REMEMBERED);
                let withdrawn = self.inner.keeper.ask(move |shelf| shelf.withdraw(&withdrawals, until, true)).await;
                self.new += withdrawn.and_then(Result::ok).ok_or(Why::Stopped)?;
            }
        }
        Ok(())
    }

    /// Takes over the missing records of those documents that this node should keep.
    async fn take_records(&mut self) -> Result<(), Why> {
        let me = self.inner.net.me();
        let mut left = Some(IdRange::ALL);
        while let Some(range) = left {
            let list = self.list(&[String::new()], range).await?.pop().ok_or(Why::Lied)?;
            left = next(list.ids.last(), list.more, range);
            let mut missing: Vec<(ContentId, u8)> = list.ids.into_iter().zip(list.days).collect();
            missing.retain(|(id, _)| self.places.keeps(&me, &record_key(*id)));
            let missing = self.inner.keeper.ask(move |shelf| {
                missing.retain(|(id, _)| {
                    let range = IdRange { first: id.head(), last: id.head() };
                    // If the storage fails, no record counts as missing, because none could be stored.
                    shelf.records(range, limits::IDS).is_ok_and(|ids| !ids.contains(id))
                });
                missing
            });
            self.fetch(missing.await.ok_or(Why::Stopped)?).await?;
        }
        Ok(())
    }

    /// Fetches these records from the neighbour, and stores them for as many days as it states.
    async fn fetch(&mut self, missing: Vec<(ContentId, u8)>) -> Result<(), Why> {
        let days: HashMap<ContentId, u8> = missing.iter().copied().collect();
        let mut missing: Vec<ContentId> = missing.into_iter().map(|(id, _)| id).collect();
        while !missing.is_empty() {
            let ids: Vec<ContentId> = missing.drain(..missing.len().min(limits::FETCHED)).collect();
            let response = self.ask(&fetch::request(&ids)).await?;
            let Records { found, later, .. } = Records::of(&ids, response).ok_or(Why::Lied)?;
            let sites = self.inner.blocklist.sites();
            let mut by_days: BTreeMap<u8, Taken> = BTreeMap::new();
            for (id, Found { record, publication }) in found {
                let left = self.record_bytes.checked_sub(record.len() as u64);
                self.record_bytes = left.ok_or(Why::Enough)?;
                let decoded = Record::decode(&record).map_err(|_| Why::Lied)?;
                if !net::is_signed(&decoded.publisher, Act::Publish, id, &publication.signature) {
                    return Err(Why::Lied);
                }
                if !sites.have(&decoded.url) && !is_too_old(&publication.signature) {
                    let taken = by_days.entry(days.get(&id).copied().unwrap_or_default()).or_default();
                    taken.records.push((id, record));
                    taken.published.push((id, decoded.publisher, publication));
                }
            }
            // A neighbour that postpones all records of a request is not asked again.
            if !by_days.is_empty() {
                missing.extend(later);
                self.store(by_days).await?;
            }
        }
        Ok(())
    }

    /// Stores postings and records, by the number of days in which they expire. Entries that would expire today are
    /// left out.
    async fn store(&mut self, mut by_days: BTreeMap<u8, Taken>) -> Result<(), Why> {
        by_days.remove(&0);
        let prefix = Prefix::of_peer(self.from);
        for (days, Taken { postings, records, published }) in by_days {
            let (origin, until) = (origin(self.from, prefix, true), until(days, LIFE));
            let stored = self
                .inner
                .keeper
                .ask(move |shelf| shelf.store_of(&origin, &HashSet::new(), (&postings, &records, &published), until));
            match stored.await.and_then(Result::ok).ok_or(Why::Stopped)? {
                Ok(stored) => self.new += stored.new,
                Err(full) => {
                    self.inner.net.refusals().note(format!("{} at {prefix}", net::name(self.from)), full.why());
                    return Err(Why::Full);
                }
            }
        }
        Ok(())
    }
}

/// The time, in seconds since 1970, at which something expires that expires in `days` days, but at most for `life`.
fn until(days: u8, life: Duration) -> u64 {
    unix_seconds() + (u64::from(days) * DAY).min(life.as_secs())
}

/// The part of `range` after a message whose last id is `last`; `None` if there is none, because `more` is false.
fn next(last: Option<&ContentId>, more: bool, range: IdRange) -> Option<IdRange> {
    let first = last.filter(|_| more)?.head().checked_add(1).filter(|first| *first <= range.last)?;
    Some(IdRange { first, ..range })
}
