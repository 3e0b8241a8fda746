//! The floors of the crate: a module names only modules on floors below its own.
//!
//! Modules on one floor do not see each other, and neither do the filters inside `filter`.
//!
//! The check reads the sources, as `cargo fmt` lays them out: every path that starts with `crate` or `super`, outside
//! comments and `#[cfg(test)]` items, is resolved to the module it names, through the re-exports of `lib.rs` and
//! `filter/mod.rs`.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

const FLOORS: [(&str, u8); 9] = [
    ("hash", 0),
    ("bits", 1),
    ("format", 1),
    ("filter", 2),
    ("error", 3),
    ("store", 4),
    ("seen", 5),
    ("dict", 5),
    ("search", 5),
];
const RULE: &str = "a module sees only lower floors: hash < bits, format < filter < error < store < seen, dict, search";

/// The modules inside `filter` that every filter may use; they use no filter themselves.
const SHARED_BY_FILTERS: [&str; 10] =
    ["batch", "concurrent", "counters", "error", "file", "least", "probes", "similarity", "sizing", "steady"];
/// The modules inside `filter` that are made of other filters.
const MADE_OF_FILTERS: [&str; 5] = ["any", "checked", "growing", "keys", "sets"];
const FILTER_RULE: &str =
    "filters do not see each other; what they share lies in filter/mod.rs and the modules named in tests/floors.rs";

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

/// Checks one file of a crate whose `lib.rs` and `filter/mod.rs` re-export names.
fn violations_of(file: &str, source: &str) -> Vec<String> {
    let crate_of = [
        ("lib.rs", "pub mod hash;\npub use error::Error;\npub use hash::{HashSpec, KeyHash};"),
        ("filter/mod.rs", "mod counting;\nmod stable;\npub use counting::CountingBloom;\npub trait Filter {}"),
        ("filter/counting.rs", ""),
        (file, source),
    ];
    violations(&crate_of.map(|(file, source)| (file.to_owned(), source.to_owned())))
}

/// Gathers (file under `src`, its text) from `dir` down; the file's name starts with `prefix`.
fn read_sources(dir: &Path, prefix: &str, sources: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().display());
        if path.is_dir() {
            read_sources(&path, &format!("{name}/"), sources)?;
        } else if name.ends_with(".rs") {
            sources.push((name, fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// One message for each path that breaks a rule.
fn violations(sources: &[(String, String)]) -> Vec<String> {
    let reexports_of =
        |name: &str| reexports(sources.iter().find(|(file, _)| file == name).map_or("", |(_, text)| text));
    let (of_crate, of_filter) = (reexports_of("lib.rs"), reexports_of("filter/mod.rs"));
    let inside_filter = sources.iter().filter_map(|(file, _)| file.strip_prefix("filter/")?.split(['/', '.']).next());
    let filters: Vec<&str> = inside_filter.filter(|name| !SHARED_BY_FILTERS.contains(name) && *name != "mod").collect();
    let mut found = Vec::new();
    for (file, text) in sources.iter().filter(|(file, _)| file != "lib.rs") {
        // filter/quotient/mod.rs is the module filter::quotient.
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        let module: Vec<String> = path.split('/').map(str::to_owned).collect();
        if floor(&module[0]).is_none() {
            found.push(format!("src/{file}: this module has no floor; give it one in tests/floors.rs"));
        }
        for (line, written) in written_paths(text) {
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

/// The rule that module `from` breaks by naming `to`; both are counted from the crate's root.
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

/// What `written` in `module` means, from the crate's root.
fn resolve(module: &[String], written: &[String]) -> Vec<String> {
    let supers = written.iter().take_while(|part| *part == "super").count();
    if supers == 0 {
        return written[1..].to_vec();
    }
    [&module[..module.len().saturating_sub(supers)], &written[supers..]].concat()
}

/// If `target[at]` is a re-exported name, puts the module it comes from before it.
fn through_reexport(target: &mut Vec<String>, at: usize, reexports: &HashMap<String, String>) {
    if let Some(module) = target.get(at).and_then(|name| reexports.get(name)) {
        target.insert(at, module.clone());
    }
}

/// From each name that `use module::name` brings into a file to the module.
fn reexports(text: &str) -> HashMap<String, String> {
    let mut paths = Vec::new();
    for tree in code(text).split("use ").skip(1) {
        read_tree(tree.trim_start_matches("self::"), &[], &mut paths);
    }
    paths
        .into_iter()
        .filter(|path| path.len() > 1)
        .map(|path| (path[path.len() - 1].clone(), path[0].clone()))
        .collect()
}

/// Every path that starts with `crate` or `super`, with the line it starts on.
fn written_paths(text: &str) -> Vec<(usize, Vec<String>)> {
    let code = code(text);
    let mut found = Vec::new();
    for (start, _) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        // Not the second `super` of `super::super`, and not the end of a longer name.
        if code[..start].ends_with(|c: char| is_in_name(c) || c == ':') {
            continue;
        }
        let line = 1 + code[..start].matches('\n').count();
        let mut paths = Vec::new();
        read_tree(&code[start..], &[], &mut paths);
        found.extend(paths.into_iter().map(|path| (line, path)));
    }
    found
}

/// The text with comments and `#[cfg(test)]` items blanked out, line by line. An item ends at the first line of its own
/// indentation that closes a brace or is a statement.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut test_item_at = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim_end();
        let statement = line.trim_start();
        let indentation = line.len() - statement.len();
        match test_item_at {
            Some(at) => {
                if indentation == at && (statement.starts_with('}') || statement.ends_with(';')) {
                    test_item_at = None;
                }
            }
            None if statement.starts_with("#[cfg(test)]") => test_item_at = Some(indentation),
            None => code.push_str(line),
        }
        code.push('\n');
    }
    code
}

/// Reads the path at the start of `text`, or each path of `a::{b, c::d}`, into `found`; returns the text after it.
fn read_tree<'a>(text: &'a str, before: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            while !group.trim_start().starts_with('}') && !group.is_empty() {
                group = read_tree(group, &path, found);
                group = group.trim_start_matches(|c| c != ',' && c != '}').trim_start_matches(',');
            }
            return group.trim_start().trim_start_matches('}');
        }
        let name = &rest[..rest.find(|c| !is_in_name(c)).unwrap_or(rest.len())];
        rest = &rest[name.len()..];
        // `module::{self}` names the module.
        if !name.is_empty() && name != "self" {
            path.push(name.to_owned());
        }
        match rest.strip_prefix("::") {
            Some(next) if !name.is_empty() => rest = next,
            _ => break,
        }
    }
    found.push(path);
    rest
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
