use super::label::Token;
use super::labels::Packing;
use super::token_trie::{ROOT, TokenTrie};

/// Divides a text into the fewest tokens of the trie's token dictionary.
pub(super) struct LabelMatcher {
    trie: TokenTrie,
    /// For each offset in a text, the division of the rest of the text into the fewest tokens.
    best: Vec<Way>,
}

/// A division of the end of a text, from some offset on, into tokens: the number of tokens, and the first token with
/// its length.
#[derive(Clone, Copy)]
struct Way {
    tokens: u32,
    first: u16,
    length: u8,
}

/// The number of tokens that stands for "no division". Every division has fewer tokens, because texts have fewer bytes.
const NO_WAY: u32 = 1 << 16;

impl LabelMatcher {
    pub(super) fn new(tokens: &[Token]) -> Self {
        Self { trie: TokenTrie::new(tokens), best: vec![] }
    }

    /// Appends the fewest tokens that make up `text` to the words of a record, by dynamic programming from the end, and
    /// returns their number; `None` if some byte is in no token. `text` must be shorter than 64 KiB.
    pub(super) fn cut(&mut self, text: &[u8], words: &mut Vec<u64>) -> Option<usize> {
        self.best.clear();
        self.best.resize(text.len() + 1, Way { tokens: 0, first: 0, length: 1 });
        for start in (0..text.len()).rev() {
            let mut least = Way { tokens: NO_WAY, first: 0, length: 1 };
            let (mut node, mut base) = (ROOT, 0);
            // Tokens end within the text, and after at most `MAX_TOKEN` bytes there are no further nodes.
            for (length, (&byte, behind)) in (1..).zip(text[start..].iter().zip(&self.best[start + 1..])) {
                let name = base + u32::from(byte);
                let place = self.trie.place(name);
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
}
