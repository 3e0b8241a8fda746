use std::fmt;

/// The maximum number of bytes of a key in a dictionary or a trie: 64 KiB.
pub const MAX_KEY: usize = 1 << 16;

/// The reasons why a trie cannot be built.
///
/// ```
/// use furui::dict::TrieError;
/// use furui::raw::Skeleton;
///
/// let error = Skeleton::from_sorted([(&b"b"[..], Some(1)), (b"a", Some(2))]).unwrap_err();
/// assert_eq!(error, TrieError::Unsorted { index: 1 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrieError {
    /// A key is longer than [`MAX_KEY`].
    KeyTooLong {
        /// The index of the key, counted from 0 in the order of the input.
        index: usize,
        /// The length of the key in bytes.
        length: usize,
    },
    /// A key is not greater than the one before it.
    Unsorted {
        /// The index of the key, counted from 0 in the order of the input.
        index: usize,
    },
    /// The trie would exceed a limit of its format.
    TooLarge(&'static str),
    /// There is no memory for this many bytes.
    NoMemory(usize),
    /// One of the tries to merge is damaged.
    Damaged,
}

impl fmt::Display for TrieError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyTooLong { index, length } => {
                write!(f, "key {index} has {length} bytes: keys of a trie have at most {MAX_KEY}")
            }
            Self::Unsorted { index } => {
                write!(f, "key {index} is not greater than the one before it: sort the keys and drop repeated ones")
            }
            Self::TooLarge(what) => write!(f, "{what}: split the keys among several tries"),
            Self::NoMemory(bytes) => write!(
                f,
                "no memory for {bytes} bytes of a trie: give more memory, make windows smaller, or split the keys"
            ),
            Self::Damaged => write!(f, "a trie to merge is damaged: verify the file it is from"),
        }
    }
}

impl std::error::Error for TrieError {}
