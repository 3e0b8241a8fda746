//! Cardinality and similarity of sets, estimated from the bits that are set in their filters.

use crate::bits::Cpu;

/// An estimate with its standard deviation.
///
/// ```
/// use furui::filter::Bloom;
///
/// let mut words = Bloom::with_rate(10_000, 0.01)?;
/// words.extend((0..5000u32).map(u32::to_le_bytes));
/// let keys = words.cardinality();
/// assert!((keys.value - 5000.0).abs() < 5.0 * keys.error);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate. It is infinite for the number of keys in a full filter, and NaN for an intersection or a
    /// similarity that cannot be known because a filter is full.
    pub value: f64,
    /// One standard deviation, in the unit of `value`: the truth lies within 2 standard deviations in 19 of 20 cases.
    /// Infinite if nothing is known.
    pub error: f64,
}

impl Estimate {
    fn new(value: f64, variance: f64) -> Self {
        if value.is_finite() && !variance.is_nan() {
            // For equal sets the variance is a difference of equal numbers, which rounding may make negative.
            Self { value, error: variance.max(0.0).sqrt() }
        } else {
            // The difference of two infinite numbers of keys is not a number.
            Self { value: if value == f64::NEG_INFINITY { f64::NAN } else { value }, error: f64::INFINITY }
        }
    }
}

/// The similarity of two sets, estimated from their filters alone.
///
/// Only the filters' bits are compared: no key is needed, and the union is never built. Cost: one pass over both.
///
/// A filter in which x of m bits are set holds about n = ln(1 - x/m) / ln q keys, where q is the probability that a key
/// does not set a given bit. For a Bloom filter q is (1 - 1/m)^k (Swamidass and Baldi 2007, who write e^(-k/m) for it).
/// The OR of two filters is the filter of the union u, so |a ∩ b| = a + b - u, and Jaccard's similarity is |a ∩ b| / u.
///
/// The errors follow from the delta method. The estimates of two sets s and t are correlated, because equal keys set
/// equal bits; their covariance is V(|s ∩ t|), where V(n) is the variance of the estimate for n keys. For a Bloom
/// filter V(n) = m (e^c - 1 - c) / k² with c = kn/m. Hence the variance of the intersection i is V(u) + 2 V(i) - V(a) -
/// V(b).
///
/// ```
/// use furui::filter::Bloom;
///
/// let filter_of = |ids: std::ops::Range<u32>| -> Result<Bloom, furui::Error> {
///     let mut filter = Bloom::with_rate(10_000, 0.01)?;
///     filter.extend(ids.map(u32::to_le_bytes));
///     Ok(filter)
/// };
/// let shared = filter_of(0..3000)?.similarity(&filter_of(1000..4000)?)?;
/// assert!((shared.jaccard.value - 0.5).abs() < 5.0 * shared.jaccard.error);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// The number of bits that differ: the ones of a XOR b. 0 for equal sets.
    pub differing_bits: u64,
    /// The number of keys in the first filter.
    pub a: Estimate,
    /// The number of keys in the second filter.
    pub b: Estimate,
    /// The number of keys that are in at least one of the two sets.
    pub union: Estimate,
    /// The number of keys that are in both sets. The estimate may be a little below 0 if there are none: see its error.
    pub intersection: Estimate,
    /// Jaccard's similarity: the share of the union's keys that are in both sets, from 0 (nothing in common) to 1
    /// (equal), within its error. It is 1 for two empty sets.
    pub jaccard: Estimate,
}

/// The number of bits that are set. Cost: one pass.
pub(super) fn ones(words: &[u8]) -> u64 {
    let words = words.as_chunks::<8>().0;
    Cpu::detect().run(
        #[inline(always)]
        |_| words.iter().map(|&word| u64::from(u64::from_le_bytes(word).count_ones())).sum(),
    )
}

/// The number of bits that are set in at least one of two tables of equal length. Cost: one pass over both.
pub(super) fn ones_of_either(a: &[u8], b: &[u8]) -> u64 {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    Cpu::detect().run(
        #[inline(always)]
        |_| words.map(|(&a, &b)| u64::from((u64::from_le_bytes(a) | u64::from_le_bytes(b)).count_ones())).sum(),
    )
}

