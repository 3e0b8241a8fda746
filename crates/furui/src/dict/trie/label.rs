/// How the rest of a label (what is behind its first byte) is written.
#[derive(Clone, Copy)]
pub(super) enum Label<'a> {
    Empty,
    /// The number of one of the most frequent labels.
    One(u8),
    /// The number of a frequent label.
    Two(u16),
    /// `nibbles` half bytes from half byte `start` on: tokens of 12 bits or, if it is a link, the place of the text.
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
