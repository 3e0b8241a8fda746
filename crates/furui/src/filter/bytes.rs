//! The bits of a filter as bytes outside of a furui file.

use super::ConfigError;

/// Checks that `bytes` can be the table of a filter of `bits` bits: ⌈bits / 8⌉ bytes, with zeros after the last bit.
pub(super) fn check_bits(bits: u64, bytes: &[u8]) -> Result<(), ConfigError> {
    let beyond = bytes.last().is_some_and(|&last| !bits.is_multiple_of(8) && last >> (bits % 8) != 0);
    if bytes.len() as u64 == bits.div_ceil(8) && !beyond {
        return Ok(());
    }
    Err(ConfigError(format!(
        "{} bytes are not the table of a filter of {bits} bits: it has {} bytes, and zeros after the last bit",
        bytes.len(),
        bits.div_ceil(8)
    )))
}
