use std::fmt;
use std::io;

use super::kind::Kind;
use super::printable::Printable;
use super::tag::Tag;
use crate::hash::HashSpec;

/// A problem with a file's bytes, with the name of the file and the offset of the problem.
///
/// ```
/// use furui::filter::FilterRef;
/// use furui::format::{Problem, ReadError};
///
/// let Err(ReadError::Format(error)) = FilterRef::from_bytes(&[0; 200], "words.filter") else { panic!("no filter") };
/// assert_eq!((error.file.as_str(), error.offset, error.problem), ("words.filter", 0, Problem::NotFurui));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The offset of the problem in the file, in bytes from its start.
    pub offset: u64,
    /// The problem at `offset`.
    pub problem: Problem,
}

/// The problems with a file's bytes that a reader distinguishes.
///
/// ```
/// use furui::HashSpec;
/// use furui::format::{Envelope, EnvelopeWriter, Kind, Problem, ReadError};
///
/// let mut file = vec![];
/// EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?.finish()?;
/// file.push(0);
/// let Err(ReadError::Format(error)) = Envelope::open(&file[..], "example") else { panic!("a byte too many") };
/// assert_eq!(error.problem, Problem::Appended { bytes: 1 });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file does not begin with the magic number of furui files.
    NotFurui,
    /// The file was written by a later version of furui, whose format this version cannot read.
    NewerVersion {
        /// The format version that is stated in the file.
        found: u16,
        /// The newest format version that this furui reads.
        supported: u16,
    },
    /// The file is a furui file of another kind than the expected one.
    WrongKind {
        /// The kind that the file is of.
        found: Kind,
        /// The kind that the reader expects.
        expected: Kind,
    },
    /// The file is a whole furui file, but of a kind that is not a filter.
    NotAFilter(Kind),
    /// The number in the header stands for no kind of file that this version of furui knows.
    UnknownKind(u16),
    /// The file was made with another hash function or seed.
    OtherHash {
        /// The hash function and seed that are stated in the file.
        found: HashSpec,
        /// The hash function and seed that the reader uses.
        expected: HashSpec,
    },
    /// The file does not hold the seed of its hash, and the reader was not given it.
    NoSeed,
    /// The file was made with another seed than the one that the reader was given.
    OtherSeed,
    /// The kind of store is unknown to this furui.
    UnknownStore(String),
    /// The number in the header stands for no hash algorithm that this version of furui knows.
    UnknownHash(u16),
    /// The file is shorter than it states.
    Truncated {
        /// The number of bytes that the file should have.
        expected: u64,
        /// The number of bytes that the file has.
        found: u64,
    },
    /// The file does not end with the magic number that ends every furui file.
    NoEnd,
    /// The file has bytes after its end.
    Appended {
        /// The number of bytes after the file's end.
        bytes: u64,
    },
    /// The file is missing, but the manifest of its store names it.
    Missing,
    /// The file is whole, but not the one that another file refers to by its [`Seal`](super::Seal).
    OtherFile,
    /// The file has a section that this version of furui does not know: a later version wrote it.
    UnknownSection(Tag),
    /// The file has no section with this tag.
    NoSection(Tag),
    /// A section is longer than its reader allows.
    TooLong {
        /// The length of the section in bytes.
        length: u64,
        /// The largest length in bytes that the reader allows.
        limit: u64,
    },
    /// A checksum disagrees with the bytes it covers.
    Checksum,
    /// A field has a value that no writer writes.
    Invalid(&'static str),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable(format_args!("{}: at byte {}: {}", self.file, self.offset, self.problem)).fmt(f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFurui => write!(f, "not a furui file"),
            Self::NewerVersion { found, supported } => {
                write!(
                    f,
                    "format version {found} is newer than {supported}, the newest this furui reads: upgrade furui"
                )
            }
            Self::NotAFilter(found) => {
                write!(f, "this is {found}, not a filter: name a file that `furui filter` wrote")
            }
            Self::WrongKind { found, expected } => write!(f, "this is {found}, where {expected} belongs"),
            Self::UnknownKind(code) => write!(f, "files of kind {code} are unknown to this furui: upgrade furui"),
            Self::NoSeed => f.write_str(
                "the seed of its hash is kept elsewhere, by those who share it: name the file of the seed (--seed-file)",
            ),
            Self::OtherSeed => {
                f.write_str("it was made with another seed than the given one: give the seed that it was made with")
            }
            Self::OtherHash { found, expected } => {
                write!(f, "made with {found}, not with {expected}: the two cannot be combined")
            }
            Self::UnknownHash(code) => write!(f, "hash algorithm {code} is unknown to this furui: upgrade furui"),
            Self::Truncated { expected, found } => {
                write!(f, "truncated: {expected} bytes expected, {found} found; restore the file from a copy")
            }
            Self::NoEnd => {
                write!(
                    f,
                    "the file does not end as a furui file does: it was cut off or overwritten; restore it from a copy"
                )
            }
            Self::Appended { bytes } => {
                write!(f, "the file has grown by {bytes} bytes, which furui did not write: restore it from a copy")
            }
            Self::Missing => write!(f, "the file is missing, though its store needs it; restore the store from a copy"),
            Self::OtherFile => write!(
                f,
                "not the file that its store names, but one of another store or time; restore the store from one copy"
            ),
            Self::UnknownStore(kind) => write!(f, "a store of kind {kind:?} is unknown to this furui: upgrade furui"),
            Self::UnknownSection(tag) => {
                write!(f, "its section {tag} is unknown to this furui, because a newer one wrote it: upgrade furui")
            }
            Self::NoSection(tag) => write!(f, "section {tag} is missing; restore the file from a copy"),
            Self::TooLong { length, limit } => {
                write!(f, "a section has {length} bytes, of at most {limit}; restore the file from a copy")
            }
            Self::Checksum => write!(f, "checksum mismatch, the bytes are damaged; restore the file from a copy"),
            Self::Invalid(what) => write!(f, "damaged: {what}; restore the file from a copy"),
        }
    }
}

impl std::error::Error for FormatError {}

/// The reason why a file could not be read: the operating system refused, or its bytes are wrong.
///
/// ```
/// use furui::filter::Bloom;
/// use furui::format::ReadError;
///
/// match Bloom::open("no such file") {
///     Err(ReadError::Io { source, .. }) => assert_eq!(source.kind(), std::io::ErrorKind::NotFound),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system could not read the file, or this machine has too little memory or address space for it.
    Io {
        /// The file's name, as the caller gave it.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The bytes are damaged, foreign or of a later version.
    Format(FormatError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { file, source } => Printable(format_args!("cannot read {file}: {source}")).fmt(f),
            Self::Format(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Format(error) => Some(error),
        }
    }
}

impl From<FormatError> for ReadError {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

/// An error of the operating system while a file was being written, with the operation and the file.
///
/// ```
/// use furui::filter::Bloom;
///
/// let error = Bloom::with_rate(100, 0.01)?.save("no such directory/words.filter").unwrap_err();
/// assert_eq!(error.source.kind(), std::io::ErrorKind::NotFound);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct WriteError {
    /// The operation that failed, as in "cannot write".
    pub action: &'static str,
    /// The path of the file, or the name that the caller gave it.
    pub file: String,
    /// The error of the operating system.
    pub source: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable(format_args!("{} {}: {}", self.action, self.file, self.source)).fmt(f)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
