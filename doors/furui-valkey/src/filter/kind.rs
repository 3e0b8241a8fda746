//! The kinds of filters that `SIEVE.RESERVE` can create.

use std::fmt;

use crate::refusal::Refusal;

/// The kinds of filters that `SIEVE.RESERVE` can create. Filters of any other kind can be loaded from files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bloom,
    Scalable,
    Blocked,
    Quotient,
    Counting,
    StableLight,
    Window,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Bloom, Self::Scalable, Self::Blocked, Self::Quotient, Self::Counting, Self::StableLight, Self::Window];

    /// The name of the kind, as `SIEVE.RESERVE` reads it and `SIEVE.INFO` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Scalable => "scalable",
            Self::Blocked => "blocked",
            Self::Quotient => "quotient",
            Self::Counting => "counting",
            Self::StableLight => "stable-light",
            Self::Window => "window",
        }
    }

    /// The kind with this name, in upper or lower case.
    ///
    /// # Errors
    /// If there is no such kind. The message lists the names.
    pub fn read(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            Refusal::because(format!("the kind {name:?} is unknown: there are {}", names.join(", ")))
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
