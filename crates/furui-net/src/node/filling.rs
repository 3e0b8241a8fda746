use furui_search::{Clause, ContentId, Fit, Place, Querier, Report, limits};

use super::{Hit, Inner, SearchEvent, fetch};

/// The maximum number of candidates that one search examines. The search then ends with a cursor.
const CHECKED: u64 = 1 << 12;
/// The minimum number of candidates that are examined at a time before the first one that fits is found.
const FIRST: u64 = 16;

/// Fills the answer to a query with phrases: examines the candidates that the lists name, and keeps the documents that
/// fit.
pub(super) struct Filling<'a> {
    fit: &'a Fit<'a>,
    clauses: &'a [Clause],
    limit: Option<u64>,
    /// The number of candidates that were examined.
    checked: u64,
    /// The number of candidates that fit.
    found: u64,
    /// The last candidate that was examined.
    pub(super) cursor: Option<Place>,
    /// True if a candidate could not be examined because no node that keeps it answered.
    is_missing_some: bool,
}

impl<'a> Filling<'a> {
    /// Makes the state for a query with phrases; `None` for other queries.
    pub(super) fn new(clauses: &'a [Clause], fit: &'a Fit<'a>, limit: Option<u64>) -> Option<Self> {
        clauses.iter().any(Clause::has_phrases).then_some(Self {
            fit,
            clauses,
            limit,
            checked: 0,
            found: 0,
            cursor: None,
            is_missing_some: false,
        })
    }

    /// The number of candidates on a page of the querier: more than the documents wanted, because some will not fit.
    pub(super) fn page(&self) -> usize {
        self.limit
            .map_or(limits::FETCHED, |limit| (4 * limit.min(limits::FETCHED as u64)) as usize)
            .clamp(64, limits::FETCHED)
    }

    /// True if enough documents were found, or enough candidates examined.
    pub(super) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.found >= limit || self.checked >= CHECKED)
    }

    /// Examines candidates until enough documents are found, and returns the candidates that fit.
    pub(super) async fn sift(&mut self, inner: &Inner, candidates: Vec<Place>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut left = &candidates[..];
        while !left.is_empty() && !self.is_over() {
            let (batch, rest) = left.split_at(self.batch().min(left.len()));
            left = rest;
            let ids: Vec<ContentId> = batch.iter().map(|place| place.id).collect();
            let mut records = fetch::records(inner, &ids, self.clauses).await;
            for &place in batch {
                if self.is_over() {
                    break;
                }
                self.checked += 1;
                self.cursor = Some(place);
                match records.found.remove(&place.id) {
                    Some(record) if self.fit.fits(&record) => {
                        self.found += 1;
                        hits.push(Hit { place, record: Some(record) });
                    }
                    None if !records.unfit.contains(&place.id) && !records.gone.contains(&place.id) => {
                        self.is_missing_some = true;
                    }
                    Some(_) | None => {}
                }
            }
        }
        hits
    }

    /// The end of the search, with the place at which to continue.
    pub(super) fn done(&self, querier: &Querier, cursor: Option<Place>, whole: bool) -> SearchEvent {
        let report = Report { checked: self.checked, ..querier.report() };
        let whole = whole && !self.is_missing_some;
        SearchEvent::Done { found: self.found, cursor, whole, report: Box::new(report) }
    }

    /// The number of candidates to examine next, which probably suffices for the documents that are still wanted.
    fn batch(&self) -> usize {
        let Some(limit) = self.limit else { return limits::FETCHED };
        let wanted = limit.saturating_sub(self.found);
        let likely = match self.found {
            0 => (2 * wanted).max(FIRST).max(self.checked),
            found => wanted * self.checked.div_ceil(found),
        };
        likely.clamp(1, limits::FETCHED as u64) as usize
    }
}
