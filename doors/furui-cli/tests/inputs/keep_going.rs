//! `--keep-going`: a bad file among many.

use std::io::Write;

use crate::inputs::text_of;
use crate::support::{TempDir, failure, run, stdout};

/// Compresses lines, and cuts off the end.
fn cut(lines: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::none());
    encoder.write_all(lines.as_bytes()).unwrap();
    let mut packed = encoder.finish().unwrap();
    packed.truncate(packed.len() - 10);
    packed
}

/// Files of which some are bad, the lines that can be read, and what is told of the bad ones.
struct Files {
    _dir: TempDir,
    names: Vec<String>,
    lines: String,
    told: Vec<String>,
}

fn files() -> Files {
    let dir = TempDir::new();
    let (mut names, mut lines, mut told) = (vec![], String::new(), vec![]);
    for number in 0..100 {
        let name = format!("{number}.");
        let (bytes, good, problem): (Vec<u8>, String, &str) = match number {
            // The last line is cut off.
            7 => (cut("seven\n7\nlost"), "seven\n7\n".into(), "damaged gzip data"),
            20 => (vec![], String::new(), "No such file"),
            21 => (b"PK\x03\x04a\n".to_vec(), String::new(), "looks like a zip archive"),
            50 => (
                format!("fifty\n{}\nafter\n", "x".repeat(3000)).into(),
                "fifty\n".into(),
                "line 2, from byte 6 on: longer than",
            ),
            51 => (b"\x28\xB5\x2F\xFD\x00\xA8\x11\0\0a\n".to_vec(), String::new(), "a window of 2.0 GiB"),
            99 => (vec![], String::new(), "s a directory"),
            _ => (
                format!("{number}\n{}\nlast of {number}", number / 2).into(),
                format!("{number}\nlast of {number}\n"),
                "",
            ),
        };
        names.push(dir.join(&name));
        match number {
            20 => {}
            99 => std::fs::create_dir(dir.join(&name)).unwrap(),
            _ => drop(dir.file(&name, &bytes)),
        }
        // Half of a number is the number of an earlier file, unless that file is bad.
        let half = format!("{}\n", number / 2);
        let is_new = !lines.contains(&format!("\n{half}")) && number > 1 && problem.is_empty();
        match good.split_once('\n') {
            Some((first, rest)) if is_new => lines += &format!("{first}\n{half}{rest}"),
            _ => lines += &good,
        }
        if !problem.is_empty() {
            told.push(problem.into());
        }
    }
    Files { _dir: dir, names, lines, told }
}

/// The arguments, and then the files.
fn with<'a>(args: &[&'a str], names: &'a [String]) -> Vec<&'a str> {
    args.iter().copied().chain(names.iter().map(|name| &**name)).collect()
}

#[test]
fn what_can_be_read_is_read_and_every_bad_file_is_told_of() {
    let files = files();
    let dir = TempDir::new();
    for threads in ["1", "3"] {
        let store = dir.join(threads);
        let args = ["seen", "--store", &store, "--max-line", "2000", "--threads", threads, "--keep-going"];
        let output = run(&with(&args, &files.names), b"");
        assert_eq!(text_of(&output.stdout), files.lines);
        assert_eq!(output.status.code(), Some(2));
        let told: Vec<&str> = text_of(&output.stderr).lines().collect();
        assert_eq!(told.len(), files.told.len(), "{told:?}");
        assert!(told.iter().zip(&files.told).all(|(line, problem)| line.contains(problem)), "{told:?}");
        // All that was printed is recorded, and nothing else.
        let again = run(&with(&args, &files.names), b"");
        assert_eq!((&*again.stdout, again.status.code()), (&b""[..], Some(2)));
        let rest = "a\nafter\nlost\n";
        assert_eq!(text_of(&stdout(&["seen", "--store", &store], rest.as_bytes())), rest);
    }
    // Without the option, the first bad file ends the command.
    let output = run(&with(&["seen"], &files.names), b"");
    assert!(output.stdout.ends_with(b"last of 6\nseven\n7\n") || output.stdout.ends_with(b"seven\n"), "{output:?}");
    assert_eq!((output.status.code(), text_of(&output.stderr).lines().count()), (Some(2), 1));
    // `has` goes on as grep does.
    let known = dir.file("known", b"0\n98\nseven\nlost\nafter\n");
    let output = run(&with(&["has", "--max-line", "2000", &known], &files.names), b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text_of(&output.stdout), "0\n0\n0\nseven\n98\n");
    assert_eq!(text_of(&output.stderr).lines().count(), files.told.len());
    assert_eq!(run(&["has", "-q", &known, "-", &dir.join("none")], b"98\n").status.code(), Some(0));
    assert_eq!(run(&["has", &known, &dir.join("none"), "-"], b"1\n").status.code(), Some(2));
    // A part of a set would be another set.
    assert!(failure(&["has", "-v", "--keep-going", &files.names[7], &known], b"").contains("damaged"));
    let store = dir.join("1");
    assert!(failure(&["seen", "--keep-going", "--store", &store, "--remove", &known], b"").contains("--keep-going"));
    assert!(failure(&["seen", "--store", &store, "--remove", &files.names[7]], b"").contains("damaged"));
    assert_eq!(stdout(&["has", "--count", &store, &known], b""), b"5\n", "nothing was removed");
}

