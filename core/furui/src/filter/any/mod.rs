mod some_kinds;

use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use super::file::{FilterSource, Stored, save};
use super::{
    BlockedBloom, Bloom, CountingBloom, Filter, FilterMut, Full, Fuse, GrowingBloom, QuotientFilter, RingedBloom,
    SplitBlockBloom, StableBloom, StableBloomLight, WindowBloom, sizing,
};
use crate::bits::Buffer;
use crate::format::{Bytes, DiskFile, Envelope, EnvelopeWriter, Kind, Problem, ReadError, Seal, WriteError};
use crate::hash::{HashSpec, KeyForm, KeyHash};

/// A filter of any kind, as the file of a filter holds it.
///
/// ```
/// use furui::filter::{AnyFilter, Bloom, Filter, FilterRef};
///
/// let mut words = Bloom::with_rate(1000, 0.01)?;
/// words.insert("以前");
/// let mut file = vec![];
/// AnyFilter::from(words).write_to(&mut file)?;
///
/// // A program that is given a file needs no knowledge of its kind.
/// let filter = FilterRef::from_bytes(&file, "words.filter")?;
/// assert_eq!(filter.kind().name(), "bloom");
/// assert!(filter.contains_hash(filter.hash_spec().hash("以前".as_bytes())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyFilter<M = Buffer> {
    /// A Bloom filter, which takes the least space for a known number of keys.
    Bloom(Bloom<M>),
    /// A blocked Bloom filter, whose look-ups read one cache line.
    Blocked(BlockedBloom<M>),
    /// A counting Bloom filter, from which keys can be removed.
    Counting(CountingBloom<M>),
    /// A stable Bloom filter, which forgets old keys, at random.
    Stable(StableBloom<M>),
    /// A stable Bloom filter light, which forgets old keys in turn, and is faster.
    StableLight(StableBloomLight<M>),
    /// A ringed Bloom filter, whose look-ups can be prepared before its size is known.
    Ringed(RingedBloom<M>),
    /// A quotient filter: sorted fingerprints, which can be listed, removed and merged.
    Quotient(QuotientFilter<M>),
    /// A split-block Bloom filter, as in Parquet files.
    SplitBlock(SplitBlockBloom<M>),
    /// A growing chain of Bloom filters.
    Growing(GrowingBloom<M>),
    /// A filter of the keys of a window, which all are surely there.
    Window(WindowBloom<M>),
    /// A fuse filter, which is built once from all keys, in the least space.
    Fuse(Fuse<M>),
}

/// The filter inside an [`AnyFilter`], as a trait object of whichever trait the context asks for. For a fuse filter,
/// into which nothing can be inserted, the context says what to do.
macro_rules! inside {
    ($any:expr, $fuse:pat => $otherwise:expr) => {
        match $any {
            AnyFilter::Bloom(filter) => filter,
            AnyFilter::Blocked(filter) => filter,
            AnyFilter::Counting(filter) => filter,
            AnyFilter::Stable(filter) => filter,
            AnyFilter::StableLight(filter) => filter,
            AnyFilter::Ringed(filter) => filter,
            AnyFilter::Quotient(filter) => filter,
            AnyFilter::SplitBlock(filter) => filter,
            AnyFilter::Growing(filter) => filter,
            AnyFilter::Window(filter) => filter,
            $fuse => $otherwise,
        }
    };
}

/// A filter over the borrowed bytes of its file: nothing is copied, and nothing can be changed.
pub type FilterRef<'a> = AnyFilter<&'a [u8]>;

