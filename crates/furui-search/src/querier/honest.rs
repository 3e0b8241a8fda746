//! Whether answers keep to what was asked.

use std::collections::HashSet;

use super::super::ContentId;
use super::super::message::{Cost, Found, Ranked, Ranking, Search};

/// Whether an answer keeps to what was asked. What it cannot show is whether ids are missing or made up.
pub(super) fn is_honest(found: &Found, search: &Search) -> bool {
    let Found { ids, through, seen, whole: _, costs } = found;
    let Search { range, most, .. } = search;
    let (from, to) = (range.first, *through);
    search.ranking.is_none()
        && (from..=range.last).contains(&to)
        && *seen <= u64::from(*most)
        && (*seen > 0 || to == range.last)
        && ids.len() as u64 <= *seen
        && ids.is_sorted_by(|a, b| a < b)
        && ids.iter().all(|id| (from..=to).contains(&id.head()))
        && are_costs(costs, search)
}

/// The same of an answer in the order of scores. Nor can it show whether the scores are true.
pub(super) fn is_ranked(ranked: &Ranked, search: &Search) -> bool {
    let Ranked { places, next, seen, found, whole: _, costs } = ranked;
    let Some(Ranking { best, floor, after, from, .. }) = &search.ranking else { return false };
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
