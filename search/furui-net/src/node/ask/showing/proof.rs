use std::collections::BTreeMap;

use furui_search::{Clause, ContentId, Place, Showings};

use super::gathering::Gathering;
use super::verdict::Verdict;
use crate::node::Inner;
use crate::node::spent::Spent;

/// What records have shown about documents that keepers of a word's list name.
pub(in crate::node) struct Proof {
    /// Whether each document holds the word. Documents whose records could not be had are left out.
    pub(in crate::node) holds: BTreeMap<ContentId, bool>,
    /// What lists state falsely.
    pub(in crate::node) doubts: Vec<(String, ContentId)>,
    pub(in crate::node) spent: Spent,
}

/// Finds out from the nodes that keep the records of these documents whether they hold the word.
pub(in crate::node) async fn prove(inner: &Inner, word: String, ids: &[ContentId]) -> Proof {
    let clauses = [Clause { must: vec![word], ..Clause::default() }];
    let showings = Showings::new(&clauses).expect("there are no phrases");
    let mut gathering = Gathering::new(inner, &clauses, &showings);
    let places: Vec<Place> = ids.iter().map(|&id| Place { score: 0, id }).collect();
    let (mut holds, mut all_doubts) = (BTreeMap::new(), Vec::new());
    for (id, verdict) in ids.iter().zip(gathering.judge(&places, None).await) {
        match verdict {
            Verdict::Shown { doubts, .. } => {
                holds.insert(*id, true);
                all_doubts.extend(doubts);
            }
            Verdict::Unfit => {
                holds.insert(*id, true);
            }
            Verdict::False { doubts } => {
                holds.insert(*id, false);
                all_doubts.extend(doubts);
            }
            // No node has the record: it was made up, or withdrawn.
            Verdict::Gone => {
                holds.insert(*id, false);
            }
            Verdict::Uncertain | Verdict::Missing => {}
        }
    }
    Proof { holds, doubts: all_doubts, spent: gathering.spent }
}
