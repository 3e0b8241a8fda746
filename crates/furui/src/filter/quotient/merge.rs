use super::iter::{CHUNK, Decoder};

/// An ascending sequence of fingerprints, made a chunk at a time: one table's, a sorted batch, or two merged.
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
    chunk: [u64; CHUNK],
    at: usize,
    len: usize,
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

    /// Puts the next fingerprints into `out` and says how many; 0 at the end.
    pub(super) fn next_chunk(&mut self, out: &mut [u64; CHUNK]) -> usize {
        match self {
            Self::Table(decoder) => decoder.next_chunk(out),
            Self::Batch(chunks) => chunks.next().map_or(0, |chunk| {
                out[..chunk.len()].copy_from_slice(chunk);
                chunk.len()
            }),
            Self::Pair(pair) => pair.next_chunk(out),
        }
    }
}

impl Pair<'_> {
    fn next_chunk(&mut self, out: &mut [u64; CHUNK]) -> usize {
        let mut count = 0;
        while count < CHUNK {
            let (left, right) = (self.left.rest(), self.right.rest());
            if left.is_empty() || right.is_empty() {
                // One has ended: the other follows as it is.
                let rest = if left.is_empty() { &mut self.right } else { &mut self.left };
                let copied = rest.take(&mut out[count..]);
                if copied == 0 {
                    break;
                }
                count += copied;
                continue;
            }
            let (mut i, mut j) = (0, 0);
            // No branch on which is less: that would be a guess each time.
            while i < left.len() && j < right.len() && count < CHUNK {
                let (a, b) = (left[i], right[j]);
                out[count] = a.min(b);
                i += usize::from(a <= b);
                j += usize::from(a > b);
                count += 1;
            }
            self.left.at += i;
            self.right.at += j;
        }
        count
    }
}

impl<'a> Side<'a> {
    fn new(stream: Stream<'a>) -> Self {
        Self { stream, chunk: [0; CHUNK], at: 0, len: 0 }
    }

    /// What is at hand of the stream; empty only at its end.
    #[inline]
    fn rest(&mut self) -> &[u64] {
        if self.at == self.len {
            self.len = self.stream.next_chunk(&mut self.chunk);
            self.at = 0;
        }
        &self.chunk[self.at..self.len]
    }

    /// Moves what is at hand and fits to `out`, and says how much.
    fn take(&mut self, out: &mut [u64]) -> usize {
        let rest = self.rest();
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        count
    }
}
