//! The false-positive rate of a ringed filter before it is built: the formula of Sei et al., and a more accurate one.

/// The false-positive rate of a ringed filter by eq. 13 of Sei, Matsuzaki and Honiden. The filter has `n` keys with
/// `probes` probes each (k), which are spread over windows of `delta` groups (δ) of `gamma` bits (γ).
///
/// ```text
///              n  / n \                             -k (t + ⌊δ/n⌋ n) / (δ γ)  k
///   rate   =   Σ  |   | pᵗ (1 - p)ⁿ⁻ᵗ   ( 1  -  e                           )         p = (δ mod n) / n
///             t=0 \ t /
/// ```
///
/// Here t + ⌊δ/n⌋ n is the number of the n windows that cover a group. The formula combines eqs. 9 to 12. Eq. 10 as
/// printed lacks brackets: the exponent is -k N / (δ γ), because each of the N keys sets k/δ of its k bits in each
/// group of its window. If δ is a multiple of n, or n ≪ δ, the rate is (1 - e^(-k/γ))^k (eq. 15), as for a Bloom filter
/// with γ bits a key.
///
/// Cost: at most 30 steps for each unit of the standard deviation of t, so 50,000 for n = 10⁷; n and δ can be any
/// numbers. [`ringed_rate_refined`] is more accurate, and its documentation says how accurate this formula is.
///
/// ```
/// use furui::raw::ringed_rate;
/// let bloom = ringed_rate(7, 100_000, 100_000, 11.0);
/// assert!((bloom - 0.005126).abs() < 1e-6);
/// assert!(ringed_rate(7, 100_000, 1000, 11.0) < 1.01 * bloom);
/// assert!(ringed_rate(7, 100_000, 1, 11.0) > 10.0 * bloom);
/// ```
pub fn ringed_rate(probes: u32, n: u64, delta: u64, gamma: f64) -> f64 {
    let (n, delta) = (n.max(1), delta.max(1));
    let k = f64::from(probes);
    let rounds = (delta / n * n) as f64;
    binomial_mean(n, (delta % n) as f64 / n as f64, |t| {
        let load = k * (t + rounds) / (delta as f64 * gamma);
        (-(-load).exp_m1()).powf(k)
    })
}

/// The false-positive rate of a ringed filter, more accurate than [`ringed_rate`], with the same parameters.
///
/// The errors of eq. 13 of Sei et al.: the measured rate divided by the rate of eq. 13, at k = 7 and γ = 11:
///
/// | δ | n = 1 | 10 | 100 | 1000 | 10⁶ | why |
/// |--:|--:|--:|--:|--:|--:|---|
/// | 1 | 2.05 | 1.46 | 1.43 | 1.43 | 1.43 | eq. 1 in a group of 11 bits |
/// | 10 | 2.04 | 1.09 | 0.88 | 0.89 | 0.89 | all δ groups of a window are assumed to have the same load |
/// | 100 | 2.04 | 1.09 | 1.01 | 0.98 | 0.98 | as for δ = 10 |
/// | 1000 | 2.04 | 1.08 | 1.01 | 1.00 | 1.00 | as for δ = 10, where n > δ |
///
/// - Eq. 1, on which eq. 13 is based, assumes many bits: it uses the mean of the share of bits that are set. The mean
///   of the k-th power of this share is larger. In a filter of n γ bits it is larger by a factor of 2 at n = 1, and by
///   1 % at n = 100.
/// - For δ < n, a looked-up key meets the mean load of δ groups. A key at a distance of d groups contributes to this
///   load with the weight 1 - d/δ, so the variance of the load is (2 δ² + 1) / (3 δ) - δ²/n. Eq. 12 has the variance of
///   the load of a single group, δ - δ²/n, which is 1.5 times as much for 1 ≪ δ ≪ n. So a small δ costs two thirds of
///   what eq. 13 says.
///
/// This function computes the exact mean and variance of the share of a window's bits that are set, from the
/// probabilities that one bit is set and that two bits are both set, at each distance in groups. It takes the mean of
/// the k-th power from the beta distribution with this mean and variance. For δ = 1 it does so for each number of keys
/// in a group.
///
/// The result was compared with measured rates for k = 3, 7 and 10 with the paper's γ, n from 1 to 10⁶ and δ from 1 to
/// 10⁵. It is within 0.5 % of the measured rate for δ ≥ 100 and n ≥ 10, and within 4 % for smaller n and for δ = 1.
/// Between δ = 1 and 100 it is too high, by up to 8 % for δ = 10 and 40 % for δ = 2, both at k = 10. For other
/// parameters the result is nearly as good with a large δ, and worse with a small one. At k = 20 it is up to 3 times
/// the true rate for δ = 2 and 1.5 times for δ = 10. With a fractional γ it is up to a fifth too low for δ = 2.
///
/// Cost: min(δ, n) steps.
pub fn ringed_rate_refined(probes: u32, n: u64, delta: u64, gamma: f64) -> f64 {
    let (n, delta) = (n.max(1), delta.max(1));
    if delta > 1 {
        return beta_rate(probes, n, delta, gamma);
    }
    // With δ = 1, each group is a Bloom filter of its own, which is computed as a ring of only one window.
    binomial_mean(n, 1.0 / n as f64, |t| {
        let keys = t as u64;
        if keys == 0 { 0.0 } else { beta_rate(probes, keys, keys, gamma / t) }
    })
}

