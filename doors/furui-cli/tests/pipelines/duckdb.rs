//! DuckDB finds the first row of each key by the least row number.

use serde_json::{Value, json};

use super::{furui, jq, other, random};
use crate::pipelines::table::{NAMES, Table, ids, rows_of, write};
use crate::support::TempDir;

/// The ids of the first rows of each case, as DuckDB finds them.
fn duckdb(cases: &[Value]) -> Vec<Vec<u64>> {
    let answers = other("python3", &["-c", include_str!("duckdb.py")], &serde_json::to_vec(cases).unwrap());
    serde_json::from_slice(&answers).unwrap()
}

#[test]
#[ignore = "needs DuckDB: cargo xtask test pipelines"]
fn csv_rows_are_those_of_duckdb() {
    let (mut random, dir) = (random(), TempDir::new());
    let (mut cases, mut ours) = (vec![], vec![]);
    for case in 0..30 {
        let mut tables = Table::some(&mut random);
        // Fields that differ only in the kind of a line break within quotes are different values. Miller does not
        // distinguish them.
        for field in tables.iter_mut().flat_map(|table| &mut table.rows).flatten() {
            if random.below(3) == 0 {
                *field = field.replace('\n', "\r\n");
            }
        }
        let columns = [0, 1, 2, 3, 4];
        let files: Vec<Vec<u8>> = tables.iter().map(|table| table.csv(&columns, &mut random)).collect();
        let files = write(&dir, case, &files);
        let numbers = *random.pick(&["2", "4", "5", "3,2", "2,3,4", "2,3,4,5", "5,4"]);
        let keys: Vec<&str> = numbers.split(',').map(|number| NAMES[number.parse::<usize>().unwrap() - 1]).collect();
        let arguments: Vec<&str> =
            ["seen", "--csv", "--key", numbers].into_iter().chain(files.iter().map(String::as_str)).collect();
        ours.push(ids(&rows_of(&furui(&arguments, b""))).into_iter().map(u64::from).collect::<Vec<_>>());
        cases.push(json!({ "kind": "csv", "files": files, "names": NAMES, "keys": keys }));
    }
    for ((case, ours), theirs) in cases.iter().zip(ours).zip(duckdb(&cases)) {
        assert_eq!(ours, theirs, "{case}");
    }
}

#[test]
#[ignore = "needs DuckDB: cargo xtask test pipelines"]
fn json_records_are_those_of_duckdb() {
    // DuckDB compares values as texts. It decodes strings, but only equal integers always have the same text.
    const VALUES: [&[&str]; 8] = [
        &["\"A\"", "\"\\u0041\""],
        &["\"日本\"", "\"\\u65e5\\u672c\""],
        &["\"\""],
        &["\"two\\nlines\"", "\"two\\u000alines\""],
        &["1"],
        &["\"1\""],
        &["true"],
        &["-5"],
    ];
    let (mut random, dir) = (random(), TempDir::new());
    let (mut cases, mut ours) = (vec![], vec![]);
    for case in 0..20 {
        let files = jq::files(&mut random, &dir, case, &VALUES, false);
        for keys in ["/p/q", "/k,/p/q"] {
            let options = ["seen", "--json", "--missing", "drop", "--key", keys];
            let arguments: Vec<&str> = options.into_iter().chain(files.iter().map(String::as_str)).collect();
            ours.push(jq::ids(&furui(&arguments, b"")));
            cases.push(json!({ "kind": "json", "files": files, "keys": keys.split(',').collect::<Vec<_>>() }));
        }
    }
    for ((case, ours), theirs) in cases.iter().zip(ours).zip(duckdb(&cases)) {
        assert_eq!(ours, theirs, "{case}");
    }
}
