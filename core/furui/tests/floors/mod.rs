//! The floors of the crate: a module names only modules on floors below its own.
//!
//! Modules on one floor do not use each other, and neither do the filters inside `filter`.
//!
//! The check reads the sources, which must be formatted by `cargo fmt`: every path that starts with `crate` or `super`,
//! outside comments and `#[cfg(test)]` items, is resolved to the module it names, through the re-exports of `lib.rs`
//! and `filter/mod.rs`.

mod circles;
mod lines;
mod shown;
mod sources;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use circles::Files;
use lines::{long_lines, prose_of_comment, prose_of_page, too_long};
use shown::types_without_example;
use sources::{crates, imports, paths, read_sources, shown_types};

const FLOORS: [(&str, u8); 11] = [
    ("text", 0),
    ("hash", 1),
    ("window", 1),
    ("bits", 2),
    ("format", 2),
    ("filter", 3),
    ("error", 4),
    ("store", 5),
    ("seen", 6),
    ("dict", 6),
    ("raw", 7),
];
const RULE: &str =
    "a module sees only lower floors: text < hash, window < bits, format < filter < error < store < seen, dict < raw";

/// The modules inside `filter` that every filter may use, and that use no filter themselves.
const SHARED_BY_FILTERS: [&str; 10] = [
    "batch",
    "concurrent",
    "counters",
    "error",
    "file",
    "probes",
    "similarity",
    "sizing",
    "smallest_size",
    "stable_point",
];
/// The modules inside `filter` that are built from other filters.
const MADE_OF_FILTERS: [&str; 6] = ["any", "bitwise", "checked", "growing", "seedless", "shared_methods"];
const FILTER_RULE: &str =
    "filters do not see each other; shared code belongs in filter/mod.rs and the modules named in tests/floors";

/// How many names may belong to two or more types of a crate, of those that other files see.
const COLLIDING: usize = 4;

#[test]
fn arrows_between_floors_point_down() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    read_sources(&src, "", &mut sources).unwrap();
    assert!(sources.iter().any(|(file, _)| file == "lib.rs"), "no sources under {}", src.display());
    let found = violations(&sources);
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn planted_violations_are_named_with_file_line_path_and_rule() {
    for (file, source, expected) in [
        ("hash.rs", "use crate::error::Error;", "src/hash.rs:1: crate::error::Error: a module sees only lower floors"),
        ("hash.rs", "fn f() -> crate::Error {}", "src/hash.rs:1: crate::Error: a module sees"),
        (
            "bits/rank.rs",
            "\n// why\nuse crate::format::Kind;",
            "src/bits/rank.rs:3: crate::format::Kind: a module sees",
        ),
        ("dict/mod.rs", "use crate::seen;", "src/dict/mod.rs:1: crate::seen: a module sees"),
        (
            "store/dir.rs",
            "use crate::{hash::KeyHash, seen::{Seen}};",
            "src/store/dir.rs:1: crate::seen::Seen: a module",
        ),
        ("filter/stable.rs", "use super::super::store::Dir;", ": super::super::store::Dir: a module sees"),
        ("filter/stable.rs", "use super::counting::Counts;", ": super::counting::Counts: filters do not see"),
        ("filter/stable.rs", "use super::{Filter, CountingBloom};", ": super::CountingBloom: filters do not see"),
        ("filter/stable.rs", "use crate::filter::counting as c;", ": crate::filter::counting: filters do not see"),
        ("filter/probes.rs", "use super::counting::MAX;", ": super::counting::MAX: filters do not see"),
        ("filter/quotient/block.rs", "use super::super::counting;", ": super::super::counting: filters do not see"),
        ("hash.rs", "#[cfg(test)]\nmod tests {\n}\nuse crate::store;", "src/hash.rs:4: crate::store: a module sees"),
        ("hash.rs", "use crate::utils::clamp;", ": crate::utils::clamp: a module sees"),
        ("utils.rs", "", "src/utils.rs: this module has no floor"),
    ] {
        let found = violations_of(file, source);
        assert!(found.len() == 1 && found[0].contains(expected), "{source}\nexpected {expected}\nfound {found:?}");
    }
}

