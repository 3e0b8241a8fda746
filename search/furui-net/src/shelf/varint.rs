//! LEB128 encoding of numbers.

pub(super) use furui_search::varint::{length, put, take};

/// Decodes a number, and removes it from the front of `bytes`. `None` if it is invalid or not below 2³².
#[inline]
pub(super) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes)?.try_into().ok()
}

/// Decodes a length, and removes it and that number of bytes from the front of `bytes`. Returns these bytes.
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    bytes.split_off(..length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_from_as_many_bytes_as_was_said(number: u64, shift in 0..64u32) {
            let number = number >> shift;
            let mut out = vec![];
            put(&mut out, number);
            prop_assert_eq!(out.len(), length(number));
            let mut rest = out.as_slice();
            prop_assert_eq!(take(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_a_length_with_its_bytes_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = take_bytes(&mut bytes.as_slice());
        }
    }
}
