//! Tests `furui dict` through the binary.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::support::{TempDir, distinct, failure, furui, lines, run, stdout, text};

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The arguments of a verb of `furui dict` for a store.
fn with<'a>(store: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    [&["dict", args[0], "--store", store], &args[1..]].concat()
}

/// The path of the only trie's file in a store.
fn trie_file(store: &str) -> String {
    let mut files = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    files.find(|name| name.ends_with(".trie")).unwrap()
}

#[test]
fn lines_are_numbered_in_order_of_arrival_and_found_again() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let a = dir.file("a", b"seen\nbefore\nseen\n");
    let b = dir.file("b", b"seed\nbefore");
    assert_eq!(stdout(&["dict", "build", "--store", &store, &a, &b], b""), b"");
    let get = ["dict", "get", "--store", &store];
    assert_eq!(text_of(stdout(&get, b"seed\nnone\nseen\nbefore\nsee\n")), "seed\t2\nseen\t0\nbefore\t1\n");
    let none = run(&get, b"none\n");
    assert_eq!((none.status.code(), none.stdout.as_slice(), none.stderr.as_slice()), (Some(1), &b""[..], &b""[..]));
    // The next run continues with the next number.
    assert_eq!(stdout(&["dict", "build", "--store", &store, "-"], b"more\nseen\n"), b"");
    assert_eq!(text_of(stdout(&get, b"more\nseen\n")), "more\t3\nseen\t0\n");
}

#[test]
fn values_prefixes_ranges_and_deletions() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let build = ["dict", "build", "--store", &store];
    stdout(&build, b"b\t7\nab\t4294967295\na\t0\nabc\t1\nb\t8\nwith\ttab\t9\n\t5\n");
    let all = "\t5\na\t0\nab\t4294967295\nabc\t1\nb\t8\nwith\ttab\t9\n";
    let printed = |args: &[&str]| text_of(stdout(&[&["dict"][..], args, &["--store", &store]].concat(), b""));
    assert_eq!(printed(&["prefix", ""]), all);
    assert_eq!(printed(&["range"]), all);
    assert_eq!(printed(&["prefix", "ab"]), "ab\t4294967295\nabc\t1\n");
    assert_eq!(printed(&["range", "ab", "b"]), "ab\t4294967295\nabc\t1\n");
    assert_eq!(printed(&["range", "", "ab"]), "\t5\na\t0\n");
    assert_eq!(printed(&["range", "b"]), "b\t8\nwith\ttab\t9\n");
    for args in [&["prefix", "x"][..], &["range", "x"], &["range", "b", "a"]] {
        let none = run(&[&["dict"][..], args, &["--store", &store]].concat(), b"");
        assert_eq!((none.status.code(), none.stdout.len(), none.stderr.len()), (Some(1), 0, 0));
    }
    let deleted = run(&["dict", "delete", "--store", &store], b"ab\nnone\n\n");
    assert_eq!(deleted.status.code(), Some(1), "not all lines were keys");
    assert!(text_of(deleted.stderr).contains("1 line was not a key"), "and it says how many were not keys");
    assert_eq!(printed(&["range"]), "a\t0\nabc\t1\nb\t8\nwith\ttab\t9\n");
    stdout(&["compact", &store], b"");
    assert_eq!(printed(&["range"]), "a\t0\nabc\t1\nb\t8\nwith\ttab\t9\n");
    stdout(&["verify", &store], b"");
}

/// The options of a new dictionary, for several ways of making tries.
const MADE: [&[&str]; 3] = [
    &["--window", "1k", "--merge-after", "3"],
    &["--layout", "louds", "--window", "1k", "--merge-after", "3", "--merging", "all"],
    &["--layout", "louds", "--window", "1k", "--filter-hash", "polynomials-4", "--filter-rate", "1%"],
];

