//! Checks that the tests named in docs/guarantees.md exist.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/guarantees.md");

/// The tests that a line names, in the form `path.rs`: `test`, `test`.
fn named(line: &str) -> Vec<(&str, &str)> {
    let (mut named, mut file, mut before) = (vec![], None, "");
    // Text and code alternate.
    for (number, piece) in line.split('`').enumerate() {
        if number % 2 == 0 {
            before = piece;
        } else if piece.ends_with(".rs") {
            file = Some(piece);
        } else if let Some(file) = file.filter(|_| [": ", ", "].contains(&before)) {
            named.push((file, piece));
        } else {
            file = None;
        }
    }
    named
}

#[test]
fn every_line_names_tests_that_there_are() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let lines = PAGE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| against |"));
    let mut count = 0;
    for line in lines {
        let tests = named(line);
        assert!(!tests.is_empty() || line.ends_with("| *not tested* |"), "no test: {line}");
        assert_eq!(line.matches(".rs`: `").count(), line.matches(".rs`").count(), "a file without a test: {line}");
        for (file, test) in tests {
            let text = fs::read_to_string(crates.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            // Some tests are defined by lines of a macro call.
            let is_there = text.contains(&format!("fn {test}(")) || text.contains(&format!("\n    {test}: "));
            assert!(is_there, "{file} has no {test}");
            count += 1;
        }
    }
    assert!(count > 50, "{count} tests are named");
}
