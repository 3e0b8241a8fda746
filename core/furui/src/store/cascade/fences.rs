use crate::bits::{prefetch, scale};

/// The maximum number of pages that a search steps from its guess before it becomes a binary search. The rank of a hash
/// among n uniform ones is off by at most √n / 2 (one sigma): 6 pages at 10⁸ keys, 19 at 10⁹.
const STEPS: usize = 32;

/// The places of the first keys of all pages of a run. They tell on which page a hash would be, without reading a page.
///
/// Places are as uniform as hashes, so the page of a hash can be guessed: it is at the fraction hash / 2⁶⁴ of the file.
/// A few steps along the fences correct the guess. Hashes that are not uniform cost a binary search.
#[derive(Debug)]
pub(super) struct Fences(Vec<u64>);

impl Fences {
    /// Builds the list of the pages' first hashes; `None` if they do not ascend strictly.
    pub(super) fn new(first_hashes: Vec<u64>) -> Option<Self> {
        first_hashes.is_sorted_by(|a, b| a < b).then_some(Self(first_hashes))
    }

    /// The number of pages of the run, each of which has one fence.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first hash of a page; `None` if `page` is after the last page.
    pub(super) fn get(&self, page: usize) -> Option<u64> {
        self.0.get(page).copied()
    }

    /// The page on which `hash` would be: the last one whose first hash is not greater than `hash`, or page 0.
    #[inline]
    pub(super) fn page_of(&self, hash: u64) -> usize {
        self.page_from(scale(hash, self.len()), hash)
    }

    /// Works like [`page_of`](Self::page_of) for a sorted batch. `drift` is 0 at first; each call sets it to the
    /// distance of the page from its guess, because the next hash's guess is off by nearly as much.
    #[inline]
    pub(super) fn page_of_next(&self, hash: u64, drift: &mut isize) -> usize {
        let guess = scale(hash, self.len());
        let page = self.page_from(self.drifted(guess, *drift), hash);
        *drift = page as isize - guess as isize;
        page
    }

    /// Prefetches the first hash (fence) that [`page_of_next`](Self::page_of_next) will read first.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64, drift: isize) {
        if let Some(fence) = self.0.get(self.drifted(scale(hash, self.len()), drift)) {
            prefetch(fence);
        }
    }

    #[inline]
    fn drifted(&self, guess: usize, drift: isize) -> usize {
        guess.saturating_add_signed(drift).min(self.len().saturating_sub(1))
    }

    #[inline]
    fn page_from(&self, guess: usize, hash: u64) -> usize {
        let fences = &self.0[..];
        if fences.get(guess).is_some_and(|&fence| fence <= hash) {
            let near = &fences[guess + 1..fences.len().min(guess + 1 + STEPS)];
            match near.iter().position(|&fence| fence > hash) {
                Some(steps) => guess + steps,
                None => guess + fences[guess + 1..].partition_point(|&fence| fence <= hash),
            }
        } else {
            let near = &fences[guess.saturating_sub(STEPS)..guess];
            match near.iter().rposition(|&fence| fence <= hash) {
                Some(step) => guess - near.len() + step,
                None => fences[..guess].partition_point(|&fence| fence <= hash).saturating_sub(1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_near_and_far_find_the_page_that_a_search_from_the_front_finds() {
        let even: Vec<u64> = (0..1000).map(|i| i * (u64::MAX / 1000)).collect();
        let low: Vec<u64> = (0..1000).map(|i| 7 + i * 3).collect();
        let high: Vec<u64> = (0..1000).map(|i| u64::MAX - 3000 + i * 3).collect();
        let split: Vec<u64> = low.iter().chain(&high).copied().collect();
        for first_hashes in [even, low, high, split, vec![5], vec![0], vec![u64::MAX]] {
            let fences = Fences::new(first_hashes.clone()).unwrap();
            let near = first_hashes.iter().flat_map(|&fence| [fence.saturating_sub(1), fence, fence.saturating_add(1)]);
            let mut hashes: Vec<u64> = near.chain([0, 1, 1 << 63, u64::MAX - 1, u64::MAX]).collect();
            hashes.sort_unstable();
            let mut drift = 0;
            for hash in hashes {
                let naive = first_hashes.iter().rposition(|&fence| fence <= hash).unwrap_or(0);
                assert_eq!(fences.page_of(hash), naive, "{hash}");
                assert_eq!(fences.page_of_next(hash, &mut drift), naive, "{hash} after the one before");
                fences.prefetch(hash, drift);
            }
            for far in [isize::MIN, -5, 5, isize::MAX] {
                assert_eq!(fences.page_of_next(1 << 40, &mut { far }), fences.page_of(1 << 40));
            }
        }
    }

    #[test]
    fn fences_that_do_not_ascend_are_refused() {
        assert!(Fences::new(vec![1, 2, 2]).is_none());
        assert!(Fences::new(vec![2, 1]).is_none());
        assert!(Fences::new(vec![]).is_some());
    }
}
