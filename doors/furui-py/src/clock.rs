//! The time by which keys fade.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time of the system's clock, in milliseconds since the beginning of 1970. A clock before 1970 counts as 0.
pub fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(now).unwrap_or(u64::MAX)
}
