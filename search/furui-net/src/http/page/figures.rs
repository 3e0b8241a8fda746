use std::time::Duration;

/// Formats a count with grouped thousands: 12 345 678.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            // A narrow no-break space.
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: 1 document, 2 documents.
pub(super) fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Formats a size in bytes with three significant digits: 999 B, 1.23 kB, 45.6 MB.
pub(super) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 999.5 && unit < UNITS.len() - 1 {
        value /= 1000.0;
        unit += 1;
    }
    let places = if unit == 0 || value >= 99.95 { 0 } else { 1 + usize::from(value < 9.995) };
    format!("{value:.places$}\u{a0}{}", UNITS[unit])
}

const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/// Formats a duration: in milliseconds up to ten seconds, and in seconds above.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.01 => format!("{:.1}\u{a0}ms", seconds * 1e3),
        seconds if seconds < 10.0 => format!("{:.0}\u{a0}ms", seconds * 1e3),
        seconds => format!("{seconds:.0}\u{a0}s"),
    }
}

/// Turns an error message, which begins in lower case and has no full stop, into a sentence.
pub(super) fn sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", rest.as_str())
}

/// Encodes text as a value in the query of a URL.
pub(super) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_right() {
        for (n, expected) in [(0, "0"), (999, "999"), (1000, "1\u{202f}000"), (1_234_567, "1\u{202f}234\u{202f}567")] {
            assert_eq!(count(n), expected);
        }
        for (n, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (1234, "1.23 kB"),
            (9_995, "10.0 kB"),
            (99_950, "100 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(n).replace('\u{a0}', " "), expected, "{n}");
        }
        for (millis, expected) in [(0, "0.0 ms"), (10, "10 ms"), (1500, "1500 ms"), (12_000, "12 s")] {
            assert_eq!(time(Duration::from_millis(millis)).replace('\u{a0}', " "), expected);
        }
        assert_eq!(counted(1, "document") + ", " + &counted(2, "document"), "1 document, 2 documents");
    }

    #[test]
    fn messages_are_sentences_and_queries_parts_of_urls() {
        assert_eq!(sentence("at character 3: no"), "At character 3: no.");
        assert_eq!(sentence("why?"), "Why?");
        assert_eq!(sentence(""), ".");
        assert_eq!(encoded("a b&c=\"篩\"+1"), "a+b%26c%3D%22%E7%AF%A9%22%2B1");
    }
}
