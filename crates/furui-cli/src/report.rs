//! Figures for people and for programs.

use furui::filter::Estimate;

/// Some named figures, printed as text or as one line of JSON.
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

    /// Adds an estimate and its standard deviation; null for what is too uncertain to be a number.
    pub fn estimate(&mut self, name: &'static str, error_name: &'static str, estimate: Estimate) -> &mut Self {
        for (name, value) in [(name, estimate.value), (error_name, estimate.error)] {
            let value = if value.is_finite() { format!("{value:.6}") } else { "null".into() };
            self.number(name, value);
        }
        self
    }

    /// Adds a text, or any value that is to stand in quotes.
    pub fn text(&mut self, name: &'static str, value: &str) -> &mut Self {
        let mut quoted = String::from('"');
        for c in value.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", c as u32)),
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        self.fields.push((name, quoted));
        self
    }

    /// `{"name":value,…}` and a newline.
    pub fn json(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}\n", fields.join(","))
    }
}

/// 1234567 as 1,234,567.
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
    fn json_is_escaped() {
        let mut report = Report::default();
        report.number("n", 1).text("path", "a\"b\\c\n");
        assert_eq!(report.json(), "{\"n\":1,\"path\":\"a\\\"b\\\\c\\u000a\"}\n");
    }
}