fn beta_rate(probes: u32, n: u64, delta: u64, gamma: f64) -> f64 {
    let (mean, second) = moments(probes, n, delta, gamma);
    let variance = second - mean * mean;
    if variance <= 0.0 {
        return mean.powi(probes as i32);
    }
    let size = mean * (1.0 - mean) / variance - 1.0;
    if size <= 0.0 {
        // Either all bits of a window are set or none is, as in a ring of one bit.
        return mean;
    }
    (0..probes).map(|i| (mean * size + f64::from(i)) / (size + f64::from(i))).product()
}

/// The mean of the share of a window's bits that are set, and the mean of its square.
fn moments(probes: u32, n: u64, delta: u64, gamma: f64) -> (f64, f64) {
    let (k, groups, length) = (f64::from(probes), n as f64, delta as f64);
    // A window covers every group `rounds` times, and `part` of them once more.
    let (rounds, part) = ((delta / n) as f64, (delta % n) as f64);
    let window = length * gamma;
    // The probability that a key sets a bit of some set. `times` is how often the key's window covers bits of this set.
    let hit = |times: f64| -(k * (-(times / window).min(1.0)).ln_1p()).exp_m1();
    // The probability that no key sets a bit of the set, if each key sets one with probability `hit`.
    let missed = |hit: f64| (groups * (-hit).ln_1p()).exp();

    let one = missed(part / groups * hit(rounds + 1.0) + (1.0 - part / groups) * hit(rounds));
    let hits = [hit(2.0 * rounds), hit(2.0 * rounds + 1.0), hit(2.0 * rounds + 2.0)];
    let two = |distance: f64| {
        let both = (part - distance).max(0.0) + (part - (groups - distance)).max(0.0).min(distance);
        let either = 2.0 * (part - both);
        missed((both * hits[2] + either * hits[1] + (groups - both - either) * hits[0]) / groups)
    };
    // Pairs of groups in a window whose distances differ by whole rounds have the same distance on the ring.
    let second = (0..delta.min(n)).map(|around| {
        let distance = around as f64;
        let times = ((delta - 1 - around) / n + 1) as f64;
        let pairs = 2.0 * times * (length - distance - groups * (times - 1.0) / 2.0);
        // Two positions in one group are the same bit with probability 1/γ; a group makes one pair with itself, not
        // two.
        let (pairs, same) = if around == 0 { (pairs - length, 1.0 / gamma) } else { (pairs, 0.0) };
        let neither = same * one + (1.0 - same) * two(distance);
        pairs / (length * length) * (1.0 - 2.0 * one + neither)
    });
    (1.0 - one, second.sum())
}

/// The mean of `of(t)` for a binomial t of `n` trials with probability `p` each.
///
/// From the mode outwards, each probability is the previous one times a ratio, so nothing can overflow or cancel.
/// Probabilities below 10⁻⁴⁰ of the mode's are left out, and the others are scaled to a sum of 1.
fn binomial_mean(n: u64, p: f64, of: impl Fn(f64) -> f64) -> f64 {
    const NEGLIGIBLE: f64 = 1e-40;
    let mode = (((n as f64 + 1.0) * p) as u64).min(n);
    let odds = p / (1.0 - p);
    let (mut total, mut sum) = (1.0, of(mode as f64));
    let mut add = |probability: f64, t: u64| {
        total += probability;
        sum += probability * of(t as f64);
        probability > NEGLIGIBLE
    };
    let mut probability = 1.0;
    let _ = (mode..n).all(|t| {
        probability *= (n - t) as f64 / (t + 1) as f64 * odds;
        add(probability, t + 1)
    });
    let mut probability = 1.0;
    let _ = (0..mode).rev().all(|t| {
        probability *= (t + 1) as f64 / ((n - t) as f64 * odds);
        add(probability, t)
    });
    sum / total
}
