//! Checks that the tests named in docs/guarantees.md exist and run.
//!
//! A test exists if the test binary that was built from its file lists it, and not as ignored. Of crates whose tests
//! are not built, the source must have it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const PAGE: &str = include_str!("../../../docs/guarantees.md");

/// The tests that a line names, in the form `path.rs`: `test`, `test`.
fn named(line: &str) -> Vec<(&str, &str)> {
    let (mut named, mut file, mut before) = (vec![], None, "");
    // Text and code alternate.
    for (number, piece) in line.split('`').enumerate() {
        if number % 2 == 0 {
            before = piece;
        } else if piece.ends_with(".rs") {
            file = Some(piece);
        } else if let Some(file) = file.filter(|_| [": ", ", "].contains(&before)) {
            named.push((file, piece));
        } else {
            file = None;
        }
    }
    named
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A test binary.
struct Binary {
    path: PathBuf,
    built: SystemTime,
    /// The source of its root module, below the root of the repository.
    root: String,
}

/// The test binaries beside this one, by the sources that they were built from. Of several with one root, the newest.
struct Built(BTreeMap<String, Vec<Binary>>);

impl Built {
    fn new() -> Self {
        let mut by_source: BTreeMap<String, Vec<Binary>> = BTreeMap::new();
        let directory = env::current_exe().unwrap().parent().unwrap().to_owned();
        for entry in fs::read_dir(directory).unwrap() {
            let list = entry.unwrap().path();
            let path = list.with_extension("");
            // Only programs have no extension.
            let Some(built) = path.metadata().ok().filter(|_| list.extension().is_some_and(|end| end == "d")) else {
                continue;
            };
            let list = fs::read_to_string(list).unwrap();
            let sources = list.lines().find_map(|line| line.strip_prefix(path.to_str()?)?.strip_prefix(':'));
            let below =
                |source: &str| Some(source.trim_start_matches(root().to_str()?).trim_start_matches('/').to_owned());
            let sources: Vec<String> = sources.unwrap_or_default().split_whitespace().filter_map(below).collect();
            for source in &sources {
                let binary = Binary { path: path.clone(), built: built.modified().unwrap(), root: sources[0].clone() };
                by_source.entry(source.clone()).or_default().push(binary);
            }
        }
        Self(by_source)
    }

    /// The newest binary that was built from this file since it was changed last.
    fn of(&self, file: &str) -> Option<&Binary> {
        let changed = root().join(file).metadata().unwrap().modified().unwrap();
        let fresh = self.0.get(file)?.iter().filter(|binary| binary.built >= changed);
        fresh.filter(|binary| binary.lists_tests()).max_by_key(|binary| binary.built)
    }
}

impl Binary {
    /// False for the command itself, which is built from some of the same sources.
    fn lists_tests(&self) -> bool {
        Command::new(&self.path).args(["--list", "--format", "terse"]).output().unwrap().status.success()
    }

    fn list(&self, ignored: &[&str]) -> BTreeSet<String> {
        let output = Command::new(&self.path).args(["--list", "--format", "terse"]).args(ignored).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect()
    }

    /// The tests that run if nobody asks for the ignored ones.
    fn tests(&self) -> BTreeSet<String> {
        &self.list(&[]) - &self.list(&["--ignored"])
    }

    /// The module of a file: empty for the root.
    fn module(&self, file: &str) -> String {
        if file == self.root {
            return String::new();
        }
        let directory = self.root.rsplit_once('/').unwrap().0;
        let path = file.strip_prefix(directory).unwrap().trim_start_matches('/').trim_end_matches(".rs");
        path.trim_end_matches("/mod").replace('/', "::") + "::"
    }
}

/// True if the text of a file has a test that is not ignored. Some tests are defined by lines of a macro call.
fn is_in_text(text: &str, test: &str) -> bool {
    let define = format!("fn {test}(");
    let is_test = |attributes: &str| {
        ["#[test]", "::test]", "::test("].iter().any(|test| attributes.contains(test))
            && !attributes.contains("#[ignore")
    };
    let mut attributes = String::new();
    text.lines().map(str::trim_start).any(|line| {
        if line.trim_start_matches("async ").starts_with(&define) && is_test(&attributes)
            || line.starts_with(&format!("{test}: "))
        {
            return true;
        }
        if line.starts_with("#[") {
            attributes.push_str(line);
        } else if !line.starts_with("//") {
            attributes.clear();
        }
        false
    })
}

#[test]
fn every_line_names_tests_that_there_are() {
    let lines = PAGE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| against |"));
    let mut by_file: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in lines {
        let tests = named(line);
        assert!(!tests.is_empty() || line.ends_with("| *not tested* |"), "no test: {line}");
        assert_eq!(line.matches(".rs`: `").count(), line.matches(".rs`").count(), "a file without a test: {line}");
        tests.into_iter().for_each(|(file, test)| by_file.entry(file).or_default().extend([test]));
    }
    let built = Built::new();
    let (mut listed, mut read) = (0, vec![]);
    for (file, tests) in by_file {
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let (binary, mut there) = (built.of(file), BTreeSet::new());
        // Without the node, the binaries lack the tests that need it.
        let binary = binary.filter(|_| cfg!(feature = "node") || !text.contains("feature = \"node\""));
        match binary {
            Some(binary) => {
                let module = binary.module(file);
                let names = binary.tests();
                let own = names.iter().filter_map(|name| name.strip_prefix(&module));
                there.extend(own.map(|name| name.trim_start_matches("tests::").to_owned()));
                listed += tests.len();
            }
            None => {
                there.extend(tests.iter().filter(|test| is_in_text(&text, test)).map(|&test| test.to_owned()));
                read.push(file);
            }
        }
        for test in tests {
            assert!(there.contains(test), "{file} has no {test} that runs");
        }
    }
    println!("{listed} tests are listed by their binaries; read, because their binaries are not built: {read:?}");
    assert!(listed > 0, "not even the tests of this binary's neighbours are built");
}

#[test]
fn a_test_that_is_commented_out_or_ignored_is_none() {
    let text =
        "#[test]\nfn a() {}\n// #[test]\n// fn b() {}\n#[test]\n#[ignore = \"long\"]\nfn c() {}\n    d: case();\n";
    assert_eq!(["a", "b", "c", "d", "e"].map(|test| is_in_text(text, test)), [true, false, false, true, false]);
}
