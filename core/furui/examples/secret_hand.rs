//! An example of comparing secrets: two people compare their address books through filters, without showing the
//! addresses.
//!
//! Both hash their addresses with a salt that they have agreed on in secret, as the key of SipHash. They send each
//! other a filter, as secretly as the salt: **the file of a filter says how its keys were hashed, and so contains the
//! salt**. Then
//!
//! - Someone who sees nothing but a filter's bits learns the approximate number of addresses and, from the bits of two
//!   filters with one salt, how many they share. To learn which ones, one of 2⁶⁴ salts must be found by trial.
//! - Someone with the salt, which includes both people and anybody who has a file, can test guesses: a list of all
//!   addresses that might be in the book (a dictionary, a leaked list, every phone number) reveals every address in the
//!   book, together with some false positives. The salt does not prevent that; it only limits it to people who have the
//!   salt, and makes tables computed beforehand useless.
//! - The false positives give some deniability, so the rate here is high: a full filter at 10 % takes one stranger in
//!   ten for a friend. But they prove nothing.
//!
//! For secrets that must withstand the other side, take a protocol for private set intersection instead.

use furui::filter::{AnyFilter, Bloom, Filter, Similarity};
use furui::{HashAlgorithm, HashSpec};

const ROOM: u64 = 2000;

fn book(people: impl Iterator<Item = u64>, hash: HashSpec) -> Result<Bloom, furui::Error> {
    let mut filter = Bloom::with_rate(ROOM, 0.1)?.hashed_by(hash);
    filter.extend(people.map(address));
    Ok(filter)
}

fn address(person: u64) -> String {
    format!("person{person}@example.org")
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In real use, draw the salt from the system's random numbers, and anew for each comparison.
    let salt: u64 = 0x5EC2_E7A5_0F1D_8B34;
    let hash = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: salt };
    let alice = book(0..1500, hash)?;
    let bob = book(900..2300, hash)?;

    // Alice has received Bob's filter. She learns how many addresses they share, but no single address.
    let Similarity { intersection, jaccard, .. } = alice.similarity(&bob)?;
    println!("in common: {:.0} ± {:.0} (in truth 600)", intersection.value, intersection.error);
    println!("similarity: {:.3} ± {:.3} (in truth {:.3})", jaccard.value, jaccard.error, 600.0 / 2300.0);
    assert!((intersection.value - 600.0).abs() < 3.0 * intersection.error);

    // She also learns which of her own friends Bob may know.
    let known = (0..1500).filter(|&person| bob.contains(address(person))).count();
    println!("of her 1500 friends {known} seem to be in Bob's book, some by chance");
    assert!((600..750).contains(&known));

    // Eve has the filter and a dictionary. Without the salt, all her hits are false positives; with it, they are Bob's
    // friends.
    let guess = |hash: HashSpec| (900..2300).filter(|&i| bob.contains_hash(hash.hash(address(i).as_bytes()))).count();
    let (without, with) = (guess(HashSpec { seed: 1, ..hash }), guess(hash));
    println!("of Bob's 1400 friends Eve finds {without} without the salt, {with} with it");
    assert!(without < 250 && with == 1400);

    // The salt is in the file, so sending the file openly reveals the salt.
    let mut file = Vec::new();
    AnyFilter::Bloom(bob).write_to(&mut file)?;
    assert!(file.windows(8).any(|bytes| bytes == salt.to_le_bytes()));
    println!("a file of {} bytes holds Bob's filter and the salt", file.len());

    // Filters with different salts are never compared.
    println!("{}", alice.similarity(&book(0..10, HashSpec { seed: 1, ..hash })?).expect_err("another salt"));
    Ok(())
}
