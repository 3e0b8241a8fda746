use furui_search::{Clause, ContentId, Fit, Place, Querier, Report, limits};

use super::{Hit, Inner, SearchEvent, fetch};

/// How many candidates one search looks at; then it ends, with a cursor to go on at.
const CHECKED: u64 = 1 << 12;
/// Candidates of the first page that are looked at at once, at least.
const FIRST: u64 = 16;

/// Fills an answer with documents that fit, where lists only name candidates: those of a query with phrases.
pub(super) struct Filling<'a> {
    fit: &'a Fit<'a>,
    clauses: &'a [Clause],
    limit: Option<u64>,
    /// How many candidates were looked at, and how many of them fit.
    checked: u64,
    found: u64,
    /// The last candidate that was looked at.
    pub(super) cursor: Option<Place>,
    /// Whether some could not be looked at, because nobody who keeps them answers.
    is_missing_some: bool,
}

impl<'a> Filling<'a> {
    /// For a query that has phrases; there is nothing to do for others.
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

    /// How many candidates a page of them should have: some of them will not fit.
    pub(super) fn page(&self) -> usize {
        self.limit
            .map_or(limits::FETCHED, |limit| (4 * limit.min(limits::FETCHED as u64)) as usize)
            .clamp(64, limits::FETCHED)
    }

    /// Whether it has as many as are wanted, or has looked at enough.
    pub(super) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.found >= limit || self.checked >= CHECKED)
    }

    /// Those of the candidates that fit, as many as are still wanted; none is looked at after them.
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

    /// The end of the search: where to go on, and whether the lists were whole.
    pub(super) fn done(&self, querier: &Querier, cursor: Option<Place>, whole: bool) -> SearchEvent {
        let report = Report { checked: self.checked, ..querier.report() };
        let whole = whole && !self.is_missing_some;
        SearchEvent::Done { found: self.found, cursor, whole, report: Box::new(report) }
    }

    /// How many candidates to look at next: as many as probably hold what is wanted.
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
