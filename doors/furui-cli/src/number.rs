//! Numbers as users write them: `1000000`, `1e6`, `1M`, `1%`.

use furui::filter::sizing;

/// Parses a count. `K`, `M`, `G` and `T` are powers of 1000.
pub fn count(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        _ => return Err(format!("unknown unit {unit:?}: use a number, or one with K, M, G or T, as in 10M")),
    };
    scaled(number, scale)?.ok_or_else(|| "not a whole number below 2^64".into())
}

/// Parses a rate: `0.01`, `1e-2` or `1%`.
pub fn rate(text: &str) -> Result<f64, String> {
    sizing::parse_rate(text)
        .filter(|&rate| rate > 0.0 && rate < 1.0)
        .ok_or_else(|| "not a rate, which is more than 0 and less than 1, such as 0.01 or 1%".into())
}

/// Returns a parser of whole numbers from `least` to `most`.
pub fn between<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("not a whole number from {least} to {most}"))
    }
}

/// Splits a text into the number and the unit after it.
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// Parses a number and multiplies it by `scale`, rounded down. `None` if the result is negative, or 2⁶⁴ or more.
pub fn scaled(number: &str, scale: u64) -> Result<Option<u64>, String> {
    if let Ok(whole) = number.parse::<u64>() {
        return Ok(whole.checked_mul(scale));
    }
    let number: f64 = number.parse().map_err(|_| "not a number".to_string())?;
    let scaled = number * scale as f64;
    Ok((0.0..u64::MAX as f64).contains(&scaled).then_some(scaled as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_written() {
        for million in ["1000000", "1e6", "1M", "1 m", "1000k", "0.001G"] {
            assert_eq!(count(million), Ok(1_000_000), "{million}");
        }
        for bad in ["", "M", "1MiB", "-1", "1e20", "99999999999T", "1.2.3", "inf", "nan"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        for hundredth in ["0.01", "1e-2", ".01", "1%", "1 %"] {
            assert_eq!(rate(hundredth), Ok(0.01), "{hundredth}");
        }
        for bad in ["", "%", "1‰", "x", "0", "1", "100%", "-1", "nan"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        assert_eq!(between::<u8>(2, 20)("20"), Ok(20));
        for bad in ["1", "21", "", "x", "-2"] {
            assert!(between::<u8>(2, 20)(bad).is_err(), "{bad}");
        }
    }
}
