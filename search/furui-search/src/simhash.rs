use furui::{HashAlgorithm, HashSpec};

/// The number of successive words that are a feature of a text.
const SHINGLE: usize = 3;
/// The minimum number of features of a text that has a SimHash. Chosen: of fewer, one word changes too many bits.
const LEAST: usize = 64;
/// The minimum number of the 64 classes of features, by their first bits, that such a text has: about 45 different
/// features have as many. Chosen: a text that repeats a few words has no SimHash.
const CLASSES: u32 = 32;
/// The maximum number of bits in which the SimHashes of near texts differ, from Manku et al. Among 3,897 manuals, it
/// makes near 56 pairs, above all copies that were left untranslated; with 5, pages about different classes are near.
const NEAR: u32 = 3;
/// The bit of each byte that counts first.
const BYTES: u64 = 0x0101_0101_0101_0101;
/// The first character that is a word of its own, as in Chinese and Japanese. Below it, words have spaces between them.
const UNSPACED: char = '\u{2e80}';

/// The SimHash of a text, 64 bits: the nearer two texts are, the fewer of these bits differ.
///
/// After M. Charikar, "Similarity estimation techniques from rounding algorithms" (2002), and G. Manku, A. Jain and
/// A. Das Sarma, "Detecting near-duplicates for web crawling" (2007). The features are the text's sequences of three
/// words, each as often as it occurs; a bit is 1 if most features have it in their hashes (XXH3).
///
/// **Cost.** One pass over the text, some 25 ns a word.
///
/// ```
/// use furui_search::SimHash;
///
/// let text: String = (0..300).map(|number| format!("word{} and ", number * 7 % 97)).collect();
/// let near = SimHash::of(&(text.clone() + "one more word")).expect("long enough");
/// assert!(SimHash::of(&text).expect("long enough").is_near(near));
/// assert_eq!(SimHash::of("a few words"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimHash(u64);

impl SimHash {
    /// Computes the SimHash of a text. `None` if it is too short, or repeats few words.
    pub fn of(text: &str) -> Option<Self> {
        let spec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 0 };
        // For each bit, the number of features that have it; and those of the last features, as bytes: eight bits, as
        // far from each other as bytes are, are counted at a time.
        let (mut counts, mut bytes) = ([0_u32; 64], [0_u64; 8]);
        let (mut features, mut classes, mut last) = (0_usize, 0_u64, [0_u64; SHINGLE]);
        for (number, word) in words(text).enumerate() {
            last[number % SHINGLE] = spec.hash(word.as_bytes()).get();
            if number + 1 < SHINGLE {
                continue;
            }
            // The words in their order, the last one first.
            let feature = (0..SHINGLE).fold(0_u64, |feature, back| {
                (feature ^ last[(number - back) % SHINGLE]).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
            });
            bytes.iter_mut().enumerate().for_each(|(bit, bytes)| *bytes += feature >> bit & BYTES);
            classes |= 1 << (feature >> 58);
            features += 1;
            if features % 255 == 0 {
                add(&mut counts, std::mem::take(&mut bytes));
            }
        }
        add(&mut counts, bytes);
        let bits = counts.iter().enumerate().map(|(bit, count)| u64::from(2 * *count as usize > features) << bit);
        (features >= LEAST && classes.count_ones() >= CLASSES).then(|| Self(bits.sum()))
    }

    /// True if the texts are near.
    pub fn is_near(self, other: Self) -> bool {
        (self.0 ^ other.0).count_ones() <= NEAR
    }

    /// The bits, as in a message.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The SimHash with these bits.
    pub fn of_bits(bits: u64) -> Self {
        Self(bits)
    }
}

fn add(counts: &mut [u32; 64], bytes: [u64; 8]) {
    for (bit, bytes) in bytes.into_iter().enumerate() {
        bytes
            .to_le_bytes()
            .into_iter()
            .enumerate()
            .for_each(|(byte, count)| counts[8 * byte + bit] += u32::from(count));
    }
}

/// The words of a text, without what is neither letter nor digit at their ends.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_unspaced = |c: char| c >= UNSPACED && c.is_alphanumeric();
    text.split_whitespace()
        .flat_map(move |run| run.split_inclusive(is_unspaced))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of this many words, which others with another seed do not have.
    fn text(seed: usize, words: usize) -> String {
        (0..words).map(|number| format!("w{} ", (number * number + seed * 7919) % 1009)).collect()
    }

    #[test]
    fn near_texts_are_near_and_others_are_not() {
        let hash = |text: &str| SimHash::of(text).unwrap();
        let (one, other) = (text(1, 500), text(2, 500));
        assert!(!hash(&one).is_near(hash(&other)));
        let changed = one.replacen(" w", " changed-w", 1);
        assert!(changed != one && hash(&one).is_near(hash(&changed)));
        // Line breaks, punctuation and what stands before and after make no difference to speak of.
        let framed = format!("News\n{}", one.replace("9 ", "9,\n"));
        assert!(hash(&one).is_near(hash(&framed)));
        assert!(!hash(&one).is_near(hash(&one.split(' ').rev().collect::<Vec<_>>().join(" "))));
        let japanese: String = (0..200_u32).map(|number| char::from_u32(0x4e00 + number * 37).unwrap()).collect();
        assert!(hash(&japanese).is_near(hash(&(japanese.clone() + "。終"))));
        assert_eq!((SimHash::of(""), SimHash::of(&text(1, LEAST))), (None, None));
        assert_eq!((SimHash::of(&"sieve ".repeat(500)), SimHash::of(&text(1, 20).repeat(50))), (None, None));
    }
}
