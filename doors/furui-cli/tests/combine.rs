//! `furui union`, `subtract` and `intersect` of stores, and `furui seen --like`.

use std::fs;

use crate::support::{TempDir, failure, run, stdout};

fn numbers(range: std::ops::Range<u32>) -> Vec<u8> {
    range.flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// Three stores that can be combined: of the numbers 0 to 30,000 in two runs, 20,000 to 40,000, and 25,000 to 26,000.
fn three(dir: &TempDir) -> [String; 3] {
    let [a, b, c] = ["a", "b", "c"].map(|name| dir.join(name));
    stdout(&["seen", "-q", "--store", &a], &numbers(0..28_000));
    stdout(&["seen", "-q", "--store", &a], &numbers(28_000..30_000));
    stdout(&["seen", "-q", "--store", &b, "--like", &a], &numbers(20_000..40_000));
    stdout(&["seen", "-q", "--store", &c, "--like", &b], &numbers(25_000..26_000));
    [a, b, c]
}

fn info(store: &str) -> String {
    String::from_utf8(stdout(&["info", store], b"")).unwrap()
}

#[test]
fn stores_are_combined_into_a_store() {
    let dir = TempDir::new();
    let [a, b, c] = three(&dir);
    let all = numbers(0..50_000);
    for (verb, expected) in
        [("union", numbers(0..40_000)), ("subtract", numbers(0..20_000)), ("intersect", numbers(25_000..26_000))]
    {
        let out = dir.join(verb);
        assert_eq!(stdout(&[verb, &a, &b, &c, "-o", &out], b""), b"");
        assert_eq!(stdout(&["verify", &out], b""), b"");
        assert!(stdout(&["has", &out], &all) == expected, "{verb}");
        assert!(info(&out).contains(" in 1 run,"), "{verb}");
        // The result is a store like any other, and can be combined with the stores that it was made from.
        let known = expected.split_inclusive(|&byte| byte == b'\n').next().unwrap();
        assert_eq!(stdout(&["seen", "--store", &out], &[known, b"new\n"].concat()), b"new\n", "{verb}");
        stdout(&["union", &out, &b, "-o", &dir.join(&format!("{verb}-more"))], b"");
        assert!(failure(&[verb, &a, &b, "-o", &out], b"").contains("holds a store"), "{verb}");
    }
    let none = dir.join("none");
    stdout(&["subtract", &c, &a, "-o", &none], b"");
    assert_eq!(run(&["has", &none], &all).status.code(), Some(1));
    assert_eq!(stdout(&["verify", &none], b""), b"");
}

#[test]
fn what_does_not_fit_together_is_named_and_nothing_is_made() {
    let dir = TempDir::new();
    let [a, ..] = three(&dir);
    let (other, keyed, filter, out) = (dir.join("other"), dir.join("keyed"), dir.join("filter"), dir.join("out"));
    stdout(&["seen", "-q", "--store", &other], b"a\n");
    stdout(&["filter", "build", "-c", "9", "-o", &filter], b"a\n");
    assert!(failure(&["seen", "--store", &keyed, "--like", &a, "--field", "2"], b"x\ta\n").contains("whole lines"));
    stdout(&["seen", "-q", "--store", &keyed, "--field", "2"], b"x\ta\n");
    let message = failure(&["union", &a, &other, "-o", &out], b"");
    assert!(message.contains(&a) && message.contains(&other) && message.contains("--like"), "{message}");
    assert!(failure(&["union", &keyed, &dir.join("absent"), "-o", &out], b"").contains("absent"));
    assert!(failure(&["subtract", &a, &filter, "-o", &out], b"").contains("is a file: name only stores"));
    assert!(failure(&["subtract", &filter, &filter, "-o", &out], b"").contains("filters cannot be subtracted"));
    assert!(failure(&["union", &a, "-o", "-"], b"").contains("a store is a directory"));
    let folder = dir.join("folder");
    fs::create_dir(&folder).unwrap();
    assert!(failure(&["union", &a, &folder, "-o", &out], b"").contains("not a store"));
    assert!(!fs::exists(&out).unwrap());
    dir.file("folder/something", b"");
    assert!(failure(&["union", &a, "-o", &folder], b"").contains("holds other files"));

    assert!(failure(&["seen", "--store", &other, "--like", &a], b"").contains("exists already"));
    assert!(failure(&["seen", "--store", &out, "--like", &folder], b"").contains("not a store"));
    assert!(failure(&["seen", "--like", &a], b"").contains("--store"));
    let dict = dir.join("dict");
    stdout(&["dict", "build", "--store", &dict], b"a\n");
    assert!(failure(&["seen", "--store", &out, "--like", &dict], b"").contains("a dictionary"));
    assert!(failure(&["union", &a, &dict, "-o", &out], b"").contains("a dictionary"));
}

#[test]
fn a_damaged_run_is_an_error_and_leaves_no_store() {
    let dir = TempDir::new();
    let [a, b, _] = three(&dir);
    let path = dir.join("b/0000000000000000.run");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let out = dir.join("out");
    for verb in ["union", "subtract", "intersect"] {
        assert!(failure(&[verb, &a, &b, "-o", &out], b"").contains("0000000000000000.run"), "{verb}");
        assert!(failure(&["has", &out], b"1\n").contains("nothing is recorded"), "{verb}");
    }
}

#[test]
fn hashes_go_out_and_come_in_as_sorted_numbers() {
    let dir = TempDir::new();
    let [a, b, _] = three(&dir);
    let file = dir.join("a.u64");
    assert_eq!(stdout(&["export", &a, "--u64", "-o", &file], b""), b"");
    let bytes = fs::read(&file).unwrap();
    assert!(stdout(&["export", &a, "--u64"], b"") == bytes, "the standard output is the same");
    let numbers_of = |bytes: &[u8]| -> Vec<u64> {
        bytes.chunks(8).map(|hash| u64::from_le_bytes(hash.try_into().unwrap())).collect()
    };
    let hashes = numbers_of(&bytes);
    assert!(hashes.len() == 30_000 && hashes.is_sorted_by(|a, b| a < b));
    // The numbers are the hashes of the lines by the store's hash.
    let store = furui::store::Directory::open_read_only(&a).unwrap();
    let hasher = store.manifest().unwrap().hash.hasher();
    let mut expected: Vec<u64> = (0..30_000).map(|i: u32| hasher.hash(i.to_string().as_bytes()).get()).collect();
    expected.sort_unstable();
    assert_eq!(hashes, expected);

    assert_eq!(stdout(&["import", &b, &file], b""), b"");
    assert_eq!(stdout(&["has", "--count", &b], &numbers(0..50_000)), b"40000\n");
    assert_eq!(stdout(&["import", &b, "-"], &bytes), b"", "once more does no harm");
    assert_eq!(stdout(&["verify", &b], b""), b"");
    assert!(failure(&["import", &b, "-"], &bytes[..9]).contains("ends within a hash"));
    assert!(failure(&["import", &dir.join("none"), &file], b"").contains("none"));
    assert!(failure(&["import", &b, &dir.join("none")], b"").contains("none"));
    assert!(failure(&["export", &file, "--u64"], b"").contains("a.u64"));
    assert!(failure(&["export", &a], b"").contains("--u64"));
    let dict = dir.join("dict");
    stdout(&["dict", "build", "--store", &dict], b"a\n");
    assert!(failure(&["import", &dict, &file], b"").contains("a dictionary"));
    assert!(failure(&["export", &dict, "--u64"], b"").contains("a dictionary"));
}
