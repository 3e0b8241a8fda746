use std::collections::BTreeMap;

use furui_search::{Clause, ContentId, Place, Showings};

use super::gathering::Gathering;
use super::verdict::Verdict;
use crate::node::Inner;
use crate::node::spent::Spent;

/// The result of checking documents that a word's list names against their records.
pub(in crate::node) struct Proof {
    /// For each document, true if its record contains the word. Documents whose records were unavailable are left out.
    pub(in crate::node) holds: BTreeMap<ContentId, bool>,
    /// The postings, each as its word and its document, that contradict the document's record.
    pub(in crate::node) doubts: Vec<(String, ContentId)>,
    pub(in crate::node) spent: Spent,
}

/// Checks against the records of these documents, from the nodes that keep them, whether they contain the word.
pub(in crate::node) async fn prove(inner: &Inner, word: String, ids: &[ContentId]) -> Proof {
    let clauses = [Clause { must: vec![word], ..Clause::default() }];
    let showings = Showings::new(&clauses).expect("there are no phrases");
    let mut gathering = Gathering::new(inner, &clauses, &showings);
    let places: Vec<Place> = ids.iter().map(|&id| Place { score: 0, id }).collect();
    let (mut holds, mut all_doubts) = (BTreeMap::new(), Vec::new());
    for (place, verdict) in places.iter().zip(gathering.judge(&places, None).await) {
        // If no node has the record, the posting was invented, or the document was withdrawn.
        let holds_it = if matches!(verdict, Verdict::Gone { .. }) { Some(false) } else { verdict.holds(*place) };
        holds.extend(holds_it.map(|it| (place.id, it)));
        if let Verdict::Shown { doubts, .. } | Verdict::False { doubts } = verdict {
            all_doubts.extend(doubts);
        }
    }
    Proof { holds, doubts: all_doubts, spent: gathering.spent }
}
