//! Vector code: the best instruction set found at run time, and the portable twin it must equal bit for bit.
//!
//! Every operation is one function here that dispatches; `x86_64` holds the vector versions, `generic` the twin.
//! This folder is the only place in the crate, besides the memory map, where `unsafe` is allowed.

mod generic;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use words::{Words, prefetch};

/// Appends to `out` the positions in `haystack` that hold `byte`, ascending. `haystack` must be shorter than 4 GiB.
pub(crate) fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    debug_assert!(u32::try_from(haystack.len()).is_ok());
    #[cfg(target_arch = "x86_64")]
    if x86_64::byte_positions(haystack, byte, out) {
        return;
    }
    generic::byte_positions(haystack, byte, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_positions_equal_the_naive_scan_at_every_length_and_alignment() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
        for start in 0..70 {
            for end in (start..bytes.len()).step_by(13) {
                let slice = &bytes[start..end];
                let naive: Vec<u32> =
                    slice.iter().enumerate().filter(|&(_, &b)| b == 3).map(|(i, _)| i as u32).collect();
                let (mut vector, mut portable) = (vec![], vec![]);
                byte_positions(slice, 3, &mut vector);
                generic::byte_positions(slice, 3, &mut portable);
                assert_eq!(vector, naive);
                assert_eq!(portable, naive);
            }
        }
    }
}
