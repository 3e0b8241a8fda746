//! Compression of bytes to a zstd frame that is preceded by the uncompressed length.

use std::cell::RefCell;

use zstd::bulk::{self, Decompressor};

thread_local! {
    /// The decompressor of this thread. To make one costs as much as to decompress a short list. `None` if there is no
    /// memory for it.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// The effort that the compressor spends on a block of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// Little effort, for bytes that are sent, or are rarely read.
    Least,
    /// More effort, for bytes that are stored.
    Much,
}

/// Compresses bytes. The result is their length in 4 bytes, and a zstd frame.
pub(crate) fn pack(bytes: &[u8], effort: Effort) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("no more than the limits of a shelf allow");
    let level = match effort {
        Effort::Least => 1,
        Effort::Much => 9,
    };
    let frame = bulk::compress(bytes, level).expect("memory takes everything");
    [&length.to_le_bytes()[..], &frame].concat()
}

/// Decompresses bytes; `None` if `packed` is invalid, or longer than `most` bytes when decompressed.
pub(crate) fn unpack(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    unpack_into(&mut bytes, packed, most).then_some(bytes)
}

/// Decompresses bytes like [`unpack`] to a buffer, which is emptied first; false in place of `None`.
pub(crate) fn unpack_into(bytes: &mut Vec<u8>, packed: &[u8], most: usize) -> bool {
    let Some((length, frame)) = packed.split_first_chunk() else { return false };
    let Some(length) = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|&length| length <= most) else {
        return false;
    };
    bytes.clear();
    bytes.reserve(length);
    let unpack = |it: &mut Option<Decompressor<'_>>| it.as_mut()?.decompress_to_buffer(frame, bytes).ok();
    DECOMPRESSOR.with_borrow_mut(unpack) == Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_nothing_longer_than_allowed() {
        let bytes: Vec<u8> = (0..10_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let mut packed = pack(&bytes, Effort::Much);
        assert!(packed.len() < bytes.len() / 4);
        assert_eq!(unpack(&packed, bytes.len()), Some(bytes.clone()));
        assert_eq!(unpack(&packed, bytes.len() - 1), None);
        assert_eq!(unpack(&packed[..packed.len() / 2], bytes.len()), None);
        packed[0] -= 1;
        assert_eq!(unpack(&packed, bytes.len()), None);
        assert_eq!(unpack(&[1, 2], 10), None);
        assert_eq!(unpack(&pack(&[], Effort::Least), 0), Some(vec![]));
    }
}