impl AnyFilter {
    /// Opens the file of a filter. The table is mapped, not copied: its pages are loaded when they are used. Later
    /// insertions change this filter, never the file. Every byte is checked once, in one sequential pass; a
    /// [`CheckedFilter`](super::CheckedFilter) is opened without this pass.
    ///
    /// While the filter is open, no program may write to the file or truncate it. Bytes that are loaded later would not
    /// be those that were checked, and reading after the end kills the process. Replacing the file by a new file with
    /// the same name, as `furui filter` does, is allowed. A caller that cannot prevent writes and truncation should
    /// read the file into memory and use [`from_bytes`](FilterRef::from_bytes).
    ///
    /// # Errors
    /// [`ReadError::Format`] if the bytes are not those of a filter's file, whole and undamaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Self::open_by(path.as_ref(), None)
    }

    /// Opens the file of a filter that was [saved without its seed](AnyFilter::save_without_seed), as
    /// [`open`](Self::open) does.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`Problem::OtherSeed`] if the filter was made with another seed.
    pub fn open_with_seed(path: impl AsRef<Path>, seed: u64) -> Result<Self, ReadError> {
        Self::open_by(path.as_ref(), Some(seed))
    }

    /// A copy of the filter in `bytes`, which are the bytes of its file. Unlike a filter that
    /// [borrows](FilterRef::from_bytes) them, the copy can be changed. All bytes are checked. Error messages call the
    /// file `name`.
    ///
    /// ```
    /// use furui::filter::{AnyFilter, Bloom, FilterMut};
    ///
    /// let (mut words, mut file) = (Bloom::with_rate(1000, 0.01)?, vec![]);
    /// words.insert("以前");
    /// AnyFilter::from(words).write_to(&mut file)?;
    ///
    /// let mut filter = AnyFilter::copy_of_bytes(&file, "words.filter")?;
    /// filter.insert("珠玉")?;
    /// assert!(filter.contains("以前"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`from_bytes`](FilterRef::from_bytes), and [`ReadError::Io`] if there is not enough memory.
    pub fn copy_of_bytes(bytes: &[u8], name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(bytes, name)?;
        envelope.verify(bytes)?;
        Self::read(&FilterSource::copied(bytes, &envelope))
    }

    /// Opens the file of a filter whose hash has the fingerprint of its seed in place of the seed.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the file is damaged or of no filter; [`ReadError::Io`].
    pub(super) fn open_without_seed(path: &Path) -> Result<Self, ReadError> {
        let (file, envelope) = checked(path)?;
        Self::read_table(&FilterSource::mapped(&file, &envelope.without_seed()))
    }

    fn open_by(path: &Path, seed: Option<u64>) -> Result<Self, ReadError> {
        let (file, mut envelope) = checked(path)?;
        if let Some(seed) = seed {
            envelope = envelope.with_seed(seed)?;
        }
        Self::read(&FilterSource::mapped(&file, &envelope))
    }
}

/// Opens the file of a filter, and checks every byte of it by the checksums. Returns the file, and its envelope: the
/// header and the sections, of which the table of the filter is one.
fn checked(path: &Path) -> Result<(DiskFile, Envelope), ReadError> {
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|source| ReadError::Io { file: name.clone(), source })?;
    let envelope = Envelope::open(&file, &name)?;
    envelope.verify(&file)?;
    Ok((file, envelope))
}

impl<'a> FilterRef<'a> {
    /// The filter in `bytes`, which are the bytes of its file. All bytes are checked. Error messages call the file
    /// `name`.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the bytes are not those of a filter's file, whole and undamaged.
    pub fn from_bytes(bytes: &'a [u8], name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(bytes, name)?;
        envelope.verify(bytes)?;
        Self::read(&FilterSource::borrowed(bytes, &envelope))
    }
}

impl AnyFilter<Bytes> {
    /// The filter in `bytes`, which are the bytes of a file with this envelope. The filter's table is not checked.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the sizes in the file contradict each other, or the file is of no filter.
    pub(super) fn unchecked(bytes: &Bytes, envelope: &Envelope) -> Result<Self, ReadError> {
        Self::read(&FilterSource::shared(bytes, envelope))
    }

    /// Calls `see` with the bytes of the tables that [`contains`](Filter::contains_hash) may read for `key`.
    pub(super) fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.filter().reads(key, see);
    }
}

