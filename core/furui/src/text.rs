//! Readers of values as people write them, in an option, an argument of Python or a command to a server: `64MiB`,
//! `10M`, `0x2a`.
//!
//! A value that has a type of its own is read by the type's [`FromStr`](std::str::FromStr), with the same error:
//! [`Window`](crate::store::Window), [`HashAlgorithm`](crate::HashAlgorithm) and [`HashSpec`](crate::HashSpec).
//!
//! ```
//! use furui::text;
//!
//! assert_eq!(["64MiB", "64 mb", "1.5G"].map(|size| text::size(size).unwrap()), [64 << 20, 64_000_000, 3 << 29]);
//! assert_eq!(["1e6", "1M", "1 m"].map(|count| text::count(count).unwrap()), [1_000_000; 3]);
//! assert_eq!(["42", "0x2a"].map(|seed| text::seed(seed).unwrap()), [42; 2]);
//! ```

use std::fmt;

/// The error that a text is not a valid value. The message quotes the text, and says how to write it.
///
/// ```
/// let error = furui::text::size("64XB").unwrap_err();
/// assert!(error.to_string().starts_with(r#""64XB" is no size: write "#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidText {
    text: String,
    expected: &'static str,
}

impl InvalidText {
    /// Makes the error for `text`. `expected` says what the text was to be, and after a colon how to write it.
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

impl fmt::Display for InvalidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no {}", self.text, self.expected)
    }
}

impl std::error::Error for InvalidText {}

/// A size in bytes. `K`, `M`, `G` and `T`, with or without `iB`, are powers of 1024; `KB`, `MB`, `GB` and `TB` are
/// powers of 1000. Capital and small letters are equal.
///
/// # Errors
/// If the text is not a number with one of these units, or the size is 2⁶⁴ bytes or more.
pub fn size(text: &str) -> Result<u64, InvalidText> {
    scaled(text, |unit| {
        Some(match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return None,
        })
    })
    .ok_or_else(|| {
        InvalidText::new(
            text,
            "size: write a number of bytes below 2^64, or one with K, M, G or T, as in 64MiB or 1.5G",
        )
    })
}

/// Parses a number. `K`, `M`, `G` and `T`, in capital or small letters, are powers of 1000.
///
/// # Errors
/// If the text is not a number with one of these units, or the number is 2⁶⁴ or more.
pub fn count(text: &str) -> Result<u64, InvalidText> {
    scaled(text, |unit| {
        Some(match unit.to_ascii_lowercase().as_str() {
            "" => 1,
            "k" => 1_000,
            "m" => 1_000_000,
            "g" => 1_000_000_000,
            "t" => 1_000_000_000_000,
            _ => return None,
        })
    })
    .ok_or_else(|| {
        InvalidText::new(text, "whole number below 2^64: write digits, or a number with K, M, G or T, as in 10M")
    })
}

/// The seed of a hash: a number below 2⁶⁴ in decimal, or in hexadecimal after `0x`.
///
/// # Errors
/// If the text is no such number.
pub fn seed(text: &str) -> Result<u64, InvalidText> {
    let seed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    seed.map_err(|_| InvalidText::new(text, "seed: write a number below 2^64, in decimal, or in hexadecimal after 0x"))
}

/// A number multiplied by the scale of the unit after it, rounded down. `None` if it is not a number, if `scale` does
/// not know the unit, or if the result is negative, or 2⁶⁴ or more.
pub(crate) fn scaled(text: &str, scale: impl FnOnce(&str) -> Option<u64>) -> Option<u64> {
    let text = text.trim();
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
    let (number, unit) = text.split_at(end);
    let scale = scale(unit.trim_start())?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale);
    }
    let scaled = number.parse::<f64>().ok()? * scale as f64;
    (0.0..u64::MAX as f64).contains(&scaled).then_some(scaled as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_written() {
        for (text, bytes) in [
            ("64MiB", 64 << 20),
            ("64M", 64 << 20),
            ("64mib", 64 << 20),
            ("64 mb", 64_000_000),
            ("1.5G", 3 << 29),
            ("1.5GiB", 3 << 29),
            ("1e6", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "MiB", "64XB", "-1", "99999999999T", "1.2.3"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_read_as_written() {
        for million in ["1000000", "1e6", "1M", "1 m", "1000k", "0.001G"] {
            assert_eq!(count(million), Ok(1_000_000), "{million}");
        }
        for bad in ["", "M", "1MiB", "-1", "1e20", "99999999999T", "1.2.3", "inf", "nan"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        for bad in ["", "0x", "2a", "-1", "random", "18446744073709551616"] {
            assert!(seed(bad).is_err(), "{bad}");
        }
    }
}
