//! Words and how often each of them occurs.

use std::collections::HashMap;
use std::error::Error;
use std::fs;

use crate::keys::mix;

/// Distinct words in a random order, each with its weight in a stream.
pub(crate) type Words = Vec<(Vec<u8>, f64)>;

/// `count` words of a file: its `lines`, the weight of the i-th of which is 1/i (Zipf's law), or its `phrases`, of 4 to 7
/// words and 8 to 96 bytes, weighted by how often they occur.
pub(crate) fn read(kind: &str, file: &str, count: usize) -> Result<Words, Box<dyn Error>> {
    let text = fs::read(file)?;
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut words: Words = match kind {
        "lines" => lines.map(|line| (line.to_vec(), 1.0)).collect(),
        "phrases" => count_phrases(lines).into_iter().map(|(phrase, n)| (phrase, f64::from(n))).collect(),
        other => return Err(format!("{other}: words are lines or phrases").into()),
    };
    words.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    words.dedup_by(|a, b| a.0 == b.0);
    let mut order: Vec<u32> = (0..words.len() as u32).collect();
    order.sort_unstable_by_key(|&index| mix(index.into()));
    order.truncate(count);
    let mut words: Words = order.into_iter().map(|index| std::mem::take(&mut words[index as usize])).collect();
    if kind == "lines" {
        words.iter_mut().zip(1..).for_each(|((_, weight), rank)| *weight = 1.0 / f64::from(rank));
    }
    Ok(words)
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

/// `len` indices of words, each drawn by its weight.
pub(crate) fn stream(words: &Words, len: usize) -> Vec<u32> {
    let sums: Vec<f64> = words
        .iter()
        .scan(0.0, |sum, (_, weight)| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let total = sums.last().copied().unwrap_or(0.0);
    let draw = |i| sums.partition_point(|&sum| sum <= mix(i) as f64 / 2f64.powi(64) * total);
    (0..len as u64).map(|i| draw(i).min(words.len() - 1) as u32).collect()
}
