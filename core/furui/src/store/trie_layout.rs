use std::fmt;

/// The layout of a dictionary's tries. A dictionary keeps the layout that it was made with.
///
/// ```
/// use furui::dict::{Dict, DictOptions, Layout};
/// use furui::store::Memory;
///
/// let options = DictOptions { layout: Some(Layout::Louds), ..DictOptions::default() };
/// let dict = Dict::open_with(Memory::new(), options)?;
/// assert_eq!(dict.layout().name(), "louds");
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Path-compressed tries in blocks: see [`dict::Trie`](crate::dict::Trie). They take the least space, and the
    /// least time for look-ups and merges.
    #[default]
    Compact = 0,
    /// LOUDS tries with one byte for each node, as in Koyanagi et al. (2011): see
    /// [`dict::LoudsTrie`](crate::dict::LoudsTrie).
    Louds = 1,
}

impl Layout {
    /// Each layout once, the default first.
    pub const ALL: [Self; 2] = [Self::Compact, Self::Louds];

    /// The name of the layout in options and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Louds => "louds",
        }
    }

    pub(super) const fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.code() == code)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
