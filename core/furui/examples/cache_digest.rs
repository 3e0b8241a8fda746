//! An example of a cache digest: a proxy sends its neighbour a small filter instead of the list of its pages, and the
//! neighbour asks it only for pages that may be there.

use std::collections::HashSet;

use furui::filter::{AnyFilter, Bloom, FilterRef};

/// The number of pages that the proxy holds, and the number of pages that clients request from its neighbour.
const HELD: u64 = 20_000;
const ASKED: u64 = 50_000;

fn url(i: u64) -> String {
    format!("http://example.org/{i}")
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache: HashSet<String> = (0..HELD).map(url).collect();

    // The proxy makes a digest of its cache, and sends its bytes.
    let mut digest = Bloom::with_rate(HELD, 0.01)?;
    digest.extend(&cache);
    let mut sent = Vec::new();
    AnyFilter::Bloom(digest).write_to(&mut sent)?;
    let list: usize = cache.iter().map(|url| url.len() + 1).sum();
    println!("the list of {HELD} pages has {list} bytes, the digest {}", sent.len());

    // The neighbour uses the digest without a copy of its bytes. The bytes also say how keys are hashed.
    let digest = FilterRef::from_bytes(&sent, "the digest")?;
    let (mut hits, mut in_vain) = (0, 0);
    for url in (HELD - 1000..).take(ASKED as usize).map(url) {
        if digest.contains(&url) {
            if cache.contains(&url) { hits += 1 } else { in_vain += 1 }
        }
    }
    println!("of {ASKED} requests the proxy answered {hits}, and {in_vain} were sent to it in vain");
    assert_eq!(hits, 1000, "a digest misses nothing");
    assert!(in_vain < 700, "1 % of 49,000 are 490");
    Ok(())
}
