//! Showing a hand without its cards: two people compare address books through filters.
//!
//! Both hash their addresses with a salt that they exchange, as the key of SipHash. What they send is a filter. Then
//!
//! - Someone without the salt learns how many addresses there are, and nothing of which.
//! - Someone with the salt, so each of the two, can test guesses: whoever has a list of all addresses that might be in
//!   the book (a dictionary, a leaked list, every phone number) learns nearly all that are in it. The salt does not
//!   prevent that, it only limits it to those who have it, and makes tables computed beforehand worthless.
//! - False positives are a deniability of sorts: at a rate of 10 %, one in ten strangers would seem to be in the book. So
//!   the rate here is high. It is no proof of innocence either.
//!
//! For secrets that must withstand the other side, take a protocol for private set intersection instead.

use furui::filter::{Bloom, Filter, FilterMut, Likeness};
use furui::{HashAlgorithm, HashSpec};

const ROOM: u64 = 2000;

fn book(people: impl Iterator<Item = u64>, hash: HashSpec) -> Result<Bloom, furui::Error> {
    let mut filter = Bloom::with_rate(ROOM, 0.1)?.hashed_by(hash);
    for person in people {
        filter.insert(hash.hash(address(person).as_bytes()))?;
    }
    Ok(filter)
}

fn address(person: u64) -> String {
    format!("person{person}@example.org")
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In earnest from the system's random numbers, and anew for each comparison.
    let salt = 0x5EC2_E7A5_0F1D_8B34;
    let hash = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: salt };
    let alice = book(0..1500, hash)?;
    let bob = book(900..2300, hash)?;

    // Alice has received Bob's filter. What they share, without a single address:
    let Likeness { intersection, jaccard, .. } = alice.likeness(&bob)?;
    println!("in common: {:.0} ± {:.0} (in truth 600)", intersection.value, intersection.error);
    println!("likeness: {:.3} ± {:.3} (in truth {:.3})", jaccard.value, jaccard.error, 600.0 / 2300.0);
    assert!((intersection.value - 600.0).abs() < 3.0 * intersection.error);

    // Which of her own friends Bob may know:
    let known = (0..1500).filter(|&person| bob.contains(hash.hash(address(person).as_bytes()))).count();
    println!("of her 1500 friends {known} seem to be in Bob's book, some by chance");
    assert!((600..750).contains(&known));

    // Eve has the filter and a dictionary. Without the salt her guesses are noise; with it they are not.
    let guess = |hash: HashSpec| (900..2300).filter(|&i| bob.contains(hash.hash(address(i).as_bytes()))).count();
    let (without, with) = (guess(HashSpec { seed: 1, ..hash }), guess(hash));
    println!("of Bob's 1400 friends Eve finds {without} without the salt, {with} with it");
    assert!(without < 250 && with == 1400);

    // Filters of different salts are never compared.
    println!("{}", alice.likeness(&book(0..10, HashSpec { seed: 1, ..hash })?).expect_err("another salt"));
    Ok(())
}
