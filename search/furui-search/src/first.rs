/// Selects the smallest items of a stream, in order. Memory: at most twice the number of selected items.
///
/// Cost: one comparison for each item, a selection whenever the memory is full, and one sort of the result.
#[derive(Clone, Debug)]
pub struct First<T> {
    most: usize,
    /// The items that may be among the smallest. When there are too many, they are reduced to the `most` smallest; the
    /// one at index `most` - 1 is then the largest of these.
    kept: Vec<T>,
    is_cut: bool,
}

impl<T: Ord> First<T> {
    /// Makes an empty selection of the `most` smallest items.
    pub fn new(most: usize) -> Self {
        Self { most, kept: Vec::new(), is_cut: false }
    }

    /// Offers an item, which is kept if it may be among the smallest.
    #[inline]
    pub fn push(&mut self, one: T) {
        if self.is_cut && self.most.checked_sub(1).is_none_or(|last| one >= self.kept[last]) {
            return;
        }
        self.kept.push(one);
        if self.kept.len() >= 2 * self.most {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.most {
            if let Some(last) = self.most.checked_sub(1) {
                self.kept.select_nth_unstable(last);
            }
            self.kept.truncate(self.most);
            self.is_cut = true;
        }
    }

    /// Returns the selected items in order, and true if these are all items that were added.
    pub fn finish(mut self) -> (Vec<T>, bool) {
        self.cut();
        self.kept.sort_unstable();
        (self.kept, !self.is_cut)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_of_all_are_kept_and_it_is_known_whether_those_are_all(
            all in prop::collection::vec(0..50u8, 0..60),
            most in 0..40usize,
        ) {
            let mut first = First::new(most);
            all.iter().for_each(|&one| first.push(one));
            let (kept, is_all) = first.finish();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            sorted.truncate(most);
            prop_assert_eq!(kept, sorted);
            prop_assert_eq!(is_all, all.len() <= most);
        }
    }
}
