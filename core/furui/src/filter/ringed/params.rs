use std::fmt;

use super::ringed_rate_refined;
use crate::filter::probes::{check_probes, own_rate};
use crate::filter::smallest_size::least;
use crate::filter::{ConfigError, sizing};

/// The maximum number of bits of a ringed filter. Together they take 1 TiB.
pub(super) const MAX_BITS: u64 = 1 << 43;

/// The minimum number of bits that a ringed filter has for each key, in units of 2⁻³² bits.
const LEAST_GAMMA: u64 = 1 << 32;
/// The maximum number of bits that a ringed filter has for each key, in units of 2⁻³² bits.
const MOST_GAMMA: u64 = 1 << 48;

/// The number of bits that a ringed filter has for each key (γ).
///
/// ```
/// use furui::filter::{Gamma, RingedParams};
///
/// // The paper's whole number of bits a key, and the fewest for this number of probes.
/// let [whole, exact] = [Gamma::Whole, Gamma::Exact].map(|gamma| RingedParams::new(7, gamma, 1000));
/// assert_eq!((whole?.bits(1000)?, exact?.bits(1000)?), (11_000, 10_099));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gamma {
    /// The number of bits is rounded up: M(α, 1) = ⌈k / ln 2⌉, as in the paper of Sei et al. (eqs. 4 and 6). This is
    /// more than a Bloom filter takes for each key: 39 % more for k = 1, 16 % for k = 3, 9 % for k = 7, 1 % for k = 11.
    /// The additional bits lower the rate.
    Whole,
    /// The number of bits for a key is k / ln 2, as in the smallest Bloom filter with the same rate.
    Exact,
    /// The number of bits is this one, from 1 to 65,536, in steps of 2⁻³².
    Bits(f64),
}

/// The parameters of a ringed filter apart from its number of keys: probes k, bits a key γ, window δ.
///
/// In the paper of Sei et al. all filters of one system share them. Here each filter may have its own, and one
/// [`RingedKey`](super::RingedKey) serves them all.
///
/// ```
/// use furui::filter::{Gamma, RingedBloom, RingedParams};
///
/// // Each node chooses the rate and the size of its filters.
/// let params = RingedParams::with_rate(0.01, Gamma::Exact, 1000)?;
/// let (small, large) = (RingedBloom::with_size(params, 100)?, RingedBloom::with_size(params, 10_000)?);
/// assert_eq!((small.probes(), large.probes()), (7, 7));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingedParams {
    probes: u32,
    delta: u32,
    /// The number of bits for each key (γ) in units of 2⁻³² bits, so that all machines round it equally.
    gamma: u64,
}

impl RingedParams {
    /// Parameters for `probes` probes a key (k), spread over `delta` groups (δ) of `gamma` bits each.
    ///
    /// A large δ balances the load of the groups, a small one keeps the probes of a key together; δ = 1 is the
    /// n-divided filter of Sei et al. See [`RingedBloom`](super::RingedBloom) for the choice.
    ///
    /// # Errors
    /// If there is no such filter; the message says which values are valid.
    pub fn new(probes: u32, gamma: Gamma, delta: u32) -> Result<Self, ConfigError> {
        let best = f64::from(probes) / std::f64::consts::LN_2;
        let gamma = match gamma {
            Gamma::Whole => best.ceil(),
            Gamma::Exact => best,
            Gamma::Bits(bits) => bits,
        };
        // NaN becomes 0.
        Self::from_fixed(probes, (gamma * 2f64.powi(32)).round() as u64, delta)
    }

    /// The parameters for the false-positive `rate` α of the paper of Sei et al.: k = ⌈log₂ 1/α⌉ probes (eq. 16).
    /// Filters have this rate with many keys and a large δ; [`RingedBloom::with_rate`] keeps a rate for any number of
    /// keys.
    ///
    /// [`RingedBloom::with_rate`]: super::RingedBloom::with_rate
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and if `rate` is not between 0 and 1.
    pub fn with_rate(rate: f64, gamma: Gamma, delta: u32) -> Result<Self, ConfigError> {
        own_rate(rate, 1)?;
        Self::new(sizing::probes(rate), gamma, delta)
    }

