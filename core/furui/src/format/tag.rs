use std::fmt;

use super::printable::Printable;

/// The name of a section: four upper-case letters, which have a meaning within one [`Kind`](super::Kind) of file.
///
/// ```
/// use furui::format::Tag;
///
/// const KEYS: Tag = Tag::new(*b"KEYS");
/// assert_eq!(KEYS.to_string(), "KEYS");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag([u8; 4]);

impl Tag {
    /// The tag of these letters.
    ///
    /// # Panics
    /// If they are not upper-case ASCII letters. Tags are constants, so that is a compile-time error.
    pub const fn new(letters: [u8; 4]) -> Self {
        match Self::from_bytes(letters) {
            Some(tag) => tag,
            None => panic!("a tag is four upper-case letters"),
        }
    }

    /// The tag with these bytes; `None` if they are not upper-case letters.
    pub(super) const fn from_bytes(bytes: [u8; 4]) -> Option<Self> {
        let [a, b, c, d] = bytes;
        if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_uppercase() && d.is_ascii_uppercase() {
            Some(Self(bytes))
        } else {
            None
        }
    }

    pub(super) const fn bytes(self) -> [u8; 4] {
        self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&letter| write!(f, "{}", Printable(char::from(letter))))
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({self})")
    }
}
