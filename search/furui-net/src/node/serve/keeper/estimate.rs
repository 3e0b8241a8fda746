//! Estimates the number of documents in the network, and their mean length, from the records that this node holds.

use std::time::Duration;

use furui::HashSpec;
use furui_search::{ContentId, IdRange, Peer, Record, Surveyed, Weight};

use crate::node::kept::Kept;
use crate::node::{places, record_key};
use crate::shelf::Shelf;

/// The time for which an estimate of the number of documents is reused. The value is a choice, not a measurement.
const LIFE: Duration = Duration::from_secs(5 * 60);
/// An estimate is recomputed early when the number of this node's records has changed by more than one part in this
/// number. The value is a choice, not a measurement.
const CHANGE: u64 = 8;
/// The maximum number of records that are read to estimate how many documents the network has. The value is a choice,
/// not a measurement.
const COUNTED: usize = 1 << 12;
/// The maximum number of records whose words are counted to estimate the mean length of documents. The value is a
/// choice, not a measurement.
const MEASURED: usize = 128;
/// An estimate counts the records whose keys share with this node's place at most this number of leading bits less than
/// the keys that this node certainly keeps. For more distant keys, this node does not know all nodes that keep them.
/// The value is a choice, not a measurement.
const WIDER: u32 = 2;

/// The cached estimate of a node, and the position at which its counting begins.
pub(super) struct Surveys {
    me: Peer,
    /// The first 64 bits of the id at which counting begins. It is random, so that nobody can predict it and place
    /// documents there.
    from: u64,
    last: Option<Estimate>,
}

#[derive(Clone, Copy)]
struct Estimate {
    at: Duration,
    /// The number of records that the node held when the estimate was made.
    records: u64,
    told: Surveyed,
}

impl Surveys {
    pub(super) fn new(me: Peer) -> Self {
        Self { me, from: HashSpec::random().seed, last: None }
    }

    /// Returns this node's estimate of all documents. It is recomputed if it is older than [`LIFE`] or the number of
    /// records has changed a lot. `now` is the time since the node's start.
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
        let (ids, counted) = count(&mut kept.shelf, self.from, is_own)?;
        let documents = ids.len() as f64 / (counted * part).max(f64::MIN_POSITIVE);
        let mean_length = mean_length(&mut kept.shelf, &ids)?;
        let told = Surveyed { documents: documents.round() as u64, mean_length, whole };
        let told = told.steadied(self.last.map(|last| last.told));
        self.last = Some(Estimate { at: now, records, told });
        Ok(told)
    }
}

/// Reads the first [`COUNTED`] records in the order of ids from the head `from` on, wrapping around at the end of the
/// id space. Returns those for which `is_own` returns true, and the fraction of the id space that was read.
fn count(shelf: &mut Shelf, from: u64, is_own: impl Fn(ContentId) -> bool) -> furui::Result<(Vec<ContentId>, f64)> {
    let ranges =
        [Some(IdRange { first: from, last: u64::MAX }), from.checked_sub(1).map(|last| IdRange { first: 0, last })];
    let (mut ids, mut part) = (Vec::new(), 1.0);
    for mut range in ranges.into_iter().flatten() {
        while ids.len() < COUNTED {
            let some = shelf.records(range, COUNTED - ids.len())?;
            ids.extend_from_slice(&some);
            // Heads are the first bits of hashes, so two equal ones are very unlikely.
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
    Ok((ids, part))
}

/// The interquartile mean of the numbers of words in the first [`MEASURED`] of these documents; 0 if there are none.
/// The shortest and the longest quarter are ignored, so that a few documents of extreme length change little.
fn mean_length(shelf: &mut Shelf, ids: &[ContentId]) -> furui::Result<u32> {
    let mut lengths = Vec::with_capacity(MEASURED);
    for id in ids.iter().take(MEASURED) {
        let record = shelf.document(*id)?.and_then(|record| Record::decode(&record).ok());
        lengths.extend(record.and_then(|record| record.postings().into_values().next()).map(Weight::length));
    }
    Ok(middle(lengths))
}

/// The interquartile mean of these numbers; 0 if there are none.
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