#[test]
fn what_is_allowed_raises_nothing() {
    for (file, source) in [
        ("bits/select.rs", "use super::rank; use crate::bits::word; use crate::hash::KeyHash;"),
        ("filter/stable.rs", "use super::{Filter, clamp, probes::{self, Rate}}; use crate::KeyHash;"),
        ("filter/quotient/block.rs", "use super::merge; use super::super::Filter; use crate::filter::quotient::iter;"),
        ("filter/mod.rs", "pub use self::counting::CountingBloom; use crate::filter::stable;"),
        ("seen/mod.rs", "use crate::{Error, HashSpec, filter::CountingBloom, store::Storage};"),
        ("hash.rs", "//! See [`crate::seen`].\npub(crate) fn f() {} // unlike crate::store\nuse supercrate::x;"),
        ("hash.rs", "#[cfg(test)]\nmod tests {\n    use crate::seen::Seen;\n}\n#[cfg(test)]\nuse crate::store::Dir;"),
    ] {
        assert_eq!(violations_of(file, source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn every_public_type_shows_how_it_is_used() {
    let mut sources = Vec::new();
    read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources).unwrap();
    let found: Vec<String> = sources.iter().flat_map(|(file, text)| types_without_example(file, text)).collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn no_modules_use_each_other() {
    let mut found = vec![];
    for sources in crates() {
        let circles = Files::new(&sources.files).circles();
        found.extend(circles.into_iter().map(|circle| format!("{}: {circle}", sources.name)));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn a_name_means_one_type_in_a_crate() {
    let mut found = vec![];
    for sources in crates() {
        let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (file, text) in &sources.files {
            shown_types(text).into_iter().for_each(|name| files.entry(name).or_default().push(file));
        }
        files.retain(|_, files| files.len() > 1);
        if files.len() > COLLIDING {
            found.push(format!("{}: {} names, more than {COLLIDING}: {files:#?}", sources.name, files.len()));
        }
    }
    assert!(found.is_empty(), "these names belong to several types:\n{}", found.join("\n"));
}

#[test]
fn prose_is_as_wide_as_code_at_most() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let found = long_lines(root);
    assert!(found.is_empty(), "lines of more than 120 characters:\n{}", found.join("\n"));
}

#[test]
fn of_long_lines_only_prose_that_can_be_broken_is_named() {
    let (long, word) = ("篩 ".repeat(61), "x".repeat(130));
    let page = format!("{long}\n- {long}\n    {long}\n|{long}|\n```\n{long}\n```\n- {word}\n> {long}");
    assert_eq!(too_long(&page, prose_of_page), [1, 2, 9]);
    let source =
        format!("let a = {long};\n// {long}\n    /// {long}\n//! ```\n//! {long}\n//! ```\n/// {word}\n/// |{long}");
    assert_eq!(too_long(&source, prose_of_comment), [2, 3]);
}

#[test]
fn planted_circles_are_named_with_their_files_and_paths() {
    for (files, expected) in [
        (&[("a.rs", "use crate::b::B;"), ("b.rs", "use super::a;")][..], &["src/a.rs:1: crate::b::B, of src/b.rs"][..]),
        (
            &[("a.rs", "\nfn f() { crate::b::g() }"), ("b.rs", "use super::c::C;"), ("c.rs", "use crate::A;")],
            &["src/a.rs:2: crate::b::g", "src/b.rs:1: super::c::C", "src/c.rs:1: crate::A, of src/a.rs"],
        ),
        (
            &[
                ("m/mod.rs", "mod x;\nmod y;\nuse x::X;\nuse y::Y;"),
                ("m/x.rs", "use super::Y;"),
                ("m/y.rs", "use super::X;"),
            ],
            &["src/m/x.rs:1: super::Y, of src/m/y.rs", "src/m/y.rs:1: super::X, of src/m/x.rs"],
        ),
        (
            &[
                ("m/mod.rs", "mod x;\npub use x::X;"),
                ("m/x.rs", "use crate::n::N;"),
                ("n.rs", "use crate::m::{self, M};"),
            ],
            &["src/m/x.rs:1: crate::n::N, of src/n.rs", "src/n.rs:1: crate::m::M, of src/m/mod.rs"],
        ),
    ] {
        let found = circles_of(files);
        assert!(found.len() == 1 && expected.iter().all(|path| found[0].contains(path)), "{files:?}: {found:?}");
    }
    for files in [
        &[("a.rs", "use crate::b::B;"), ("b.rs", "//! See crate::a::A.\nuse super::c;"), ("c.rs", "")][..],
        &[("m/mod.rs", "mod x;\nuse x::X;\nconst M: u8 = 1;"), ("m/x.rs", "use super::M;")],
        &[("a.rs", "use crate::b::B;"), ("b.rs", "#[cfg(test)]\nuse crate::a::A;")],
        &[
            ("m/mod.rs", "mod x;\nmod y;\npub use x::X;"),
            ("m/x.rs", "use super::y::Y;"),
            ("m/y.rs", "use other::x::X;"),
        ],
    ] {
        assert_eq!(circles_of(files), Vec::<String>::new(), "{files:?}");
    }
}

/// The circular uses between modules in a crate with these files, and with a `lib.rs` that re-exports `A`.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let root = [("lib.rs", "mod a;\npub use a::A;")];
    let sources: Vec<_> = root.iter().chain(files).map(|(file, text)| (file.to_string(), text.to_string())).collect();
    Files::new(&sources).circles()
}

/// Checks one file of a crate whose `lib.rs` and `filter/mod.rs` re-export some names.
fn violations_of(file: &str, source: &str) -> Vec<String> {
    let crate_of = [
        ("lib.rs", "pub mod hash;\npub use error::Error;\npub use hash::{HashSpec, KeyHash};"),
        ("filter/mod.rs", "mod counting;\nmod stable;\npub use counting::CountingBloom;\npub trait Filter {}"),
        ("filter/counting.rs", ""),
        (file, source),
    ];
    violations(&crate_of.map(|(file, source)| (file.to_owned(), source.to_owned())))
}

/// One message for each path that breaks a rule.
fn violations(sources: &[(String, String)]) -> Vec<String> {
    let imports_of = |name: &str| imports(sources.iter().find(|(file, _)| file == name).map_or("", |(_, text)| text));
    let (of_crate, of_filter) = (imports_of("lib.rs"), imports_of("filter/mod.rs"));
    let inside_filter = sources.iter().filter_map(|(file, _)| file.strip_prefix("filter/")?.split(['/', '.']).next());
    let filters: Vec<&str> = inside_filter.filter(|name| !SHARED_BY_FILTERS.contains(name) && *name != "mod").collect();
    let mut found = Vec::new();
    for (file, text) in sources.iter().filter(|(file, _)| file != "lib.rs") {
        // The file filter/quotient/mod.rs is the module filter::quotient.
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        let module: Vec<String> = path.split('/').map(str::to_owned).collect();
        if floor(&module[0]).is_none() {
            found.push(format!("src/{file}: this module has no floor; give it one in tests/floors"));
        }
        for (line, written) in paths(text, |root| ["crate", "super"].contains(&root)) {
            let mut target = resolve(&module, &written);
            through_reexport(&mut target, 0, &of_crate);
            if target.first().is_some_and(|first| first == "filter") {
                through_reexport(&mut target, 1, &of_filter);
            }
            if let Some(rule) = broken_rule(&module, &target, &filters) {
                found.push(format!("src/{file}:{line}: {}: {rule}", written.join("::")));
            }
        }
    }
    found
}

/// The rule that module `from` breaks by naming `to`. Both paths begin at the crate's root.
fn broken_rule(from: &[String], to: &[String], filters: &[&str]) -> Option<&'static str> {
    let target = to.first()?;
    if *target != from[0] {
        return floor(target).is_none_or(|target| Some(target) >= floor(&from[0])).then_some(RULE);
    }
    let (Some(inside), Some(other)) = (from.get(1), to.get(1)) else { return None };
    (target == "filter"
        && !MADE_OF_FILTERS.contains(&inside.as_str())
        && filters.contains(&other.as_str())
        && other != inside)
        .then_some(FILTER_RULE)
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|&(_, floor)| floor)
}

/// The path, from the crate's root, for which `written` stands in `module`.
fn resolve(module: &[String], written: &[String]) -> Vec<String> {
    let supers = written.iter().take_while(|part| *part == "super").count();
    if supers == 0 {
        return written[1..].to_vec();
    }
    [&module[..module.len().saturating_sub(supers)], &written[supers..]].concat()
}

/// If `target[at]` is a re-exported name, inserts the module that defines it before the name.
fn through_reexport(target: &mut Vec<String>, at: usize, imports: &HashMap<String, Vec<String>>) {
    if let Some(path) = target.get(at).and_then(|name| imports.get(name)).filter(|path| path.len() > 1) {
        target.insert(at, path[0].clone());
    }
}
