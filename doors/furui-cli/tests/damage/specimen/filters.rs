use std::fs;
use std::path::Path;

use super::{Specimen, input, lines, text};
use crate::damage::script::Effect::{Reads, Verifies, Writes};
use crate::damage::script::Step;
use crate::support::{TempDir, stdout};

/// An operation that a kind of filter supports besides lookup.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Can {
    Remove,
    Unite,
    Intersect,
    /// The filter never forgets a line.
    Remember,
    Insert,
}
use Can::{Insert, Intersect, Remember, Remove, Unite};

/// The name of each filter, how it is built, and what it can do.
const KINDS: [(&str, &str, &[Can]); 15] = [
    ("bloom", "--kind bloom --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("bloom-sha1", "--kind bloom --hash sha1 --hash-seed 5 --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("growing", "--kind bloom", &[Remember, Unite, Insert]),
    ("blocked", "--kind blocked --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("blocked-fine", "--kind blocked --fpr 0.001 --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("blocked-finer", "--kind blocked --fpr 0.00003 --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("counting", "--kind counting --capacity 12000", &[Remember, Unite, Remove, Insert]),
    ("stable", "--kind stable --capacity 12000", &[Insert]),
    ("stable-light", "--kind stable-light --capacity 12000", &[Insert]),
    ("ringed", "--kind ringed --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("quotient", "--kind quotient --hash siphash --capacity 12000", &[Remember, Unite, Intersect, Remove, Insert]),
    ("quotient-set", "--kind quotient --no-remove --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("parquet", "--kind parquet --capacity 12000", &[Remember, Unite, Intersect, Insert]),
    ("window-filter", "--kind window --capacity 12000", &[Insert]),
    ("fuse", "--kind fuse", &[Remember]),
];

/// A filter of each kind, with a second one of its kind beside it.
pub fn all(scratch: &TempDir) -> Vec<Specimen> {
    let inputs = scratch.path().join("filter-inputs");
    let (known, others, more) = (lines("known", 8000), lines("other", 8000), lines("more", 300));
    input(&inputs, "known", &known);
    input(&inputs, "gone", &known[..200]);
    input(&inputs, "more", &more);
    input(&inputs, "asked", &[&known[4000..], &others, &more].concat());
    let inputs = inputs.to_str().unwrap();
    let one = |&(name, options, can): &(&str, &str, &[Can])| {
        let directory = scratch.path().join(name);
        fs::create_dir(&directory).unwrap();
        build(&directory.join("a.filter"), options, &text(&known));
        build(&directory.join("b.filter"), options, &text(&[&known[6000..], &others[..2000]].concat()));
        let step = |effect, words| Step::new(effect, words, inputs);
        let known_there = step(Reads, "has a.filter @known");
        let mut chapters = vec![vec![
            step(Verifies, "verify a.filter"),
            step(Reads, "info a.filter"),
            step(Reads, "info --json a.filter"),
            if can.contains(&Remember) { known_there.printing(text(&known)) } else { known_there },
            step(Reads, "has a.filter @asked"),
            step(Reads, "has -v a.filter @asked"),
            step(Reads, "has --count a.filter @asked"),
        ]];
        if can.contains(&Insert) {
            chapters[0].extend([
                step(Writes, "filter insert a.filter @more"),
                step(Verifies, "verify a.filter"),
                step(Reads, "has a.filter @asked"),
            ]);
        }
        let mut result_of = |command| {
            chapters.push(vec![
                step(Writes, command),
                step(Verifies, "verify out.filter"),
                step(Reads, "has out.filter @asked"),
            ]);
        };
        if can.contains(&Unite) {
            result_of("union a.filter b.filter -o out.filter");
            result_of("union b.filter a.filter -o out.filter");
        }
        if can.contains(&Intersect) {
            result_of("intersect a.filter b.filter -o out.filter");
            chapters[0].insert(3, step(Reads, "filter compare --json a.filter b.filter"));
            chapters[0].insert(4, step(Reads, "filter compare b.filter a.filter"));
        }
        if can.contains(&Remove) {
            chapters.push(vec![
                step(Writes, "filter remove a.filter @gone"),
                step(Verifies, "verify a.filter"),
                step(Reads, "has a.filter @asked"),
            ]);
        }
        Specimen::new(&directory, name, &["a.filter"], chapters)
    };
    KINDS.iter().map(one).collect()
}

fn build(path: &Path, options: &str, input: &[u8]) {
    let mut arguments = vec!["filter", "build", "-o", path.to_str().unwrap()];
    arguments.extend(options.split(' '));
    stdout(&arguments, input);
}
