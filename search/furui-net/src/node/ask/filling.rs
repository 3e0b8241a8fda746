use std::collections::{BTreeMap, BTreeSet, HashMap};

use furui_search::{Clause, ContentId, Place, Querier, Report, Scale, Showing, Showings, limits};

use crate::node::owner_list::Sites;
use crate::node::sharing::Sharing;
use crate::node::showing::{Gathering, Ranks, Verdict};
use crate::node::versions::{self, Known, Opinion, Versions};
use crate::node::{Hit, Inner, SearchEvent, SearchOptions};

/// The maximum number of candidates (documents that the words' lists name) that one search with a limit examines. The
/// search then ends with a cursor. The value is a choice, not a measurement.
const CHECKED: u64 = 1 << 12;
/// The maximum number of candidates that one search with phrases examines: their texts are read for it. The value is a
/// choice, not a measurement.
const READ: u64 = 256;
/// The minimum number of candidates in the first batch that is examined for a query with phrases, before any document
/// was found to fit. The value is a choice, not a measurement.
const FIRST: u64 = 16;

/// Examines the candidates that the lists name for a query, and collects the documents that fit. Each is ranked by its
/// score according to its record.
pub(in crate::node) struct Filling<'a> {
    inner: &'a Inner,
    pub(in crate::node) gathering: Gathering<'a>,
    showings: &'a Showings<'a>,
    ranks: Ranks,
    has_phrases: bool,
    blocked: Sites,
    opinion: Opinion,
    clauses: &'a [Clause],
    limit: u64,
    /// How publishers share the limit; `None` if all documents count for it.
    sharing: Option<Sharing>,
    after: Option<Place>,
    /// The number of candidates (documents that the words' lists name) examined so far.
    checked: u64,
    /// The number of fitting documents returned so far.
    found: u64,
    /// The last place of the documents returned so far.
    last: Option<Place>,
    /// Documents that fit but are not returned yet, because their true place is after the last examined candidate,
    /// although the lists claim an earlier place.
    held: BTreeMap<Place, Hit>,
    versions: Versions,
    /// The documents of the last batch, of which it is not decided yet which are shown.
    found_now: Vec<Found>,
    /// The place up to which all fitting documents were returned; a further search continues after it.
    cursor: Option<Place>,
    /// True if candidates are left because the limit on documents was reached.
    has_rest: bool,
    /// True if the answer may lack a document that fits the query.
    is_missing_some: bool,
    /// True if a candidate that the lists name was dropped because it is withdrawn or does not fit.
    has_dropped: bool,
    /// The postings, each as its word and its document, that may contradict the document's record.
    pub(in crate::node) doubts: Vec<(String, ContentId)>,
}

/// A document that fits the query.
struct Found {
    place: Place,
    showing: Box<Showing>,
    /// The other documents of its URL.
    others: Vec<ContentId>,
}

impl<'a> Filling<'a> {
    /// Makes the state of a search.
    pub(in crate::node) fn new(
        inner: &'a Inner,
        clauses: &'a [Clause],
        showings: &'a Showings<'a>,
        &SearchOptions { limit, shared, after, .. }: &SearchOptions,
    ) -> Self {
        let words = showings.words().len();
        Self {
            inner,
            gathering: Gathering::new(inner, clauses, showings),
            showings,
            ranks: Ranks { idfs: vec![0; words], scale: Scale::new(Scale::USUAL) },
            has_phrases: clauses.iter().any(Clause::has_phrases),
            blocked: inner.blocklist.sites(),
            opinion: inner.opinion(),
            clauses,
            limit,
            sharing: shared.then(|| Sharing::of(limit)),
            after,
            checked: 0,
            found: 0,
            last: None,
            held: BTreeMap::new(),
            versions: Versions::default(),
            found_now: vec![],
            cursor: after,
            has_rest: false,
            is_missing_some: false,
            has_dropped: false,
            doubts: vec![],
        }
    }

    /// The maximum number of candidates (documents that the words' lists name) that the querier finds per page. It is
    /// larger than the number of wanted documents if some may lack the phrases.
    pub(in crate::node) fn page(&self) -> usize {
        let wanted = self.limit.clamp(1, limits::FETCHED as u64) as usize;
        match self.has_phrases {
            true => (4 * wanted).clamp(64, limits::FETCHED),
            false => wanted,
        }
    }

    /// The number of documents returned so far that count for the limit.
    fn counted(&self) -> u64 {
        self.found - self.sharing.as_ref().map_or(0, Sharing::found)
    }

    /// The number of further documents that may be found or passed over, apart from those that count for the limit.
    fn further(&self) -> u64 {
        self.sharing.as_ref().map_or(u64::MAX, Sharing::left)
    }

