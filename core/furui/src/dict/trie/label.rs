/// The encoding of a node's label without its first byte, as it is stored in a block.
#[derive(Clone, Copy)]
pub(super) enum Label<'a> {
    Empty,
    /// A code of one byte, for one of the most frequent labels.
    One(u8),
    /// A code of two bytes, for a frequent label.
    Two(u16),
    /// A record of `nibbles` half bytes, from half byte `start` of `records` on: tokens of 12 bits each, or a link to a
    /// text or to an equal record.
    Record {
        records: &'a [u8],
        start: usize,
        nibbles: usize,
        link: bool,
    },
}

/// A token in 16 bytes: a text of at most 15 bytes, and its length in the last byte.
pub(super) type Token = [u8; 16];
pub(super) const MAX_TOKEN: usize = 15;
