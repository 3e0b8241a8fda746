use std::io::{self, Write};
use std::path::Path;

use super::{AnyFilter, Estimate, Mismatch, Similarity};
use crate::format::{EnvelopeWriter, Kind, ReadError, Seal};
use crate::hash::KeyForm;

/// A filter for a reader who does not know the seed of its hash. It can be combined and compared with others of the
/// same seed, which takes only their bits and the [fingerprint](crate::HashSpec::seed_fingerprint) of the seed. No key
/// can be looked up or inserted.
///
/// ```
/// use furui::filter::{AnyFilter, Bloom, SeedlessFilter};
/// use furui::{HashAlgorithm, HashSpec, KeyForm};
///
/// # let dir = std::env::temp_dir().join(format!("furui-doc-seedless-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// let secret = HashSpec { algorithm: HashAlgorithm::SipHash13, ..HashSpec::random() };
/// for (name, friend) in [("a", "alice@example.org"), ("b", "bob@example.org")] {
///     let mut friends = Bloom::from_parts(1000, 5)?.hashed_by(secret);
///     friends.insert(friend);
///     AnyFilter::from(friends).save_without_seed(dir.join(name))?;
/// }
///
/// // Whoever has only the files unites them for those who know the seed.
/// let mut both = SeedlessFilter::open(dir.join("a"))?;
/// both.union_with(&SeedlessFilter::open(dir.join("b"))?)?;
/// both.write_to(&mut std::fs::File::create(dir.join("both"))?, &KeyForm::default())?;
/// assert!(AnyFilter::open_with_seed(dir.join("both"), secret.seed)?.contains("bob@example.org"));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SeedlessFilter {
    /// The filter with the fingerprint of the seed in place of the seed, so it cannot answer questions about keys.
    filter: AnyFilter,
}

impl SeedlessFilter {
    /// Opens the file of a filter as [`AnyFilter::open`] does. If the file holds its seed, only the seed's fingerprint
    /// is kept.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the bytes are not those of a filter's file, whole and undamaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        AnyFilter::open_without_seed(path.as_ref()).map(|filter| Self { filter })
    }

    /// Adds the keys of `other` to this filter, as [`AnyFilter::union_with`] does.
    ///
    /// # Errors
    /// If the filters are of different kinds, sizes, hashes or seeds, or of a kind without this operation. In the error
    /// a hash has the fingerprint of its seed.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.filter.union_with(&other.filter)
    }

    /// Keeps only the keys that `other` holds too, as [`AnyFilter::intersect_with`] does.
    ///
    /// # Errors
    /// Those of [`union_with`](Self::union_with).
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.filter.intersect_with(&other.filter)
    }

    /// Estimates the similarity of the sets of two filters.
    ///
    /// # Errors
    /// Those of [`union_with`](Self::union_with).
    pub fn similarity(&self, other: &Self) -> Result<Similarity, Mismatch> {
        self.filter.similarity(&other.filter)
    }

    /// The kind of the filter. Only filters of one kind can be combined or compared.
    pub fn kind(&self) -> Kind {
        self.filter.kind()
    }

    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    pub fn capacity(&self) -> u64 {
        self.filter.capacity()
    }

    /// The approximate number of different keys; `None` for kinds of filter that cannot estimate it.
    pub fn cardinality(&self) -> Option<Estimate> {
        self.filter.cardinality()
    }

    /// The false-positive rate for which the filter was made; `None` if it was not made for a rate.
    pub fn intended_rate(&self) -> Option<f64> {
        self.filter.intended_rate()
    }

    /// The false-positive rate with the keys that the filter holds now.
    pub fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    /// Writes the filter's file, which has the fingerprint of the seed, and records that the keys were made from
    /// records by `form`. `out` must not be the file from which the filter was [`open`](Self::open)ed.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write, form: &KeyForm) -> io::Result<Seal> {
        let out = EnvelopeWriter::with_fingerprint(out, self.kind(), self.filter.hash_spec())?;
        self.filter.write_into(out, form)
    }
}
