//! Seeds that are secret, and filters of other processes.

use std::fs;

use super::{build, info};
use crate::support::{TempDir, failure, run, stdout};

#[test]
fn hostile_lines_need_a_seed_that_nobody_knows() {
    let dir = TempDir::new();
    let (a, b) = (dir.join("a"), dir.join("b"));
    build("bloom", &["--hash", "siphash", "--hash-seed", "0x1234"], &a, b"alice@example.org\n");
    build("bloom", &["--hash", "siphash", "--hash-seed", "0x1235"], &b, b"alice@example.org\n");
    assert_eq!(stdout(&["has", &a], b"alice@example.org\n"), b"alice@example.org\n");
    assert_ne!(fs::read(&a).unwrap()[200..], fs::read(&b).unwrap()[200..]);
    build("bloom", &["--hash", "sha1"], &a, b"alice\n");
    assert_eq!(stdout(&["has", &a], b"alice\n"), b"alice\n");
}

#[test]
fn a_filter_without_its_seed_tells_only_those_who_have_the_seed() {
    let dir = TempDir::new();
    let (mine, theirs, both, seed) = (dir.join("mine"), dir.join("theirs"), dir.join("both"), dir.join("seed"));
    let made = run(&["filter", "build", "-c", "100", "--seed-file", &seed, "-o", &mine], b"alice\nbob\n");
    let told = String::from_utf8(made.stderr).unwrap();
    assert!(made.status.success() && told.contains("random seed"), "{told}");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&seed).unwrap().permissions()) & 0o777, 0o600);
    // The second filter takes the seed that is there.
    assert_eq!(stdout(&["filter", "build", "-c", "100", "--seed-file", &seed, "-o", &theirs], b"bob\ncarol\n"), b"");
    let with = ["--seed-file", &seed];
    assert_eq!(stdout(&[&["has"][..], &with, &[&theirs]].concat(), b"alice\nbob\n"), b"bob\n");
    let union = [&["union"][..], &with, &[&mine, &theirs, "-o", &both]].concat();
    assert_eq!(stdout(&union, b""), b"");
    assert_eq!(stdout(&[&["filter", "insert"][..], &with, &[&both]].concat(), b"dave\n"), b"");
    let asked = [&["has"][..], &with, &[&both]].concat();
    assert_eq!(stdout(&asked, b"alice\nbob\ncarol\ndave\nerin\n"), b"alice\nbob\ncarol\ndave\n");
    assert!(run(&[&["filter", "compare"][..], &with, &[&mine, &theirs]].concat(), b"").status.success());

    // Without the seed nobody can look up a line, and no filter's file has the seed.
    let number = fs::read_to_string(&seed).unwrap();
    let number = u64::from_str_radix(number.trim().trim_start_matches("0x"), 16).unwrap();
    for filter in [&mine, &theirs, &both] {
        let bytes = fs::read(filter).unwrap();
        assert!(!bytes.windows(8).any(|window| window == number.to_le_bytes()), "{filter} holds the seed");
        assert!(failure(&["has", filter], b"alice\n").contains("--seed-file"));
        assert_eq!(stdout(&["verify", filter], b""), b"");
        let info = String::from_utf8(stdout(&["info", filter], b"")).unwrap();
        assert!(info.contains("kept elsewhere") && !info.contains(&format!("{number:x}")), "{info}");
    }
    assert!(String::from_utf8(stdout(&[&["info"][..], &with, &[&mine]].concat(), b"")).unwrap().contains("holds"));
    // It is used where it is needed.
    let plain = dir.join("plain");
    assert_eq!(stdout(&["filter", "build", "-o", &plain], b"a\n"), b"");
    let both = String::from_utf8(stdout(&[&["info"][..], &with, &[&mine, &plain]].concat(), b"")).unwrap();
    assert!(both.contains(&format!("{mine}: a")) && both.contains(&format!("{plain}: a")), "{both}");
    let other = dir.file("other", b"0x1234\n");
    assert!(failure(&["has", "--seed-file", &other, &mine], b"alice\n").contains("another seed"));
    let bad = dir.file("bad", b"no number\n");
    assert!(failure(&["has", "--seed-file", &bad, &mine], b"alice\n").contains("is no seed"));
    assert!(failure(&["has", "--seed-file", &dir.join("none"), &mine], b"").contains("none"));
    for kind in ["parquet", "cascade"] {
        let out = dir.join("refused");
        let message = failure(&["filter", "build", "-k", kind, "-c", "9", "--seed-file", &seed, "-o", &out], b"a\n");
        assert!(message.contains("--seed-file"), "{message}");
    }
}

