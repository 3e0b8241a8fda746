//! Miller keeps the first row of each key by `head -n 1 -g KEYS`.

use super::{furui, other, random};
use crate::pipelines::table::{NAMES, Table, ids, rows_of, write};
use crate::support::TempDir;

/// How often each test makes random files.
const CASES: usize = 30;

/// Runs `furui` and Miller on files.
fn both(options: &[&str], keys: &str, miller: &[&str], files: &[String]) -> (Vec<u8>, Vec<u8>) {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let ours = furui(&[&["seen", "--key", keys], options, &files].concat(), b"");
    let chain = ["head", "-n", "1", "-g", keys];
    (ours, other("mlr", &[miller, &chain, &files].concat(), b""))
}

#[test]
#[ignore = "needs Miller: cargo xtask test pipelines"]
fn csv_rows_are_those_of_miller() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..CASES {
        let tables = Table::some(&mut random);
        let columns: &[usize] = if random.below(4) == 0 { &[0] } else { &[0, 1, 2, 3, 4] };
        // Miller joins the values of several keys by commas. Two values of which only one may have a comma are still
        // distinguished; three values are not always.
        let keys =
            if columns.len() == 1 { "id" } else { *random.pick(&["url", "lang", "lang,url", "url,the text", "id"]) };
        let mut files: Vec<Vec<u8>> = tables.iter().map(|table| table.csv(columns, &mut random)).collect();
        files.insert(random.below(files.len() + 1), vec![]);
        let files = write(&dir, case, &files);
        let (ours, theirs) = both(&["--csv"], keys, &["--csv"], &files);
        assert_eq!(rows_of(&ours), rows_of(&theirs), "--key {keys} {files:?}");
    }
}

#[test]
#[ignore = "needs Miller: cargo xtask test pipelines"]
fn rows_without_a_key_are_dropped_as_by_miller() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..CASES {
        let mut tables = Table::some(&mut random);
        for row in tables.iter_mut().flat_map(|table| &mut table.rows) {
            // Some versions of Miller take a missing field for an empty one, and here no other field is empty.
            row.iter_mut().filter(|field| field.is_empty()).for_each(|field| field.push('e'));
            match random.below(4) {
                // A row of one field, which is the number of the row.
                0 => row.truncate(1 + random.below(NAMES.len())),
                1 => row.extend(vec!["more".to_owned(); random.below(3)]),
                _ => {}
            }
        }
        let keys = *random.pick(&["url", "the text", "lang,url"]);
        let columns: Vec<usize> = (0..NAMES.len() + 3).collect();
        let files: Vec<Vec<u8>> = tables.iter().map(|table| table.csv(&columns, &mut random)).collect();
        let files = write(&dir, case, &files);
        let options = ["--csv", "--missing", "drop"];
        let is_there = keys.split(',').map(|key| format!("is_not_empty(${{{key}}})")).collect::<Vec<_>>().join(" && ");
        let miller = ["--icsv", "--ojson", "--allow-ragged-csv-input", "filter", &is_there, "then"];
        let (ours, theirs) = both(&options, keys, &miller, &files);
        let theirs: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(&theirs).unwrap();
        let theirs: Vec<u32> = theirs.iter().map(|row| row["id"].to_string().parse().unwrap()).collect();
        assert_eq!(ids(&rows_of(&ours)), theirs, "--key {keys} {files:?}");
    }
}

#[test]
#[ignore = "needs Miller: cargo xtask test pipelines"]
fn tsv_rows_are_those_of_miller() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..CASES {
        let tables = Table::some(&mut random);
        // TSV has no quoting: quotation marks are bytes like others. Miller reads \n and \t in fields as a newline and
        // a tab, and furui does not, so there are no backslashes here.
        let line = |fields: &[String], crlf| {
            let fields: Vec<String> = fields.iter().map(|field| field.replace('\n', "/")).collect();
            format!("{}{}", fields.join("\t"), if crlf { "\r\n" } else { "\n" })
        };
        let header: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        let files: Vec<Vec<u8>> = tables
            .iter()
            .map(|table| {
                std::iter::once(&header).chain(&table.rows).map(|row| line(row, table.style.crlf)).collect::<String>()
            })
            .map(String::into_bytes)
            .collect();
        let keys = *random.pick(&["url", "lang,url", "id"]);
        let files = write(&dir, case, &files);
        let (ours, theirs) = both(&["--tsv"], keys, &["--tsv"], &files);
        let rows = |bytes: Vec<u8>| -> Vec<String> {
            let text = String::from_utf8(bytes).unwrap();
            text.lines().skip(1).map(str::to_owned).collect()
        };
        assert_eq!(rows(ours), rows(theirs), "--key {keys} {files:?}");
    }
}

#[test]
#[ignore = "needs Miller: cargo xtask test pipelines"]
fn furui_and_miller_differ_in_these_rows() {
    let dir = TempDir::new();
    let file = |name: &str, text: &[u8]| vec![dir.file(name, text)];
    let (first, second) = (b"id,a,b,c\n1,\"x,y\",x,y\n2,x,y,\"x,y\"\n".as_slice(), b"id,a\n1,x\n");
    // The values of several keys are joined by commas in Miller, so that some rows are lost.
    let (ours, theirs) = both(&["--csv"], "a,b,c", &["--csv"], &file("joined", first));
    assert_eq!((ids(&rows_of(&ours)), ids(&rows_of(&theirs))), (vec![1, 2], vec![1]));
    // A header is printed though there are no rows. Some versions of Miller print none.
    let (ours, theirs) = both(&["--csv"], "a", &["--csv"], &file("header", b"id,a\n"));
    assert_eq!(ours, b"id,a\n");
    assert!(theirs.is_empty() || theirs == ours);
    // A row is printed as it came.
    let (ours, theirs) = both(&["--csv"], "a", &["--csv"], &file("quotes", b"id,a\r\n\"1\",\"x\"\r\n"));
    assert_eq!((&*ours, &*theirs), (&b"id,a\r\n\"1\",\"x\"\r\n"[..], &b"id,a\n1,x\n"[..]));
    // An empty line has no key, even if there is one column. Some versions of Miller leave it out, and others take it
    // for an empty field.
    let (ours, theirs) = both(&["--csv"], "a", &["--csv"], &file("empty", b"a\nx\n\n\"\"\n\nx\n\"\"\n"));
    assert_eq!(ours, b"a\nx\n\n\"\"\n\n");
    assert!(theirs.starts_with(b"a\nx\n") && theirs.len() < ours.len());
    // A second file with another header is an error, whereas Miller begins another table.
    let files = [file("one", second), file("other", b"a,id\nx,1\n")].concat();
    let message = crate::support::failure(&["seen", "--csv", "--key", "a", &files[0], &files[1]], b"");
    assert!(message.contains("has other columns than"), "{message}");
}