impl<M: Deref<Target = [u8]>> AnyFilter<M> {
    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.envelope.expect_seed()?;
        Self::read_table(source)
    }

    fn read_table(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        let envelope = source.envelope;
        match envelope.kind() {
            Kind::Bloom => Bloom::read(source).map(Self::Bloom),
            Kind::BlockedBloom => BlockedBloom::read(source).map(Self::Blocked),
            Kind::CountingBloom => CountingBloom::read(source).map(Self::Counting),
            Kind::StableBloom => StableBloom::read(source).map(Self::Stable),
            Kind::StableBloomLight => StableBloomLight::read(source).map(Self::StableLight),
            Kind::RingedBloom => RingedBloom::read(source).map(Self::Ringed),
            Kind::QuotientFilter => QuotientFilter::read(source).map(Self::Quotient),
            Kind::SplitBlockBloom => SplitBlockBloom::read(source).map(Self::SplitBlock),
            Kind::GrowingBloom => GrowingBloom::read(source).map(Self::Growing),
            Kind::WindowBloom => WindowBloom::read(source).map(Self::Window),
            Kind::Fuse => Fuse::read(source).map(Self::Fuse),
            kind => Err(envelope.error(0, Problem::NotAFilter(kind)).into()),
        }
    }

    /// Writes the filter's file to `out`. `out` must not be the file from which the filter was
    /// [`open`](AnyFilter::open)ed, because its bytes are still in use: write another file and rename it, as
    /// [`publish`](crate::format::publish) does.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<Seal> {
        self.write_into(EnvelopeWriter::new(out, self.kind(), self.hash_spec())?, &KeyForm::default())
    }

    /// Saves the filter's file, whole or not at all: after a crash or an error `path` is unchanged.
    ///
    /// # Errors
    /// [`WriteError`] if the operating system refuses to write the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        save(path.as_ref(), |out| self.write_to(out))
    }

    /// Writes the filter's file to `out` without the seed of its hash. Only somebody who knows the seed can look up a
    /// key in the filter, or make a filter that can be combined with it. The file has the seed's
    /// [fingerprint](HashSpec::seed_fingerprint), and is opened by [`open_with_seed`](AnyFilter::open_with_seed).
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_without_seed(&self, out: &mut dyn Write) -> io::Result<Seal> {
        self.write_into(EnvelopeWriter::without_seed(out, self.kind(), self.hash_spec())?, &KeyForm::default())
    }

    /// Saves the file that [`write_without_seed`](Self::write_without_seed) writes, atomically as [`save`](Self::save)
    /// does.
    ///
    /// ```
    /// use furui::filter::{AnyFilter, Bloom};
    /// use furui::{HashAlgorithm, HashSpec};
    ///
    /// # let path = std::env::temp_dir().join(format!("furui-doc-seed-{}", std::process::id()));
    /// let secret = HashSpec { algorithm: HashAlgorithm::SipHash13, ..HashSpec::random() };
    /// let mut friends = Bloom::with_rate(100, 0.01)?.hashed_by(secret);
    /// friends.insert("alice@example.org");
    /// AnyFilter::from(friends).save_without_seed(&path)?;
    ///
    /// assert!(AnyFilter::open(&path).is_err(), "somebody who found the file");
    /// assert!(AnyFilter::open_with_seed(&path, secret.seed)?.contains("alice@example.org"));
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WriteError`] if the operating system refuses to write the file.
    pub fn save_without_seed(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        save(path.as_ref(), |out| self.write_without_seed(out))
    }

    /// Writes the filter's file with a writer that has just been made for the filter's [`kind`](Self::kind) and
    /// [`hash_spec`](Filter::hash_spec). The file also records `form`, that is, how its keys were made from records.
    /// [`Envelope::key_form`] reads the form.
    ///
    /// ```
    /// use furui::KeyForm;
    /// use furui::filter::{AnyFilter, Bloom, Filter};
    /// use furui::format::{Envelope, EnvelopeWriter};
    ///
    /// let mut urls = Bloom::with_rate(100, 0.01)?;
    /// urls.insert("https://example.org/");
    /// let (urls, form) = (AnyFilter::from(urls), "--csv --key url".parse::<KeyForm>()?);
    /// let mut file = vec![];
    /// urls.write_into(EnvelopeWriter::new(&mut file as &mut dyn std::io::Write, urls.kind(), urls.hash_spec())?, &form)?;
    /// assert_eq!(Envelope::open(&file[..], "urls.filter")?.key_form(&file[..])?, form);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_into(&self, mut out: EnvelopeWriter<&mut dyn Write>, form: &KeyForm) -> io::Result<Seal> {
        self.filter().write(&mut out)?;
        out.key_form(form)?;
        out.finish()
    }

    /// The number of keys that the filter was sized for; 0 if it was not sized for a number of keys.
    pub fn capacity(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.capacity(),
            Self::Blocked(filter) => filter.capacity(),
            Self::Counting(filter) => filter.capacity(),
            Self::Stable(_) | Self::StableLight(_) => 0,
            Self::Ringed(filter) => filter.capacity(),
            Self::Quotient(filter) => filter.capacity(),
            Self::SplitBlock(filter) => filter.capacity(),
            Self::Growing(_) => 0,
            Self::Window(filter) => filter.capacity(),
            Self::Fuse(filter) => filter.len(),
        }
    }

    /// The memory that the filter's tables take, in bytes.
    pub fn bytes(&self) -> u64 {
        let bits = match self {
            Self::Bloom(filter) => filter.bits(),
            Self::Blocked(filter) => filter.bits(),
            Self::Counting(filter) => filter.bits(),
            Self::Stable(filter) => filter.bits(),
            Self::StableLight(filter) => filter.bits(),
            Self::Ringed(filter) => filter.bits(),
            Self::Quotient(filter) => filter.bits(),
            Self::SplitBlock(filter) => 256 * filter.blocks(),
            Self::Growing(filter) => filter.bits(),
            Self::Window(filter) => filter.bits(),
            Self::Fuse(filter) => filter.bits(),
        };
        bits.div_ceil(8)
    }

    /// The false-positive rate for which the filter was made; `None` if it was not made for a rate.
    pub fn intended_rate(&self) -> Option<f64> {
        let keys = self.capacity();
        match self {
            Self::Stable(filter) => Some(filter.stable_rate()),
            Self::StableLight(filter) => Some(filter.stable_rate()),
            Self::Growing(filter) => Some(filter.rate()),
            Self::Window(filter) => Some(filter.rate()),
            _ if keys == 0 => None,
            Self::Bloom(filter) => Some(sizing::rate(filter.probes(), keys, filter.bits())),
            Self::Blocked(filter) => Some(filter.expected_rate(keys)),
            Self::Counting(filter) => Some(sizing::rate(filter.probes(), keys, filter.counters() as u64)),
            Self::Ringed(filter) => filter.params().expected_rate(keys).ok(),
            Self::Quotient(filter) => Some(keys as f64 / (filter.last_fingerprint() as f64 + 1.0)),
            Self::SplitBlock(filter) => Some(SplitBlockBloom::rate_with(keys, filter.blocks())),
            Self::Fuse(filter) => Some(filter.false_positive_rate()),
        }
    }

    fn filter(&self) -> &dyn Stored<M> {
        inside!(self, AnyFilter::Fuse(filter) => filter)
    }
}

