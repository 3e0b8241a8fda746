//! LEB128 encoding of numbers and of ascending lists.

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

/// Encodes ascending numbers: the first number, then for each other number its difference from the previous one, less
/// 1.
pub(super) fn put_ascending(out: &mut Vec<u8>, numbers: &[u32]) {
    let mut least = 0;
    for &number in numbers {
        put(out, u64::from(number) - least);
        least = u64::from(number) + 1;
    }
}

/// Decodes all of `bytes`, which [`put_ascending`] wrote, and appends the numbers to `out`. `None` if the bytes are
/// invalid.
pub(super) fn take_ascending(mut bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
    let mut least = 0u64;
    while !bytes.is_empty() {
        let number = u32::try_from(least.checked_add(take(&mut bytes)?)?).ok()?;
        out.push(number);
        least = u64::from(number) + 1;
    }
    Some(())
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
        fn any_bytes_are_ascending_numbers_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut numbers = vec![];
            if take_ascending(&bytes, &mut numbers).is_some() {
                prop_assert!(numbers.is_sorted_by(|a, b| a < b));
            }
            let _ = take_bytes(&mut bytes.as_slice());
        }

        #[test]
        fn ascending_numbers_come_back(numbers in prop::collection::btree_set(any::<u32>(), 0..50)) {
            let numbers: Vec<u32> = numbers.into_iter().collect();
            let (mut out, mut found) = (vec![], vec![]);
            put_ascending(&mut out, &numbers);
            prop_assert_eq!(take_ascending(&out, &mut found), Some(()));
            prop_assert_eq!(found, numbers);
        }
    }
}
