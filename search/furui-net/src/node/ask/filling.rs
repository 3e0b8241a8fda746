use std::collections::BTreeMap;

use furui_search::{Clause, ContentId, Place, Querier, Report, Scale, Showings, limits};

use crate::node::blocklist::Sites;
use crate::node::publishers::{Publishers, publishers};
use crate::node::showing::{Gathering, Proof, Ranks, Verdict};
use crate::node::versions::Versions;
use crate::node::{Hit, Inner, SearchEvent};

/// The maximum number of candidates that one search with a limit examines. The search then ends with a cursor. Chosen.
const CHECKED: u64 = 1 << 12;
/// The minimum number of candidates of a query with phrases that are examined at a time before the first one that fits
/// is found. Chosen.
const FIRST: u64 = 16;

/// Fills the answer to a query: examines the candidates that the lists name, and keeps the documents that fit, each at
/// its true place.
pub(in crate::node) struct Filling<'a> {
    inner: &'a Inner,
    gathering: Gathering<'a>,
    showings: &'a Showings<'a>,
    ranks: Ranks,
    has_phrases: bool,
    blocked: Sites,
    limit: u64,
    after: Option<Place>,
    /// The number of candidates that were examined.
    checked: u64,
    /// The number of documents that were found.
    found: u64,
    /// Documents whose true place is after the last candidate that was examined, although lists state an earlier one.
    held: BTreeMap<Place, Hit>,
    versions: Versions,
    /// The place up to which all documents were found.
    cursor: Option<Place>,
    /// True if candidates were left over because the answer was full.
    has_rest: bool,
    /// True if the answer may lack a document that should be in it.
    is_missing_some: bool,
    /// True if a candidate was dropped, although lists state that it fits.
    has_dropped: bool,
    /// What lists state falsely.
    doubts: Vec<(String, ContentId)>,
}

impl<'a> Filling<'a> {
    /// Makes the state of a search, where `mean_length` is the mean length of a document.
    pub(in crate::node) fn new(
        inner: &'a Inner,
        clauses: &'a [Clause],
        showings: &'a Showings<'a>,
        (limit, after): (u64, Option<Place>),
        mean_length: u32,
    ) -> Self {
        let words = showings.words().len();
        Self {
            inner,
            gathering: Gathering::new(inner, clauses, showings),
            showings,
            ranks: Ranks { idfs: vec![0; words], scale: Scale::new(mean_length) },
            has_phrases: clauses.iter().any(Clause::has_phrases),
            blocked: inner.blocklist.sites(),
            limit,
            after,
            checked: 0,
            found: 0,
            held: BTreeMap::new(),
            versions: Versions::default(),
            cursor: after,
            has_rest: false,
            is_missing_some: false,
            has_dropped: false,
            doubts: vec![],
        }
    }

    /// The number of candidates on a page of the querier. For a query with phrases, it is larger than the number of
    /// documents wanted, because some will not fit.
    pub(in crate::node) fn page(&self) -> usize {
        let wanted = self.limit.clamp(1, limits::FETCHED as u64) as usize;
        if self.has_phrases { (4 * wanted).clamp(64, limits::FETCHED) } else { wanted }
    }

    /// True if enough documents were found, or enough candidates examined.
    pub(in crate::node) fn is_over(&self) -> bool {
        self.found >= self.limit || self.checked >= CHECKED
    }

    /// True if the search is over, whatever the querier might still find.
    pub(in crate::node) fn is_done(&self) -> bool {
        self.is_over() && (self.has_phrases || self.has_rest)
    }

    /// The number of further candidates to find, because too few of those that were found are in the answer.
    pub(in crate::node) fn missing(&self) -> Option<u64> {
        let missing = self.limit.saturating_sub(self.found);
        // The more were dropped, the more will be.
        let dropped = self.checked.saturating_sub(self.found).min(limits::FETCHED as u64);
        (!self.is_over()).then(|| missing.max(dropped))
    }

    /// Examines candidates until enough documents are found, and returns those that are found.
    pub(in crate::node) async fn sift(&mut self, querier: &mut Querier, candidates: Vec<Place>) -> Vec<Hit> {
        let words = self.showings.words();
        self.ranks.idfs = words.iter().map(|word| querier.idf(word).unwrap_or_default()).collect();
        let mut hits = Vec::new();
        let mut left = &candidates[..];
        while !left.is_empty() && !self.is_over() {
            let (batch, rest) = left.split_at(self.batch().min(left.len()));
            left = rest;
            let verdicts = self.gathering.judge(batch, Some(&self.ranks)).await;
            self.checked += batch.len() as u64;
            for (&claimed, verdict) in batch.iter().zip(verdicts) {
                if matches!(verdict, Verdict::Gone) {
                    querier.miss(claimed);
                } else if let Some(holds) = verdict.holds(claimed) {
                    for liar in querier.judge(claimed, holds) {
                        self.gathering.shun(liar).await;
                    }
                }
                self.note(claimed, verdict);
            }
            self.choose_versions().await;
            hits.extend(self.release(batch.last().copied()));
        }
        self.has_rest = !left.is_empty() || self.has_rest;
        hits
    }

