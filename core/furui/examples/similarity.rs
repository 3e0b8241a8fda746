//! Similarity from bits alone: the XOR of two filters tells how much two sets differ, and OR tells what they share.

use furui::filter::Bloom;

const KEYS: u64 = 10_000;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = |from: u64| -> Result<Bloom, furui::Error> {
        let mut filter = Bloom::with_rate(KEYS, 0.01)?;
        filter.extend((from..from + KEYS).map(u64::to_le_bytes));
        Ok(filter)
    };
    let first = set(0)?;
    println!("{first_bits} bits a filter", first_bits = first.bits());
    println!("in common    bits that differ    Jaccard, estimated    in truth");
    let mut before = 0;
    for common in [10_000, 9900, 9000, 5000, 1000, 0] {
        let similarity = first.similarity(&set(KEYS - common)?)?;
        let truth = common as f64 / (2 * KEYS - common) as f64;
        let (xor, jaccard) = (similarity.differing_bits, similarity.jaccard);
        println!("{common:9} {xor:18} {:14.4} ± {:.4} {truth:11.4}", jaccard.value, jaccard.error);
        assert!((jaccard.value - truth).abs() <= 3.0 * jaccard.error + 1e-9);
        assert!(xor >= before, "the less in common, the more bits differ");
        before = xor;
    }
    Ok(())
}
