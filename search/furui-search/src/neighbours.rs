//! Neighbours among the commonest words, by which phrases of such words are found.

use std::collections::BTreeSet;

/// The words whose neighbours are indexed: fifty of the commonest English ones, which are in most documents, so that
/// their lists say nothing about phrases of them.
const COMMON: [&str; 50] = [
    "a", "all", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from", "had", "has", "have",
    "he", "her", "his", "i", "if", "in", "is", "it", "more", "no", "not", "of", "on", "one", "or", "so", "that", "the",
    "their", "there", "they", "this", "to", "was", "we", "were", "when", "which", "who", "will", "with", "would",
    "you",
];

/// Collects the pairs and triples of common words that are neighbours in a text. Each is a word of the index of its
/// own: the words with spaces between them, as no word of a text has. In a corpus of manuals they add 17 % of the
/// postings.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// The last one or two words, as indices in [`COMMON`].
    run: Vec<u8>,
    all: BTreeSet<Vec<u8>>,
}

impl Neighbours {
    /// Takes the next word of the text.
    pub(super) fn push(&mut self, word: &str) {
        let Ok(index) = COMMON.binary_search(&word) else { return self.pause() };
        self.run.push(index as u8);
        for count in 2..=self.run.len() {
            self.all.insert(self.run[self.run.len() - count..].to_vec());
        }
        if self.run.len() == 3 {
            self.run.remove(0);
        }
    }

    /// Ends a text: the next word is no neighbour of the last one.
    pub(super) fn pause(&mut self) {
        self.run.clear();
    }

    /// The pairs and triples as words of the index.
    pub(super) fn words(self) -> impl Iterator<Item = String> {
        self.all.into_iter().map(text)
    }

    /// The fewest pairs and triples that imply all others.
    pub(super) fn telling(self) -> impl Iterator<Item = String> {
        let implied = |pair: &[u8]| self.all.iter().any(|it| it.len() == 3 && (it[..2] == *pair || it[1..] == *pair));
        let all: Vec<Vec<u8>> = self.all.iter().filter(|it| it.len() == 3 || !implied(it)).cloned().collect();
        all.into_iter().map(text)
    }
}

fn text(indices: Vec<u8>) -> String {
    let words: Vec<&str> = indices.into_iter().map(|index| COMMON[usize::from(index)]).collect();
    words.join(" ")
}

/// True if a word of the index stands for neighbours, and not for a word of a text.
pub(super) fn is_neighbours(word: &str) -> bool {
    word.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Neighbours {
        let mut neighbours = Neighbours::default();
        text.split(' ').for_each(|word| neighbours.push(word));
        neighbours
    }

    #[test]
    fn neighbours_are_pairs_and_triples_of_common_words() {
        assert!(COMMON.is_sorted_by(|a, b| a < b));
        let all = |text: &str| of(text).words().collect::<Vec<_>>().join(", ");
        let telling = |text: &str| of(text).telling().collect::<Vec<_>>().join(", ");
        assert_eq!(all("to be or not"), "be or, be or not, or not, to be, to be or");
        assert_eq!(telling("to be or not"), "be or not, to be or");
        assert_eq!(all("this is sieve of the sieve not a"), "not a, of the, this is");
        assert_eq!(telling("of the sieve of the"), "of the");
        let mut pausing = of("of");
        pausing.pause();
        pausing.push("the");
        assert_eq!(pausing.words().count(), 0);
    }
}
