use std::collections::{BTreeSet, HashSet};

use furui_search::{Clause, ContentId, Grade, Peer, Place, Record, Scale, Showing, Showings, list_of};

use super::verdict::Verdict;

/// The facts about a document that its whole record proves.
pub(super) struct Truth {
    pub(super) fits: bool,
    pub(super) showing: Box<Showing>,
    text: String,
}

impl Truth {
    pub(super) fn of(record: Record, showings: &Showings<'_>) -> Self {
        let (fits, showing) = showings.view(&record);
        Self { fits, showing: Box::new(showing), text: record.text }
    }

    /// True if a node's statement about the document is consistent with the record. The snippet need not be the same,
    /// because nodes of different versions may choose different ones.
    pub(super) fn allows(&self, stated: &Showing) -> bool {
        self.fits && is_same(stated, &self.showing) && stated.snippet.is_of(&self.text)
    }
}

/// The parameters by which the documents of a query are ranked.
pub(in crate::node) struct Ranks {
    /// The inverse document frequencies of the query's words, in the order of [`Showings::words`], as integers of a
    /// fixed point.
    pub(in crate::node) idfs: Vec<u32>,
    pub(in crate::node) scale: Scale,
}

/// The query, the ranking and the suspicions by which the candidates of a search are judged.
pub(super) struct Criteria<'a> {
    pub(super) me: Peer,
    pub(super) clauses: &'a [Clause],
    pub(super) showings: &'a Showings<'a>,
    pub(super) has_phrases: bool,
    pub(super) ranks: Option<&'a Ranks>,
    /// True if the nodes are known to be honest, so that nothing is proved.
    pub(super) trusting: bool,
    /// True if a node's statement was proved false, so that every statement is checked against the record.
    pub(super) is_suspicious: bool,
    /// The nodes that have not answered in time.
    pub(super) slow: HashSet<Peer>,
}

/// True if both showings say the same of a query's words.
fn is_same(one: &Showing, other: &Showing) -> bool {
    let of = |it: &Showing| (it.size_bits, it.window, it.simhash);
    one.grades == other.grades && of(one) == of(other)
}

impl Criteria<'_> {
    pub(super) fn is_slow(&self, peer: &Peer) -> bool {
        self.slow.contains(peer)
    }

    /// The score of a document that shows this; 0 without a ranking. `None` if the document lacks the words of every
    /// clause.
    fn score(&self, showing: &Showing) -> Option<u32> {
        match self.ranks {
            Some(Ranks { idfs, scale }) => self.showings.score(&showing.grades, showing.size_bits, idfs, scale),
            None => self.showings.has_words(&showing.grades).then_some(0),
        }
    }

    /// True if a document that shows this has the score of this place.
    pub(super) fn agrees(&self, showing: &Showing, place: Place) -> bool {
        self.score(showing) == Some(place.score)
    }

    /// The verdict on a document. `fits` and `showing` tell if it fits the query and what it shows, proved or
    /// undisputed; `place` is the place that the lists claim; `others` are the other documents of the URL.
    pub(super) fn verdict(&self, place: Place, fits: bool, showing: &Showing, others: &BTreeSet<ContentId>) -> Verdict {
        let id = place.id;
        let score = self.score(showing);
        let doubts = if score == Some(place.score) { vec![] } else { self.doubts(id, Some(&showing.grades)) };
        match score {
            Some(score) if fits => {
                let others = others.iter().copied().collect();
                Verdict::Shown { place: Place { score, id }, showing: Box::new(showing.clone()), others, doubts }
            }
            Some(score) if score == place.score => Verdict::Unfit,
            _ => Verdict::False { doubts },
        }
    }

    /// The postings of the document that may be false, each as its word and the document's id: those of words that it
    /// lacks or, if it lacks none, those of all words that affect its score.
    pub(super) fn doubts(&self, id: ContentId, grades: Option<&[Option<Grade>]>) -> Vec<(String, ContentId)> {
        let words = self.showings.words();
        let has = |word: &String| {
            let at = words.iter().position(|other| other == word);
            at.and_then(|at| grades?.get(at)).is_some_and(Option::is_some)
        };
        let must = || self.clauses.iter().flat_map(|clause| &clause.must);
        let without = self.clauses.iter().flat_map(|clause| &clause.without);
        let mut doubted: Vec<&String> =
            must().filter(|word| !has(word)).chain(without.filter(|word| has(word))).collect();
        if doubted.is_empty() {
            doubted = must().collect();
        }
        doubted.sort_unstable();
        doubted.dedup();
        doubted.into_iter().map(|word| (list_of(word).into_owned(), id)).collect()
    }
}
