//! Compression of bytes to a zstd frame that is preceded by the uncompressed length.

use std::io::Read;

use zstd::bulk;
use zstd::stream::read::Decoder;

/// The base-2 logarithm of the maximum window of the zstd decoder, in bytes, which bounds its memory. The value is a
/// choice, not a measurement.
const WINDOW_LOG: u32 = 23;

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
    let (length, stream) = packed.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|&length| length <= most)?;
    let mut bytes = Vec::new();
    // One byte more than the length is read, to detect a stream that is too long.
    let mut decoder = Decoder::with_buffer(stream).ok()?;
    decoder.window_log_max(WINDOW_LOG).ok()?;
    decoder.take(length as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == length).then_some(bytes)
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
