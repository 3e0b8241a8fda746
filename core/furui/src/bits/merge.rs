//! Branchless merging of two sorted sequences of numbers.

/// The number of parts of one two-way merge that are merged concurrently. Each step of a merge waits about 8 cycles for
/// the step before; four independent chains of steps fill that time.
const CHAINS: usize = 4;

/// Merges `a` and `b`, both ascending, into `out`, and keeps all equal numbers. The length of `out` must be the sum of
/// the two lengths.
///
/// The merge is cut into parts of equal length by co-ranking (T. Hagerup, C. Rüb, "Optimal merging and sorting on the
/// EREW PRAM", 1989). The paper gives the parts to several processors; here one processor overlaps them, because each
/// part is a chain of dependent steps. No branch depends on the numbers. Cost: about 0.6 ns a number.
pub(crate) fn merge_two(a: &[u64], b: &[u64], out: &mut [u64]) {
    let part = out.len() / CHAINS;
    let mut taken: [usize; CHAINS] = std::array::from_fn(|c| co_rank(a, b, part * c));
    let (out0, rest) = out.split_at_mut(part);
    let (out1, rest) = rest.split_at_mut(part);
    let (out2, rest) = rest.split_at_mut(part);
    let (out3, last) = rest.split_at_mut(part);
    for (rank, (((slot0, slot1), slot2), slot3)) in out0.iter_mut().zip(out1).zip(out2).zip(out3).enumerate() {
        *slot0 = step(a, b, &mut taken[0], rank);
        *slot1 = step(a, b, &mut taken[1], rank + part);
        *slot2 = step(a, b, &mut taken[2], rank + part * 2);
        *slot3 = step(a, b, &mut taken[3], rank + part * 3);
    }
    for (i, slot) in last.iter_mut().enumerate() {
        *slot = step(a, b, &mut taken[3], part * CHAINS + i);
    }
}

/// Of the `rank` smallest numbers of `a` and `b`, returns the number of those that come from `a`, by binary search.
fn co_rank(a: &[u64], b: &[u64], rank: usize) -> usize {
    let (mut low, mut high) = (rank.saturating_sub(b.len()), rank.min(a.len()));
    while low < high {
        let taken = low.midpoint(high);
        if a[taken] <= b[rank - taken - 1] {
            low = taken + 1;
        } else {
            high = taken;
        }
    }
    low
}

/// Returns the number at the index `rank` of the merged sequence, and adds 1 to `taken` if it comes from `a`. Of the
/// numbers before it, `taken` come from `a` and the others from `b`.
///
/// An exhausted side counts as `u64::MAX`. This value loses every comparison except with a true `u64::MAX`, and then
/// all remaining numbers are equal to it.
#[inline(always)]
fn step(a: &[u64], b: &[u64], taken: &mut usize, rank: usize) -> u64 {
    let x = a.get(*taken).copied().unwrap_or(u64::MAX);
    let y = b.get(rank.wrapping_sub(*taken)).copied().unwrap_or(u64::MAX);
    *taken += usize::from(x <= y);
    x.min(y)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..20u64, (0..3u64).prop_map(|i| u64::MAX - i)]
    }

    proptest! {
        #[test]
        fn merging_is_sorting_both(
            mut a in prop::collection::vec(number(), 0..200),
            mut b in prop::collection::vec(number(), 0..200),
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let mut expected = [&a[..], &b].concat();
            expected.sort_unstable();
            let mut out = vec![0; expected.len()];
            merge_two(&a, &b, &mut out);
            prop_assert_eq!(out, expected);
        }
    }
}
