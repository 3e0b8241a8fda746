use std::fmt;

/// Parameters that cannot be; the message says what could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// Two filters that do not fit together were to be combined or compared; both are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(pub String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

/// There is not enough memory for so many of something.
pub(super) fn no_memory(count: usize, what: &str) -> ConfigError {
    ConfigError(format!("{count} {what}: more than there is memory for; ask for less than that"))
}
