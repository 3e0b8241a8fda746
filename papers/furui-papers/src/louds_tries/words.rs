//! Words of real files, or made-up words, and the number of occurrences of each.

use std::collections::HashMap;

use crate::keys::mix;
use crate::report::{Context, Result};

/// Distinct words in a random order, each with its weight in a stream.
pub(super) type Words = Vec<(Vec<u8>, f64)>;

/// Words with their weights, and a sentence that describes them.
pub(super) struct WordList {
    pub(super) words: Words,
    pub(super) data: String,
}

impl WordList {
    /// Phrases of 4 to 7 words and 8 to 96 bytes, weighted by their number of occurrences. They are much like the
    /// paper's keywords, which language processing extracted from reports.
    pub(super) fn phrases(context: &Context, count: usize) -> Result<Self> {
        let (text, source) = match context.real("descriptions.txt") {
            Some(file) => (std::fs::read(file)?, "the descriptions of Debian's packages"),
            None => (made_up_text(context.seed, 6 * count), "a made-up text of Zipf-distributed words"),
        };
        let phrases = count_phrases(lines(&text)).into_iter().map(|(phrase, n)| (phrase, f64::from(n))).collect();
        let words = sample(phrases, context.seed, count);
        let data = describe(&words, &format!("distinct phrases of 4 to 7 words of {source}"));
        Ok(Self { words, data })
    }

    /// Words of a dictionary, of equal weights.
    pub(super) fn lemmas(context: &Context, count: usize) -> Result<Self> {
        let (text, source) = match context.real("lemmas.txt") {
            Some(file) => (std::fs::read(file)?, "lemmas of WordNet"),
            None => (made_up_text(context.seed, 20 * count), "made-up words"),
        };
        let split = |&byte: &u8| byte == b'\n' || byte == b' ';
        let words = text.split(split).filter(|word| !word.is_empty()).map(|word| (word.to_vec(), 1.0)).collect();
        let words = sample(words, context.seed, count);
        let data = describe(&words, &format!("distinct {source}"));
        Ok(Self { words, data })
    }

    /// File names; the i-th has the weight 1/i (Zipf's law).
    pub(super) fn paths(context: &Context, count: usize) -> Result<Self> {
        let (text, source) = match context.real("paths.txt") {
            Some(file) => (std::fs::read(file)?, "of Debian's packages"),
            None => (made_up_paths(context.seed, 2 * count), "made up of Zipf-distributed components"),
        };
        let mut words = sample(lines(&text).map(|line| (line.to_vec(), 1.0)).collect(), context.seed, count);
        words.iter_mut().zip(1..).for_each(|((_, weight), rank)| *weight = 1.0 / f64::from(rank));
        let data = describe(&words, &format!("distinct file names {source}"));
        Ok(Self { words, data })
    }
}

fn describe(words: &Words, what: &str) -> String {
    let bytes: usize = words.iter().map(|(word, _)| word.len()).sum();
    format!("{} {what}, {:.1} bytes on average.", words.len(), bytes as f64 / words.len() as f64)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// `count` of the distinct words, in a random order.
fn sample(mut words: Words, seed: u64, count: usize) -> Words {
    words.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    words.dedup_by(|a, b| a.0 == b.0);
    let mut order: Vec<u32> = (0..words.len() as u32).collect();
    order.sort_unstable_by_key(|&index| mix(u64::from(index) ^ seed << 32));
    order.truncate(count);
    order.into_iter().map(|index| std::mem::take(&mut words[index as usize])).collect()
}

fn count_phrases<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HashMap<Vec<u8>, u32> {
    let mut counts = HashMap::new();
    for line in lines {
        for sentence in line.to_ascii_lowercase().split(|byte| b".!?;:".contains(byte)) {
            let sentence: Vec<&[u8]> =
                sentence.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
            for phrase in (4..=7).flat_map(|len| sentence.windows(len)) {
                let phrase = phrase.join(&b' ');
                if (8..=96).contains(&phrase.len()) {
                    *counts.entry(phrase).or_insert(0) += 1;
                }
            }
        }
    }
    counts
}

/// The number of distinct words in the made-up texts.
const VOCABULARY: f64 = 50_000.0;

/// Draws a word by Zipf's law: its rank is below r with probability ln r / ln `VOCABULARY`.
fn made_up_word(random: u64) -> impl Iterator<Item = u8> {
    let rank = VOCABULARY.powf(random as f64 / 2f64.powi(64)) as u64;
    let letters = mix(rank);
    (0..2 + letters % 8).map(move |i| b'a' + (mix(letters ^ i) % 26) as u8)
}

fn made_up_text(seed: u64, words: usize) -> Vec<u8> {
    let mut text = vec![];
    for i in 0..words as u64 {
        text.extend(made_up_word(mix(i ^ seed << 40)));
        text.push(if i % 12 == 11 { b'\n' } else { b' ' });
    }
    text
}

/// As many lines, each a path whose components follow Zipf's law. Few paths occur more than once.
pub(crate) fn made_up_paths(seed: u64, paths: usize) -> Vec<u8> {
    let mut text = vec![];
    for i in 0..paths as u64 {
        let random = |j| mix((i * 16 + j) ^ (seed << 40));
        text.extend_from_slice(b"usr/");
        for j in 0..3 + random(0) % 6 {
            text.extend(made_up_word(random(j + 1)));
            text.push(b'/');
        }
        text.extend(format!("{}\n", random(15) % paths as u64).bytes());
    }
    text
}

/// `len` indices of words, each drawn by its weight.
pub(super) fn stream(words: &[(Vec<u8>, f64)], seed: u64, len: usize) -> Vec<u32> {
    let sums: Vec<f64> = words
        .iter()
        .scan(0.0, |sum, (_, weight)| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let total = sums.last().copied().unwrap_or(0.0);
    let draw = |i| sums.partition_point(|&sum| sum <= mix(i ^ seed << 40) as f64 / 2f64.powi(64) * total);
    (0..len as u64).map(|i| draw(i).min(words.len() - 1) as u32).collect()
}