    /// The number of documents that may be returned, whether or not they count for the limit.
    fn room(&self) -> u64 {
        self.limit.saturating_sub(self.found)
    }

    /// True if the search has found enough documents.
    fn is_full(&self) -> bool {
        self.counted() >= self.limit || self.further() == 0
    }

    /// True if the search has found enough documents, or has examined the maximum number of candidates.
    pub(in crate::node) fn is_over(&self) -> bool {
        self.is_full() || self.is_bounded()
    }

    /// True if the search has examined so many candidates that it ends, whatever it has found.
    fn is_bounded(&self) -> bool {
        self.checked >= if self.has_phrases { READ } else { CHECKED }
    }

    /// True if the search can end without further candidates of the querier.
    pub(in crate::node) fn is_done(&self) -> bool {
        self.is_over() && (self.has_phrases || self.has_rest)
    }

    /// The number of further candidates to request from the querier, because too many of the earlier ones did not fit
    /// or do not count; `None` if the search is over.
    pub(in crate::node) fn missing(&self) -> Option<u64> {
        let missing = self.limit.saturating_sub(self.counted());
        // The share of candidates that fail is assumed to remain the same.
        let dropped = self.checked.saturating_sub(self.counted()).min(limits::FETCHED as u64);
        let most = missing.saturating_add(self.further());
        let have_full = self.sharing.as_ref().is_some_and(Sharing::have_full);
        (!self.is_over()).then(|| if have_full { most } else { missing.max(dropped).min(most) })
    }

    /// Examines candidates in their order until enough documents are found, and returns those that fit.
    pub(in crate::node) async fn sift(&mut self, querier: &mut Querier, candidates: Vec<Place>) -> Vec<Hit> {
        let words = self.showings.words();
        self.ranks.idfs = words.iter().map(|word| querier.idf(word).unwrap_or_default()).collect();
        self.ranks.scale = Scale::new(querier.log_length().unwrap_or(Scale::USUAL));
        let mut hits = Vec::new();
        let mut left = &candidates[..];
        while !left.is_empty() && !self.is_over() {
            let before = left;
            let batch = self.choose(&mut left).await;
            let through = before[..before.len() - left.len()].last().copied();
            let verdicts = self.gathering.judge(&batch, Some(&self.ranks)).await;
            self.checked += batch.len() as u64;
            for (claimed, verdict) in batch.into_iter().zip(verdicts) {
                if let Verdict::Gone { is_withdrawn, .. } = verdict {
                    // Nodes that only deny a document, which all lists name, may hide it.
                    self.is_missing_some |= !is_withdrawn && !querier.is_disputed(&claimed);
                    querier.miss(claimed);
                } else if let Some(holds) = verdict.holds(claimed) {
                    for liar in querier.judge(claimed, holds) {
                        self.inner.reputation.shun(liar).await;
                    }
                }
                self.note(claimed, verdict);
            }
            self.choose_versions().await;
            hits.extend(self.release(through));
        }
        self.has_rest = !left.is_empty() || self.has_rest;
        hits
    }

    /// Removes from the front of `left` the candidates to read next, and those that are passed over.
    async fn choose(&mut self, left: &mut &[Place]) -> Vec<Place> {
        let most = self.batch();
        // While there is room, all are shown.
        let is_full = self.room() == 0;
        match self.sharing.as_mut().filter(|_| is_full) {
            Some(sharing) => sharing.choose(self.inner, &mut self.gathering.spent, left, most).await,
            None => {
                let (batch, rest) = left.split_at(most.min(left.len()));
                *left = rest;
                batch.to_vec()
            }
        }
    }

    /// Makes the next search continue between what was shown and what was passed over, if all that was shown is before
    /// that.
    pub(in crate::node) fn continue_before_passed(&mut self) {
        if let Some(sharing) = &mut self.sharing
            && let Some(last) = self.last.filter(|last| sharing.forget_after(last))
        {
            (self.cursor, self.has_rest) = (Some(last), true);
        }
    }

    /// Applies the verdict on a candidate, whose place according to the lists is `claimed`, to the state of the search.
    fn note(&mut self, claimed: Place, verdict: Verdict) {
        match verdict {
            Verdict::Shown { place, showing, others, doubts } => {
                self.doubts.extend(doubts);
                let is_before = self.after.is_some_and(|after| place <= after);
                self.inner.publishers.learn([(place.id, showing.head.publisher)].into_iter());
                if !is_before && !self.blocked.have(&showing.head.url) {
                    self.found_now.push(Found { place, showing, others });
                }
            }
            Verdict::Missing => {
                self.is_missing_some = true;
                self.held.insert(claimed, Hit::new(claimed, None));
            }
            Verdict::Uncertain => self.is_missing_some = true,
            Verdict::False { doubts } | Verdict::Gone { doubts, .. } => {
                self.has_dropped = true;
                self.doubts.extend(doubts);
            }
            Verdict::Unfit => {}
        }
    }

