use super::iter::{CHUNK, Decoder};

/// How many fingerprints of a table or batch are at hand at a time, at most.
pub(super) const WINDOW: usize = 8 * CHUNK;

/// How many parts of a merge proceed at the same time: a step waits for the one before it, and other chains of steps
/// fill the wait.
const CHAINS: usize = 4;

/// An ascending sequence of fingerprints, made a piece at a time: one table's, a sorted batch, or two merged.
#[derive(Debug)]
pub(super) enum Stream<'a> {
    Table(Decoder<'a>),
    Batch(std::slice::Chunks<'a, u64>),
    Pair(Box<Pair<'a>>),
}

/// Two streams and what of them is not merged yet.
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
    /// All of `streams` as one, by a balanced tree of pairs.
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

    /// Replaces `piece` by the next fingerprints: at most [`WINDOW`] for each table or batch below, none at the end.
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
    /// What both have at hand up to the lesser of their last fingerprints: whatever comes later is not less.
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

    /// What is at hand of the stream; empty only at its end.
    fn rest(&mut self) -> &[u64] {
        if self.at == self.piece.len() {
            self.stream.next_piece(&mut self.piece);
            self.at = 0;
        }
        &self.piece[self.at..]
    }
}

/// Merges `a` and `b` into `out`, which is as long as both together, in parts of equal length.
fn merge_two(a: &[u64], b: &[u64], out: &mut [u64]) {
    let part = out.len() / CHAINS;
    let mut taken: [usize; CHAINS] = std::array::from_fn(|c| co_rank(a, b, part * c));
    let (out0, rest) = out.split_at_mut(part);
    let (out1, rest) = rest.split_at_mut(part);
    let (out2, rest) = rest.split_at_mut(part);
    let (out3, last) = rest.split_at_mut(part);
    for (rank, (((slot0, slot1), slot2), slot3)) in out0.iter_mut().zip(out1).zip(out2).zip(out3).enumerate() {
        *slot0 = step(a, b, &mut taken[0], rank);
        *slot1 = step(a, b, &mut taken[1], rank + part);
        *slot2 = step(a, b, &mut taken[2], rank + part * 2);
        *slot3 = step(a, b, &mut taken[3], rank + part * 3);
    }
    for (i, slot) in last.iter_mut().enumerate() {
        *slot = step(a, b, &mut taken[3], part * CHAINS + i);
    }
}

/// How many of the `rank` least fingerprints of `a` and `b` are in `a`, by binary search.
fn co_rank(a: &[u64], b: &[u64], rank: usize) -> usize {
    let (mut low, mut high) = (rank.saturating_sub(b.len()), rank.min(a.len()));
    while low < high {
        let taken = low.midpoint(high);
        if a[taken] <= b[rank - taken - 1] {
            low = taken + 1;
        } else {
            high = taken;
        }
    }
    low
}

/// The least fingerprint behind the `rank` least, of which `taken` are from `a` and the others from `b`. A side that is
/// used up counts as `u64::MAX`, which makes no difference if the other has a true one. No branch on which is less: that
/// would be a guess each time.
#[inline(always)]
fn step(a: &[u64], b: &[u64], taken: &mut usize, rank: usize) -> u64 {
    let x = a.get(*taken).copied().unwrap_or(u64::MAX);
    let y = b.get(rank.wrapping_sub(*taken)).copied().unwrap_or(u64::MAX);
    *taken += usize::from(x <= y);
    x.min(y)
}
