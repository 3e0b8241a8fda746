use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use super::super::message::{Listed, Request, Response};
use super::super::{ContentId, IdRange, Peer};

/// The approximate number of ids in a sample of the shortest of the lists whose sizes are compared.
const SAMPLE: f64 = 64.0;
/// The maximum number of ids in a sample of a list.
const SAMPLE_IDS: u32 = 256;
/// The maximum number of documents whose records are checked to compare the stated sizes of a list.
const PROVED: usize = 12;
/// The time limit to receive the samples of a list, and again to check the records.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Two sizes of a list agree if they differ by at most the smaller one divided by this number, plus [`CLOSE`] ids. The
/// nodes that keep a growing list do not have the same ids at every moment.
const PART: u64 = 8;
const CLOSE: u64 = 2;
/// A sample fits the stated size of its list if its number of ids differs from the expected number by at most this
/// number of standard deviations plus [`CLOSE`] ids.
const DEVIATIONS: f64 = 3.0;

/// Determines which of the nodes that keep a list (its keepers) state its size correctly if they contradict each other.
/// Without this check, two of three keepers that tell the same lie would be believed.
///
/// Each keeper is asked for the ids in the same random range of its list. The number of these ids must fit the size
/// that the keeper states, and some of the ids that not all keepers name are checked against the documents' records.
/// Thus a keeper can neither add ids without records, nor leave out ids that other keepers can prove; and if it shows
/// the true ids, it can state a size that is wrong by half at most.
#[derive(Debug)]
pub(super) struct Weighing {
    range: IdRange,
    /// The nodes that were not asked for a sample of their list yet, with the sizes that they state.
    to_ask: Vec<(Peer, u64)>,
    /// The nodes that were asked for a sample and have not answered, with the sizes that they state.
    waiting: Vec<(Peer, u64)>,
    samples: Vec<Sample>,
    until: Duration,
    proof: Proof,
}

/// The progress of checking, by their records, the ids that not every node's sample contains.
#[derive(Debug)]
enum Proof {
    /// Some of the samples of documents to compare have not arrived yet.
    Unknown,
    /// The caller was requested to check these documents.
    Asked(Vec<ContentId>),
    /// The result: the checked documents that contain the word (`hold`), and those that do not (`fail`).
    Known { hold: HashSet<ContentId>, fail: HashSet<ContentId> },
}

/// The ids of a node's list in the random range of the sample.
#[derive(Debug)]
struct Sample {
    from: Peer,
    /// The size of the whole list that the node states.
    size: u64,
    ids: BTreeSet<ContentId>,
    /// The last head (first 64 bits of an id) up to which the sample is complete.
    through: u64,
}

/// True if these sizes of a list differ so much that they must be checked.
pub(super) fn differ(sizes: impl Iterator<Item = u64> + Clone) -> bool {
    let (least, most) = (sizes.clone().min().unwrap_or_default(), sizes.max().unwrap_or_default());
    most > least.saturating_add(least / PART).saturating_add(CLOSE)
}

impl Weighing {
    /// Starts to check the sizes of a list that these nodes state. `salt` must be unpredictable for them.
    pub(super) fn new(stated: Vec<(Peer, u64)>, salt: u64, now: Duration) -> Self {
        let least = stated.iter().map(|(_, size)| *size).min().unwrap_or_default().max(1);
        let part = SAMPLE / least as f64;
        let range = if part >= 1.0 {
            IdRange::ALL
        } else {
            let width = (part * 2f64.powi(64)) as u64;
            let first = ((u128::from(salt) * u128::from(u64::MAX - width)) >> 64) as u64;
            IdRange { first, last: first + width }
        };
        Self { range, to_ask: stated, waiting: vec![], samples: vec![], until: now + TIMEOUT, proof: Proof::Unknown }
    }

    /// Returns the next node to ask for a sample of its list, with the request, and marks it as asked. `None` if there
    /// is none.
    pub(super) fn next(&mut self, word: &str) -> Option<(Peer, Request)> {
        let (peer, size) = self.to_ask.pop()?;
        self.waiting.push((peer.clone(), size));
        Some((peer, Request::List { words: vec![word.to_owned()], range: self.range, most: SAMPLE_IDS }))
    }

    /// Handles the sample that a node has sent. An answer that does not match the request counts as missing.
    pub(super) fn on_response(&mut self, from: &Peer, response: Response) {
        let Some(place) = self.waiting.iter().position(|(peer, _)| peer == from) else { return };
        let (from, size) = self.waiting.swap_remove(place);
        let Response::Listed(mut lists) = response else { return };
        let (Some(Listed { ids, more, .. }), true) = (lists.pop(), lists.is_empty()) else { return };
        let is_honest = ids.len() <= SAMPLE_IDS as usize
            && ids.is_sorted_by(|a, b| a < b)
            && ids.iter().all(|id| self.range.contains(*id))
            && !(more && ids.is_empty());
        if is_honest {
            let through = ids.last().filter(|_| more).map_or(self.range.last, |last| last.head());
            self.samples.push(Sample { from, size, ids: ids.into_iter().collect(), through });
        }
    }

