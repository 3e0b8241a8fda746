//! The parts of a command's help and manual page other than its options.

/// Exit statuses and examples of a command.
pub struct Notes {
    /// The name of the command, such as `filter build`.
    pub command: &'static str,
    /// The exit statuses of the command, each with its meaning.
    pub statuses: &'static [(&'static str, &'static str)],
    /// Command lines as examples, each with a description of its effect.
    pub examples: &'static [(&'static str, &'static str)],
}

/// The exit status after any error, and its meaning.
pub const ERROR: (&str, &str) = ("2", "after an error, which is printed on standard error");
/// The exit statuses, with their meanings, of a command that succeeds or fails.
pub const DONE: &[(&str, &str)] = &[("0", "done"), ERROR];
