use super::iter::{CHUNK, Decoder};
use crate::bits::merge_two;

/// The maximum number of fingerprints that a table or batch yields at a time to a merge.
pub(super) const WINDOW: usize = 8 * CHUNK;

/// An ascending sequence of fingerprints, produced in pieces: those of a table, a sorted batch, or two merged streams.
#[derive(Debug)]
pub(super) enum Stream<'a> {
    Table(Decoder<'a>),
    Batch(std::slice::Chunks<'a, u64>),
    Pair(Box<Pair<'a>>),
}

/// Two streams, and the parts of them that have been read but not merged yet.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    left: Side<'a>,
    right: Side<'a>,
}

#[derive(Debug)]
struct Side<'a> {
    stream: Stream<'a>,
    piece: Vec<u64>,
    at: usize,
}

impl<'a> Stream<'a> {
    /// Merges `streams` into one by a balanced tree of pairs; `None` if there are none.
    pub(super) fn merged(mut streams: Vec<Self>) -> Option<Self> {
        while streams.len() > 1 {
            let mut pairs = Vec::with_capacity(streams.len().div_ceil(2));
            let mut rest = streams.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => Self::Pair(Box::new(Pair { left: Side::new(left), right: Side::new(right) })),
                    None => left,
                });
            }
            streams = pairs;
        }
        streams.pop()
    }

    /// Replaces the contents of `piece` by the next fingerprints of this stream: at most [`WINDOW`] for each table or
    /// batch that it merges, and none at the end.
    pub(super) fn next_piece(&mut self, piece: &mut Vec<u64>) {
        match self {
            Self::Table(decoder) => {
                piece.resize(WINDOW, 0);
                let mut len = 0;
                while let Some(chunk) = piece[len..].first_chunk_mut() {
                    let count = decoder.next_chunk(chunk);
                    if count == 0 {
                        break;
                    }
                    len += count;
                }
                piece.truncate(len);
            }
            Self::Batch(chunks) => {
                piece.clear();
                piece.extend_from_slice(chunks.next().unwrap_or_default());
            }
            Self::Pair(pair) => pair.next_piece(piece),
        }
    }
}

impl Pair<'_> {
    /// Merges the fingerprints that were read from both streams, up to the smaller one of their last fingerprints: no
    /// fingerprint that is still to be read is below it.
    fn next_piece(&mut self, piece: &mut Vec<u64>) {
        let (mut left, mut right) = (self.left.rest(), self.right.rest());
        if let (Some(&last_left), Some(&last_right)) = (left.last(), right.last()) {
            let cut = last_left.min(last_right);
            left = &left[..left.partition_point(|&fingerprint| fingerprint <= cut)];
            right = &right[..right.partition_point(|&fingerprint| fingerprint <= cut)];
        }
        piece.resize(left.len() + right.len(), 0);
        merge_two(left, right, piece);
        let (from_left, from_right) = (left.len(), right.len());
        self.left.at += from_left;
        self.right.at += from_right;
    }
}

impl<'a> Side<'a> {
    fn new(stream: Stream<'a>) -> Self {
        Self { stream, piece: vec![], at: 0 }
    }

    /// The fingerprints that have been read but not merged yet; empty only at the end of the stream.
    fn rest(&mut self) -> &[u64] {
        if self.at == self.piece.len() {
            self.stream.next_piece(&mut self.piece);
            self.at = 0;
        }
        &self.piece[self.at..]
    }
}
