use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use super::super::message::{Listed, Request, Response};
use super::super::{ContentId, IdRange, Peer};

/// The number of ids that a sample of the shortest of the stated lists has, about.
const SAMPLE: f64 = 64.0;
/// The maximum number of ids in a sample.
const SAMPLE_IDS: u32 = 256;
/// The maximum number of documents whose records are compared.
const PROVED: usize = 12;
/// The time limit for the samples, and for the records.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Two sizes agree if they differ by at most this part of the smaller one, and by [`CLOSE`] ids. Keepers of a list that
/// grows do not have the same ids at every moment.
const PART: u64 = 8;
const CLOSE: u64 = 2;
/// A sample fits the stated size of its list if the number of its ids differs from the expected number by at most this
/// many standard deviations, and by [`CLOSE`] ids.
const DEVIATIONS: f64 = 3.0;

/// Finds out which keeper of a list states its size correctly, if they differ: two of three that lie alike would be
/// believed otherwise.
///
/// Each keeper is asked for the ids of the same random range of its list. The number of these ids must fit the size
/// that the keeper states, and records prove some of the ids that not all keepers name. So a keeper cannot add ids that
/// nobody can prove, nor leave out ids that others can; and if it shows the true ids, it can state a size that is wrong
/// by half at most.
#[derive(Debug)]
pub(super) struct Weighing {
    range: IdRange,
    /// The keepers that were not asked yet.
    to_ask: Vec<(Peer, u64)>,
    /// The keepers that were asked, with the sizes that they state.
    waiting: Vec<(Peer, u64)>,
    samples: Vec<Sample>,
    until: Duration,
    proof: Proof,
}

/// The progress of the check, by their records, of the ids that not every keeper's sample contains.
#[derive(Debug)]
enum Proof {
    /// Not all samples are there.
    Unknown,
    /// The caller was asked about these documents.
    Asked(Vec<ContentId>),
    /// Of the documents with known records, those that hold the word, and those that do not.
    Known { hold: HashSet<ContentId>, fail: HashSet<ContentId> },
}

/// The ids that a keeper has shown.
#[derive(Debug)]
struct Sample {
    from: Peer,
    /// The size that the keeper states.
    size: u64,
    ids: BTreeSet<ContentId>,
    /// The head up to which the keeper has shown its ids.
    through: u64,
}

/// True if these sizes of a list differ so much that they must be weighed.
pub(super) fn differ(sizes: impl Iterator<Item = u64> + Clone) -> bool {
    let (least, most) = (sizes.clone().min().unwrap_or_default(), sizes.max().unwrap_or_default());
    most > least.saturating_add(least / PART).saturating_add(CLOSE)
}

impl Weighing {
    /// Begins to weigh the sizes of a list that these keepers state. `salt` is unpredictable for them.
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

    /// The next keeper to ask, with the request. It then counts as asked.
    pub(super) fn next(&mut self, word: &str) -> Option<(Peer, Request)> {
        let (peer, size) = self.to_ask.pop()?;
        self.waiting.push((peer.clone(), size));
        Some((peer, Request::List { words: vec![word.to_owned()], range: self.range, most: SAMPLE_IDS }))
    }

    /// Takes the answer of a keeper. An answer that does not match the request counts as none.
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

    /// Stops waiting for a keeper.
    pub(super) fn lose(&mut self, peer: &Peer) {
        self.waiting.retain(|(waiting, _)| waiting != peer);
    }

    /// The documents about which the caller must find out whether they hold the word, once all samples are there. They
    /// are returned once.
    pub(super) fn next_to_prove(&mut self, now: Duration) -> Option<Vec<ContentId>> {
        let is_sampled = self.to_ask.is_empty() && (self.waiting.is_empty() || now >= self.until);
        if !is_sampled || !matches!(self.proof, Proof::Unknown) {
            return None;
        }
        let disputed = self.disputed();
        // What the ids are is unpredictable for the keepers, because the range is. So some of them are as good as any.
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

    /// Takes what the records have shown: whether each of these documents holds the word. Others remain unknown.
    pub(super) fn on_proof(&mut self, proved: &BTreeMap<ContentId, bool>) {
        if let Proof::Asked(asked) = &self.proof {
            let of = |holds: bool| asked.iter().filter(|id| proved.get(id) == Some(&holds)).copied().collect();
            self.proof = Proof::Known { hold: of(true), fail: of(false) };
        }
    }

    /// True if nothing is waited for any more.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        match self.proof {
            Proof::Unknown => false,
            Proof::Asked(_) => now >= self.until,
            Proof::Known { .. } => true,
        }
    }

    /// The time at which something must be done, unless an answer arrives before.
    pub(super) fn deadline(&self) -> Duration {
        self.until
    }

    /// The keepers whose samples do not contradict what they state, each with the size of the list as its sample and
    /// the records show it. A keeper that states the truth has the size that it states.
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

    /// The ids that only some of the samples have.
    fn disputed(&self) -> Vec<ContentId> {
        let common_end = self.common_end();
        let mut counts: BTreeMap<ContentId, usize> = BTreeMap::new();
        self.shown(common_end).flat_map(|(_, ids)| ids).for_each(|id| *counts.entry(id).or_default() += 1);
        let of = self.samples.iter().filter(|sample| sample.fits(self.range.first)).count();
        counts.into_iter().filter(|(_, count)| *count < of).map(|(id, _)| id).collect()
    }

    /// The samples that fit what their keepers state, each with its ids up to a head.
    fn shown(&self, through: u64) -> impl Iterator<Item = (&Sample, BTreeSet<ContentId>)> {
        let fitting = self.samples.iter().filter(|sample| sample.fits(self.range.first));
        fitting.map(move |sample| (sample, sample.ids.iter().copied().filter(|id| id.head() <= through).collect()))
    }

    /// The head up to which all keepers whose samples fit have shown their ids.
    fn common_end(&self) -> u64 {
        let fitting = self.samples.iter().filter(|sample| sample.fits(self.range.first));
        fitting.map(|sample| sample.through).min().unwrap_or_default()
    }
}

impl Sample {
    /// True if the number of ids from the head `first` on fits the size that the keeper states.
    fn fits(&self, first: u64) -> bool {
        let part = IdRange { first, last: self.through }.part();
        let expected = self.size as f64 * part;
        // A whole list leaves nothing to chance.
        let tolerance = if part < 1.0 { DEVIATIONS * expected.sqrt() } else { 0.0 };
        (self.ids.len() as f64 - expected).abs() <= tolerance + CLOSE as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of a list, spread evenly.
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

    /// What is credible if keepers state these sizes and show these lists, and only the ids of `truth` can be proved.
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
                // Sizes that the lists do not have.
                (30 * size + 3, truth.clone()),
                (size / 3, truth.clone()),
                // Lists that nobody can prove, or whose rest others can.
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
