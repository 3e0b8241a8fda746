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

#[cfg(test)]
mod tests {
    use crate::filter::{Bloom, Gamma, RingedBloom, RingedParams};
    use crate::hash::HashSpec;

    #[test]
    fn the_bytes_of_a_filter_make_it_again_and_no_others_do() {
        let keys: Vec<_> = (0..9u8).map(|key| HashSpec::default().hash(&[key])).collect();
        let mut bloom = Bloom::from_parts(100, 3).unwrap();
        bloom.insert_all(&keys);
        let bytes = bloom.as_bytes().to_vec();
        assert_eq!((bytes.len(), Bloom::from_bytes(100, 3, &bytes)), (13, Ok(bloom)));
        assert!(Bloom::from_bytes(100, 3, &bytes[1..]).is_err() && Bloom::from_bytes(105, 3, &bytes).is_err());
        assert!(Bloom::from_bytes(3, 1, &[0b1000]).is_err(), "a bit after the last");

        let params = RingedParams::new(3, Gamma::Exact, 10).unwrap();
        let mut ringed = RingedBloom::with_size(params, 9).unwrap();
        ringed.insert_all(&keys);
        let bytes = ringed.as_bytes().to_vec();
        assert_eq!(RingedBloom::from_bytes(params, 9, &bytes), Ok(ringed));
        assert!(RingedBloom::from_bytes(params, 8, &bytes).is_err());
    }
}
