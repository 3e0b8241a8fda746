//! The settings of filters of `BF.*` and `CF.*`, which are stored beside the tables.

use std::ffi::CStr;
use std::fmt::Display;
use std::str::FromStr;

use crate::refusal::Refusal;

/// The name of the file with the settings, among the files of a value.
pub const SETTINGS: &str = "SETTINGS";

/// The words with which the file of the settings begins.
const HEAD: &str = "furui settings of";

/// A set of commands that RedisBloom has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The commands `BF.*`, on Bloom filters.
    Bf,
    /// The commands `CF.*`, on quotient filters.
    Cf,
}

/// The settings of a filter: names and values, which are stored as a text with a line for each.
pub struct Settings {
    pub dialect: Dialect,
    lines: Vec<(String, String)>,
}

impl Dialect {
    pub const ALL: [Self; 2] = [Self::Bf, Self::Cf];

    /// The prefix of the names of the dialect's commands: `BF` or `CF`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bf => "BF",
            Self::Cf => "CF",
        }
    }

    /// The name of the category of the dialect's commands in access control lists (`ACL`). Other modules with these
    /// commands use the same name, so rules that were made for them apply here, too.
    pub const fn category(self) -> &'static CStr {
        match self {
            Self::Bf => c"bloom",
            Self::Cf => c"cuckoo",
        }
    }

    /// The dialect with this name, in upper or lower case; `None` if there is none.
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name().eq_ignore_ascii_case(name))
    }
}

impl Settings {
    /// Creates empty settings of a filter of this dialect.
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, lines: vec![] }
    }

    /// Adds a setting with this name and value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.lines.push((name.to_owned(), value.to_string()));
        self
    }

    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|(name, value)| format!("{name} {value}\n"));
        format!("{HEAD} {}\n", self.dialect.name()) + &lines.collect::<String>()
    }

    /// Parses what [`text`](Self::text) has written.
    ///
    /// # Errors
    /// If the text is not of this form.
    pub fn read(text: &[u8]) -> Result<Self, Refusal> {
        let mut lines = std::str::from_utf8(text)?.lines();
        let name = lines.next().and_then(|line| line.strip_prefix(HEAD)?.strip_prefix(' '));
        let dialect = name.and_then(Dialect::read).ok_or_else(damaged)?;
        let pair = |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self { dialect, lines: lines.map(pair).collect::<Option<_>>().ok_or_else(damaged)? })
    }

    /// Parses the value of the setting with this name.
    ///
    /// # Errors
    /// If there is not exactly one such setting, or its value is not of this type.
    pub fn value<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        let mut values = self.lines.iter().filter(|(other, _)| other == name).map(|(_, value)| value.parse());
        values.next().and_then(Result::ok).filter(|_| values.next().is_none()).ok_or_else(damaged)
    }
}

/// The error for settings that cannot be read.
pub fn damaged() -> Refusal {
    Refusal::because("the file SETTINGS is damaged, or does not belong to the files beside it")
}
