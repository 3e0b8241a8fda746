//! Describes the windows of sets in messages.

use std::time::{SystemTime, UNIX_EPOCH};

use furui::store::Window;

/// Describes what a set with this window remembers, for messages: "all lines" or "the last 1h".
pub fn said(window: Option<Window>) -> String {
    match window {
        None => "all lines".to_owned(),
        Some(window) => format!("the last {}", of_lines(window)),
    }
}

/// A window as text: `1h` or `1000000 lines`.
pub fn of_lines(window: Window) -> String {
    match window {
        Window::Keys(lines) => format!("{lines} lines"),
        Window::Milliseconds(_) => window.to_string(),
    }
}

/// The time of the system's clock, in milliseconds since the beginning of 1970. A clock before 1970 counts as 0.
pub fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(now).unwrap_or(u64::MAX)
}

/// The time by which a set's `time` is ahead of the clock, in milliseconds. `None` if that is at most a sixteenth of
/// the window. Lines that the set has seen remain repeats for at least this time.
pub fn ahead(window: Window, time: u64, now: u64) -> Option<u64> {
    let Window::Milliseconds(ticks) = window else { return None };
    time.checked_sub(now).filter(|&ahead| ahead > ticks.get() / Window::SLICES)
}

/// A number of milliseconds since the beginning of 1970 as a date and time of UTC, in the form of RFC 3339.
pub fn date(milliseconds: u64) -> String {
    /// The days of 400 years, which all have the same calendar.
    const ERA: u64 = 146_097;
    let (seconds, mut days) = (milliseconds / 1000 % 86400, milliseconds / 86_400_000);
    let mut year = 1970 + days / ERA * 400;
    days %= ERA;
    let length =
        |year: u64| 365 + u64::from(year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let mut month = 1;
    for long in [31, length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < long {
            break;
        }
        days -= long;
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_078_099_199, "2004-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (2_082_758_399, "2035-12-31T23:59:59Z"),
            (16_725_225_600, "2500-01-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds * 1000), expected);
        }
    }
}
