//! Filters that are combined and compared.

use std::fs;

use crate::filter::{build, info};
use crate::support::{TempDir, failure, stdout};

#[test]
fn unions_and_intersections_hold_what_they_should() {
    let dir = TempDir::new();
    let (a, b, out) = (dir.join("a"), dir.join("b"), dir.join("out"));
    for kind in ["bloom", "blocked", "counting", "ringed", "quotient", "parquet"] {
        build(kind, &["--fpr", "1e-4", "--capacity", "1000"], &a, b"1\n2\n3\n");
        build(kind, &["--fpr", "1e-4", "--capacity", "1000"], &b, b"3\n4\n");
        assert_eq!(stdout(&["union", &a, &b, "-o", &out], b""), b"", "{kind}");
        assert_eq!(stdout(&["has", &out], b"1\n2\n3\n4\n5\n"), b"1\n2\n3\n4\n", "{kind}");
        if kind != "counting" {
            assert_eq!(stdout(&["intersect", &a, &b, "-o", &out], b""), b"", "{kind}");
            assert_eq!(stdout(&["has", &out], b"1\n2\n3\n4\n5\n"), b"3\n", "{kind}");
        }
    }
}

#[test]
fn compare_estimates_what_two_filters_share() {
    let dir = TempDir::new();
    let numbers = |from: u32, to: u32| (from..to).map(|i| format!("{i}\n")).collect::<String>().into_bytes();
    for kind in ["bloom", "blocked", "ringed", "quotient", "parquet"] {
        let (a, b) = (dir.join("a"), dir.join("b"));
        build(kind, &["--capacity", "20000"], &a, &numbers(0, 15_000));
        build(kind, &["--capacity", "20000"], &b, &numbers(5000, 20_000));
        let json = String::from_utf8(stdout(&["filter", "compare", &a, &b, "--json"], b"")).unwrap();
        let field = |name: &str| -> f64 {
            let value = json.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("{name} in {json}"));
            value.split([',', '}']).next().unwrap().parse().unwrap()
        };
        for (name, truth) in [("a", 15e3), ("b", 15e3), ("union", 20e3), ("intersection", 10e3), ("jaccard", 0.5)] {
            let (value, error) = (field(name), field(&format!("{name}_error")));
            assert!((value - truth).abs() <= 4.0 * error + 0.01 * truth, "{kind}, {name}: {value} ± {error}");
        }
        let said = String::from_utf8(stdout(&["filter", "compare", &a, &b], b"")).unwrap();
        assert!(said.contains("similarity") && said.contains('±'), "{said}");
    }
}

#[test]
fn what_does_not_fit_together_is_named_on_both_sides() {
    let dir = TempDir::new();
    let (a, b, out) = (dir.join("a"), dir.join("b"), dir.join("out"));
    build("bloom", &["--capacity", "1000"], &a, b"x\n");
    for (kind, more) in [
        ("blocked", &["--capacity", "1000"][..]),
        ("bloom", &["--capacity", "2000"]),
        ("bloom", &["--capacity", "1000", "--fpr", "0.001"]),
        ("bloom", &["--capacity", "1000", "--hash-seed", "7"]),
        ("bloom", &["--capacity", "1000", "--hash", "siphash"]),
    ] {
        build(kind, more, &b, b"x\n");
        for verb in ["union", "intersect"] {
            let message = failure(&[verb, &a, &b, "-o", &out], b"");
            assert!(message.contains(&a) && message.contains(&b), "{kind} {more:?}: {message}");
            assert!(!fs::exists(&out).unwrap(), "nothing is written");
        }
        let message = failure(&["filter", "compare", &a, &b], b"");
        assert!(message.contains(&a) && message.contains(&b), "{kind} {more:?}: {message}");
    }
}

#[test]
fn fuse_filters_are_not_united_but_built_from_both_inputs_or_from_a_union_of_stores() {
    let dir = TempDir::new();
    let (a, b, out) = (dir.join("a"), dir.join("b"), dir.join("out"));
    build("fuse", &[], &a, b"1\n2\n");
    build("fuse", &[], &b, b"2\n3\n");
    for args in [&["union", &a, &b, "-o", &out][..], &["intersect", &a, &b, "-o", &out], &["filter", "compare", &a, &b]]
    {
        let message = failure(args, b"");
        assert!(message.contains("build one filter from the lines of both"), "{args:?}: {message}");
        assert!(!fs::exists(&out).unwrap(), "nothing is written");
    }
}

#[test]
fn a_filter_is_built_from_a_store_with_its_hash_and_its_key_options() {
    let dir = TempDir::new();
    let (store, filter) = (dir.join("store"), dir.join("filter"));
    let rows: String = (0..5000).map(|i| format!("{i},x{i}\n")).collect();
    stdout(&["seen", "-q", "-d", ",", "-f", "2", "--store", &store], rows.as_bytes());
    let more: String = (5000..9000).map(|i| format!("{i},x{i}\n")).collect();
    for kind in ["fuse", "bloom", "blocked", "counting", "ringed", "quotient"] {
        let args = ["filter", "build", "-k", kind, "--fpr", "1e-4", "--store", &store, "-o", &filter];
        assert_eq!(stdout(&args, b""), b"", "{kind}");
        assert_eq!(info(&filter, "seed"), info(&store, "seed"), "{kind}");
        let found = stdout(&["has", "-d", ",", "-f", "2", &filter], (rows.clone() + &more).as_bytes());
        assert!(found.starts_with(rows.as_bytes()), "{kind}");
        assert!(found.len() < rows.len() + 200, "{kind}: {} bytes more", found.len() - rows.len());
        assert!(failure(&["has", &filter], b"x1\n").contains("--field 2"), "{kind}");
    }
    for (more, reason) in [
        (&["-f", "2", "-d", ","][..], "leave out the options"),
        (&["-k", "stable", "-c", "9"], "order of a stream"),
        (&["-k", "cascade", "-c", "9"], "built from lines"),
        (&["-k", "parquet"], "xxh64 with seed 0"),
        (&["-k", "fuse", "--hash", "siphash"], "--hash"),
        (&["-k", "fuse", "in"], "cannot be used with"),
    ] {
        let out = dir.join("none");
        let message = failure(&[&["filter", "build", "--store", &store, "-o", &out], more].concat(), b"");
        assert!(message.contains(reason), "{more:?}: {message}");
        assert!(!fs::exists(&out).unwrap(), "{more:?}");
    }
}
