//! Parses numbers as users write them: `1%`, or a whole number within limits.

use furui::filter::sizing;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_written() {
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
