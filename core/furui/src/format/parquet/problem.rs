use std::fmt;

/// The size of a block of the filter in bytes, by Parquet's specification.
const BLOCK: usize = 32;

/// The problem with bytes that should be a Bloom filter of a Parquet file, in a
/// [`ParquetError`](crate::filter::ParquetError).
///
/// ```
/// use furui::filter::{ParquetError, SplitBlockBloom};
/// use furui::format::ParquetProblem;
///
/// let error = SplitBlockBloom::from_parquet(b"\x15\x40 and no filter").unwrap_err();
/// let ParquetError::Invalid { offset, problem } = error else { panic!("{error}") };
/// assert_eq!((offset, problem), (3, ParquetProblem::FieldType { field: 3, kind: 0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParquetProblem {
    /// The bytes end within the header, or the header is longer than any known one.
    HeaderWithoutEnd,
    /// A number of the header has more than 64 bits.
    LongNumber,
    /// A union of the header has no value, or more than one.
    Union {
        /// True if the union has no value; false if it has more than one.
        is_empty: bool,
    },
    /// Values of the header are nested to more levels than this maximum.
    Nested(u32),
    /// A value of the header has a type that is not one of Thrift's.
    UnknownType(u8),
    /// A known field of the header has a value of the wrong type.
    FieldType {
        /// The number (id) of the field in Thrift's definition of the header.
        field: i64,
        /// The number that Thrift's compact protocol gives to the type of the value.
        kind: u8,
    },
    /// The header lacks a field that every header has: `numBytes`, `algorithm`, `hash` or `compression`.
    Missing(&'static str),
    /// The algorithm, hash or compression is not number 1, the only one that is defined so far.
    Unknown {
        /// The name of the field: `algorithm`, `hash` or `compression`.
        field: &'static str,
        /// The number of the algorithm, hash or compression that the header names.
        number: i64,
        /// The name of the algorithm, hash or compression with the number 1, which is the only one known.
        known: &'static str,
    },
    /// According to the header, the bitset has this length in bytes, which is not a positive multiple of the block
    /// size.
    Length(i64),
    /// The bitset is shorter than the header says.
    Short {
        /// The length of the bitset in bytes, according to the header.
        length: usize,
        /// The number of bytes that follow the header.
        follow: usize,
    },
}

impl fmt::Display for ParquetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderWithoutEnd => f.write_str("the header has no end"),
            Self::LongNumber => f.write_str("a number of the header has more than 64 bits"),
            Self::Union { is_empty: true } => f.write_str("a union of the header is empty"),
            Self::Union { is_empty: false } => f.write_str("a union of the header has two values"),
            Self::Nested(most) => write!(f, "the header nests more than {most} values"),
            Self::UnknownType(kind) => {
                write!(f, "the header has a value of type {kind}, which is not a type of Thrift")
            }
            Self::FieldType { field, kind } => write!(f, "field {field} of the header has type {kind}"),
            Self::Missing(field) => write!(f, "the header has no field {field}"),
            Self::Unknown { field, number, known } => {
                write!(f, "its {field} is number {number}: only number 1, {known}, is known")
            }
            Self::Length(length) => {
                write!(f, "a bitset of {length} bytes, which is not a positive multiple of {BLOCK} bytes")
            }
            Self::Short { length, follow } => write!(f, "the bitset has {length} bytes, but only {follow} follow"),
        }
    }
}