    /// Ends the wait for the sample of a node, because the request has failed.
    pub(super) fn lose(&mut self, peer: &Peer) {
        self.waiting.retain(|(waiting, _)| waiting != peer);
    }

    /// Returns the documents whose records the caller must check for the word. They are returned once, when all samples
    /// have arrived.
    pub(super) fn next_to_prove(&mut self, now: Duration) -> Option<Vec<ContentId>> {
        let is_sampled = self.to_ask.is_empty() && (self.waiting.is_empty() || now >= self.until);
        if !is_sampled || !matches!(self.proof, Proof::Unknown) {
            return None;
        }
        let disputed = self.disputed();
        // The keepers cannot predict the ids, because the range is random. So any selection of them is a fair sample;
        // evenly spaced ones are taken.
        let step = disputed.len().div_ceil(PROVED).max(1);
        let some: Vec<ContentId> = disputed.into_iter().step_by(step).collect();
        if some.is_empty() {
            self.proof = Proof::Known { hold: HashSet::new(), fail: HashSet::new() };
            return None;
        }
        self.until = now + TIMEOUT;
        self.proof = Proof::Asked(some.clone());
        Some(some)
    }

    /// Handles the result of the check: for each document, true if it contains the word. Documents that are missing
    /// remain unknown.
    pub(super) fn on_proof(&mut self, proved: &BTreeMap<ContentId, bool>) {
        if let Proof::Asked(asked) = &self.proof {
            let of = |holds: bool| asked.iter().filter(|id| proved.get(id) == Some(&holds)).copied().collect();
            self.proof = Proof::Known { hold: of(true), fail: of(false) };
        }
    }

    /// True if neither samples of the list nor results about records are awaited.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        match self.proof {
            Proof::Unknown => false,
            Proof::Asked(_) => now >= self.until,
            Proof::Known { .. } => true,
        }
    }

    /// The time at which the check of the sizes must be continued even if no answer arrives before.
    pub(super) fn deadline(&self) -> Duration {
        self.until
    }

    /// The nodes whose samples and records do not contradict the stated sizes, each with the size of its list as
    /// corrected by the records. For a truthful node, this is the stated size.
    pub(super) fn credible(&self) -> Vec<(Peer, u64)> {
        let nothing = HashSet::new();
        let (hold, fail) = match &self.proof {
            Proof::Known { hold, fail } => (hold, fail),
            _ => (&nothing, &nothing),
        };
        let common_end = self.common_end();
        let all: BTreeSet<ContentId> = self.shown(common_end).flat_map(|(_, ids)| ids).collect();
        // The fraction of these ids whose documents contain the word.
        let part = |ids: &mut dyn Iterator<Item = &ContentId>, unknown: f64| {
            let (mut held, mut failed) = (0.0, 0.0);
            ids.for_each(|id| {
                held += f64::from(u8::from(hold.contains(id)));
                failed += f64::from(u8::from(fail.contains(id)));
            });
            if held + failed > 0.0 { held / (held + failed) } else { unknown }
        };
        let credible = self.shown(common_end).filter_map(|(sample, ids)| {
            let lacked: Vec<&ContentId> = all.iter().filter(|id| !ids.contains(id)).collect();
            let counted = ids.len() as f64;
            let held = counted * part(&mut ids.iter(), 1.0);
            let missing = lacked.len() as f64 * part(&mut lacked.iter().copied(), 0.0);
            let correction = if counted > 0.0 { (held + missing) / counted } else { 1.0 + missing };
            let size = (sample.size as f64 * correction).round() as u64;
            (sample.fits(self.range.first) && size > 0).then(|| (sample.from.clone(), size))
        });
        credible.collect()
    }

    /// The ids that occur in some of the samples, but not in all.
    fn disputed(&self) -> Vec<ContentId> {
        let common_end = self.common_end();
        let mut counts: BTreeMap<ContentId, usize> = BTreeMap::new();
        self.shown(common_end).flat_map(|(_, ids)| ids).for_each(|id| *counts.entry(id).or_default() += 1);
        let of = self.samples.iter().filter(|sample| sample.fits(self.range.first)).count();
        counts.into_iter().filter(|(_, count)| *count < of).map(|(id, _)| id).collect()
    }

    /// The samples that fit the sizes that their nodes state, each with those of its ids whose head (first 64 bits) is
    /// at most `through`.
    fn shown(&self, through: u64) -> impl Iterator<Item = (&Sample, BTreeSet<ContentId>)> {
        let fitting = self.samples.iter().filter(|sample| sample.fits(self.range.first));
        fitting.map(move |sample| (sample, sample.ids.iter().copied().filter(|id| id.head() <= through).collect()))
    }

    /// The last head (first 64 bits of an id) up to which all samples that fit the stated sizes are complete.
    fn common_end(&self) -> u64 {
        let fitting = self.samples.iter().filter(|sample| sample.fits(self.range.first));
        fitting.map(|sample| sample.through).min().unwrap_or_default()
    }
}

