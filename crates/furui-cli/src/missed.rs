//! Inputs that were left, unread or not read to their end, for the next one.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::{ERROR, complain};

/// True if an input was left.
static ANY: AtomicBool = AtomicBool::new(false);

/// Prints why an input is left, and remembers it until the command ends.
pub fn note(error: &Error) {
    complain(error);
    ANY.store(true, Ordering::Relaxed);
}

/// True if an input was left.
pub fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// The exit status of a command that did the rest with this one: after an input was left it tells of that, as in grep, unless a signal
/// has ended the input.
pub fn status(status: ExitCode) -> ExitCode {
    let is_signal = status != ExitCode::SUCCESS && status != ExitCode::FAILURE;
    if any() && !is_signal { ExitCode::from(ERROR) } else { status }
}
