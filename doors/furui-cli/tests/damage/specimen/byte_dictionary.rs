use std::collections::BTreeMap;

use furui::dict::{Dict, DictOptions, Layout};
use furui::raw::Rolling;
use furui::store::Directory;

use super::{Specimen, input, lines, text};
use crate::damage::script::Effect::{Reads, ReadsSettled, Verifies, Writes};
use crate::damage::script::Step;
use crate::support::{TempDir, stdout};

/// The lines that put a value for each of these keys into a dictionary of bytes.
fn entries(keys: &[String], tag: &str) -> Vec<String> {
    let value = |(i, key): (usize, &String)| format!("{key}\t{tag}{}", key.repeat(i % 7));
    keys.iter().enumerate().map(value).collect()
}

/// The entries that these lines put. Later lines replace the values of earlier ones.
fn model(lines: &[Vec<String>]) -> BTreeMap<&str, &str> {
    lines.iter().flatten().map(|line| (line.split_once('\t').unwrap().0, line.as_str())).collect()
}

/// What `dict get` prints for these keys.
fn get(model: &BTreeMap<&str, &str>, keys: &[String]) -> Vec<u8> {
    text(&keys.iter().filter_map(|key| Some((*model.get(key.as_str())?).to_owned())).collect::<Vec<_>>())
}

fn all(model: &BTreeMap<&str, &str>) -> Vec<u8> {
    text(&model.values().map(|&line| line.to_owned()).collect::<Vec<_>>())
}

/// A dictionary of bytes with three LOUDS tries. Keys that no command changes begin with s.
pub fn specimen(scratch: &TempDir) -> Specimen {
    let (settled, updated, deleted) = (lines("s", 1500), lines("u", 300), lines("d", 200));
    let directory = scratch.path().join("byte-dict");
    let store = directory.join("store");
    // With a seed, so that the files are always the same.
    let options = DictOptions { layout: Some(Layout::Louds), hash: Some(Rolling::spec(7)), ..DictOptions::default() };
    std::fs::create_dir(&directory).unwrap();
    Dict::open_bytes_with(Directory::open(&store).unwrap(), options).and_then(|mut dict| dict.sync()).unwrap();

    let change = |command, input: &[u8]| stdout(&["dict", command, "--store", store.to_str().unwrap()], input);
    let mut put = vec![entries(&settled, "1"), entries(&updated, "2"), entries(&deleted, "3")];
    change("build", &text(&put.concat()));
    let second = [&settled[..100], &updated[..50]].concat();
    put.push(entries(&second, "4"));
    change("build", &text(&put[3]));
    put.push(entries(&deleted[..10], "5"));
    change("build", &text(&put[4]));

    let inputs = scratch.path().join("byte-dict-inputs");
    input(&inputs, "asked", &settled);
    input(&inputs, "deleted", &deleted);
    let before = model(&put);
    let (settled_values, before_all) = (get(&before, &settled), all(&before));
    put.push(entries(&updated[200..], "6"));
    input(&inputs, "built", &put[5]);
    let mut after = model(&put);
    after.retain(|key, _| !deleted.iter().any(|gone| gone == key));
    let (after_all, after_updated) = (all(&after), get(&after, &updated));
    input(&inputs, "changed", &[&updated[..], &deleted].concat());

    let step = |effect, words| Step::new(effect, words, inputs.to_str().unwrap());
    let get = || step(ReadsSettled, "dict get --store store @asked").printing(settled_values.clone());
    let chapters = vec![
        vec![
            step(Verifies, "verify store"),
            step(Verifies, "verify {}"),
            step(Reads, "info store"),
            step(Reads, "info {}"),
            get(),
            step(Reads, "dict range --store store").printing(before_all.clone()),
            step(Writes, "dict build --store store @built").printing(""),
            step(Writes, "dict delete --store store @deleted").printing(""),
            step(Verifies, "verify store"),
            get(),
            step(Reads, "dict range --store store").printing(after_all),
            step(Reads, "dict get --store store @changed").printing(after_updated),
        ],
        vec![
            step(Writes, "compact store").printing(""),
            step(Verifies, "verify store"),
            get(),
            step(Reads, "dict range --store store").printing(before_all),
        ],
    ];
    let specimen = Specimen::new(&directory, "dict of bytes", &["store"], chapters);
    assert!(specimen.files.len() >= 4, "it should have several tries: {:?}", specimen.files);
    specimen
}