#[test]
fn filters_and_dictionaries_are_made_from_what_can_be_read() {
    let dir = TempDir::new();
    let names = [dir.file("a", b"a\nb\n"), dir.join("none"), dir.file("c", &cut("c\ndxx")), dir.file("e", b"e\n")];
    let (filter, cascade, dict, bytes) = (dir.join("filter"), dir.join("cascade"), dir.join("dict"), dir.join("bytes"));
    let go = |args: &[&str]| {
        let output = run(&with(&[args, &["--keep-going"]].concat(), &names), b"");
        let told = text_of(&output.stderr);
        assert!(told.contains("none: No such file") && told.contains("c: damaged gzip data"), "{args:?}: {told}");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let there = |set: &str| String::from_utf8(run(&["has", set], b"a\nb\nc\nd\ne\n").stdout).unwrap();
    go(&["filter", "build", "--kind", "counting", "-c", "1000", "-o", &filter]);
    assert_eq!(there(&filter), "a\nb\nc\ne\n");
    go(&["filter", "remove", &filter]);
    assert_eq!(there(&filter), "");
    go(&["filter", "insert", &filter]);
    assert_eq!(there(&filter), "a\nb\nc\ne\n");
    go(&["filter", "build", "--kind", "cascade", "--memory", "1MiB", "-c", "1000", "-o", &cascade]);
    assert_eq!(there(&cascade), "a\nb\nc\ne\n");
    assert_eq!(go(&["seen", "--filter", &filter]), "");
    assert_eq!(go(&["dict", "number", "--store", &dict]), "0\n1\n2\n3\n");
    assert_eq!(go(&["dict", "get", "--store", &dict]), "a\t0\nb\t1\nc\t2\ne\t3\n");
    assert_eq!(
        go(&["dict", "get", "-v", "--store", &dict]),
        "",
        "none is found, and yet the status is that of an error"
    );
    go(&["dict", "delete", "--store", &dict]);
    assert_eq!(there(&dict), "");
    go(&["dict", "build", "--store", &dict]);
    assert_eq!(there(&dict), "a\nb\nc\ne\n");
    assert_eq!(go(&["dict", "count", "--store", &bytes]), "1\ta\n1\tb\n1\tc\n1\te\n");
}

#[test]
fn a_table_that_is_cut_off_loses_its_last_record_and_no_header() {
    let dir = TempDir::new();
    let names = [
        dir.file("none.csv", &cut("id,na")),
        dir.file("cut.csv", &cut("id,name\n1,\"x\ny\"\n2,\"no\nend")),
        dir.file("whole.csv", b"id,name\n2,\"no\nend\"\n1,z\n"),
    ];
    let output = run(&with(&["seen", "--csv", "--key", "id", "--keep-going"], &names), b"");
    assert_eq!((text_of(&output.stdout), output.status.code()), ("id,name\n1,\"x\ny\"\n2,\"no\nend\"\n", Some(2)));
}
