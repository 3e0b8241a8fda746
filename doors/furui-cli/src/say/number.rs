//! Formats numbers for messages.

use indicatif::HumanCount;

/// Formats a number with its noun: `1 run`, `1,234 runs`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// If there are fewer keys than this, no size for each key is printed, because the fixed parts of the file would
/// dominate it.
const FEW: f64 = 1000.0;

/// Formats each key's share of some space, for the end of a line: `, 5.06 bytes a key`. The text is empty if there are
/// fewer than [`FEW`] keys.
pub fn shared(space: f64, unit: &str, keys: f64) -> String {
    if keys < FEW { String::new() } else { format!(", {:.2} {unit}", space / keys) }
}

/// Formats a figure, which may be very small, with three digits: `0.0123`, `1.23e-7`.
pub fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    // The number is rounded first, so that 0.09999 becomes 0.1 and not 0.1000.
    let rounded = format!("{value:.2e}");
    let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    match (exponent.parse::<i32>(), rounded.parse::<f64>()) {
        (Ok(-4..=2), Ok(plain)) => plain.to_string(),
        _ => format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.')),
    }
}

/// Formats 1234567 as 1,234,567.
pub fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_in_threes() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn figures_have_the_digits_that_say_something() {
        assert_eq!([1.0, 0.01, 0.012_345, 0.099_99, 123.4].map(figure), ["1", "0.01", "0.0123", "0.1", "123"]);
        assert_eq!([0.0, 1e-7, 1.234e-19, 5432.1].map(figure), ["0", "1e-7", "1.23e-19", "5.43e3"]);
        assert_eq!([0, 1, 2, 1000].map(|number| counted(number, "run")), ["0 runs", "1 run", "2 runs", "1,000 runs"]);
    }
}
