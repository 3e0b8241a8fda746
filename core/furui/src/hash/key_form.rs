use std::fmt;

/// The form of keys: a short text that says how they are made from records, such as the lines of a file. Stores and
/// filters record it.
///
/// A store or filter that was filled from one column of a table would answer "no" to every question about another
/// column, and nobody would notice. So a program that cuts keys out of records describes how it does that, as `furui`
/// does in the words of its own options. A set with another description then returns an error. The library only
/// compares descriptions. The empty form, which is the default, says that a record is its own key.
///
/// ```
/// use furui::KeyForm;
///
/// let form: KeyForm = "--csv --key url".parse()?;
/// assert_eq!(form.to_string(), "--csv --key url");
/// assert!(KeyForm::default().is_empty());
/// # Ok::<(), furui::InvalidKeyForm>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyForm {
    length: u8,
    /// The text in UTF-8, padded with zeros.
    bytes: [u8; Self::MAX_BYTES],
}

impl KeyForm {
    /// The maximum length of the text in bytes.
    pub const MAX_BYTES: usize = 255;

    /// True if a record is its own key.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The words that describe how keys are made; empty if a record is its own key.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length.into()]).expect("made from a string")
    }
}

impl Default for KeyForm {
    fn default() -> Self {
        Self { length: 0, bytes: [0; Self::MAX_BYTES] }
    }
}

impl std::str::FromStr for KeyForm {
    type Err = InvalidKeyForm;

    fn from_str(text: &str) -> Result<Self, InvalidKeyForm> {
        if text.len() > Self::MAX_BYTES {
            return Err(InvalidKeyForm::TooLong { length: text.len() });
        }
        let mut form = Self { length: text.len() as u8, ..Self::default() };
        form.bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(form)
    }
}

impl fmt::Display for KeyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for KeyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyForm").field(&self.as_str()).finish()
    }
}

/// The reason why a text is not a valid [`KeyForm`].
///
/// ```
/// use furui::{InvalidKeyForm, KeyForm};
///
/// assert_eq!("x".repeat(300).parse::<KeyForm>(), Err(InvalidKeyForm::TooLong { length: 300 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidKeyForm {
    /// The text has more than [`KeyForm::MAX_BYTES`] bytes.
    TooLong {
        /// The length of the text in bytes.
        length: usize,
    },
}

impl fmt::Display for InvalidKeyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length } => write!(
                f,
                "the description of the keys has {length} bytes, and a file holds at most {}: use shorter column \
                 names, or the numbers of columns",
                KeyForm::MAX_BYTES
            ),
        }
    }
}

impl std::error::Error for InvalidKeyForm {}
