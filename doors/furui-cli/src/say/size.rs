//! Formats sizes for messages.

use crate::say::number::counted;

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
    fn sizes_are_shown_for_people() {
        assert_eq!(display(0), "0 B");
        assert_eq!(display(1023), "1023 B");
        assert_eq!(display(3 << 29), "1.5 GiB");
        assert_eq!([1, 320, 2048].map(exact), ["1 byte", "320 bytes", "2.0 KiB (2,048 bytes)"]);
    }
}
