//! Estimates how many documents there are in all, and how long they are, from the records that this node holds.

use std::time::Duration;

use furui::HashSpec;
use furui_search::{ContentId, IdRange, Index, Peer, Record, Surveyed, Weight};

use crate::node::kept::Kept;
use crate::node::{places, record_key};
use crate::shelf::Shelf;

/// How long an estimate is valid. Chosen.
const LIFE: Duration = Duration::from_secs(5 * 60);
/// An estimate is made anew when the number of records has changed by more than this part. Chosen.
const CHANGE: u64 = 8;
/// The maximum number of records that are counted for an estimate. Chosen.
const COUNTED: usize = 1 << 12;
/// The maximum number of records whose words are counted for an estimate. Chosen.
const MEASURED: usize = 128;
/// Of the keys for which this node is a keeper, those count whose places share at most this number of bits less with
/// its place than makes it certain that it keeps them. Of more distant keys, it does not know all keepers. Chosen.
const WIDER: u32 = 2;

/// The estimates of a node: the last one, and where the counting for them begins.
pub(super) struct Surveys {
    me: Peer,
    /// The head of an id at which the counting begins. It is random: nobody can predict it, and put documents there.
    from: u64,
    last: Option<Estimate>,
}

#[derive(Clone, Copy)]
struct Estimate {
    at: Duration,
    /// The number of records that the node held.
    records: u64,
    told: Surveyed,
}

impl Surveys {
    pub(super) fn new(me: Peer) -> Self {
        Self { me, from: HashSpec::random().seed, last: None }
    }

    /// This node's estimate of all documents. It is computed at most once in some minutes, unless the number of records
    /// changes a lot. `now` is the time since the node has started.
    pub(super) fn survey(&mut self, kept: &mut Kept, now: Duration) -> furui::Result<Surveyed> {
        let records = kept.shelf.record_count()?;
        let whole = kept.is_settled();
        let stands = |last: &Estimate| {
            now < last.at + LIFE && records.abs_diff(last.records) <= last.records / CHANGE && last.told.whole == whole
        };
        if let Some(last) = self.last.filter(stands) {
            return Ok(last.told);
        }
        let places = kept.certain().clone();
        let bits = places.own_bits(&self.me).saturating_sub(WIDER);
        let part = places.part_kept(&self.me, bits) / 2f64.powi(bits as i32);
        let is_own = |id| {
            let key = record_key(id);
            places::bits_in_common(&self.me, &key) >= bits && places.keeps(&self.me, &key)
        };
        let counted = count(&mut kept.shelf, self.from, is_own)?;
        let documents = counted.own.len() as f64 / (counted.part * part).max(f64::MIN_POSITIVE);
        let mean_length = mean_length(&mut kept.shelf, &counted.own)?;
        let told = Surveyed { documents: documents.round() as u64, mean_length, whole };
        let told = told.steadied(self.last.map(|last| last.told));
        self.last = Some(Estimate { at: now, records, told });
        Ok(told)
    }
}

/// The records of a range of ids.
struct Counted {
    /// The part of all ids that the range has.
    part: f64,
    /// The records of keys that count.
    own: Vec<ContentId>,
}

/// Takes the first [`COUNTED`] records from the head `from` on; after the last head comes the first.
fn count(shelf: &mut Shelf, from: u64, is_own: impl Fn(ContentId) -> bool) -> furui::Result<Counted> {
    let ranges =
        [Some(IdRange { first: from, last: u64::MAX }), from.checked_sub(1).map(|last| IdRange { first: 0, last })];
    let (mut ids, mut part) = (Vec::new(), 1.0);
    for mut range in ranges.into_iter().flatten() {
        while ids.len() < COUNTED {
            let some = shelf.records(range, COUNTED - ids.len())?;
            ids.extend_from_slice(&some);
            // Heads are hashes, so hardly two of them are the same.
            match some.last().and_then(|last| last.head().checked_add(1)).filter(|first| *first <= range.last) {
                Some(first) => range.first = first,
                None => break,
            }
        }
    }
    if let Some(last) = ids.last().filter(|_| ids.len() >= COUNTED) {
        part = (last.head().wrapping_sub(from) as f64 / u64::MAX as f64).max(f64::MIN_POSITIVE);
    }
    ids.retain(|id| is_own(*id));
    Ok(Counted { part, own: ids })
}

/// The mean number of words in the first [`MEASURED`] of these documents, without the shortest and the longest quarter
/// of them, so that a few documents of any length change little; 0 if there are no documents.
fn mean_length(shelf: &mut Shelf, ids: &[ContentId]) -> furui::Result<u32> {
    let mut lengths = Vec::with_capacity(MEASURED);
    for id in ids.iter().take(MEASURED) {
        let record = shelf.document(*id)?.and_then(|record| Record::decode(&record).ok());
        lengths.extend(record.and_then(|record| record.postings().into_values().next()).map(Weight::length));
    }
    Ok(middle(lengths))
}

/// The interquartile mean; 0 if empty.
fn middle(mut numbers: Vec<u32>) -> u32 {
    numbers.sort_unstable();
    let left_out = numbers.len() / 4;
    let middle = &numbers[left_out..numbers.len() - left_out];
    let sum: u64 = middle.iter().map(|&number| u64::from(number)).sum();
    u32::try_from(sum / middle.len().max(1) as u64).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_documents_whatever_their_length_changes_the_mean_little() {
        let honest: Vec<u32> = (0..80).map(|number| 100 + 5 * number).collect();
        assert_eq!(middle(honest.clone()), 297);
        for length in [1, u32::MAX] {
            let mean = middle([&honest[..], &[length; 20]].concat());
            assert!((240..360).contains(&mean), "{mean}");
        }
        assert_eq!([middle(vec![]), middle(vec![7]), middle(vec![7, 9])], [0, 7, 8]);
    }
}