impl Sample {
    /// True if the sample's number of ids from the head `first` on fits the size of the list that the node states.
    fn fits(&self, first: u64) -> bool {
        let part = IdRange { first, last: self.through }.part();
        let expected = self.size as f64 * part;
        // If the sample is the whole list, no deviation is allowed.
        let tolerance = if part < 1.0 { DEVIATIONS * expected.sqrt() } else { 0.0 };
        (self.ids.len() as f64 - expected).abs() <= tolerance + CLOSE as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a list of evenly distributed ids.
    fn list(size: u64, offset: u64) -> Vec<ContentId> {
        let id = |number: u64| {
            let head = u128::from(number) * u128::from(u64::MAX) / u128::from(size.max(1));
            let mut bytes = [0; 20];
            bytes[..8].copy_from_slice(&(head as u64 + offset).swap_bytes().to_le_bytes());
            ContentId::new(bytes)
        };
        (0..size).map(id).collect()
    }

    fn peer(number: u8) -> Peer {
        Peer::new(&[number], b"")
    }

    /// Returns the credible keepers if they state these sizes and have these lists, and only the documents in `truth`
    /// contain the word according to their records.
    fn weigh(stated: &[(u64, Vec<ContentId>)], truth: &[ContentId]) -> Vec<(Peer, u64)> {
        let sizes = (0..).zip(stated).map(|(number, (size, _))| (peer(number), *size)).collect();
        let mut weighing = Weighing::new(sizes, 0x1234_5678_9abc_def0, Duration::ZERO);
        while let Some((to, Request::List { range, most, .. })) = weighing.next("word") {
            let list = &stated[usize::from(to.identity()[0])].1;
            let in_range: Vec<ContentId> = list.iter().copied().filter(|id| range.contains(*id)).collect();
            let ids: Vec<ContentId> = in_range.iter().copied().take(most as usize).collect();
            let more = ids.len() < in_range.len();
            weighing.on_response(&to, Response::Listed(vec![Listed { ids, more, ..Listed::default() }]));
        }
        if let Some(ids) = weighing.next_to_prove(Duration::ZERO) {
            assert!(ids.len() <= PROVED);
            weighing.on_proof(&ids.into_iter().map(|id| (id, truth.contains(&id))).collect());
        }
        assert!(weighing.is_over(Duration::ZERO));
        weighing.credible()
    }

    #[test]
    fn one_honest_keeper_is_believed_against_two_that_lie_alike() {
        for size in [1, 5, 40, 3000, 100_000] {
            let truth = list(size, 0);
            let made_up = [truth.clone(), list(29 * size, 7)].concat().into_iter().collect::<BTreeSet<_>>();
            let made_up: Vec<ContentId> = made_up.into_iter().collect();
            let few: Vec<ContentId> = truth.iter().copied().step_by(5).collect();
            let lies = [
                // The stated sizes do not fit the true lists.
                (30 * size + 3, truth.clone()),
                (size / 3, truth.clone()),
                // These lists contain ids without records, or lack ids that other keepers can prove.
                (30 * size, made_up),
                (few.len() as u64, few.clone()),
                (size, few),
                (30 * size + 3, vec![]),
            ];
            for (number, (stated, shown)) in lies.into_iter().enumerate() {
                let lie = (stated, shown);
                let credible = weigh(&[lie.clone(), (size, truth.clone()), lie], &truth);
                assert!(credible.contains(&(peer(1), size)), "{size}, lie {number}: {credible:?}");
                let near = |told: u64| told.abs_diff(size) <= size / 2 + 2;
                assert!(credible.iter().all(|(_, told)| near(*told)), "{size}, lie {number}: {credible:?}");
            }
        }
    }

    #[test]
    fn ids_crowded_into_the_beginning_of_the_range_do_not_blind_the_sample() {
        let truth = list(3000, 0);
        let crowd: Vec<ContentId> = {
            let sizes = vec![(peer(0), 3000), (peer(1), 90_000)];
            let first = Weighing::new(sizes, 0x1234_5678_9abc_def0, Duration::ZERO).range.first;
            (0..300_u64)
                .map(|number| {
                    let mut bytes = [0; 20];
                    bytes[..8].copy_from_slice(&(first + number).swap_bytes().to_le_bytes());
                    ContentId::new(bytes)
                })
                .collect()
        };
        let crowd = (90_000, crowd);
        assert_eq!(weigh(&[crowd.clone(), (3000, truth.clone()), crowd], &truth), [(peer(1), 3000)]);
    }

    #[test]
    fn sizes_are_weighed_if_they_differ_by_more_than_a_little() {
        for (sizes, is_much) in [([0, 2], false), ([1, 4], true), ([100, 114], false), ([100, 115], true)] {
            assert_eq!(differ(sizes.into_iter()), is_much, "{sizes:?}");
        }
        assert!(!differ([].into_iter()));
        assert!(!differ([u64::MAX, u64::MAX].into_iter()));
    }
}
