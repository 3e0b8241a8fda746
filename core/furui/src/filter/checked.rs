use std::path::Path;

use super::{AnyFilter, Filter};
use crate::format::{Bytes, DiskFile, Envelope, FormatError, Kind, Problem, ReadError, Regions};
use crate::hash::{HashSpec, Hashes, KeyHash};

/// A filter of any kind whose file is checked region by region, each when this process first reads it. It is meant for
/// files so large that [`AnyFilter::open`], which reads the whole file, would take too long.
///
/// The table is mapped where files can be mapped. Opening takes constant time, except for a quotient filter: its slots
/// refer to each other, so its whole file is read. The first lookup in a region of 4 KiB reads that region. When few
/// unchecked regions are left, all of them are read; from then on a lookup costs as much as in memory.
///
/// The file must not be changed or truncated while the filter is open, as for [`AnyFilter::open`].
///
/// ```
/// use furui::filter::{Bloom, CheckedFilter};
///
/// # let dir = std::env::temp_dir().join(format!("furui-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("words.filter");
/// let mut words = Bloom::with_rate(1000, 0.01)?;
/// words.insert("seen");
/// words.save(&path)?;
///
/// let words = CheckedFilter::open(&path)?;
/// assert!(words.contains("seen")?);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CheckedFilter {
    filter: AnyFilter<Bytes>,
    file: Bytes,
    regions: Regions,
}

impl CheckedFilter {
    /// Opens a filter's file.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the file's envelope or sizes are not those of a filter.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let name = path.as_ref().display().to_string();
        let bytes = DiskFile::bytes_of(path.as_ref()).map_err(|source| ReadError::Io { file: name.clone(), source })?;
        Self::from_shared(&bytes, &name)
    }

    /// The filter in `bytes`, which are the bytes of its file. Error messages call the file `name`.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub(crate) fn from_shared(bytes: &Bytes, name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(&**bytes, name)?;
        let regions = envelope.regions(bytes).ok_or_else(|| envelope.error(0, Problem::NotAFilter(envelope.kind())))?;
        if envelope.kind() == Kind::QuotientFilter {
            regions.check_all()?;
        }
        let filter = AnyFilter::unchecked(bytes, &envelope)?;
        Ok(Self { filter, file: bytes.clone(), regions })
    }

    /// True if `key` may be in the set; false if it certainly is not.
    ///
    /// # Errors
    /// [`FormatError`] if a region that this call or an earlier one has read is damaged.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool, FormatError> {
        self.contains_hash(self.hash_spec().hash(key.as_ref()))
    }

    /// Looks up a batch of keys: `out` is cleared and gets one answer per key.
    ///
    /// # Errors
    /// Those of [`contains`](Self::contains), and [`Problem::OtherHash`] if the keys were hashed by another spec than
    /// [`hash_spec`](Self::hash_spec).
    pub fn contains_hashes(&self, keys: &Hashes, out: &mut Vec<bool>) -> Result<(), FormatError> {
        if keys.spec() != self.hash_spec() {
            let problem = Problem::OtherHash { found: self.hash_spec(), expected: keys.spec() };
            return Err(self.regions.error(0, problem));
        }
        self.contains_all(keys.as_slice(), out)
    }

    /// Works like [`contains`](Self::contains) for a key that the caller hashed by [`hash_spec`](Self::hash_spec). A
    /// hash that was made otherwise is not noticed.
    ///
    /// # Errors
    /// Those of [`contains`](Self::contains).
    #[inline(always)]
    pub fn contains_hash(&self, key: KeyHash) -> Result<bool, FormatError> {
        if !self.regions.all_checked() {
            self.check(key)?;
        }
        Ok(match &self.filter {
            // The tries of a dictionary have filters of this kind, so this kind is called directly. A processor
            // overlaps lookups in several tries, and the fewer instructions a lookup takes, the more of them overlap.
            AnyFilter::Blocked(filter) => filter.contains_hash(key),
            filter => filter.contains_hash(key),
        })
    }

    /// Works like [`contains_hashes`](Self::contains_hashes) for keys that the caller hashed by
    /// [`hash_spec`](Self::hash_spec).
    ///
    /// # Errors
    /// [`FormatError`] if the bytes of the table that belong to one of the keys are damaged.
    pub(crate) fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) -> Result<(), FormatError> {
        if !self.regions.all_checked() {
            keys.iter().try_for_each(|&key| self.check(key))?;
        }
        self.filter.contains_all(keys, out);
        Ok(())
    }

    /// Checks all regions, and returns the filter itself.
    ///
    /// # Errors
    /// Those of [`contains`](Self::contains).
    pub fn whole(&self) -> Result<&AnyFilter<Bytes>, FormatError> {
        self.regions.check_all()?;
        Ok(&self.filter)
    }

    /// The number of keys that the filter was sized for; 0 if it was not sized for keys.
    pub fn capacity(&self) -> u64 {
        self.filter.capacity()
    }

    /// The kind of the filter, which its file states.
    pub fn kind(&self) -> Kind {
        self.filter.kind()
    }

    /// The spec (algorithm and seed) by which keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.filter.hash_spec()
    }

    /// Checks the regions of the file that a lookup of `key` reads.
    #[inline(never)]
    fn check(&self, key: KeyHash) -> Result<(), FormatError> {
        // The filter's tables are slices of the file's bytes, so the difference of the two addresses is an offset in
        // the file.
        let file = self.file.as_ptr().addr();
        self.filter.reads(key, &mut |bytes| {
            self.regions.touch(bytes.as_ptr().addr() - file, bytes.len());
        });
        self.regions.result()
    }
}
