use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

use furui::dict::{Dict, DictOptions, FilterHash, Layout};
use furui::raw::Rolling;
use furui::store::Directory;

use super::{Specimen, input, lines, text};
use crate::damage::script::Effect::{Reads, ReadsSettled, Verifies, Writes};
use crate::damage::script::Step;
use crate::support::{TempDir, stdout};

/// The expected contents of a dictionary.
#[derive(Default)]
struct Model {
    values: BTreeMap<String, u32>,
    next: u32,
}

impl Model {
    fn put(&mut self, key: &str, value: u32) {
        self.values.insert(key.to_owned(), value);
    }

    /// The output of `dict number` for these keys.
    fn number(&mut self, keys: &[String]) -> Vec<u8> {
        let mut number = |key: &String| {
            if !self.values.contains_key(key) {
                self.put(key, self.next);
                self.next += 1;
            }
            self.values[key].to_string()
        };
        text(&keys.iter().map(&mut number).collect::<Vec<_>>())
    }

    /// Inserts keys with values from `first` on. Returns the lines that insert them.
    fn build(&mut self, keys: &[String], first: u32) -> Vec<String> {
        let mut build = |(key, value): (&String, u32)| {
            self.put(key, value);
            self.next = self.next.max(value + 1);
            format!("{key}\t{value}")
        };
        keys.iter().zip(first..).map(&mut build).collect()
    }

    fn delete(&mut self, keys: &[String]) {
        self.values.retain(|key, _| !keys.contains(key));
    }

    /// The output of `dict get` for these keys.
    fn get(&self, keys: &[String]) -> Vec<u8> {
        let get = |key: &String| Some(format!("{key}\t{}", self.values.get(key)?));
        text(&keys.iter().filter_map(get).collect::<Vec<_>>())
    }

    fn range(&self, from: &str, to: &str) -> Vec<u8> {
        let range = self.values.range::<str, _>((Included(from), Excluded(to)));
        text(&range.map(|(key, value)| format!("{key}\t{value}")).collect::<Vec<_>>())
    }
}

/// A dictionary of four tries in each layout. Keys that no command changes begin with s.
pub fn specimens(scratch: &TempDir) -> [Specimen; 2] {
    // The seed is fixed, so that the files are always equal.
    let usual = DictOptions { hash: Some(Rolling::spec(7)), ..DictOptions::default() };
    let louds = DictOptions { layout: Some(Layout::Louds), filter_hash: Some(FilterHash::Polynomials4), ..usual };
    [specimen(scratch, "dict", usual), specimen(scratch, "dict-louds", louds)]
}

fn specimen(scratch: &TempDir, name: &str, options: DictOptions) -> Specimen {
    let (settled, updated, deleted) = (lines("s", 4000), lines("u", 600), lines("d", 600));
    let (numbered, built, absent) = (lines("n", 60), lines("p", 100), lines("s/absent", 300));
    let directory = scratch.path().join(name);
    let store = directory.join("store");
    std::fs::create_dir(&directory).unwrap();
    Dict::open_with(Directory::open(&store).unwrap(), options).and_then(|mut dict| dict.sync()).unwrap();

    let mut model = Model::default();
    let change = |command, input: &[u8]| stdout(&["dict", command, "--store", store.to_str().unwrap()], input);
    let first = [&settled[..3000], &updated, &deleted].concat();
    change("build", &text(&model.build(&first, 10)));
    assert_eq!(change("number", &text(&settled[2500..3900])), model.number(&settled[2500..3900]));
    model.delete(&deleted[..400]);
    change("delete", &text(&deleted[..400]));
    assert_eq!(change("number", &text(&settled[3800..])), model.number(&settled[3800..]));

    let inputs = scratch.path().join(format!("{name}-inputs"));
    let asked = [&settled[..], &absent].concat();
    input(&inputs, "asked", &asked);
    let (before, get) = (model.range("", "~"), model.get(&asked));
    let (prefix, range) = (model.range("s/a/", "s/a0"), model.range("s/", "s0"));
    let numbers = [&settled[..500], &numbered, &settled[3500..]].concat();
    input(&inputs, "numbers", &numbers);
    let numbers = model.number(&numbers);
    let next = model.next;
    input(&inputs, "built", &model.build(&[&updated[..300], &built].concat(), next + 5));
    input(&inputs, "deleted", &deleted);
    model.delete(&deleted);
    let after = model.range("", "~");
    let changed = [&updated[..], &deleted, &numbered, &built].concat();
    input(&inputs, "changed", &changed);

    let step = |effect, words| Step::new(effect, words, inputs.to_str().unwrap());
    let get = || step(ReadsSettled, "dict get --store store @asked").printing(get.clone());
    let range = || step(ReadsSettled, "dict range --store store s/ s0").printing(range.clone());
    let chapters = vec![
        vec![
            step(Verifies, "verify store"),
            step(Verifies, "verify {}"),
            step(Reads, "info store"),
            step(Reads, "info --json store"),
            step(Reads, "info {}"),
            step(Reads, "info --json {}"),
            get(),
            step(Reads, "dict prefix --store store s/a/").printing(prefix),
            step(Reads, "dict range --store store").printing(before.clone()),
            step(Writes, "dict number --store store @numbers").printing(numbers),
            step(Writes, "dict build --store store @built").printing(""),
            step(Writes, "dict delete --store store @deleted").printing(""),
            step(Verifies, "verify store"),
            get(),
            range(),
            step(Reads, "dict range --store store").printing(after),
            step(Reads, "dict get --store store @changed").printing(model.get(&changed)),
        ],
        vec![
            step(Writes, "compact store").printing(""),
            step(Verifies, "verify store"),
            get(),
            range(),
            step(Reads, "dict range --store store").printing(before),
        ],
    ];
    let specimen = Specimen::new(&directory, name, &["store"], chapters);
    assert!(specimen.files.len() >= 5, "it should have several tries: {:?}", specimen.files);
    specimen
}
