//! Showing a hand without its cards: two people compare address books through filters.
//!
//! Both hash their addresses with a salt that they have agreed on in secret, as the key of SipHash. What they send is a
//! filter, as secretly as the salt: **the file of a filter says how its keys were hashed, and so holds the salt**. Then
//!
//! - Someone who sees nothing but a filter's bits learns about how many addresses there are, and from the bits of two
//!   filters of one salt how many they share. Which, only if one of the 2⁶⁴ salts is found by trying.
//! - Someone with the salt, so each of the two and whoever got hold of a file, can test guesses: a list of all addresses
//!   that might be in the book (a dictionary, a leaked list, every phone number) gives away every one that is in it,
//!   among some strangers. The salt does not prevent that, it only limits it to those who have it, and makes tables
//!   computed beforehand worthless.
//! - Those strangers, the false positives, are a deniability of sorts, so the rate here is high: a filter at 10 % takes
//!   one stranger in ten for a friend once it holds what it has room for. It is no proof of innocence either.
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
    // In earnest from the system's random numbers, and anew for each comparison.
    let salt: u64 = 0x5EC2_E7A5_0F1D_8B34;
    let hash = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: salt };
    let alice = book(0..1500, hash)?;
    let bob = book(900..2300, hash)?;

    // Alice has received Bob's filter. What they share, without a single address:
    let Similarity { intersection, jaccard, .. } = alice.similarity(&bob)?;
    println!("in common: {:.0} ± {:.0} (in truth 600)", intersection.value, intersection.error);
    println!("similarity: {:.3} ± {:.3} (in truth {:.3})", jaccard.value, jaccard.error, 600.0 / 2300.0);
    assert!((intersection.value - 600.0).abs() < 3.0 * intersection.error);

    // Which of her own friends Bob may know:
    let known = (0..1500).filter(|&person| bob.contains(address(person))).count();
    println!("of her 1500 friends {known} seem to be in Bob's book, some by chance");
    assert!((600..750).contains(&known));

    // Eve has the filter and a dictionary. Without the salt her guesses are noise; with it they are not.
    let guess = |hash: HashSpec| (900..2300).filter(|&i| bob.contains_hash(hash.hash(address(i).as_bytes()))).count();
    let (without, with) = (guess(HashSpec { seed: 1, ..hash }), guess(hash));
    println!("of Bob's 1400 friends Eve finds {without} without the salt, {with} with it");
    assert!(without < 250 && with == 1400);

    // And the salt is in the file: to send that in the open is to send the salt.
    let mut file = Vec::new();
    AnyFilter::Bloom(bob).write_to(&mut file)?;
    assert!(file.windows(8).any(|bytes| bytes == salt.to_le_bytes()));
    println!("a file of {} bytes holds Bob's filter and the salt", file.len());

    // Filters of different salts are never compared.
    println!("{}", alice.similarity(&book(0..10, HashSpec { seed: 1, ..hash })?).expect_err("another salt"));
    Ok(())
}
