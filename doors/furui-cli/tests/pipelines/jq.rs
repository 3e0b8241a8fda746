//! jq keeps the first value of each key by `unique_by`, which sorts stably. The order of the input is then restored.

use std::fmt::Write;

use serde_json::json;

use super::{furui, other, random};
use crate::damage::random::Random;
use crate::support::TempDir;

/// Texts of values that occur again and again. All texts of a row stand for the same value.
const VALUES: [&[&str]; 14] = [
    &["1", "1.0", "1e0", "10e-1", "0.1E+1"],
    &["\"1\""],
    &["0", "-0", "0.0", "0e5"],
    &["100", "1e2", "1E+2"],
    &["-2.5", "-25e-1"],
    &["9007199254740991"],
    &["\"\"", "\"\""],
    &["\"A\"", "\"\\u0041\""],
    &["\"a\\\"b\\\\/\\n\"", "\"\\u0061\\u0022b\\\\\\/\\u000a\""],
    &["\"日本😀\"", "\"\\u65e5\\u672c\\ud83d\\ude00\""],
    &["null"],
    &["true"],
    &["[1,{\"a\":[]}]"],
    &["{\"a\":1,\"b\":[2]}"],
];

/// Writes one to three files of JSON values, whose records are numbered by `id` in one sequence, and returns their
/// paths. With `twice`, an object may have several members of one name.
pub fn files(random: &mut Random, dir: &TempDir, case: usize, values: &[&[&str]], twice: bool) -> Vec<String> {
    let (mut id, count) = (0, 1 + random.below(3));
    let file = |nth| {
        let mut text = String::from(if random.below(3) == 0 { "\u{FEFF}" } else { "" });
        let most = *random.pick(&[0, 1, 20, 200]);
        let (line_break, ends) = (*random.pick(&["\n", "\r\n"]), random.below(2) == 0);
        for _ in 0..random.below(most + 1) {
            id += 1;
            let mut value = || {
                let texts = *random.pick(values);
                *random.pick(texts)
            };
            let (first, second) = (value(), value());
            let space = *random.pick(&["", " ", "\t"]);
            let more = format!("{space}\"other\":{{\"q\":{space}{}}}", random.below(3));
            let record = match random.below(10) {
                0 => format!("{{\"id\":{id},\"k\":{second}}}"),
                1 => format!("{{\"id\":{id},\"p\":{{\"r\":{first}}},\"k\":{second}}}"),
                2 => format!("{{\"id\":{id},\"p\":{{\"q\":{first}}},{more}}}"),
                // Among several members with the same name, the last one counts.
                3 if twice => format!("{{\"k\":0,\"id\":{id},\"p\":{{\"q\":0,\"q\":{first}}},\"k\":{second}}}"),
                4 => format!(
                    " {{{more},\"p\":{{\"r\":1,{space}\"q\"{space}:{first}}},\"id\":{id},\"k\":{second}{space}}} "
                ),
                _ => format!("{{\"id\":{id},\"p\":{{\"q\":{first}}},\"k\":{second}}}"),
            };
            let _ = write!(text, "{record}{line_break}");
        }
        let end = text.len() - if ends || text.len() < 4 { 0 } else { line_break.len() };
        dir.file(&format!("{case}-{nth}.json"), &text.as_bytes()[..end])
    };
    (0..count).map(file).collect()
}

/// The numbers of records.
pub fn ids(records: &[u8]) -> Vec<u64> {
    // A byte order mark is printed with its record.
    let records = std::str::from_utf8(records).unwrap().lines().map(|line| line.trim_start_matches('\u{FEFF}'));
    records.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap()).collect()
}

#[test]
#[ignore = "needs jq: cargo xtask test pipelines"]
fn json_records_are_those_of_jq() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..30 {
        let files = files(&mut random, &dir, case, &VALUES, true);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        for (keys, has, values) in [
            ("/p/q", "has(\"p\") and (.p | has(\"q\"))", ".p.q"),
            ("/k,/p/q", "has(\"k\") and has(\"p\") and (.p | has(\"q\"))", ".k, .p.q"),
            ("/k", "has(\"k\")", ".k"),
        ] {
            let ours = furui(&[&["seen", "--json", "--missing", "drop", "--key", keys], &files[..]].concat(), b"");
            let program = format!("map(select({has})) | unique_by([{values}]) | sort_by(.id) | .[].id");
            // jq accepts a byte order mark only at the beginning of its whole input, so the marks of the files are
            // removed.
            let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
            let input: String = texts.map(|text| format!("{}\n", text.trim_start_matches('\u{FEFF}'))).collect();
            let theirs = other("jq", &["-s", &program], input.as_bytes());
            let theirs: Vec<u64> = String::from_utf8(theirs).unwrap().lines().map(|id| id.parse().unwrap()).collect();
            assert_eq!(ids(&ours), theirs, "--key {keys} {files:?}");
        }
    }
}

#[test]
#[ignore = "needs jq: cargo xtask test pipelines"]
fn furui_and_jq_differ_in_these_values() {
    let count = |values: &[&str]| {
        let input: String = values.iter().map(|value| format!("{{\"a\":{value}}}\n")).collect();
        let ours = furui(&["seen", "--json", "--key", "/a"], input.as_bytes());
        let theirs = other("jq", &["-s", "unique_by(.a) | length"], input.as_bytes());
        (
            ours.split_inclusive(|&byte| byte == b'\n').count(),
            String::from_utf8(theirs).unwrap().trim().parse().unwrap(),
        )
    };
    assert_eq!(count(&["1", "1.0", "\"1\"", "1e0"]), (2, 2));
    // furui compares all decimal digits; jq compares the numbers of 64 bits nearest to them.
    assert_eq!(count(&["12345678901234567890123", "12345678901234567890124"]), (2, 1));
    // Objects and arrays are compared by their bytes.
    assert_eq!(count(&["{\"x\":1,\"y\":2}", "{\"y\":2,\"x\":1}"]), (2, 1));
    assert_eq!(count(&["[1]", "[ 1 ]", "[1.0]"]), (3, 1));
    // UTF-8 cannot encode a surrogate without its other half: furui compares its escapes, and jq replaces it, or stops.
    let alone = b"{\"a\":\"\\ud800\"}\n{\"a\":\"\\ud801\"}\n{\"a\":\"\\ud800\"}\n";
    assert_eq!(furui(&["seen", "--json", "--key", "/a"], alone), alone[..alone.len() / 3 * 2]);
    // Without a key whole lines are compared.
    assert_eq!(furui(&["seen", "--json"], b"{\"a\":1}\n{\"a\": 1}\n{\"a\":1}\n"), b"{\"a\":1}\n{\"a\": 1}\n");
    // Where a value on a line is not JSON, furui says so, and jq stops.
    let broken = json!({ "a": 1 }).to_string() + "\n{\"a\":\n";
    assert!(crate::support::failure(&["seen", "--json", "--key", "/a"], broken.as_bytes()).contains("line 2"));
}
