/// The result of finding a key in a trie: its value, or its deletion.
///
/// ```
/// use furui::raw::{Found, Skeleton, Trie};
///
/// let trie = Trie::encode(&Skeleton::from_sorted([(&b"a"[..], Some(7)), (b"b", None)])?)?;
/// for (key, value) in [(b"a", Some(7)), (b"b", None)] {
///     match trie.get(key) {
///         Some(found) => assert_eq!(found.value(), value),
///         None => unreachable!("both keys are in the trie"),
///     }
/// }
/// assert_eq!(trie.get(b"b"), Some(Found::Deleted));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The key is present. If the dictionary's values are numbers, this is its value; if they are byte strings, it is
    /// the id of its value.
    Value(u32),
    /// The key was deleted (a tombstone), which hides its values in all older tries of the dictionary.
    Deleted,
}

impl Found {
    /// The value; `None` if the key is deleted.
    pub fn value(self) -> Option<u32> {
        match self {
            Self::Value(value) => Some(value),
            Self::Deleted => None,
        }
    }
}

impl From<Option<u32>> for Found {
    fn from(value: Option<u32>) -> Self {
        value.map_or(Self::Deleted, Self::Value)
    }
}