    /// Takes over what became of a candidate.
    fn note(&mut self, claimed: Place, verdict: Verdict) {
        match verdict {
            Verdict::Shown { place, showing, doubts } => {
                self.doubts.extend(doubts);
                let is_before = self.after.is_some_and(|after| place <= after);
                let head = &showing.head;
                if !is_before
                    && !self.blocked.have_url(&head.url)
                    && self.versions.add(&head.url, place, head.publisher)
                {
                    self.held.insert(place, Hit::new(place, Some(*showing)));
                }
            }
            Verdict::Missing => {
                self.is_missing_some = true;
                self.held.insert(claimed, Hit::new(claimed, None));
            }
            Verdict::Uncertain => self.is_missing_some = true,
            Verdict::False { doubts } => {
                self.has_dropped = true;
                self.doubts.extend(doubts);
            }
            Verdict::Gone => self.has_dropped = true,
            Verdict::Unfit => {}
        }
    }

    /// Of documents with the same URL, leaves only the one that is shown.
    async fn choose_versions(&mut self) {
        let ids = self.versions.to_ask();
        if ids.is_empty() {
            return;
        }
        let Publishers { of, spent } = publishers(self.inner, &ids).await;
        self.gathering.spent.add(spent);
        for place in self.versions.decide(of) {
            self.held.remove(&place);
        }
    }

    /// The documents up to this place, as many as are wanted; all of them if there is no place.
    fn release(&mut self, through: Option<Place>) -> Vec<Hit> {
        let mut hits = vec![];
        while self.found < self.limit
            && let Some(first) = self.held.first_entry()
            && through.is_none_or(|through| *first.key() <= through)
        {
            self.cursor = Some(*first.key());
            let mut hit = first.remove();
            if !hit.url.is_empty() {
                (hit.publishers, hit.also) = self.versions.show(&hit.url, hit.id);
            }
            hits.push(hit);
            self.found += 1;
        }
        match through {
            Some(through) if self.held.first_key_value().is_none_or(|(first, _)| *first > through) => {
                self.cursor = self.cursor.max(Some(through));
            }
            _ => self.has_rest = !self.held.is_empty(),
        }
        hits
    }

    /// The documents that are left when there are no more candidates, as many as are wanted.
    pub(in crate::node) fn rest(&mut self) -> Vec<Hit> {
        self.release(None)
    }

    /// Takes over what was proved apart from the candidates.
    pub(in crate::node) fn take_over(&mut self, proof: Proof) {
        self.gathering.spent.add(proof.spent);
        self.doubts.extend(proof.doubts);
    }

    /// Takes out what lists state falsely, by words and documents.
    pub(in crate::node) fn take_doubts(&mut self) -> Vec<(String, ContentId)> {
        std::mem::take(&mut self.doubts)
    }

    /// The end of the search. `more` is true if the querier may find more candidates.
    pub(in crate::node) fn done(&self, querier: &Querier, more: bool) -> SearchEvent {
        let report = self.gathering.spent.report(querier.report());
        let report = Report { checked: if self.has_phrases { self.checked } else { 0 }, ..report };
        let is_full = self.found >= self.limit;
        // What was dropped was replaced, or there is nothing left to take its place.
        let is_replaced = !self.has_dropped || self.has_phrases || is_full || !more;
        let whole = querier.is_whole() && !self.is_missing_some && is_replaced;
        let cursor = self.cursor.filter(|_| more || self.has_rest);
        SearchEvent::Done { found: self.found, cursor, whole, report: Box::new(report) }
    }

    /// The number of candidates to examine next. In a query with phrases, it probably suffices for the documents that
    /// are still wanted.
    fn batch(&self) -> usize {
        let wanted = self.limit.saturating_sub(self.found);
        let likely = match self.found {
            _ if !self.has_phrases => limits::FETCHED as u64,
            0 => (2 * wanted).max(FIRST).max(self.checked),
            found => wanted * self.checked.div_ceil(found),
        };
        likely.clamp(1, limits::FETCHED as u64) as usize
    }
}
