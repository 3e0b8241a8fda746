use crate::dict::trie::TrieError;
use crate::dict::trie::label::Token;
use crate::dict::trie::labels::Packing;
use crate::dict::trie::room::filled;
use crate::dict::trie::token_trie::{END_BITS, NAME_BITS, ROOT, TokenTrie};

/// Divides a text into tokens greedily: it takes the longest token at each place. That does not always give the fewest
/// tokens, but takes far fewer steps than a [`LabelMatcher`](crate::dict::trie::matcher::LabelMatcher).
pub(super) struct Greedy {
    trie: TokenTrie,
    /// The node of the token trie to which two bytes lead, at index 256 · first + second. Most tokens that are found
    /// are hardly longer than two bytes.
    pairs: Vec<Pair>,
}

/// The node to which the first two bytes of a text lead, in 64 bits, from the highest bit on:
///
/// ```text
///    1 bit   whether the longest token has both bytes
///   25 bits  the node after both bytes
///   13 bits  the longest token + 1; 0 if there is none
///   25 bits  the node's base
/// ```
///
/// If these bytes lead to no node, the node and its base are 0. Node 0 is the root's child for byte 0, and the places
/// after base 0 are those of the root's children. None of them is a child of node 0, so the search ends there.
#[derive(Clone, Copy)]
struct Pair(u64);

impl Pair {
    const NONE: Self = Self(0);

    fn new(both: bool, node: u32, end: u32, base: u32) -> Self {
        let node = u64::from(both) << NAME_BITS | u64::from(node);
        Self((node << END_BITS | u64::from(end)) << NAME_BITS | u64::from(base))
    }

    #[inline(always)]
    fn longest(self) -> usize {
        1 + (self.0 >> (2 * NAME_BITS + END_BITS)) as usize
    }

    #[inline(always)]
    fn node(self) -> u32 {
        (self.0 >> (NAME_BITS + END_BITS)) as u32 & ((1 << NAME_BITS) - 1)
    }

    #[inline(always)]
    fn end(self) -> u32 {
        (self.0 >> NAME_BITS) as u32 & ((1 << END_BITS) - 1)
    }

    #[inline(always)]
    fn base(self) -> u32 {
        self.0 as u32 & ((1 << NAME_BITS) - 1)
    }
}

impl Greedy {
    pub(super) fn new(tokens: &[Token]) -> Result<Self, TrieError> {
        let trie = TokenTrie::new(tokens);
        let mut pairs = filled(Pair::NONE, 1 << 16)?;
        let firsts = (0..=0xFF).map(|first| (first, trie.place(first))).filter(|(_, place)| place.parent() == ROOT);
        for (first, one) in firsts {
            for second in 0..=0xFF {
                let name = one.base() + second;
                let two = trie.place(name);
                pairs[(first << 8 | second) as usize] = match (two.parent() == first, two.end()) {
                    (false, _) => Pair::new(false, 0, one.end(), 0),
                    (true, 0) => Pair::new(false, name, one.end(), two.base()),
                    (true, end) => Pair::new(true, name, end, two.base()),
                };
            }
        }
        Ok(Self { trie, pairs })
    }

    /// Divides `text` into tokens, appends them in words to a record, and returns their number; `None` if some byte is
    /// in no token.
    #[inline(always)]
    pub(super) fn cut(&self, text: &[u8], words: &mut Vec<u64>) -> Option<usize> {
        let mut record = Packing::new(words);
        let mut rest = text;
        while let [first, second, deeper @ ..] = rest {
            let pair = self.pairs[usize::from(*first) << 8 | usize::from(*second)];
            let (mut node, mut base) = (pair.node(), pair.base());
            let (mut longest, mut end) = (pair.longest(), pair.end());
            for (length, &byte) in (3..).zip(deeper) {
                let name = base + u32::from(byte);
                let place = self.trie.place(name);
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
        if let [last] = rest {
            record.push(self.trie.place(u32::from(*last)).end().checked_sub(1)? as u16);
        }
        Some(record.finish())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dict::trie::label::MAX_TOKEN;
    use crate::dict::trie::labels::in_word;

    proptest! {
        #[test]
        fn each_token_is_the_longest(
            tokens in prop::collection::btree_set(prop::collection::vec(0..3u8, 1..6), 1..40),
            text in prop::collection::vec(0..3u8, 0..40),
        ) {
            let tokens: Vec<Vec<u8>> = tokens.into_iter().collect();
            let padded = |token: &Vec<u8>| {
                let mut padded = [0; MAX_TOKEN + 1];
                padded[..token.len()].copy_from_slice(token);
                padded[MAX_TOKEN] = token.len() as u8;
                padded
            };
            let greedy = Greedy::new(&tokens.iter().map(padded).collect::<Vec<Token>>()).unwrap();
            let mut expected = Some(vec![]);
            let mut rest = text.as_slice();
            while let (Some(found), false) = (&mut expected, rest.is_empty()) {
                match (0..).zip(&tokens).filter(|(_, token)| rest.starts_with(token)).max_by_key(|(_, token)| token.len()) {
                    Some((number, token)) => {
                        found.push(number);
                        rest = &rest[token.len()..];
                    }
                    None => expected = None,
                }
            }
            let mut words = vec![];
            let count = greedy.cut(&text, &mut words);
            let cut = count.map(|count| words.iter().flat_map(|&word| in_word(word)).take(count).collect::<Vec<u16>>());
            prop_assert_eq!(cut, expected);
        }
    }
}
