//! datatrove reads what `furui export` writes, and `furui import` what datatrove writes, if both hash alike.

use std::fs;

use super::{other, random};
use crate::support::{self, TempDir, stdout, text};

#[test]
#[ignore = "needs datatrove: cargo xtask test pipelines"]
fn a_store_is_an_index_for_datatrove_and_back() {
    let (mut random, dir) = (random(), TempDir::new());
    let known: Vec<String> = support::lines(2_000, random.next()).into_iter().chain(["日本 é".into()]).collect();
    let asked: Vec<String> = support::lines(2_000, random.next())
        .into_iter()
        .chain(["日本 é".into(), "new".into(), "new".into()])
        .chain(known[..500].iter().cloned())
        .collect();
    let (known, asked) = (dir.file("known", &text(&known)), dir.file("asked", &text(&asked)));
    let (store, index) = (dir.join("store"), dir.join("index"));
    fs::create_dir(&index).unwrap();
    // XXH64 with seed 0 is datatrove's hash, unless its user chose another.
    let hash = ["--hash", "xxh64", "--hash-seed", "0"];
    stdout(&[&["seen", "-q", "--store", &store, &known], &hash[..]].concat(), b"");
    let exported = dir.join("index/furui.c4_index");
    stdout(&["export", &store, "--u64", "-o", &exported], b"");

    let script = include_str!("datatrove.py");
    let work = dir.path().to_str().unwrap();
    other("python3", &["-c", script, work], b"");
    let read = |name| fs::read(dir.join(name)).unwrap();
    // datatrove's reader finds in the file the hashes that datatrove computes for the lines.
    assert!(!read("read").is_empty() && read("read") == read("hashed"));
    // datatrove's filter leaves the documents whose lines are not in the store. If it also drops repeats, it leaves
    // the new lines, each once.
    assert!(read("not-in-index") == stdout(&["has", "-v", &store, &asked], b""));
    assert!(read("not-in-index").len() > read("new").len());
    assert!(read("new") == stdout(&["seen", "--store", &store, &asked], b""));
    // datatrove builds an index of the asked lines. Its bytes are those of the export of a store of the same lines.
    let built = dir.join("built/asked.c4_index");
    let (imported, made) = (dir.join("imported"), dir.join("made"));
    stdout(&[&["seen", "-q", "--store", &imported], &hash[..]].concat(), b"");
    stdout(&["import", &imported, &built], b"");
    assert!(stdout(&["has", &imported, &asked], b"") == fs::read(&asked).unwrap());
    stdout(&[&["seen", "-q", "--store", &made, &asked], &hash[..]].concat(), b"");
    assert!(stdout(&["export", &made, "--u64"], b"") == fs::read(built).unwrap());
}
