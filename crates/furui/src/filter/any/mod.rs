mod sets;

use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::file::{Borrowed, Mapped, Shared, Source, Stored, Writer};
use super::{Bloom, Filter, FilterMut, Full, SplitBlockBloom, sizing};
use crate::bits::Buffer;
use crate::format::{Bytes, DiskFile, Envelope, EnvelopeWriter, Kind, Problem, ReadError, Seal};
use crate::hash::{HashSpec, KeyHash};

/// A filter of whatever kind: what a file holds.
#[derive(Clone, Debug)]
pub enum AnyFilter<M = Buffer> {
    /// A Bloom filter.
    Bloom(Bloom<M>),
    /// A split-block Bloom filter, as in Parquet files.
    SplitBlockBloom(SplitBlockBloom<M>),
}

/// A filter over the borrowed bytes of its file: nothing is copied, nothing can be changed.
pub type FilterRef<'a> = AnyFilter<&'a [u8]>;

impl AnyFilter {
    /// Opens a filter's file. Its table is mapped, not read: pages come in as they are asked for. What is inserted later
    /// changes this filter, never the file. Every byte is checked once, which is one sequential pass;
    /// [`open_trusted`](Self::open_trusted) does without.
    ///
    /// # Errors
    /// [`ReadError::Format`] if these are not the bytes of a filter's file, whole and undamaged.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::map(path, true)
    }

    /// As [`open`](Self::open), but in constant time: of the table, no byte is read before it is needed. A damaged table
    /// then gives wrong answers, never a panic.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the file's envelope or sizes are not those of a filter.
    pub fn open_trusted(path: &Path) -> Result<Self, ReadError> {
        Self::map(path, false)
    }

    fn map(path: &Path, verify: bool) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let file = DiskFile::open(path).map_err(|source| ReadError::Io { file: name.clone(), source })?;
        let envelope = Envelope::open(&file, &name)?;
        if verify {
            envelope.verify(&file)?;
        }
        Self::read(&Mapped { file: &file, envelope: &envelope })
    }
}

impl<'a> FilterRef<'a> {
    /// The filter whose file's bytes these are, all checked; errors call them `name`.
    ///
    /// # Errors
    /// [`ReadError::Format`] if these are not the bytes of a filter's file, whole and undamaged.
    pub fn from_bytes(bytes: &'a [u8], name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(bytes, name)?;
        envelope.verify(bytes)?;
        Self::read(&Borrowed { bytes, envelope: &envelope })
    }
}

impl AnyFilter<Bytes> {
    /// The filter whose file's bytes these are; errors call them `name`. In constant time, as
    /// [`open_trusted`](AnyFilter::open_trusted): a damaged table gives wrong answers, never a panic.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the file's envelope or sizes are not those of a filter.
    pub fn from_shared(bytes: &Bytes, name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(&**bytes, name)?;
        Self::read(&Shared { bytes, envelope: &envelope })
    }
}

impl<M: Deref<Target = [u8]>> AnyFilter<M> {
    fn read<S: Source<Bytes = M>>(source: &S) -> Result<Self, ReadError> {
        let envelope = source.envelope();
        match envelope.kind() {
            Kind::Bloom => Bloom::read(source).map(Self::Bloom),
            Kind::SplitBlockBloom => SplitBlockBloom::read(source).map(Self::SplitBlockBloom),
            _ => Err(envelope.error(0, Problem::Invalid("it is no filter's file")).into()),
        }
    }

    /// Writes the filter's file to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<Seal> {
        match self {
            Self::Bloom(filter) => write(filter, filter.hash_spec(), out),
            Self::SplitBlockBloom(filter) => write(filter, filter.hash_spec(), out),
        }
    }

    /// What kind of filter it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bloom(_) => Kind::Bloom,
            Self::SplitBlockBloom(_) => Kind::SplitBlockBloom,
        }
    }

    /// How the keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        match self {
            Self::Bloom(filter) => filter.hash_spec(),
            Self::SplitBlockBloom(filter) => filter.hash_spec(),
        }
    }

    /// How many keys it was made for; 0 if it was not made for a number of keys.
    pub fn capacity(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.capacity(),
            Self::SplitBlockBloom(filter) => filter.capacity(),
        }
    }

    /// The false-positive rate it was made for, if it was made for one.
    pub fn intended_rate(&self) -> Option<f64> {
        match self {
            Self::Bloom(filter) => {
                let capacity = filter.capacity();
                (capacity > 0).then(|| sizing::rate(filter.probes(), capacity, filter.bits()))
            }
            Self::SplitBlockBloom(filter) => {
                let capacity = filter.capacity();
                (capacity > 0).then(|| SplitBlockBloom::rate_with(capacity, filter.blocks()))
            }
        }
    }

    fn filter(&self) -> &dyn Filter {
        match self {
            Self::Bloom(filter) => filter,
            Self::SplitBlockBloom(filter) => filter,
        }
    }
}

impl<M: DerefMut<Target = [u8]>> AnyFilter<M> {
    fn filter_mut(&mut self) -> &mut dyn FilterMut {
        match self {
            Self::Bloom(filter) => filter,
            Self::SplitBlockBloom(filter) => filter,
        }
    }
}

fn write<M, F: Stored<M>>(filter: &F, hash: HashSpec, out: &mut dyn Write) -> io::Result<Seal> {
    let mut writer: Writer<'_> = EnvelopeWriter::new(out, F::KIND, hash)?;
    filter.write(&mut writer)?;
    writer.finish()
}

impl<M: Deref<Target = [u8]>> Filter for AnyFilter<M> {
    fn contains(&self, key: KeyHash) -> bool {
        self.filter().contains(key)
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

impl<M: DerefMut<Target = [u8]>> FilterMut for AnyFilter<M> {
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full> {
        self.filter_mut().insert(key)
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        self.filter_mut().insert_all(keys)
    }
}