/// The model of how keys set the bits of a filter. Each key belongs to one of several blocks and sets bits of this
/// block, each with equal probability. A Bloom filter is one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marking {
    bits: f64,
    /// The logarithm ln q, where q is the probability that one key does not set a given bit.
    ln_zero: f64,
    /// Two pairs of numbers, for two bits of one block and for two bits of different blocks: the correlation of the
    /// bits, and the number of such pairs of bits. The correlation is ln(p/q), where p is the probability that a key
    /// leaves both bits 0, and q is what this probability would be if the bits were independent.
    excess: [(f64, f64); 2],
}

impl Marking {
    /// A filter of `bits` bits in `blocks` equal blocks. A key leaves a given bit of its block unset with probability
    /// e^`ln_one`, and leaves two given bits of its block unset with probability e^`ln_two`.
    pub(super) fn new(bits: u64, blocks: f64, ln_one: f64, ln_two: f64) -> Self {
        let bits = bits as f64;
        // The logarithm of the probability that a key leaves given bits in `times` different blocks 0. The key belongs
        // to one of these blocks with probability times / blocks, and then leaves the bits there 0 with probability
        // e^`ln`. Where blocks overlap, `blocks` may be less than `times`.
        let ln_missed = |times: f64, ln: f64| match blocks {
            1.0 => ln,
            _ => (times * ln.exp_m1() / blocks).max(-1.0).ln_1p(),
        };
        let ln_zero = ln_missed(1.0, ln_one);
        let same = ln_missed(1.0, ln_two) - 2.0 * ln_zero;
        let other = ln_missed(2.0, ln_one) - 2.0 * ln_zero;
        let in_block = bits / blocks;
        Self { bits, ln_zero, excess: [(same, bits * (in_block - 1.0)), (other, bits * (bits - in_block))] }
    }

    /// A filter of `bits` bits, in which every key sets the bits at `probes` random positions.
    pub(super) fn of_probes(bits: u64, probes: u32) -> Self {
        let (k, m) = (f64::from(probes), bits as f64);
        // One probe misses a given bit with probability 1 - 1/m, and two given bits with 1 - 2/m.
        Self::new(bits, 1.0, k * (-1.0 / m).ln_1p(), k * (-2.0 / m).max(-1.0).ln_1p())
    }

    /// A ring of `bits` bits, in which every key sets the bits at `probes` random positions of a window of `window`
    /// bits. The windows are treated as blocks that do not overlap.
    pub(super) fn of_windows(bits: u64, window: u64, probes: u32) -> Self {
        if window >= bits {
            return Self::of_probes(bits, probes);
        }
        let (k, w) = (f64::from(probes), window as f64);
        Self::new(bits, bits as f64 / w, k * (-1.0 / w).ln_1p(), k * (-2.0 / w).max(-1.0).ln_1p())
    }

    /// A filter of `bits` bits in `blocks` blocks, in which every key sets `probes` different bits of one block.
    pub(super) fn of_blocks(bits: u64, blocks: u64, probes: u32) -> Self {
        let (k, in_block) = (f64::from(probes), bits as f64 / blocks as f64);
        // Two given bits are both set in k (k - 1) of b (b - 1) cases, where a block has b bits.
        let both_zero = 1.0 - 2.0 * k / in_block + k * (k - 1.0) / (in_block * (in_block - 1.0));
        Self::new(bits, blocks as f64, (-k / in_block).ln_1p(), both_zero.ln())
    }

    /// A filter that holds a set of fingerprints from 0 to `last`. It is treated as a table with one bit for each
    /// possible fingerprint, of which each key sets one.
    pub(super) fn of_fingerprints(last: u64) -> Self {
        let domain = last as f64 + 1.0;
        // (1 - 2/D) / (1 - 1/D)² = 1 - 1/(D - 1)², in a form that loses nothing to rounding.
        let excess = (-(domain - 1.0).max(1.0).powi(-2)).ln_1p();
        Self { bits: domain, ln_zero: (-1.0 / domain).ln_1p(), excess: [(excess, domain * (domain - 1.0)), (0.0, 0.0)] }
    }

    /// The number of keys of a filter in which `ones` bits are set.
    pub(super) fn cardinality(&self, ones: u64) -> Estimate {
        let keys = self.keys(ones);
        Estimate::new(keys, self.variance(keys))
    }

