//! The reasons why a command is refused: the error type of this crate.

use std::fmt;

/// The reason why a command is refused.
#[derive(Debug)]
pub enum Refusal {
    /// The command has too few or too many arguments.
    Arity,
    /// The key has a value of another type.
    WrongType,
    /// Any other reason, in the words of the error reply.
    Because(String),
}

impl Refusal {
    /// Creates a refusal with this message.
    pub fn because(reason: impl Into<String>) -> Self {
        Self::Because(reason.into())
    }
}

impl<E: fmt::Display> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Because(error.to_string())
    }
}
