use std::sync::atomic::{AtomicU64, Ordering};

/// A set of page numbers, with one bit for each page. Readers that share a run may add to its set at the same time.
///
/// Relaxed operations suffice, because a bit only says something about bytes that never change.
#[derive(Debug)]
pub(super) struct PageSet(Vec<AtomicU64>);

impl PageSet {
    /// Makes an empty set for page numbers below `pages`.
    pub(super) fn new(pages: usize) -> Self {
        Self((0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    pub(super) fn contains(&self, page: usize) -> bool {
        self.0[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 == 1
    }

    pub(super) fn insert(&self, page: usize) {
        self.0[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_pages_that_were_inserted_and_no_others() {
        let pages = PageSet::new(300);
        let mut inserted = vec![false; 300];
        for page in (0..300).map(|i| i * 7 % 300) {
            assert!((0..300).all(|page| pages.contains(page) == inserted[page]), "before {page}");
            pages.insert(page);
            inserted[page] = true;
        }
        assert!((0..300).all(|page| pages.contains(page)));
    }
}
