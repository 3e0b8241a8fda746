//! Sizes as users write them: `64MiB`, `1.5G`, `800000`.

use crate::number;
use crate::report::counted;

/// Parses a size, and returns it in bytes. `K`, `M`, `G` and `T`, with or without `iB`, are powers of 1024; `KB`, `MB`, `GB` and
/// `TB` are powers of 1000.
pub fn parse(text: &str) -> Result<u64, String> {
    let (number, unit) = number::split(text);
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(format!("unknown unit {unit:?}: use a number with K, M, G or T, as in 64MiB")),
    };
    let bytes = number::scaled(number, scale).map_err(|error| format!("{error}: use something like 64MiB or 1.5G"))?;
    bytes.ok_or_else(|| "not a number of bytes below 2^64".into())
}

/// Formats a size: `81.2 MiB`.
pub fn display(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Formats a size and the exact number of bytes: `81.2 MiB (85,100,000 bytes)`, `320 bytes`.
pub fn exact(bytes: u64) -> String {
    let all = counted(bytes, "byte");
    if bytes < 1024 { all } else { format!("{} ({all})", display(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_written() {
        assert_eq!(parse("64MiB"), Ok(64 << 20));
        assert_eq!(parse("64M"), Ok(64 << 20));
        assert_eq!(parse("64 mb"), Ok(64_000_000));
        assert_eq!(parse("1.5G"), Ok(3 << 29));
        assert_eq!(parse("1e6"), Ok(1_000_000));
        assert_eq!(parse("0"), Ok(0));
        for bad in ["", "MiB", "64XB", "-1", "99999999999T", "1.2.3"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_shown_for_people() {
        assert_eq!(display(0), "0 B");
        assert_eq!(display(1023), "1023 B");
        assert_eq!(display(3 << 29), "1.5 GiB");
        assert_eq!([1, 320, 2048].map(exact), ["1 byte", "320 bytes", "2.0 KiB (2,048 bytes)"]);
    }
}
