//! Tests `furui filter` through the binary.

mod answers;
mod changes;
mod files;
mod refusals;
mod seeds;
mod several;

use crate::support::stdout;

/// Every kind, with the options that it needs to be built from a pipe.
const KINDS: [(&str, &[&str]); 10] = [
    ("bloom", &[]),
    ("blocked", &[]),
    ("counting", &[]),
    ("stable", &["--capacity", "10000"]),
    ("stable-light", &["--capacity", "10000"]),
    ("window", &["--capacity", "10000"]),
    ("ringed", &[]),
    ("quotient", &[]),
    ("parquet", &[]),
    ("fuse", &[]),
];

/// Builds a filter from standard input.
fn build(kind: &str, more: &[&str], output: &str, input: &[u8]) {
    let args = [&["filter", "build", "--kind", kind, "-o", output], more].concat();
    assert_eq!(stdout(&args, input), b"", "{kind}");
}

/// The value of a field in the output of `furui info --json`.
fn info(path: &str, field: &str) -> String {
    let json = String::from_utf8(stdout(&["info", path, "--json"], b"")).unwrap();
    let value = json.split(&format!("\"{field}\":")).nth(1).unwrap_or_else(|| panic!("{field} in {json}"));
    value.split([',', '}']).next().unwrap().trim_matches('"').to_owned()
}
