//! Inputs that were left, unread or not read to their end, for the next one.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::{ERROR, complain};

/// Why inputs were left.
static REASONS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prints why an input is left, and remembers it until the command ends. If a command reads its input twice, this
/// prints it once.
pub fn note(error: &Error) {
    if REASONS.lock().unwrap_or_else(PoisonError::into_inner).insert(error.to_string()) {
        complain(error);
    }
}

/// True if an input was left.
pub fn any() -> bool {
    !REASONS.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// The exit status of a command that did the rest with this one: after an input was left it tells of that, as in grep,
/// unless a signal has ended the input.
pub fn status(status: ExitCode) -> ExitCode {
    let is_signal = status != ExitCode::SUCCESS && status != ExitCode::FAILURE;
    if any() && !is_signal { ExitCode::from(ERROR) } else { status }
}
