//! The sample documents: short texts, facts about elements and countries, and computed facts about numbers. Each has
//! the URL of an encyclopedia's article on its subject.

use std::fmt::Write;

const ARTICLES: &str = include_str!("sample/articles.txt");
const ELEMENTS: &str = include_str!("sample/elements.txt");
const COUNTRIES: &str = include_str!("sample/countries.txt");

/// The sample has one document for each number from 1 to this one.
const NUMBERS: u32 = 200;

/// A sample document.
pub(super) struct Sample {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) text: String,
}

/// Makes all sample documents.
pub(super) fn documents() -> Vec<Sample> {
    let articles = ARTICLES.split("\n\n").filter_map(article);
    let elements = ELEMENTS.lines().zip(1..).filter_map(|(line, number)| element(line, number));
    let countries = COUNTRIES.lines().filter_map(country);
    articles.chain(elements).chain(countries).chain((1..=NUMBERS).map(number)).collect()
}

/// The URL of the encyclopedia's article with this name. The names of Japanese articles begin with `ja:`.
fn place(name: &str) -> String {
    let (language, name) = name.split_once(':').unwrap_or(("en", name));
    format!("https://{language}.wikipedia.org/wiki/{}", name.replace(' ', "_"))
}

/// Parses `Title|Name` and a second line with the text. The name is left out if it is the title.
fn article(block: &str) -> Option<Sample> {
    let (head, text) = block.trim().split_once('\n')?;
    let (title, name) = head.split_once('|').unwrap_or((head, head));
    Some(Sample { url: place(name), title: title.into(), text: text.into() })
}

/// Parses `Country|Capital|Continent`.
fn country(line: &str) -> Option<Sample> {
    let (country, rest) = line.split_once('|')?;
    let (capital, continent) = rest.split_once('|')?;
    let text = format!("The capital of {country} is {capital}. {country} is a country in {continent}.");
    Some(Sample { url: place(country), title: country.into(), text })
}

/// Parses `Symbol Name Sentences…`. The lines are in the order of atomic numbers.
fn element(line: &str, number: u32) -> Option<Sample> {
    let (symbol, rest) = line.split_once(' ')?;
    let (name, sentences) = rest.split_once(' ')?;
    let (period, column) = period_and_column(number);
    let mut text = format!(
        "{name} is the chemical element with the symbol {symbol} and the atomic number {number}, in period {period}"
    );
    let family = match column {
        Column::Group(group) => {
            let _ = write!(text, " and group {group}");
            match group {
                1 if number > 1 => "It is an alkali metal",
                2 => "It is an alkaline earth metal",
                3..=12 => "It is a transition metal",
                17 if number < 100 => "It is a halogen",
                18 if number < 100 => "It is a noble gas",
                _ => "",
            }
        }
        Column::Lanthanides => "It is a lanthanide",
        Column::Actinides => "It is an actinide",
    };
    text += " of the periodic table. ";
    if !family.is_empty() {
        text += &format!("{family}. ");
    }
    text += match symbol {
        "H" | "He" | "N" | "O" | "F" | "Ne" | "Cl" | "Ar" | "Kr" | "Xe" | "Rn" => "At room temperature it is a gas. ",
        "Br" | "Hg" => "At room temperature it is a liquid. ",
        _ => "",
    };
    text += sentences;
    let page = if name == "Mercury" { "Mercury (element)" } else { name };
    Some(Sample { url: place(page), title: format!("{name} ({symbol})"), text })
}

/// The position of an element in its period.
#[derive(Debug, PartialEq, Eq)]
enum Column {
    Group(u32),
    Lanthanides,
    Actinides,
}

fn period_and_column(number: u32) -> (u32, Column) {
    let mut before = 0;
    // The last element of each period is a noble gas.
    for (period, last) in (1..).zip([2, 10, 18, 36, 54, 86, 118]) {
        if number > last {
            before = last;
            continue;
        }
        let place = number - before;
        let gap = 18_u32.saturating_sub(last - before);
        let column = match (last - before, place) {
            (32, 3..=17) if period == 6 => Column::Lanthanides,
            (32, 3..=17) => Column::Actinides,
            (32, 18..) => Column::Group(place - 14),
            (2, 2) => Column::Group(18),
            (8, 3..) => Column::Group(place + gap),
            _ => Column::Group(place),
        };
        return (period, column);
    }
    unreachable!("there are 118 elements")
}

