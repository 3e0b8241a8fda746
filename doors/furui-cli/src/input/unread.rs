//! The inputs that could not be opened, or not read to their end, so that the command continued with the next one.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::{ERROR, complain};

/// The error messages of the inputs that could not be read to their end.
static REASONS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prints the error because of which the command leaves an input for the next one, and remembers it until the command
/// ends. If a command reads its input twice, the error is printed once.
pub fn note(error: &Error) {
    if REASONS.lock().unwrap_or_else(PoisonError::into_inner).insert(error.to_string()) {
        complain(error);
    }
}

/// True if an input could not be read to its end, and was left for the next one.
pub fn any() -> bool {
    !REASONS.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// The exit status of a command that would otherwise end with `status`. If an input could not be read to its end, it is
/// the status of an error, as in grep, unless a signal has ended the input.
pub fn status(status: ExitCode) -> ExitCode {
    let is_signal = status != ExitCode::SUCCESS && status != ExitCode::FAILURE;
    if any() && !is_signal { ExitCode::from(ERROR) } else { status }
}
