use std::fmt;

use super::trie_layout::Layout;

/// The hash from which the filters of a dictionary derive the positions of a key. A dictionary keeps the filter hash
/// that it was made with.
///
/// ```
/// use furui::dict::{Dict, DictOptions, FilterHash, Layout};
/// use furui::store::Memory;
///
/// let layout = Some(Layout::Louds);
/// let options = DictOptions { layout, filter_hash: Some(FilterHash::Polynomials4), ..DictOptions::default() };
/// let dict = Dict::open_with(Memory::new(), options)?;
/// assert_eq!(dict.filter_hash().polynomials(), 4);
/// # Ok::<(), furui::Error>(())
/// ```
///
/// **Source.** Koyanagi et al. (2011), section 4.4: the positions are k polynomials of the key's bytes, each with a
/// prime of its own. Their experiments use k = 1, 2, 4 and 8 (Table 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FilterHash {
    /// All positions are derived from one 64-bit hash, the hash of the dictionary's keys. A walk down a trie carries
    /// one hash state.
    #[default]
    OneState = 0,
    /// One position, which is one polynomial of the key's bytes: see
    /// [`PolynomialHashes`](crate::hash::PolynomialHashes).
    Polynomials1 = 1,
    /// Two positions, each from a polynomial of the key's bytes with a prime of its own.
    Polynomials2 = 2,
    /// Four positions, each from a polynomial of the key's bytes, as in the dictionary of 240 million words of Koyanagi
    /// et al.
    Polynomials4 = 4,
    /// Eight positions, each from a polynomial of the key's bytes, the most in the experiments of Koyanagi et al.
    Polynomials8 = 8,
}

impl FilterHash {
    /// Each filter hash once: the default first, then by the number of positions.
    pub const ALL: [Self; 5] =
        [Self::OneState, Self::Polynomials1, Self::Polynomials2, Self::Polynomials4, Self::Polynomials8];

    /// The name of the filter hash in options and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneState => "one-state",
            Self::Polynomials1 => "polynomials-1",
            Self::Polynomials2 => "polynomials-2",
            Self::Polynomials4 => "polynomials-4",
            Self::Polynomials8 => "polynomials-8",
        }
    }

    /// The number of polynomials from which the positions of a key come; 0 for [`OneState`](Self::OneState).
    pub const fn polynomials(self) -> u8 {
        self as u8
    }

    /// True if tries of this layout can have filters with this hash. Compact tries can have only
    /// [`OneState`](Self::OneState), because a walk over them carries only one hash state.
    pub const fn fits(self, layout: Layout) -> bool {
        matches!((self, layout), (Self::OneState, _) | (_, Layout::Louds))
    }

    /// The filter hash with this number of polynomials; `None` if there is none.
    pub fn of_polynomials(count: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.polynomials() == count)
    }
}

impl fmt::Display for FilterHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
