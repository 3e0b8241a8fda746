use super::labels::{MAX_TOKEN, Packing, Token};

/// Finds the fewest tokens that a text is made of.
///
/// ```text
///   token trie as a double array        node ──byte b──▶ place base(node) + b, if its parent is the node
/// ```
///
/// A step from node to node is one load and one comparison, in a table of 8 bytes a node. Source: J. Aoe, "An Efficient
/// Digital Search Algorithm by Using a Double-Array Structure" (1989).
pub(super) struct Matcher {
    places: Vec<Place>,
    /// From each place of a text, the best way to its end.
    best: Vec<Way>,
}

/// A node of the trie, at the place that is its name, in a word.
///
/// ```text
///   parent 25 bits │ the token that ends here + 1, 0 if none does 13 bits │ base 25 bits
/// ```
///
/// Of at most 2¹⁶ nodes each keeps a base from at most 2⁸ others with children of the same bytes, and 2⁸ children from
/// their first places: names have 25 bits.
#[derive(Clone, Copy)]
struct Place(u64);

const NAME_BITS: u32 = 25;
const END_BITS: u32 = 13;
const NO_NAME: u32 = (1 << NAME_BITS) - 1;
const ROOT: u32 = NO_NAME - 1;
const FREE: Place = Place::new(NO_NAME, 0);

impl Place {
    const fn new(parent: u32, end: u32) -> Self {
        Self((parent as u64) << (NAME_BITS + END_BITS) | (end as u64) << NAME_BITS)
    }

    #[inline(always)]
    fn parent(self) -> u32 {
        (self.0 >> (NAME_BITS + END_BITS)) as u32
    }

    #[inline(always)]
    fn end(self) -> u32 {
        (self.0 >> NAME_BITS) as u32 & ((1 << END_BITS) - 1)
    }

    #[inline(always)]
    fn base(self) -> u32 {
        self.0 as u32 & NO_NAME
    }
}

/// How many tokens it takes, with which first, of what length.
#[derive(Clone, Copy)]
struct Way {
    tokens: u32,
    first: u16,
    length: u8,
}

/// More tokens than a text has bytes.
const NO_WAY: u32 = 1 << 16;

impl Matcher {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let mut sorted: Vec<(&[u8], u32)> =
            tokens.iter().zip(1..).map(|(token, end)| (&token[..usize::from(token[MAX_TOKEN])], end)).collect();
        sorted.sort_unstable();
        let mut this = Self { places: vec![FREE; 1 << 9], best: vec![] };
        // Nodes whose children have no places yet: name, depth, the tokens below it. Places before `full` are taken, or
        // kept for the root's children.
        let mut open = vec![(ROOT, 0, sorted.as_slice())];
        let mut full = 0x100;
        while let Some((node, depth, below)) = open.pop() {
            let children: Vec<&[(&[u8], u32)]> = below.chunk_by(|a, b| a.0[depth] == b.0[depth]).collect();
            let byte = |child: &[(&[u8], u32)]| usize::from(child[0].0[depth]);
            // The root's children are where their bytes say.
            let mut base = if node == ROOT { 0 } else { full - byte(children[0]) };
            while node != ROOT && !children.iter().all(|child| this.is_free(base + byte(child))) {
                base += 1;
            }
            this.places.resize(this.places.len().max(base + (1 << 9)), FREE);
            if let Some(place) = this.places.get_mut(node as usize) {
                place.0 |= base as u64;
            }
            for child in children {
                let name = base + byte(child);
                let (end, deeper) = match child {
                    [(token, end), deeper @ ..] if token.len() == depth + 1 => (*end, deeper),
                    deeper => (0, deeper),
                };
                this.places[name] = Place::new(node, end);
                if !deeper.is_empty() {
                    open.push((name as u32, depth + 1, deeper));
                }
            }
            while this.places[full].parent() != NO_NAME {
                full += 1;
            }
        }
        this
    }

    fn is_free(&self, place: usize) -> bool {
        // Those of the root's children are kept for them.
        place > 0xFF && self.places.get(place).is_none_or(|place| place.parent() == NO_NAME)
    }

    /// Appends the fewest tokens that `text` is made of to the words of a record, by dynamic programming from its end, and
    /// gives how many they are; nothing if there are none: some byte is in no token. `text` is shorter than 64 KiB.
    pub(super) fn cut(&mut self, text: &[u8], words: &mut Vec<u64>) -> Option<usize> {
        self.best.clear();
        self.best.resize(text.len() + 1, Way { tokens: 0, first: 0, length: 1 });
        for start in (0..text.len()).rev() {
            let mut least = Way { tokens: NO_WAY, first: 0, length: 1 };
            let (mut node, mut base) = (ROOT, 0);
            // Tokens end within the text, and after at most `MAX_TOKEN` bytes there are no further nodes.
            for (length, (&byte, behind)) in (1..).zip(text[start..].iter().zip(&self.best[start + 1..])) {
                let name = base + u32::from(byte);
                let place = self.places[name as usize];
                if place.parent() != node {
                    break;
                }
                let tokens = behind.tokens + 1;
                if place.end() > 0 && tokens <= least.tokens {
                    least = Way { tokens, first: (place.end() - 1) as u16, length };
                }
                (node, base) = (name, place.base());
            }
            self.best[start] = least;
        }
        if self.best[0].tokens >= NO_WAY {
            return None;
        }
        let mut record = Packing::new(words);
        let mut at = 0;
        while at < text.len() {
            record.push(self.best[at].first);
            at += usize::from(self.best[at].length);
        }
        Some(record.finish())
    }

    /// As [`cut`](Self::cut), with the longest token at each place: not always the fewest, but with far fewer steps.
    #[inline(always)]
    pub(super) fn cut_greedily(&self, text: &[u8], words: &mut Vec<u64>) -> Option<usize> {
        let mut record = Packing::new(words);
        let mut rest = text;
        while !rest.is_empty() {
            let (mut node, mut base) = (ROOT, 0);
            let (mut longest, mut end) = (0, 0);
            for (length, &byte) in (1..).zip(rest) {
                let name = base + u32::from(byte);
                let place = self.places[name as usize];
                if place.parent() != node {
                    break;
                }
                if place.end() > 0 {
                    (longest, end) = (length, place.end());
                }
                (node, base) = (name, place.base());
            }
            record.push(end.checked_sub(1)? as u16);
            rest = &rest[longest..];
        }
        Some(record.finish())
    }
}
