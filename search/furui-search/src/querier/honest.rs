//! Checks that answers are consistent with their requests.

use std::collections::HashSet;

use super::super::ContentId;
use super::super::message::{Cost, Ranked, Ranking, Search};

/// True if an answer is consistent with its request. The check cannot detect ids that are missing or invented, or wrong
/// scores.
pub(super) fn is_honest(ranked: &Ranked, search: &Search) -> bool {
    let Ranked { places, next, seen, found, whole: _, costs } = ranked;
    let Ranking { best, floor, after, from, .. } = &search.ranking;
    let ids: HashSet<ContentId> = places.iter().map(|place| place.id).collect();
    *seen <= u64::from(search.most)
        && found <= seen
        && places.len() as u64 <= *found
        && places.len() <= *best as usize
        && ids.len() == places.len()
        && places.is_sorted_by(|a, b| a < b)
        && places.iter().all(|place| {
            place.score >= *floor
                && from.is_none_or(|from| place.score <= from.score)
                && after.is_none_or(|after| *place > after)
        })
        && next.is_none_or(|next| *seen > 0 && from.is_none_or(|from| next > from))
        && are_costs(costs, search)
}

fn are_costs(costs: &[Cost], search: &Search) -> bool {
    costs.iter().all(|cost| (cost.term as usize) < search.must.len() + search.without.len() - 1)
}
