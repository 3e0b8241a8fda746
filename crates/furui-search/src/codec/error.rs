use std::fmt;

use furui::filter::ConfigError;

/// Why a set or an answer could not be coded or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodecError {
    /// The bytes are none that a node sends that keeps to the protocol: ask the next replica.
    Malformed(&'static str),
    /// There are more of something than a limit of this module allows. Of matches it means that the coding does not suit
    /// the two lists, or that ids were chosen to crowd: [`Coding::Ids`](super::Coding::Ids) always works.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// No set can be coded so; the message says what could be.
    Parameters(String),
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "a malformed coded set or answer: {what}; ask another replica"),
            Self::TooMany { what, most } => {
                write!(f, "more than {most} {what}: ask for a smaller range of ids, or send the set as ids")
            }
            Self::Parameters(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for CodecError {}

impl From<ConfigError> for CodecError {
    fn from(error: ConfigError) -> Self {
        Self::Parameters(error.0)
    }
}
