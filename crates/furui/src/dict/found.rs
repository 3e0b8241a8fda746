/// The value of a key in a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A value.
    Value(u32),
    /// The key is deleted, here and in all older tries of a dictionary.
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
