//! The parts of a command's help and manual page other than its options.

/// Exit statuses and examples of a command.
pub struct Notes {
    /// The command, as in `filter build`.
    pub command: &'static str,
    /// Exit statuses, and their meanings.
    pub statuses: &'static [(&'static str, &'static str)],
    /// Command lines, and their effects.
    pub examples: &'static [(&'static str, &'static str)],
}

/// The exit status after any error, and its meaning.
pub const ERROR: (&str, &str) = ("2", "after an error, which is printed on standard error");
/// The statuses of a command that succeeds or fails.
pub const DONE: &[(&str, &str)] = &[("0", "done"), ERROR];
