//! Figures as text and as JSON.

use std::path::Path;

use furui::filter::Estimate;
use furui::format::Printable;

/// Named figures, printed as one line of JSON.
#[derive(Default)]
pub struct Report {
    fields: Vec<(&'static str, String)>,
}

impl Report {
    /// Adds a number.
    pub fn number(&mut self, name: &'static str, value: impl ToString) -> &mut Self {
        self.fields.push((name, value.to_string()));
        self
    }

    /// Adds an estimate and its standard deviation. A value that is not finite becomes null.
    pub fn estimate(&mut self, name: &'static str, error_name: &'static str, estimate: Estimate) -> &mut Self {
        for (name, value) in [(name, estimate.value), (error_name, estimate.error)] {
            let value = if value.is_finite() { format!("{value:.6}") } else { "null".into() };
            self.number(name, value);
        }
        self
    }

    /// Adds a text in quotes.
    pub fn text(&mut self, name: &'static str, value: &str) -> &mut Self {
        let mut quoted = String::from('"');
        for c in value.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                c => push_json(c, &mut quoted),
            }
        }
        quoted.push('"');
        self.fields.push((name, quoted));
        self
    }

    /// Adds a path. Bytes of it that are not UTF-8 become U+FFFD, and then all its bytes, as a list of numbers, are added
    /// under `bytes_name`.
    pub fn path(&mut self, name: &'static str, bytes_name: &'static str, path: &Path) -> &mut Self {
        self.text(name, &path.to_string_lossy());
        if path.to_str().is_none() {
            let bytes: Vec<String> = path.as_os_str().as_encoded_bytes().iter().map(u8::to_string).collect();
            self.number(bytes_name, format!("[{}]", bytes.join(",")));
        }
        self
    }

    /// Adds a list, each of whose items is a report.
    pub fn list(&mut self, name: &'static str, items: &[Self]) -> &mut Self {
        let items: Vec<String> = items.iter().map(|item| item.json().trim_end().to_owned()).collect();
        self.fields.push((name, format!("[{}]", items.join(","))));
        self
    }

    /// Returns `{"name":value,…}` and a newline.
    pub fn json(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}\n", fields.join(","))
    }
}

/// Appends a character of a string of JSON, other than a quote or a backslash. It is escaped if a terminal would not show
/// it.
pub fn push_json(c: char, out: &mut String) {
    if Printable(c).is_shown() { out.push(c) } else { out.push_str(&format!("\\u{:04x}", c as u32)) }
}

/// Formats a number of things: `1 run`, `1,234 runs`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// With fewer keys, what a file has besides them would be most of what each takes.
const FEW: f64 = 1000.0;

/// Formats each key's share of some space, for the end of a line: `, 5.06 bytes a key`; nothing if there are [`FEW`] keys.
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
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
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

    #[test]
    fn json_is_escaped() {
        let mut report = Report::default();
        report.number("n", 1).text("path", "a\"b\\c\n\u{9b}\u{202e}é");
        assert_eq!(report.json(), "{\"n\":1,\"path\":\"a\\\"b\\\\c\\u000a\\u009b\\u202eé\"}\n");
    }
}
