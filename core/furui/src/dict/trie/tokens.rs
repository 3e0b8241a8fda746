use super::TrieError;
use super::label::{MAX_TOKEN, Token};
use super::matcher::LabelMatcher;
use super::room::filled;

/// The maximum number of tokens: a token's number has 12 bits.
pub(super) const MAX_TOKENS: usize = 1 << 12;

/// The tokens: texts of 1 to 15 bytes that rare labels consist of, and the search for the longest one that a text
/// begins with.
///
/// The tokens are trained in one pass that counts pairs, as in OnPair (Gargiulo and Venturini, 2025): the text is
/// divided greedily into existing tokens, and a pair of tokens that follow each other for the k-th time becomes a
/// token. Unlike in OnPair, the caller chooses k, and may train again if there were too few or too many tokens.
pub(super) struct Tokens {
    tokens: Vec<Token>,
    /// The edges of a trie of all tokens, in an open-addressing hash table. A slot is 0 if it is empty, and otherwise
    /// holds the parent, the byte and the child of an edge: (node · 256 + byte) · 2¹⁶ + child. Node 0 is the root.
    children: Vec<u64>,
    /// For each node of the trie of tokens, the number of the token that ends there, plus one; 0 if none does.
    ends: Vec<u16>,
}

impl Tokens {
    /// A token dictionary with a token of one byte for each of `bytes`.
    fn new(bytes: impl Iterator<Item = u8>) -> Self {
        let mut tokens = Self { tokens: vec![], children: vec![0; 1 << 12], ends: vec![0] };
        for byte in bytes {
            tokens.add(&[byte]);
        }
        tokens
    }

    /// Trains a token dictionary with sample texts. `bytes` are the bytes that occur in any text, each of which becomes
    /// a token, and `repeats` is the number of occurrences after which a pair of adjacent tokens becomes a token.
    pub(super) fn train<'t>(
        bytes: impl Iterator<Item = u8>,
        texts: impl Iterator<Item = &'t [u8]>,
        repeats: u16,
    ) -> Result<Self, TrieError> {
        let mut this = Self::new(bytes);
        // Pairs are counted by hash, so two pairs with one hash may become tokens a little early.
        let mut counts = filled(0u16, 1 << 18)?;
        for text in texts {
            if this.tokens.len() == MAX_TOKENS {
                break;
            }
            let mut rest = text;
            let mut last = None;
            let mut start = text;
            while !rest.is_empty() {
                let (token, len) = this.longest(rest);
                if let Some((last_token, last_len)) = last
                    && last_len + len <= MAX_TOKEN
                {
                    let pair = u32::from(last_token) << 12 | u32::from(token);
                    let count = &mut counts[(pair.wrapping_mul(0x9E37_79B1) >> 14) as usize];
                    *count += 1;
                    if *count >= repeats && this.tokens.len() < MAX_TOKENS {
                        *count = 0;
                        let merged = this.add(&start[..last_len + len]);
                        last = Some((merged, last_len + len));
                        rest = &rest[len..];
                        continue;
                    }
                }
                last = Some((token, len));
                start = rest;
                rest = &rest[len..];
            }
        }
        Ok(this)
    }

    pub(super) fn matcher(&self) -> LabelMatcher {
        LabelMatcher::new(&self.tokens)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.tokens.as_flattened()
    }

    /// Returns the number of the token with this text, which is added if it is new.
    fn add(&mut self, text: &[u8]) -> u16 {
        if (self.ends.len() + text.len()) * 2 > self.children.len() {
            self.grow();
        }
        let mut node = 0;
        for &byte in text {
            node = match self.child(node, byte) {
                Ok(child) => child,
                Err(free) => {
                    let child = self.ends.len() as u16;
                    self.ends.push(0);
                    self.children[free] = (u64::from(node) << 8 | u64::from(byte)) << 16 | u64::from(child);
                    child
                }
            };
        }
        let end = &mut self.ends[usize::from(node)];
        if *end == 0 {
            let mut token = [0; MAX_TOKEN + 1];
            token[..text.len()].copy_from_slice(text);
            token[MAX_TOKEN] = text.len() as u8;
            self.tokens.push(token);
            *end = self.tokens.len() as u16;
        }
        *end - 1
    }

    fn grow(&mut self) {
        let room = vec![0; self.children.len() * 2];
        for entry in std::mem::replace(&mut self.children, room).into_iter().filter(|&entry| entry != 0) {
            if let Err(free) = self.child((entry >> 24) as u16, (entry >> 16) as u8) {
                self.children[free] = entry;
            }
        }
    }

    /// Returns the child of a node for `byte`. If there is none, the error is the empty slot for it. At least half of
    /// the slots are empty.
    #[inline]
    fn child(&self, node: u16, byte: u8) -> Result<u16, usize> {
        let wanted = u64::from(node) << 8 | u64::from(byte);
        let mask = self.children.len() - 1;
        let mut at = ((wanted as u32).wrapping_mul(0x9E37_79B1) >> 8) as usize & mask;
        loop {
            match self.children[at] {
                0 => return Err(at),
                entry if entry >> 16 == wanted => return Ok(entry as u16),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Returns the number and the length of the longest token that is a prefix of `text`. Every byte that occurs has a
    /// token.
    #[inline]
    fn longest(&self, text: &[u8]) -> (u16, usize) {
        let (mut node, mut best) = (0, (0, 1));
        for (i, &byte) in text.iter().take(MAX_TOKEN).enumerate() {
            let Ok(child) = self.child(node, byte) else { break };
            node = child;
            if self.ends[usize::from(node)] > 0 {
                best = (self.ends[usize::from(node)] - 1, i + 1);
            }
        }
        best
    }
}