    /// Decides for each URL of the documents that were found now which of its documents is shown, and holds those. All
    /// documents of the URL that fit the query are compared, however far down they are.
    async fn choose_versions(&mut self) {
        let found = std::mem::take(&mut self.found_now);
        let mut open: HashMap<&str, BTreeSet<ContentId>> = HashMap::new();
        for Found { place, showing, others } in &found {
            if self.versions.of(&showing.head.url).is_none() {
                open.entry(&showing.head.url).or_default().extend([place.id].iter().chain(others));
            }
        }
        let several = open.values().filter(|ids| ids.len() > 1).flatten().copied().collect::<Vec<_>>();
        let mut known: HashMap<ContentId, Known> = HashMap::new();
        if !several.is_empty() {
            let (fetched, spent) = versions::fetch(self.inner, &several, self.clauses).await;
            self.gathering.spent.add(spent);
            known.extend(fetched.into_iter().map(|known| (known.id, known)));
        }
        for Found { place, showing, .. } in &found {
            known.entry(place.id).or_insert_with(|| Known::of(place.id, &showing.head));
        }
        for (url, ids) in open {
            let of_url = ids.iter().filter_map(|id| known.get(id).cloned()).collect();
            self.versions.decide(url.to_owned(), of_url, &self.opinion);
        }
        for Found { place, showing, .. } in found {
            if self.versions.shows(&showing.head.url, place.id) {
                self.held.insert(place, Hit::new(place, Some(*showing)));
            }
        }
    }

    /// Removes the pending documents up to the place `through` (all if it is `None`) in rank order, and returns them.
    /// Returns no more documents than the limit leaves.
    pub(in crate::node) fn release(&mut self, through: Option<Place>) -> Vec<Hit> {
        let mut hits = vec![];
        while !self.is_full()
            && let Some(first) = self.held.first_entry()
            && through.is_none_or(|through| *first.key() <= through)
        {
            let place = *first.key();
            self.cursor = Some(place);
            let mut hit = first.remove();
            if let Some(decided) = self.versions.of(&hit.url) {
                (hit.publishers, hit.also) = (decided.publishers.clone(), decided.also.clone());
                hit.trusted = decided.is_trusted;
            }
            if let Some(sharing) = &mut self.sharing {
                sharing.count(&hit);
            }
            self.found += 1;
            self.last = self.last.max(Some(place));
            hits.push(hit);
        }
        match through {
            Some(through) if self.held.first_key_value().is_none_or(|(first, _)| *first > through) => {
                self.cursor = self.cursor.max(Some(through));
            }
            _ => self.has_rest = !self.held.is_empty(),
        }
        hits
    }

    /// Makes the last event of the search. `more` is true if the querier may find more candidates.
    pub(in crate::node) fn done(&self, querier: &Querier, more: bool) -> SearchEvent {
        let report = self.gathering.spent.report(querier.report());
        let is_full = self.is_full();
        let bounded = self.is_bounded() && !is_full && (more || self.has_rest);
        let report = Report { checked: if self.has_phrases { self.checked } else { 0 }, bounded, ..report };
        // A dropped candidate does not make the answer incomplete if others have filled the answer, or no candidates
        // are left.
        let is_replaced = !self.has_dropped || self.has_phrases || is_full || !more;
        let whole = querier.is_whole() && !self.is_missing_some && is_replaced;
        let cursor = self.cursor.filter(|_| more || self.has_rest);
        let passed_over = self.sharing.as_ref().map(Sharing::passed_over).unwrap_or_default();
        SearchEvent::Done { found: self.found, passed_over, cursor, whole, report: Box::new(report) }
    }

    /// The number of candidates (documents that the lists name) to examine next. For a query with phrases, it is
    /// estimated from the share of candidates that have fitted so far.
    fn batch(&self) -> usize {
        let wanted = self.limit.saturating_sub(self.counted());
        let likely = match self.counted() {
            _ if !self.has_phrases && self.sharing.is_some() => {
                if self.room() > 0 {
                    self.room()
                } else {
                    wanted
                }
            }
            _ if !self.has_phrases => limits::FETCHED as u64,
            0 => (2 * wanted).max(FIRST).max(self.checked),
            counted => wanted * self.checked.div_ceil(counted),
        };
        let left = if self.has_phrases { READ.saturating_sub(self.checked) } else { u64::MAX };
        likely.min(left).clamp(1, limits::FETCHED as u64) as usize
    }
}