#[test]
fn whoever_does_not_know_the_seed_unites_and_compares() {
    let dir = TempDir::new();
    let [mine, theirs, stranger, own, blind, seeing, seed, other] =
        ["mine", "theirs", "stranger", "own", "blind", "seeing", "seed", "other"].map(|name| dir.join(name));
    for kind in ["bloom", "blocked", "counting", "ringed", "quotient"] {
        let built = |seed: &str, out: &str, lines: &[u8]| {
            let made = run(&["filter", "build", "-k", kind, "-c", "100", "--seed-file", seed, "-o", out], lines);
            assert!(made.status.success(), "{kind}: {made:?}");
        };
        built(&seed, &mine, b"alice\nbob\n");
        built(&seed, &theirs, b"bob\ncarol\n");
        built(&other, &stranger, b"bob\ncarol\n");
        // The result is, byte for byte, that of somebody who knows the seed, and has no more of it than its parts.
        stdout(&["union", &mine, &theirs, "-o", &blind], b"");
        stdout(&["union", "--seed-file", &seed, &mine, &theirs, "-o", &seeing], b"");
        assert!(fs::read(&blind).unwrap() == fs::read(&seeing).unwrap(), "{kind}");
        let found = stdout(&["has", "--seed-file", &seed, &blind], b"alice\nbob\ncarol\nerin\n");
        assert_eq!(found, b"alice\nbob\ncarol\n", "{kind}");
        assert!(failure(&["has", &blind], b"alice\n").contains("--seed-file"), "{kind}");
        if kind != "counting" {
            stdout(&["intersect", &mine, &theirs, "-o", &blind], b"");
            assert_eq!(stdout(&["has", "--seed-file", &seed, &blind], b"alice\nbob\ncarol\n"), b"bob\n", "{kind}");
            let with = ["filter", "compare", "--json", "--seed-file", &seed, &mine, &theirs];
            assert_eq!(stdout(&["filter", "compare", "--json", &mine, &theirs], b""), stdout(&with, b""), "{kind}");
        }
        // A file that holds the seed fits, too, and what it knows does not go on.
        let number = fs::read_to_string(&seed).unwrap();
        build(kind, &["-c", "100", "--hash", "siphash", "--hash-seed", number.trim()], &own, b"dave\n");
        stdout(&["union", &own, &mine, "-o", &blind], b"");
        assert_eq!(stdout(&["has", "--seed-file", &seed, &blind], b"alice\ndave\n"), b"alice\ndave\n", "{kind}");
        assert!(info(&blind, "seed_fingerprint") == info(&mine, "seed_fingerprint"), "{kind}");
        for verb in [&["union", "-o", &dir.join("none")][..], &["filter", "compare"]] {
            let message = failure(&[verb, &[&mine, &stranger]].concat(), b"");
            assert!(message.contains(&mine) && message.contains(&stranger), "{kind}: {message}");
            // Counting filters cannot be compared, whatever their seeds.
            assert!(message.contains("a seed of fingerprint") || kind == "counting", "{kind}: {message}");
        }
    }
    assert!(!fs::exists(dir.join("none")).unwrap());
    // A union that is too full says so to those who do not know the seed, too.
    let many = (0..1000).map(|i| format!("{i}\n")).collect::<String>();
    let build = ["filter", "build", "-c", "100", "--seed-file", &seed, "-o", &mine];
    assert!(run(&build, many.as_bytes()).status.success());
    let united = run(&["union", &mine, "-o", &blind], b"");
    assert!(String::from_utf8(united.stderr).unwrap().contains("fuller than it was made for"));
}

#[test]
fn caches_in_processes_of_their_own_swap_digests() {
    for program in ["python3", "curl"] {
        let found = std::process::Command::new(program).arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: there is no {program}");
            return;
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digests.sh");
    let output = std::process::Command::new("sh").args([script, env!("CARGO_BIN_EXE_furui")]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("700 pages found of 700"), "{output:?}");
}
