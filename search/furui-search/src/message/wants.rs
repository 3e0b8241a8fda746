use furui::filter::sizing;
use thiserror::Error;

/// The default window of ringed filters, as a number of groups. A longer window would avoid only one percent of the
/// false positives.
const DELTA: u32 = 1000;

/// The number of bits of the fixed filters of the paper of Sei et al., which have five hash functions (α = 2⁻⁵).
const BITS_OF_FIVE: u32 = 2164;

/// The false-positive rate of the fixed filters in the paper of Sei et al. on ringed filters.
const FIXED_RATE: f64 = 1.0 / 32.0;

/// The encoding of sets of ids between nodes that a query requests. It affects only the traffic, not the answers.
///
/// ```
/// use furui_search::{Wants, WantsError};
///
/// assert_eq!(Wants::named(Some("best"), None), Ok(Some(Wants::Best)));
/// let seven = Wants::Ringed { probes: Some(7), delta: 1000 };
/// assert_eq!(Wants::named(Some("ringed"), Some(0.01)), Ok(Some(seven)));
/// assert_eq!(Wants::named(Some("naive"), Some(0.01)), Err(WantsError::NoRate { coding: "naive" }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// The coding that needs the fewest bits: Golomb-Rice coded sets, which are answered with ranks and short check
    /// bits. A third message is sent where it is worth its round trip.
    Best,
    /// The Naive algorithm of Sei et al.: all ids in full.
    Naive,
    /// The algorithm TFA of Sei et al. with Bloom filters of one size for all lists.
    Fixed {
        /// The number of bits of every filter, m.
        bits: u32,
        /// The number of hash functions, k.
        probes: u8,
    },
    /// The algorithm TFA of Sei et al. with ringed Bloom filters.
    Ringed {
        /// The number of probes k = log₂ 1/α. `None` selects the optimum for the sizes of the two lists, by eq. 18 of
        /// Sei et al.
        probes: Option<u8>,
        /// The window δ in groups.
        delta: u32,
    },
    /// Golomb-Rice coded sets in two messages, even where a third message would save bits.
    Golomb,
}

impl Wants {
    /// The names of the codings that [`named`](Self::named) accepts.
    pub const NAMES: [&str; 5] = ["best", "naive", "fixed", "ringed", "golomb"];

    /// Returns the coding with this name. `rate` is the false-positive rate α of its filters, so the number of probes
    /// is k = ⌈log₂ 1/α⌉ (eq. 16 of Sei et al.). The result is `None` if there is no name.
    ///
    /// The default rate of a fixed filter is that of Sei et al., 2⁻⁵. The filter then has 2164 bits; at other rates,
    /// its bits are in proportion to k. The default of a ringed filter is the best rate for each pair of lists (eq.
    /// 18).
    ///
    /// # Errors
    /// If no coding has the name, if a rate is given for a coding that has none, if a rate is given without a name, or
    /// if the rate is below 2⁻⁶⁴, or 1 or more.
    pub fn named(name: Option<&str>, rate: Option<f64>) -> Result<Option<Self>, WantsError> {
        let probes = match rate {
            Some(rate) if !(2f64.powi(-64)..1.0).contains(&rate) => return Err(WantsError::Rate { given: rate }),
            rate => rate.map(|rate| sizing::probes(rate) as u8),
        };
        let Some(name) = name else {
            return if rate.is_some() { Err(WantsError::NoCoding) } else { Ok(None) };
        };
        let unrated = |coding, wants| if rate.is_some() { Err(WantsError::NoRate { coding }) } else { Ok(wants) };
        let wants = match name {
            "best" => unrated("best", Self::Best)?,
            "naive" => unrated("naive", Self::Naive)?,
            "golomb" => unrated("golomb", Self::Golomb)?,
            "fixed" => {
                let probes = probes.unwrap_or(sizing::probes(FIXED_RATE) as u8);
                Self::Fixed { bits: BITS_OF_FIVE * u32::from(probes) / 5, probes }
            }
            "ringed" => Self::Ringed { probes, delta: DELTA },
            _ => return Err(WantsError::Name),
        };
        Ok(Some(wants))
    }
}

/// The reason that a name and a rate do not determine the coding of sets.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum WantsError {
    /// No coding of sets has this name.
    #[error("no coding has this name; there are {}", Wants::NAMES.join(", "))]
    Name,
    /// A rate is given for a coding that has no selectable false-positive rate.
    #[error("the coding {coding} has no rate; leave the rate out, or take fixed or ringed")]
    NoRate {
        /// The name of the coding that has no rate.
        coding: &'static str,
    },
    /// A rate is given without the name of a coding.
    #[error("a rate without a coding; add fixed or ringed")]
    NoCoding,
    /// The rate is out of range.
    #[error("the rate {given}; a rate is from 2^-64 to below 1, such as 0.01")]
    Rate {
        /// The rate that was given, which is below 2⁻⁶⁴, or 1 or more.
        given: f64,
    },
}