    /// The similarity of two filters in which `ones_a` and `ones_b` bits are set, and `ones_union` bits in their union.
    pub(super) fn similarity(&self, ones_a: u64, ones_b: u64, ones_union: u64) -> Similarity {
        let [a, b, union] = [ones_a, ones_b, ones_union].map(|ones| self.keys(ones));
        let [of_a, of_b, of_union] = [a, b, union].map(|keys| self.variance(keys));
        let intersection = a + b - union;
        let of_intersection = self.variance(intersection.max(0.0));
        let jaccard = if union == 0.0 { 1.0 } else { intersection / union };
        // The derivatives of (a + b) / u - 1 with respect to a and b are 1/u; the derivative with respect to u is
        // -(1 + j)/u.
        let by_union = 1.0 + jaccard;
        let of_jaccard =
            of_a + of_b + 2.0 * of_intersection + by_union * by_union * of_union - 2.0 * by_union * (of_a + of_b);
        Similarity {
            differing_bits: (ones_union - ones_a) + (ones_union - ones_b),
            a: Estimate::new(a, of_a),
            b: Estimate::new(b, of_b),
            union: Estimate::new(union, of_union),
            intersection: Estimate::new(intersection, of_union + 2.0 * of_intersection - of_a - of_b),
            jaccard: Estimate::new(jaccard, if union == 0.0 { 0.0 } else { of_jaccard / (union * union) }),
        }
    }

    fn keys(&self, ones: u64) -> f64 {
        match ones as f64 {
            0.0 => 0.0,
            ones if ones >= self.bits => f64::INFINITY,
            ones => (-ones / self.bits).ln_1p() / self.ln_zero,
        }
    }

    /// V(n), the variance of the estimate for n keys. It follows from the variance of the number of zero bits.
    fn variance(&self, keys: f64) -> f64 {
        if keys == 0.0 {
            return 0.0;
        }
        let alone = self.bits * (-keys * self.ln_zero).exp_m1();
        let pairs: f64 = self.excess.iter().map(|(excess, pairs)| pairs * (keys * excess).exp_m1()).sum();
        (alone + pairs) / (self.bits * self.ln_zero).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::scale;
    use crate::filter::probes::positions;
    use crate::hash::{HashSpec, KeyHash};

    fn key(trial: u64, i: u64) -> KeyHash {
        HashSpec::default().hash(&(trial << 32 | i).to_le_bytes())
    }

    /// Mean and standard deviation.
    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
    }

    /// Checks the estimates of one true value by many trials. They are unbiased, and nearly all of them are within
    /// three of their stated errors. These errors are as large as the standard deviation of the estimates.
    fn honest(what: &str, truth: f64, estimates: &[Estimate]) {
        let values: Vec<f64> = estimates.iter().map(|estimate| estimate.value).collect();
        let errors: Vec<f64> = estimates.iter().map(|estimate| estimate.error).collect();
        let ((mean, spread), (stated, _)) = (moments(&values), moments(&errors));
        assert!((stated / spread - 1.0).abs() < 0.2, "{what}: spread {spread}, stated {stated}");
        assert!((mean - truth).abs() < 0.25 * spread, "{what}: mean {mean}, truth {truth}, spread {spread}");
        let off = estimates.iter().filter(|estimate| (estimate.value - truth).abs() > 3.0 * estimate.error).count();
        assert!(off as f64 <= 0.01 * estimates.len() as f64, "{what}: {off} of {} beyond 3 errors", estimates.len());
    }

    /// Checks many trials with sets of `a` and `b` keys that share `both` keys; `fill` makes the bits of a filter from
    /// keys.
    fn check(
        marking: Marking,
        a: u64,
        b: u64,
        both: u64,
        fill: impl Fn(&mut dyn Iterator<Item = KeyHash>) -> Vec<bool>,
    ) {
        let ones = |bits: &[bool]| bits.iter().filter(|&&bit| bit).count() as u64;
        let trials: Vec<Similarity> = (0..400)
            .map(|trial| {
                let one = fill(&mut (0..a).map(|i| key(trial, i)));
                let two = fill(&mut (a - both..a - both + b).map(|i| key(trial, i)));
                let either: Vec<bool> = one.iter().zip(&two).map(|(one, two)| one | two).collect();
                let similarity = marking.similarity(ones(&one), ones(&two), ones(&either));
                let differing = one.iter().zip(&two).filter(|(one, two)| one != two).count() as u64;
                assert_eq!(similarity.differing_bits, differing);
                assert_eq!(similarity.a, marking.cardinality(ones(&one)));
                similarity
            })
            .collect();
        let of = |part: fn(&Similarity) -> Estimate| trials.iter().map(part).collect::<Vec<_>>();
        let union = a + b - both;
        honest("a", a as f64, &of(|similarity| similarity.a));
        honest("b", b as f64, &of(|similarity| similarity.b));
        honest("union", union as f64, &of(|similarity| similarity.union));
        honest("intersection", both as f64, &of(|similarity| similarity.intersection));
        honest("jaccard", both as f64 / union as f64, &of(|similarity| similarity.jaccard));
    }

