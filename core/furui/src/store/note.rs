use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// The text that a commit leaves in a set, in the same change as its keys: how far the set has followed its source,
/// such as the snapshot of a table.
///
/// ```
/// use furui::store::Note;
///
/// let note = Note::new("snapshot 8171").expect("a short text");
/// assert_eq!(note.text(), "snapshot 8171");
/// assert_eq!(Note::new("x".repeat(Note::MAX_BYTES + 1)), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Note {
    commit: [u8; COMMIT_LEN],
    text: String,
}

/// The length of the id of a commit.
const COMMIT_LEN: usize = 16;

impl Note {
    /// The maximum length of a note's text in bytes.
    pub const MAX_BYTES: usize = 4096;

    /// The maximum length of the section `NOTE` of a manifest in bytes.
    pub(super) const MAX_SECTION: usize = COMMIT_LEN + Self::MAX_BYTES;

    /// A note with this text, of a commit with a new random id. `None` if the text is longer than
    /// [`MAX_BYTES`](Self::MAX_BYTES).
    pub fn new(text: impl Into<String>) -> Option<Self> {
        // A new RandomState has random keys. No other commit is likely to have this id.
        let halves = [0, 1].map(|half| RandomState::new().hash_one(half).to_le_bytes());
        let (text, mut commit) = (text.into(), [0; COMMIT_LEN]);
        commit.copy_from_slice(halves.as_flattened());
        (text.len() <= Self::MAX_BYTES).then_some(Self { commit, text })
    }

    /// The text of the note, as the commit's caller gave it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The random id of the commit, by which a caller whose commit ended with an error can find out whether it came to
    /// pass.
    pub fn commit(&self) -> [u8; COMMIT_LEN] {
        self.commit
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [&self.commit[..], self.text.as_bytes()].concat()
    }

    /// Reads the section `NOTE`; `None` if it is invalid.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&commit, text) = bytes.split_first_chunk()?;
        let text = std::str::from_utf8(text).ok()?.to_owned();
        (text.len() <= Self::MAX_BYTES).then_some(Self { commit, text })
    }
}

impl fmt::Debug for Note {
    /// Shows the text, and the id of the commit in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Note({:?}, {:032x})", self.text, u128::from_le_bytes(self.commit))
    }
}
