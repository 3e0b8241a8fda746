//! The false-positive rate of a ringed filter before it is built: the paper's formula, and one that is nearer.

/// The paper's false-positive rate of a ringed filter (eq. 13): of `n` keys with `probes` probes each (k), spread over
/// windows of `delta` groups (δ) of `gamma` bits (γ).
///
/// ```text
///              n  / n \                             -k (t + ⌊δ/n⌋ n) / (δ γ)  k
///   rate   =   Σ  |   | pᵗ (1 - p)ⁿ⁻ᵗ   ( 1  -  e                           )         p = (δ mod n) / n
///             t=0 \ t /
/// ```
///
/// t + ⌊δ/n⌋ n is how many of the n windows lie on one group: it sums up eqs. 9 to 12, of which eq. 10 as printed wants
/// brackets: the exponent is -k N / (δ γ), for each of the N keys leaves k/δ of its k bits in each group of its window.
/// If δ is a multiple of n, or n ≪ δ, the rate is (1 - e^(-k/γ))^k (eq. 15), that of a Bloom filter with γ bits a key.
///
/// Cost: 30 standard deviations of t at most, so 50,000 steps for n = 10⁷; any n and δ will do. How near it is to the
/// truth, and what is nearer: [`ringed_rate_refined`].
///
/// ```
/// use furui::filter::ringed_rate;
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

/// The false-positive rate of a ringed filter, nearer than [`ringed_rate`]: the same question, the same units.
///
/// Where eq. 13 errs (measured / eq. 13 at k = 7, γ = 11):
///
/// | δ | n = 1 | 10 | 100 | 1000 | 10⁶ | why |
/// |--:|--:|--:|--:|--:|--:|---|
/// | 1 | 2.05 | 1.46 | 1.43 | 1.43 | 1.43 | eq. 1 in a group of 11 bits |
/// | 10 | 2.04 | 1.09 | 0.88 | 0.89 | 0.89 | all δ groups of a window are taken to bear one number of keys |
/// | 100 | 2.04 | 1.09 | 1.01 | 0.98 | 0.98 | the same |
/// | 1000 | 2.04 | 1.08 | 1.01 | 1.00 | 1.00 | the same, for n > δ |
///
/// - Eq. 1, on which it stands, is for many bits: it takes the part of the bits that are set for its mean. The mean of
///   the k-th power is more. In n γ bits that is a factor of 2 at n = 1, and 1 % at n = 100.
/// - For δ < n, the key asked for meets the mean load of δ groups, in which the n keys count with weights 1 - d/δ at d
///   groups' distance: its variance is (2 δ² + 1) / (3 δ) - δ²/n. Eq. 12 puts in the load of a single group, δ - δ²/n,
///   which is 1.5 times as much for 1 ≪ δ ≪ n. So what a small δ costs is two thirds of what eq. 13 says.
///
/// Here the mean and the variance of the part of a window's bits that are set are computed, exactly, from the chances
/// that one bit is set, and that two bits are, at each distance in groups; the mean of the k-th power is that of the
/// beta distribution with this mean and variance. For δ = 1 that is done for each number of keys in a group. Measured
/// for k = 3, 7 and 10 with the paper's γ, n from 1 to 10⁶ and δ from 1 to 10⁵, it is within 0.5 % of the truth for δ ≥
/// 100 and n ≥ 10, and within 4 % for smaller n and for δ = 1; between them it is too high, by up to 8 % for δ = 10 and
/// 40 % for δ = 2, both at k = 10. Beyond that it is nearly as good for large δ, and worse for small ones: at k = 20 up to 3
/// times too high for δ = 2, half too high for δ = 10; with a fractional γ up to a fifth too low for δ = 2.
///
/// Cost: as many steps as the lesser of δ and n.
pub fn ringed_rate_refined(probes: u32, n: u64, delta: u64, gamma: f64) -> f64 {
    let (n, delta) = (n.max(1), delta.max(1));
    if delta > 1 {
        return beta_rate(probes, n, delta, gamma);
    }
    // A group is a Bloom filter of its own: a ring as long as one window, whoever its keys are.
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
        // All bits of a window are set, or none is: as in a ring of one bit.
        return mean;
    }
    (0..probes).map(|i| (mean * size + f64::from(i)) / (size + f64::from(i))).product()
}

/// The means of the part of a window's bits that are set, and of its square.
fn moments(probes: u32, n: u64, delta: u64, gamma: f64) -> (f64, f64) {
    let (k, groups, length) = (f64::from(probes), n as f64, delta as f64);
    // A window lies `rounds` times on every group, and once more on `part` of them.
    let (rounds, part) = ((delta / n) as f64, (delta % n) as f64);
    let window = length * gamma;
    // The chance that a key hits a set of bits that its window meets this many times.
    let hit = |times: f64| -(k * (-(times / window).min(1.0)).ln_1p()).exp_m1();
    // Every key misses.
    let missed = |hit: f64| (groups * (-hit).ln_1p()).exp();

    let one = missed(part / groups * hit(rounds + 1.0) + (1.0 - part / groups) * hit(rounds));
    let hits = [hit(2.0 * rounds), hit(2.0 * rounds + 1.0), hit(2.0 * rounds + 2.0)];
    let two = |distance: f64| {
        let both = (part - distance).max(0.0) + (part - (groups - distance)).max(0.0).min(distance);
        let either = 2.0 * (part - both);
        missed((both * hits[2] + either * hits[1] + (groups - both - either) * hits[0]) / groups)
    };
    // Two groups of the window are a distance apart, and as far around the ring as any other two at this distance plus
    // some whole rounds.
    let second = (0..delta.min(n)).map(|around| {
        let distance = around as f64;
        let times = ((delta - 1 - around) / n + 1) as f64;
        let pairs = 2.0 * times * (length - distance - groups * (times - 1.0) / 2.0);
        // Two positions in one group are one bit in one case of γ; and a group makes one pair with itself, not two.
        let (pairs, same) = if around == 0 { (pairs - length, 1.0 / gamma) } else { (pairs, 0.0) };
        let neither = same * one + (1.0 - same) * two(distance);
        pairs / (length * length) * (1.0 - 2.0 * one + neither)
    });
    (1.0 - one, second.sum())
}

/// The mean of `of(t)` for a binomial t of `n` trials with probability `p` each.
///
/// From the mode outwards each probability is the last one times a ratio, so nothing can overflow or cancel; what is
/// below 10⁻⁴⁰ of the mode's is left out, and the sum of the rest stands for 1.
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