/// Makes the document about a number.
fn number(n: u32) -> Sample {
    let factors = factors(n);
    let mut text = match factors[..] {
        [] => "1 is the unit: neither a prime number nor composite.".to_owned(),
        [_] => format!("{n} is a prime number."),
        _ => {
            let product: Vec<String> = factors.iter().map(u32::to_string).collect();
            format!("{n} is a composite number: {}.", product.join(" × "))
        }
    };
    let is_prime = |n: u32| n > 1 && self::factors(n).len() == 1;
    if is_prime(n) && (is_prime(n + 2) || n > 2 && is_prime(n - 2)) {
        text += " It is one of a pair of twin primes.";
    }
    let divisors: u32 = (1..n).filter(|&divisor| n.is_multiple_of(divisor)).sum();
    if divisors == n {
        text += " It is a perfect number: the sum of its proper divisors.";
    }
    for (is_so, sentence) in [
        ((1..=n).any(|k| k * k == n), "It is a square."),
        ((1..=n).any(|k| k * k * k == n), "It is a cube."),
        ((1..=n).any(|k| k * (k + 1) / 2 == n), "It is a triangular number."),
        (n.is_power_of_two(), "It is a power of two."),
        (is_fibonacci(n), "It is a Fibonacci number."),
    ] {
        if is_so {
            let _ = write!(text, " {sentence}");
        }
    }
    let _ = write!(text, " In binary it is {n:b}, in hexadecimal {n:x}, in Roman numerals {}.", roman(n));
    Sample { url: place(&format!("{n} (number)")), title: format!("The number {n}"), text }
}

/// The prime factors of a number in ascending order; none for 1.
fn factors(n: u32) -> Vec<u32> {
    let mut factors = Vec::new();
    let mut left = n;
    for candidate in 2..=n {
        while left.is_multiple_of(candidate) {
            factors.push(candidate);
            left /= candidate;
        }
    }
    factors
}

fn is_fibonacci(n: u32) -> bool {
    let (mut a, mut b) = (1, 1);
    while b < n {
        (a, b) = (b, a + b);
    }
    b == n
}

fn roman(mut n: u32) -> String {
    let mut numerals = String::new();
    for (value, numeral) in [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ] {
        while n >= value {
            numerals += numeral;
            n -= value;
        }
    }
    numerals
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use furui_search::{PublisherKey, Record};

    use super::*;

    #[test]
    fn every_line_is_a_document_of_its_own() {
        let documents = documents();
        let lines = ELEMENTS.lines().count() + COUNTRIES.lines().count() + ARTICLES.matches("\n\n").count() + 1;
        assert_eq!(documents.len(), lines + NUMBERS as usize);
        assert_eq!(ELEMENTS.lines().count(), 118);
        let mut urls = HashSet::new();
        for Sample { url, title, text } in &documents {
            let publisher = PublisherKey::new([7; 32]);
            let record = Record { url: url.clone(), title: title.clone(), text: text.clone(), publisher };
            assert!(record.encode().is_ok() && !text.is_empty(), "{record:?}");
            assert!(urls.insert(url), "{url} comes twice");
        }
    }

    #[test]
    fn elements_stand_where_they_do() {
        use Column::{Actinides, Group, Lanthanides};
        for (number, expected) in [
            (1, (1, Group(1))),
            (2, (1, Group(18))),
            (6, (2, Group(14))),
            (12, (3, Group(2))),
            (26, (4, Group(8))),
            (53, (5, Group(17))),
            (57, (6, Lanthanides)),
            (71, (6, Lanthanides)),
            (79, (6, Group(11))),
            (92, (7, Actinides)),
            (118, (7, Group(18))),
        ] {
            assert_eq!(period_and_column(number), expected, "{number}");
        }
    }

    #[test]
    fn facts_of_numbers_are_true() {
        for (n, expected) in [
            (13, "13 is a prime number. It is one of a pair of twin primes. It is a Fibonacci number."),
            (28, "28 is a composite number: 2 × 2 × 7. It is a perfect number: the sum of its proper divisors."),
            (64, "It is a square. It is a cube. It is a power of two. In binary it is 1000000, in hexadecimal 40"),
            (149, "149 is a prime number. It is one of a pair"),
            (199, "in Roman numerals CXCIX."),
        ] {
            let text = number(n).text;
            assert!(text.contains(expected), "{text}");
        }
    }
}