    /// The parameters with the smallest γ for which a filter of `keys` keys is expected to have the rate `rate`, with
    /// the number of probes of [`sizing::few_probes`].
    ///
    /// # Errors
    /// [`ConfigError::Rate`] if no filter can have the rate; [`ConfigError::TooLarge`] or [`ConfigError::OutOfRange`]
    /// if it would need too many bits, or windows that are too long.
    pub(super) fn least(keys: u64, rate: f64, delta: u32) -> Result<Self, ConfigError> {
        let own = own_rate(rate, keys)?;
        let (bits, probes) = sizing::few_probes(own, keys);
        // Too long a window and too many keys are refused before a rate is computed.
        Self::new(probes, Gamma::Exact, delta)?.bits(keys)?;
        let keys = keys.max(1);
        // The rate depends only on the number of bits. If groups do not overlap, it depends only on the number of whole
        // bits in each group.
        let (guess, most) = if delta == 1 { (bits / keys, MOST_GAMMA >> 32) } else { (bits, MAX_BITS) };
        let with = |number: u64| {
            let least_gamma_of_bits = |bits: u64| (u128::from(bits - 1) << 32) / u128::from(keys) + 1;
            let gamma = if delta == 1 { u128::from(number) << 32 } else { least_gamma_of_bits(number) };
            Self::from_fixed(probes, gamma.clamp(LEAST_GAMMA.into(), MOST_GAMMA.into()) as u64, delta)
        };
        let excess = |number: u64| {
            // If there are no parameters for `number`, the filter would be too large: the check after the search
            // reports that.
            let expected = with(number).and_then(|params| params.expected_rate(keys)).unwrap_or(0.0);
            (expected / own).ln()
        };
        let number = least(guess, most, excess).ok_or(ConfigError::TooLarge {
            keys,
            rate,
            most: MAX_BITS,
            what: "bits of a ringed filter",
        })?;
        let params = with(number)?;
        params.bits(keys)?;
        Ok(params)
    }

    /// The parameters with `gamma` in units of 2⁻³² bits.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`], which names the number that is wrong and its range.
    pub(super) fn from_fixed(probes: u32, gamma: u64, delta: u32) -> Result<Self, ConfigError> {
        check_probes(probes)?;
        if !(LEAST_GAMMA..=MOST_GAMMA).contains(&gamma) {
            return Err(ConfigError::OutOfRange {
                what: "bits a group",
                given: gamma >> 32,
                least: 1,
                most: MOST_GAMMA >> 32,
            });
        }
        if delta == 0 || u128::from(delta) * u128::from(gamma) >= 1 << 63 {
            return Err(ConfigError::OutOfRange {
                what: "groups of a window",
                given: delta.into(),
                least: 1,
                most: ((1 << 63) - 1) / gamma,
            });
        }
        Ok(Self { probes, delta, gamma })
    }

    /// The number of bits that belong to each key (k).
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// The number of bits of a group (γ).
    pub fn gamma(&self) -> f64 {
        self.gamma as f64 * 2f64.powi(-32)
    }

    /// The number of groups of a window (δ).
    pub fn delta(&self) -> u32 {
        self.delta
    }

    /// The number of bits of a window: ⌊δ γ⌋.
    pub fn window(&self) -> u32 {
        ((u64::from(self.delta) * self.gamma) >> 32) as u32
    }

    /// The number of bits of the filter of `keys` keys: m = ⌈n γ⌉ (eq. 7 of Sei et al.).
    ///
    /// # Errors
    /// If that is more than 2⁴³.
    pub fn bits(&self, keys: u64) -> Result<u64, ConfigError> {
        let bits = (u128::from(keys.max(1)) * u128::from(self.gamma)).div_ceil(1 << 32);
        u64::try_from(bits).ok().filter(|&bits| bits <= MAX_BITS).ok_or_else(|| {
            let most = u64::try_from((u128::from(MAX_BITS) << 32) / u128::from(self.gamma)).unwrap_or(u64::MAX);
            ConfigError::OutOfRange {
                what: "keys of a ringed filter with this many bits a key",
                given: keys,
                least: 1,
                most,
            }
        })
    }

    /// The expected false-positive rate of a filter of `keys` keys, by [`ringed_rate_refined`]. Cost: min(δ, `keys`)
    /// steps.
    ///
    /// # Errors
    /// If there is no such filter.
    pub fn expected_rate(&self, keys: u64) -> Result<f64, ConfigError> {
        let keys = keys.max(1);
        let bits = self.bits(keys)?;
        // Groups that do not overlap leave the bits between them unused.
        let gamma = if self.delta == 1 { f64::from(self.window()) } else { bits as f64 / keys as f64 };
        Ok(ringed_rate_refined(self.probes, keys, u64::from(self.delta), gamma))
    }

    /// The numbers that two filters must have in common, each with its name.
    pub(in crate::filter) fn sizes(&self) -> [(&'static str, u64); 3] {
        let delta = ("groups in a window", self.delta().into());
        [("probes a key", self.probes().into()), ("2⁻³² bits for each group", self.fixed_gamma()), delta]
    }

    /// The number of bits for each key (γ) in units of 2⁻³² bits.
    pub(super) fn fixed_gamma(&self) -> u64 {
        self.gamma
    }
}

impl fmt::Display for RingedParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k = {}, gamma = {}, delta = {}", self.probes, self.gamma(), self.delta)
    }
}