    #[test]
    fn bloom_filters_tell_what_sets_share_and_how_well_they_know() {
        for (bits, probes, a, b, both) in [(6000, 5, 500, 700, 200), (6000, 3, 800, 800, 0), (4000, 7, 900, 300, 300)] {
            let ln = |missed: f64| f64::from(probes) * (-missed / bits as f64).ln_1p();
            check(Marking::new(bits as u64, 1.0, ln(1.0), ln(2.0)), a, b, both, |keys| {
                let mut table = vec![false; bits];
                keys.for_each(|key| positions(key, probes, bits).for_each(|position| table[position] = true));
                table
            });
        }
    }

    #[test]
    fn filters_of_blocks_do_too() {
        // There are 100 blocks of 64 bits, and each key has 6 probes in one of them.
        let ln = |missed: f64| 6.0 * (-missed / 64f64).ln_1p();
        check(Marking::new(6400, 100.0, ln(1.0), ln(2.0)), 600, 800, 250, |keys| {
            let mut bits = vec![false; 6400];
            for key in keys {
                let block = scale(key.get(), 100);
                let probes = (0..6).map(|i| (key.get() >> (6 * i) & 63) as usize);
                probes.for_each(|probe| bits[64 * block + probe] = true);
            }
            bits
        });
    }

    #[test]
    fn filters_of_a_few_keys_know_little_and_say_so() {
        // A key sets more than half of the bits, so two keys leave hardly any bit 0.
        for (bits, probes) in [(8, 7), (10, 7), (30, 21), (64, 64)] {
            let Estimate { value, error } = Marking::of_probes(bits, probes).cardinality(bits * 3 / 4);
            assert!((1.0..3.0).contains(&value) && (0.1..1.0).contains(&error), "{bits}: {value} ± {error}");
        }
        // This window is longer than half of the ring.
        let ring = Marking::of_windows(5, 4, 64).cardinality(4);
        assert!((ring.value - 1.0).abs() < 0.1 && ring.error > 0.1, "{ring:?}");
        // There are so many probes that the probability of missing a bit rounds to 0.
        let tiny = Marking::of_probes(2, 64).cardinality(1);
        assert!(tiny.value > 0.0 && tiny.value < 1.0, "{tiny:?}");
    }

    #[test]
    fn empty_equal_and_full_filters_are_told_as_such() {
        let marking = Marking::new(1000, 1.0, 4.0 * (-0.001f64).ln_1p(), 4.0 * (-0.002f64).ln_1p());
        let empty = marking.similarity(0, 0, 0);
        let exactly = |value| Estimate { value, error: 0.0 };
        assert_eq!((empty.union, empty.intersection, empty.jaccard), (exactly(0.0), exactly(0.0), exactly(1.0)));

        let equal = marking.similarity(300, 300, 300);
        assert!((equal.jaccard.value - 1.0).abs() < 1e-12 && equal.jaccard.error < 1e-6, "{equal:?}");
        assert!((equal.intersection.error / equal.a.error - 1.0).abs() < 1e-9, "{equal:?}");

        let full = marking.similarity(1000, 300, 1000);
        assert_eq!((full.a.value, full.a.error), (f64::INFINITY, f64::INFINITY));
        assert!(full.b.value.is_finite() && full.b.error.is_finite());
        assert!(full.jaccard.value.is_nan() && full.jaccard.error == f64::INFINITY);
        assert!(full.intersection.value.is_nan() && full.intersection.error == f64::INFINITY);
        assert_eq!(marking.cardinality(1000), full.a);
        // Neither filter is full, but both together are, so the number of keys in the union is unknown.
        let both = marking.similarity(600, 700, 1000);
        assert!(both.union.value == f64::INFINITY && both.intersection.value.is_nan() && both.jaccard.value.is_nan());
        assert!(both.a.error.is_finite() && both.intersection.error == f64::INFINITY);
        // This filter has one bit.
        let one = Marking::new(1, 1.0, f64::NEG_INFINITY, f64::NEG_INFINITY);
        assert_eq!((one.cardinality(0).value, one.cardinality(1).value), (0.0, f64::INFINITY));
    }
}