impl<M> AnyFilter<M> {
    /// The kind of the filter, by which files and messages name it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bloom(_) => Kind::Bloom,
            Self::Blocked(_) => Kind::BlockedBloom,
            Self::Counting(_) => Kind::CountingBloom,
            Self::Stable(_) => Kind::StableBloom,
            Self::StableLight(_) => Kind::StableBloomLight,
            Self::Ringed(_) => Kind::RingedBloom,
            Self::Quotient(_) => Kind::QuotientFilter,
            Self::SplitBlock(_) => Kind::SplitBlockBloom,
            Self::Growing(_) => Kind::GrowingBloom,
            Self::Window(_) => Kind::WindowBloom,
            Self::Fuse(_) => Kind::Fuse,
        }
    }
}

impl AnyFilter {
    /// The filter, for insertions; an error if it takes none.
    fn filter_mut(&mut self) -> Result<&mut dyn FilterMut, Full> {
        Ok(inside!(self, AnyFilter::Fuse(_) => return Err(Full::Fixed)))
    }
}

impl<M: Deref<Target = [u8]>> Filter for AnyFilter<M> {
    fn hash_spec(&self) -> HashSpec {
        self.filter().hash_spec()
    }

    fn contains_hash(&self, key: KeyHash) -> bool {
        self.filter().contains_hash(key)
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        self.filter().contains_all(keys, out);
    }

    fn forgets(&self) -> bool {
        self.filter().forgets()
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter().false_positive_rate()
    }
}

impl FilterMut for AnyFilter {
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        self.filter_mut()?.insert_hash(key)
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        self.filter_mut()?.insert_all(keys)
    }
}
