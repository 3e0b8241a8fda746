//! Compressed bytes, preceded by their length.

use std::io::Read;

use zstd::bulk;
use zstd::stream::read::Decoder;

/// The logarithm of the maximum window of a stream, in bytes, which bounds the memory of the decoder. Chosen.
const WINDOW_LOG: u32 = 23;

/// How much work is spent on compression.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// Little effort, for bytes that are sent, or read once, or never.
    Least,
    /// More effort, for bytes that are kept.
    Much,
}

/// Compresses bytes: their length in 4 bytes, then a zstd frame.
pub(crate) fn pack(bytes: &[u8], effort: Effort) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("no more than the limits of a shelf allow");
    let level = match effort {
        Effort::Least => 1,
        Effort::Much => 9,
    };
    let frame = bulk::compress(bytes, level).expect("memory takes everything");
    [&length.to_le_bytes()[..], &frame].concat()
}

/// The bytes that were packed; `None` if `packed` is invalid, or unpacks to more than `most` bytes.
pub(crate) fn unpack(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let (length, stream) = packed.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|&length| length <= most)?;
    let mut bytes = Vec::new();
    // One additional byte shows that a stream is too long.
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
