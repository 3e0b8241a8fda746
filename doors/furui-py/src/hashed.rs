//! Keys that are 64-bit hashes already, which the argument `hashed=True` says.

use furui::KeyHash;
use pyo3::prelude::*;

use crate::errors::config;

/// The value of each hexadecimal digit, and 0xff for any other byte.
const DIGITS: [u8; 256] = {
    let (mut digits, mut byte) = ([0xff; 256], 0);
    while byte < 256 {
        if let Some(digit) = (byte as u8 as char).to_digit(16) {
            digits[byte] = digit as u8;
        }
        byte += 1;
    }
    digits
};

/// The hash of a key that is a hash itself: its first eight bytes, little-endian, mixed. `None` if it has fewer bytes.
/// Of hexadecimal digits, at least 16, it is the hash of the bytes that they write.
#[inline]
pub fn hash_of(key: &[u8]) -> Option<KeyHash> {
    let first = key.first_chunk()?;
    let hash = match key.first_chunk::<16>() {
        Some(digits) if DIGITS[usize::from(key[0])] < 16 && are_digits(key) => number(digits).swap_bytes(),
        _ => u64::from_le_bytes(*first),
    };
    Some(KeyHash::new(mix(hash)))
}

fn are_digits(key: &[u8]) -> bool {
    key.iter().fold(0, |any, &byte| any | DIGITS[usize::from(byte)]) < 16
}

fn number(digits: &[u8; 16]) -> u64 {
    digits.iter().fold(0, |number, &digit| number << 4 | u64::from(DIGITS[usize::from(digit)]))
}

/// A bijection after which numbers that follow a pattern, such as those in sequence, are spread over all 64 bits as
/// hashes are: the finalizer of SplitMix64, by Steele, Lea and Flood (2014), of the number and a constant, the fraction
/// of the square root of 7. A set takes the hashes 0 and 1 for one, so the constant makes them come from no number that
/// is likely.
#[inline]
fn mix(hash: u64) -> u64 {
    let hash = hash ^ 0xa54f_f53a_5f1d_36f1;
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The error for a key that is too short to be a hash.
pub fn too_short(py: Python<'_>, length: usize) -> PyErr {
    config(
        py,
        format!("a key of {length} bytes is no hash: with hashed=True each key is a 64-bit int, or at least 8 bytes"),
    )
}