#[test]
fn dictionaries_of_every_layout_answer_alike() {
    let dir = TempDir::new();
    let words = lines(5000, 8);
    let all = MADE.map(|made| {
        let store = dir.join(&made.join(" "));
        let [number, build] =
            ["number", "build"].map(|command| [&["dict", command, "--store", store.as_str()], made].concat());
        let numbers = stdout(&number, &text(&words));
        stdout(&build, b"put\t7\nnext\n");
        assert_eq!(stdout(&["dict", "delete", "--store", &store], &text(&words[..1])), b"");
        let read = |args: &[&str]| stdout(&[args, &["--store", &store]].concat(), b"");
        let before = [read(&["dict", "range"]), read(&["dict", "prefix", "p"])];
        // Commands without options keep the layout and the hash with which the dictionary was made.
        stdout(&["dict", "build", "--store", &store], b"");
        stdout(&["compact", &store], b"");
        stdout(&["verify", &store], b"");
        stdout(&["verify", &trie_file(&store)], b"");
        let after = [read(&["dict", "range"]), read(&["dict", "prefix", "p"])];
        assert!(after == before);
        let (layout, hash) = (if made.len() > 4 { "louds" } else { "compact" }, made.contains(&"polynomials-4"));
        let hash = if hash { "polynomials-4" } else { "one-state" };
        let info = text_of(stdout(&["info", &store], b""));
        assert!(info.contains(&format!("layout      {layout}, filters of {hash}\n")), "{info}");
        let json = text_of(stdout(&["info", "--json", &store], b""));
        assert!(json.contains(&format!(r#""layout":"{layout}","filter_hash":"{hash}""#)), "{json}");
        (numbers, after)
    });
    assert!(all[1..].iter().all(|other| *other == all[0]));
}

#[test]
fn another_layout_than_the_dictionarys_is_an_error_that_names_both() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let build = ["dict", "build", "--store", store.as_str()];
    stdout(&[&build[..], &["--layout", "louds", "--filter-hash", "polynomials-2"]].concat(), b"a\n");
    for (option, made, asked) in [("--layout", "louds", "compact"), ("--filter-hash", "polynomials-2", "one-state")] {
        let message = failure(&[&build[..], &[option, asked]].concat(), b"b\n");
        assert!(message.contains(made) && message.contains(asked), "{message}");
    }
    let message = failure(&["dict", "number", "--store", &dir.join("new"), "--filter-hash", "polynomials-8"], b"b\n");
    assert!(message.contains("layout louds") && message.contains("polynomials-8"), "{message}");
    for (option, bad) in [("--window", "0"), ("--merge-after", "0"), ("--filter-rate", "2"), ("--layout", "tall")] {
        let message = failure(&[&build[..], &[option, bad]].concat(), b"b\n");
        assert!(message.contains(option) && message.contains(bad), "{message}");
    }
    assert_eq!(text_of(stdout(&["dict", "range", "--store", &store], b"")), "a\t0\n");
}

#[test]
fn numbers_go_on_above_the_greatest_that_was_ever_put() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let number = |lines: &[u8]| text_of(stdout(&["dict", "number", "--store", &store], lines));
    let build = |lines: &[u8]| assert_eq!(stdout(&["dict", "build", "--store", &store], lines), b"");
    build(b"a\t0\nb\t1\n");
    assert_eq!(number(b"a\nb\nc\n"), "0\n1\n2\n");
    build(b"hundred\t100\nd\n");
    assert_eq!(stdout(&["dict", "delete", "--store", &store], b"d\nhundred\nc\n"), b"");
    stdout(&["compact", &store], b"");
    assert_eq!(number(b"d\ne\n"), "102\n103\n", "nor is the number of a line that was deleted given again");
    // At the end of all numbers the smallest is given that never was.
    build(b"last\t4294967295\n");
    assert_eq!(number(b"last\nf\ng\na\n"), "4294967295\n3\n4\n0\n");
    build(b"fifth\t5\n");
    assert_eq!(stdout(&["dict", "delete", "--store", &store], b"f\nlast\nfifth\n"), b"");
    stdout(&["compact", &store], b"");
    assert_eq!(number(b"f\nlast\nfifth\n"), "6\n7\n8\n");
    stdout(&["verify", &store], b"");
    assert!(text_of(stdout(&["info", "--json", &store], b"")).contains(r#""values":"numbers""#));
}

/// Random histories of a dictionary, each command a process of its own. A number is given at most once, and to no line
/// if it was put.
#[test]
fn no_number_is_given_twice_in_any_history() {
    let seed = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    for history in 0..8 {
        let mut chance = seed.wrapping_add(history);
        let mut below = |end: u64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (chance >> 33) % end
        };
        let dir = TempDir::in_memory();
        let store = dir.join("store");
        let mut model: HashMap<String, u32> = HashMap::new();
        let mut taken: BTreeSet<u32> = BTreeSet::new();
        for step in 0..20 {
            let what = format!("seed {seed}, history {history}, step {step}");
            let lines: Vec<String> = (0..1 + below(6)).map(|_| format!("line {}", below(30))).collect();
            match below(6) {
                0 => {
                    let near = [0, 10, u64::from(u32::MAX) - 8][below(3) as usize];
                    let put = lines.iter().map(|line| (line.clone(), (near + below(9)) as u32));
                    let put: Vec<(String, u32)> = put.collect();
                    let input: String = put.iter().map(|(line, number)| format!("{line}\t{number}\n")).collect();
                    stdout(&["dict", "build", "--store", &store], input.as_bytes());
                    taken.extend(put.iter().map(|(_, number)| number));
                    model.extend(put);
                }
                1 if fs::exists(&store).unwrap() => {
                    run(&["dict", "delete", "--store", &store], &text(&lines));
                    model.retain(|line, _| !lines.contains(line));
                }
                2 if fs::exists(&store).unwrap() => drop(stdout(&["compact", &store], b"")),
                _ => {
                    let printed = text_of(stdout(&["dict", "number", "--store", &store], &text(&lines)));
                    let expected: String = lines
                        .iter()
                        .map(|line| {
                            let number = *model.entry(line.clone()).or_insert_with(|| {
                                let above = taken.last().map_or(Some(0), |last| last.checked_add(1));
                                let above = above.filter(|&number| number < u32::MAX);
                                let number = above.or_else(|| (0..).find(|number| !taken.contains(number))).unwrap();
                                assert!(taken.insert(number));
                                number
                            });
                            format!("{number}\n")
                        })
                        .collect();
                    assert_eq!(printed, expected, "{what}");
                }
            }
        }
        stdout(&["verify", &store], b"");
    }
}

/// Each verb with each purpose: it does what it says, or is refused with the purpose of the dictionary and the verb to
/// use.
#[test]
fn a_dictionary_keeps_its_purpose_whatever_verb_it_meets() {
    let dir = TempDir::in_memory();
    let made = [
        ["numbers", "number", "a\n", "a\t0\n", "`furui dict number`"],
        ["values", "build --values values", "a\t7\n", "a\t7\n", "`furui dict build --values values`"],
        ["counts", "count", "a\n", "a\t1\n", "`dict count`"],
        ["bytes", "put --values bytes", "a\tx\n", "a\tx\n", "`furui dict build --values bytes`"],
    ];
    for [purpose, make, input, entry, verb] in made {
        let store = dir.join(purpose);
        stdout(&with(&store, &make.split(' ').collect::<Vec<_>>()), input.as_bytes());
        let info = text_of(stdout(&["info", &store], b""));
        assert!(info.contains(&format!("a dictionary of {purpose}\n")), "{info}");
        let refused = |args: &[&str], input: &[u8]| {
            let message = failure(&with(&store, args), input);
            let said = message.replace("`furui dict count`", "`dict count`");
            assert!(said.contains(&format!("a dictionary of {purpose}")) && said.contains(verb), "{args:?}: {message}");
            assert_eq!(text_of(stdout(&with(&store, &["range"]), b"")), entry, "{args:?}");
        };
        if purpose != "numbers" {
            refused(&["number"], b"a\nb\n");
            failure(&with(&store, &["build", "--csv", "--values", purpose]), b"a\nb\n");
            failure(&with(&store, &["build", "--values", purpose]), b"a\n");
            assert_eq!(text_of(stdout(&with(&store, &["range"]), b"")), entry);
        }
        if purpose != "counts" {
            refused(&["count"], b"a\n");
        } else {
            refused(&["build"], b"a\t5\n");
        }
        if purpose == "bytes" {
            refused(&["key", "1"], b"");
        } else {
            let number = entry.trim_end().split_once('\t').unwrap().1;
            assert_eq!(text_of(stdout(&with(&store, &["key", "-z", number]), b"")), format!("{number}\ta\0"));
        }
        for other in ["numbers", "values", "counts", "bytes"] {
            for args in [&["get"][..], &["range"], &["prefix", "a"], &["delete"], &["build"]] {
                let args = [args, &["--values", other]].concat();
                if other != purpose {
                    refused(&args, b"a\t1\n");
                } else if !["delete", "build"].contains(&args[0]) {
                    assert_eq!(text_of(stdout(&with(&store, &args), b"a\n")), entry);
                }
            }
        }
        assert_eq!(text_of(stdout(&["has", &store], b"a\nb\n")), "a\n");
        stdout(&["compact", &store], b"");
        stdout(&["verify", &store], b"");
        assert_eq!(stdout(&with(&store, &["delete"]), b"a\n"), b"");
    }
}

#[test]
fn the_keys_of_records_are_numbered_found_and_deleted() {
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let table = dir.file("table.csv", b"id,lang,name\n1,en,\"x\ny\"\n2,de,z\n3\n4,en,z\n");
    let by_lang = ["--csv", "--key", "lang"];
    let printed = run(&[&with(&store, &["number"])[..], &by_lang, &[&table]].concat(), b"");
    assert_eq!(text_of(printed.stdout), "0\n1\n\n0\n", "a record without a key has an empty line, the header none");
    assert!(text_of(printed.stderr).contains("1 line had no key: not numbered"));
    let dropped = [&with(&store, &["number", "--with-key", "--missing", "drop"])[..], &by_lang, &[&table]].concat();
    assert_eq!(text_of(run(&dropped, b"").stdout), "0\ten\n1\tde\n0\ten\n");
    assert_eq!(text_of(stdout(&[&with(&store, &["get"])[..], &by_lang].concat(), b"lang\nfr\nde\n")), "de\t1\n");
    assert_eq!(
        text_of(stdout(&[&with(&store, &["get", "-v"])[..], &by_lang].concat(), b"n,lang\n1,fr\n2,de\n")),
        "n,lang\n1,fr\n"
    );
    assert_eq!(text_of(stdout(&[&["has", "-v"][..], &by_lang, &[&store]].concat(), b"lang\nfr\nde\n")), "lang\nfr\n");
    assert!(text_of(stdout(&["info", &store], b"")).contains("keys from   --csv --key lang\n"));
    for args in [&["number"][..], &["get"], &["delete"], &["build"], &["number", "--json", "--key", "/lang"]] {
        let message = failure(&with(&store, args), b"\"en\"\n");
        assert!(message.contains("--csv --key lang") && message.contains("--as-is"), "{message}");
    }
    assert!(failure(&["has", &store], b"en\n").contains("--as-is"));
    assert_eq!(text_of(stdout(&with(&store, &["number", "--as-is"]), b"fr\nen\n")), "2\n0\n");
    assert_eq!(stdout(&[&with(&store, &["delete"])[..], &by_lang].concat(), b"lang\nde\n"), b"");
    assert_eq!(stdout(&[&with(&store, &["build"])[..], &by_lang].concat(), b"lang\nde\n"), b"");
    assert_eq!(text_of(stdout(&with(&store, &["range"]), b"")), "de\t3\nen\t0\nfr\t2\n");

    // Keys of two columns are texts with a tab between them; what makes lines equal works in each verb.
    let two = dir.join("two");
    let number =
        ["dict", "number", "--store", &two, "--with-key", "--csv", "--key", "lang,name", "--ignore-case", "--trim"];
    assert_eq!(
        text_of(stdout(&number, b"lang,name\nEN, a\ten\nen,A\tEN\nde,\n")),
        "0\ten\ta\\ten\n0\ten\ta\\ten\n1\tde\t\n"
    );
    assert_eq!(text_of(stdout(&["dict", "prefix", "--store", &two, "de\t"], b"")), "de\t\t1\n");
    let moved = dir.join("moved");
    stdout(&with(&moved, &["build", "--ignore-case"]), b"A\t5\nb\t6\n");
    assert_eq!(text_of(stdout(&with(&moved, &["number", "--ignore-case"]), b"a\nB\nc\n")), "5\n6\n7\n");
}

#[test]
fn keys_are_bytes_and_may_end_in_nul() {
    let dir = TempDir::new();
    let store = dir.join("store");
    assert_eq!(
        stdout(&["dict", "number", "-0", "--store", &store], b"a\nb\0\xFF\xFE\0\0a\nb\0"),
        b"0\x001\x002\x000\0"
    );
    let get = ["dict", "get", "--null", "--store", &store];
    assert_eq!(stdout(&get, b"\xFF\xFE\0\0none"), b"\xFF\xFE\t1\0\t2\0");
}

#[test]
fn a_bad_line_is_named_and_those_before_it_are_kept() {
    let dir = TempDir::new();
    let store = dir.join("store");
    for (bad, reason) in [
        ("x\t4294967296", "not a number below 2^32"),
        ("x\t-1", "not a number"),
        ("x\t+1", "not a number"),
        ("x\t", "not a number"),
        ("x\t1 ", "not a number"),
        (&"k".repeat(65537), "65537"),
        (&format!("{}\t1", "k".repeat(65537)), "65536"),
    ] {
        let _ = fs::remove_dir_all(&store);
        let good = dir.file("good", b"zero\t0\n");
        let input = dir.file("bad", format!("one\t1\ntwo\t2\n{bad}\nfour\t4\n").as_bytes());
        let message = failure(&["dict", "build", "--store", &store, &good, &input], b"");
        assert!(message.contains(&format!("{input}: line 3")) && message.contains(reason), "{message}");
        assert_eq!(text_of(stdout(&["dict", "range", "--store", &store], b"")), "one\t1\ntwo\t2\nzero\t0\n");
    }
    let message =
        failure(&["dict", "number", "--store", &store], ["a\n", &"k".repeat(65537), "\n"].concat().as_bytes());
    assert!(message.contains("standard input: line 2"), "{message}");
    let message = failure(&["dict", "build", "--store", &store, &dir.join("missing")], b"");
    assert!(message.contains("missing"), "{message}");
}

#[test]
fn what_is_no_dictionary_is_refused_and_left_alone() {
    let dir = TempDir::new();
    let (dict, seen, foreign) = (dir.join("dict"), dir.join("seen"), dir.join("foreign"));
    stdout(&["dict", "build", "--store", &dict], b"a\n");
    stdout(&["seen", "--store", &seen], b"a\n");
    fs::create_dir(&foreign).unwrap();
    fs::write(format!("{foreign}/notes.txt"), "mine").unwrap();

    let message = failure(&["seen", "--store", &dict], b"b\n");
    assert!(message.contains("this is a dictionary of numbers"), "{message}");
    for command in ["build", "get", "delete", "number"] {
        let message = failure(&["dict", command, "--store", &seen], b"b\n");
        assert!(message.contains("this is the set of a `furui seen --store`"), "{message}");
        let message = failure(&["dict", command, "--store", &foreign], b"b\n");
        assert!(message.contains("holds other files"), "{message}");
    }
    for command in ["get", "delete"] {
        let missing = dir.join("missing");
        let message = failure(&["dict", command, "--store", &missing], b"b\n");
        assert!(message.contains(&missing) && !fs::exists(&missing).unwrap(), "{message}");
    }
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
    assert_eq!(stdout(&["seen", "--store", &seen], b"a\n"), b"");
    assert_eq!(text_of(stdout(&["dict", "range", "--store", &dict], b"")), "a\t0\n");
}

#[test]
fn info_says_what_it_is_and_verify_names_the_damage() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["dict", "build", "--store", &store], &text(&lines(3000, 5)));
    let info = text_of(stdout(&["info", &store], b""));
    assert!(info.contains("a dictionary") && info.contains("next id") && info.contains("1 trie"), "{info}");
    let json = text_of(stdout(&["info", "--json", &store], b""));
    assert!(json.contains(r#""kind":"dict""#) && json.contains(r#""tries":1"#), "{json}");
    let file = trie_file(&store);
    stdout(&["verify", &file], b"");
    assert!(text_of(stdout(&["info", &file], b"")).contains("a trie of a dictionary"));
    stdout(&["verify", &store], b"");

    let good = fs::read(&file).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&file, bad).unwrap();
    let message = failure(&["verify", &store], b"");
    assert!(message.contains(&file) && message.contains("at byte"), "{message}");
    fs::write(&file, &good[..good.len() - 1]).unwrap();
    let message = failure(&["dict", "get", "--store", &store], b"a\n");
    assert!(message.contains(&file) && message.contains("truncated"), "{message}");
    fs::remove_file(&file).unwrap();
    let message = failure(&["dict", "get", "--store", &store], b"a\n");
    assert!(message.contains(&file) && message.contains("missing"), "{message}");
}

#[test]
fn numbers_come_while_the_input_is_still_open_and_others_are_kept_out() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut child = furui()
        .args(["dict", "number", "--store", &store])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for (line, number) in [("a", 0), ("b", 1), ("a", 0), ("c", 2)] {
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert_eq!(answer, format!("{number}\n"));
    }
    let message = failure(&["dict", "number", "--store", &store], b"x\n");
    assert!(message.contains(&store) && message.contains("in use"), "{message}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// Kills the process at a random point of a run, again and again with different words. Among the numbers printed by all
/// runs, each word has one number, and each number belongs to one word.
#[test]
fn after_kill_no_number_that_was_printed_is_given_to_another_word() {
    ["compact", "louds"].into_iter().for_each(no_number_is_given_again_after_kill);
}

fn no_number_is_given_again_after_kill(layout: &str) {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut number_of: HashMap<String, u32> = HashMap::new();
    let mut word_of: HashMap<u32, String> = HashMap::new();
    for round in 0..5usize {
        let words = lines(30_000, round as u64);
        let mut child = furui()
            .args(["dict", "number", "--layout", layout, "--store", &store])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = text(&words);
        // The input arrives in pieces, so that there are many moments at which numbers are made durable.
        let writer = std::thread::spawn(move || bytes.chunks(40_000).try_for_each(|piece| input.write_all(piece)));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        for _ in 0..round * 5000 {
            output.read_line(&mut printed).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = writer.join().unwrap();
        output.read_to_string(&mut printed).unwrap();
        // A kill may cut off the last line.
        let whole = printed.rfind('\n').map_or("", |end| &printed[..end]);
        for (word, number) in words.iter().zip(whole.lines()) {
            let number: u32 = number.parse().unwrap();
            assert_eq!(*number_of.entry(word.clone()).or_insert(number), number, "round {round}");
            assert_eq!(word_of.entry(number).or_insert_with(|| word.clone()), word, "round {round}");
        }
    }
    assert!(number_of.len() > 1000, "{}", number_of.len());
    stdout(&["verify", &store], b"");
}

#[test]
fn a_stream_is_numbered_as_by_hand() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let words = lines(60_000, 3);
    let numbers: HashMap<&String, usize> = HashMap::new();
    let expected = words.iter().fold((numbers, String::new()), |(mut numbers, mut out), word| {
        let next = numbers.len();
        let number = numbers.entry(word).or_insert(next);
        out += &format!("{number}\n");
        (numbers, out)
    });
    let file = dir.file("words", &text(&words));
    assert!(text_of(stdout(&["dict", "number", "--store", &store, &file], b"")) == expected.1);
    let all = text_of(stdout(&["dict", "range", "--store", &store], b""));
    assert_eq!(all.lines().count(), distinct(&words).len());
    assert!(all.lines().is_sorted_by_key(|line| line.split_once('\t').unwrap().0));
}
