/// The encoding of the rest of a label, which is the label without its first byte.
#[derive(Clone, Copy)]
pub(super) enum Label<'a> {
    Empty,
    /// The number of one of the most frequent labels.
    One(u8),
    /// The number of a frequent label.
    Two(u16),
    /// `nibbles` half bytes from half byte `start` on: tokens of 12 bits, or the place of the text if it is a link.
    Record {
        records: &'a [u8],
        start: usize,
        nibbles: usize,
        link: bool,
    },
}

/// A token: at most 15 bytes of text, and in the last byte its length.
pub(super) type Token = [u8; 16];
pub(super) const MAX_TOKEN: usize = 15;
