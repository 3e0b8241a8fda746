//! Why a command is refused: what every module of this crate returns as its error.

use std::fmt;

/// Why a command is refused.
#[derive(Debug)]
pub enum Refusal {
    /// The command has too few or too many arguments.
    Arity,
    /// The key has a value of another type.
    WrongType,
    /// Any other reason, in the words of the reply.
    Because(String),
}

impl Refusal {
    /// A refusal with this reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self::Because(reason.into())
    }
}

impl<E: fmt::Display> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Because(error.to_string())
    }
}
