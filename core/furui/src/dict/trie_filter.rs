use std::cell::OnceCell;
use std::io::{self, Write};

use super::polynomial_filter::{CheckedPolynomials, PolynomialFilter, polynomials};
use crate::error::Result;
use crate::filter::{AnyFilter, BlockedBloom, CheckedFilter};
use crate::format::{Bytes, Envelope, FormatError, Kind, Problem, Seal};
use crate::hash::{HashSpec, KeyHash};
use crate::store::FilterHash;

/// A key that is looked up in several tries, with the hashes that their filters need.
pub(super) struct Asked<'k> {
    pub(super) key: &'k [u8],
    pub(super) hash: KeyHash,
    /// The values of the hash polynomials of the key, for filters whose positions are polynomials. They are computed
    /// for the first such filter, and used for all others.
    polynomials: OnceCell<[u64; 8]>,
}

impl<'k> Asked<'k> {
    #[inline(always)]
    pub(super) fn new(key: &'k [u8], hash: KeyHash) -> Self {
        Self { key, hash, polynomials: OnceCell::new() }
    }
}

/// A new filter, which is to be written into the file of its trie.
#[derive(Debug)]
pub(super) enum NewFilter {
    OneState(BlockedBloom),
    Polynomials(PolynomialFilter),
}

impl NewFilter {
    /// Writes the filter's file to `out`.
    pub(super) fn write_to(self, out: &mut dyn Write) -> io::Result<Seal> {
        match self {
            Self::OneState(filter) => AnyFilter::Blocked(filter).write_to(out),
            Self::Polynomials(filter) => filter.write_to(out),
        }
    }
}

/// The filter of a [`FilteredTrie`](super::FilteredTrie), in its file, which is checked when it is read.
///
/// By default it is a blocked Bloom filter of the dictionary's 64-bit hashes, where a look-up of an absent key reads
/// one cache line. In a dictionary of LOUDS tries it may be the filter of Koyanagi et al., with k positions by k
/// polynomials.
///
/// ```
/// use furui::dict::{Dict, DictOptions, FilterHash};
/// use furui::store::Memory;
///
/// let mut dict = Dict::open_with(Memory::new(), DictOptions::default())?;
/// dict.put("see", 1)?;
/// dict.sync()?;
/// let trie = dict.tries().next().expect("what was synced is in a trie");
/// assert_eq!((trie.filter().hash(), trie.filter().capacity()), (FilterHash::OneState, 1));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct TrieFilter(Kinds);

#[derive(Debug)]
enum Kinds {
    OneState(CheckedFilter),
    Polynomials(CheckedPolynomials),
}

impl TrieFilter {
    /// Opens the filter in a file with these bytes, which is called `name` in errors. `hash` is the spec by which keys
    /// are hashed.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the envelope or the sizes are damaged, or if the filter has another
    /// hash.
    pub(super) fn open(bytes: &Bytes, name: &str, hash: HashSpec) -> Result<Self> {
        if Envelope::open(&**bytes, name)?.kind() == Kind::PolynomialBloom {
            return Ok(Self(Kinds::Polynomials(CheckedPolynomials::open(bytes, name)?)));
        }
        let filter = CheckedFilter::from_shared(bytes, name)?;
        if filter.hash_spec() != hash {
            let problem = Problem::OtherHash { found: filter.hash_spec(), expected: hash };
            return Err(FormatError { file: name.to_owned(), offset: 0, problem }.into());
        }
        Ok(Self(Kinds::OneState(filter)))
    }

    /// True if the key may be in the trie; false if it certainly is not.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the bytes that the look-up reads are damaged.
    #[inline(always)]
    pub(super) fn contains(&self, asked: &Asked<'_>) -> Result<bool> {
        Ok(match &self.0 {
            Kinds::OneState(filter) => filter.contains_hash(asked.hash)?,
            Kinds::Polynomials(filter) => {
                filter.contains(asked.polynomials.get_or_init(|| polynomials(filter.filter().hash(), asked.key)))?
            }
        })
    }

    /// Appends to `out`, which is cleared first, one answer for each of `keys`, which have these hashes: true if the
    /// key may be in the trie.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if bytes that a look-up reads are damaged.
    pub(super) fn contains_all<'k>(
        &self,
        mut keys: impl Iterator<Item = &'k [u8]>,
        hashes: &[KeyHash],
        out: &mut Vec<bool>,
    ) -> Result<()> {
        match &self.0 {
            Kinds::OneState(filter) => Ok(filter.contains_all(hashes, out)?),
            Kinds::Polynomials(filter) => {
                out.clear();
                keys.try_for_each(|key| {
                    out.push(filter.contains(&polynomials(filter.filter().hash(), key))?);
                    Ok(())
                })
            }
        }
    }

    /// The hash from which the positions of a key are derived.
    pub fn hash(&self) -> FilterHash {
        match &self.0 {
            Kinds::OneState(_) => FilterHash::OneState,
            Kinds::Polynomials(filter) => filter.filter().hash(),
        }
    }

    /// The number of keys that the filter was sized for; 0 if it was not sized for keys.
    pub fn capacity(&self) -> u64 {
        match &self.0 {
            Kinds::OneState(filter) => filter.capacity(),
            Kinds::Polynomials(filter) => filter.filter().capacity(),
        }
    }

    /// The present false-positive rate of the filter, from the bits that are set. Cost: one pass over the filter.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the filter is damaged.
    pub fn false_positive_rate(&self) -> Result<f64> {
        Ok(match &self.0 {
            Kinds::OneState(filter) => filter.whole()?.false_positive_rate(),
            Kinds::Polynomials(filter) => filter.rate()?,
        })
    }
}
