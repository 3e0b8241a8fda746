use std::fmt;
use std::io::{self, Write};
use std::ops::Deref;

use super::{BLOCK, SplitBlockBloom, XXH64};
use crate::filter::ConfigError;
use crate::format::{ParquetProblem, parquet};
use crate::hash::HashSpec;

/// The maximum size in bytes of a filter that all common readers of Parquet files accept: 128 MiB.
pub const MAX_PARQUET_BYTES: usize = 128 << 20;

/// An error of writing a filter in the format of Parquet files, or of reading bytes in this format.
///
/// ```
/// use furui::filter::{ParquetError, SplitBlockBloom};
///
/// // Three blocks: readers of Parquet want a power of two, which `for_parquet` gives.
/// let filter = SplitBlockBloom::from_parts(3)?;
/// assert!(matches!(filter.to_parquet(&mut vec![]), Err(ParquetError::Size(96))));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ParquetError {
    /// The keys are not hashed as readers of Parquet files hash them: by XXH64 with seed 0.
    OtherHash(HashSpec),
    /// The filter has this many bytes, a size that common readers of Parquet files refuse.
    Size(usize),
    /// These bytes are not a filter of a Parquet file.
    Invalid {
        /// The offset of the first byte that is not as it should be.
        offset: usize,
        /// The problem with the byte at this offset.
        problem: ParquetProblem,
    },
    /// There is not enough memory for the filter.
    Memory(ConfigError),
    /// The bytes could not be written.
    Io(io::Error),
}

impl fmt::Display for ParquetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherHash(hash) => write!(
                f,
                "this filter cannot be written for Parquet: its keys are hashed by {hash}, but readers hash by \
                 {XXH64}; build it with that hash"
            ),
            Self::Size(bytes) => write!(
                f,
                "this filter cannot be written for Parquet: it has {bytes} bytes, and common readers take a power of two up \
                 to {MAX_PARQUET_BYTES}; build it with for_parquet"
            ),
            Self::Invalid { offset, problem } => {
                write!(f, "these bytes are no Bloom filter of a Parquet file: byte {offset}: {problem}")
            }
            Self::Memory(error) => write!(f, "cannot read the filter: {error}"),
            Self::Io(error) => write!(f, "cannot write the filter: {error}"),
        }
    }
}

impl From<parquet::Malformed> for ParquetError {
    fn from(parquet::Malformed { offset, problem }: parquet::Malformed) -> Self {
        Self::Invalid { offset, problem }
    }
}

impl std::error::Error for ParquetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Memory(error) => Some(error),
            Self::OtherHash(_) | Self::Size(_) | Self::Invalid { .. } => None,
        }
    }
}

impl SplitBlockBloom {
    /// A filter for a Parquet file that has the false-positive `rate`, or a better one, when it holds `keys` keys. The
    /// number of blocks is rounded up to a power of two, which [`to_parquet`](Self::to_parquet) requires.
    ///
    /// # Errors
    /// Those of [`with_rate`](Self::with_rate), and if the filter would be larger than [`MAX_PARQUET_BYTES`].
    pub fn for_parquet(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let blocks = Self::blocks_for(keys, rate)?.next_power_of_two();
        if blocks > (MAX_PARQUET_BYTES / BLOCK) as u64 {
            return Err(ConfigError::TooLarge {
                keys,
                rate,
                most: MAX_PARQUET_BYTES as u64,
                what: "bytes, which readers of Parquet refuse",
            });
        }
        Ok(Self { capacity: keys, ..Self::from_parts(blocks)? })
    }

    /// Reads the filter of a column chunk in a Parquet file. `bytes` begin at the chunk's `bloom_filter_offset`; bytes
    /// after the filter are ignored, because files before version 2.10 of the format do not say where it ends.
    ///
    /// Any number of blocks is accepted, as in the specification. Unknown fields of the header are skipped.
    ///
    /// # Errors
    /// If the bytes are not a whole filter, or if the filter has an algorithm, hash or compression other than those
    /// that the specification defines so far; the message says which.
    pub fn from_parquet(bytes: &[u8]) -> Result<Self, ParquetError> {
        let (header, length) = parquet::decode(bytes)?;
        let invalid = |problem| ParquetError::Invalid { offset: header, problem };
        let Some(length) = usize::try_from(length).ok().filter(|&length| length > 0 && length % BLOCK == 0) else {
            return Err(invalid(ParquetProblem::Length(length)));
        };
        let Some(bitset) = bytes[header..].get(..length) else {
            return Err(invalid(ParquetProblem::Short { length, follow: bytes.len() - header }));
        };
        let blocks = (length / BLOCK) as u64;
        let mut filter = Self::from_parts(blocks).map_err(ParquetError::Memory)?;
        filter.table.copy_from_slice(bitset);
        Ok(filter)
    }
}

impl<M: Deref<Target = [u8]>> SplitBlockBloom<M> {
    /// Writes the filter in the format of Parquet files: header and bitset. A column chunk points at them by its
    /// `bloom_filter_offset` and `bloom_filter_length`.
    ///
    /// The specification and the readers in Rust and Java allow any number of blocks. The readers in C++ (Arrow, and
    /// ClickHouse, Velox and Doris, which follow Arrow) refuse a number that is not a power of two. All readers but the
    /// one in Rust refuse more than 128 MiB. This function refuses both: see
    /// [`for_parquet`](SplitBlockBloom::for_parquet).
    ///
    /// # Errors
    /// [`Size`](ParquetError::Size) if the number of blocks is not a power of two, or if there are more than
    /// [`MAX_PARQUET_BYTES`] bytes; [`OtherHash`](ParquetError::OtherHash) if keys are not hashed by XXH64 with seed 0;
    /// [`Io`](ParquetError::Io) if `out` fails.
    pub fn to_parquet(&self, out: &mut dyn Write) -> Result<(), ParquetError> {
        if self.hash != XXH64 {
            return Err(ParquetError::OtherHash(self.hash));
        }
        if !self.blocks().is_power_of_two() || self.table.len() > MAX_PARQUET_BYTES {
            return Err(ParquetError::Size(self.table.len()));
        }
        out.write_all(&parquet::encode(self.table.len() as u32)).map_err(ParquetError::Io)?;
        out.write_all(&self.table).map_err(ParquetError::Io)
    }
}
