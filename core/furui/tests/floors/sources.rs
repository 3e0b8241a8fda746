//! Finds the paths that a Rust source file names, and where they lead.
//!
//! The sources must be formatted by `cargo fmt`.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads all sources below `dir`, as pairs of the file's name under `src` and its text. Names start with `prefix`.
pub fn read_sources(dir: &Path, prefix: &str, sources: &mut Vec<(String, String)>) -> io::Result<()> {
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

/// The houses, which are directories of crates.
pub const HOUSES: [&str; 4] = ["core", "doors", "search", "papers"];

/// A crate of the workspace.
pub struct Crate {
    pub name: String,
    /// Its files: their names under `src`, and their texts.
    pub files: Vec<(String, String)>,
}

/// Reads all crates of the workspace, except this one's tests and `fuzz`, which have no modules to speak of.
pub fn crates() -> Vec<Crate> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let houses = HOUSES.iter().flat_map(|house| fs::read_dir(root.join(house)).unwrap());
    let paths = houses.map(|entry| entry.unwrap().path()).chain([root.join("xtask")]);
    let read = |path: PathBuf| {
        let mut files = vec![];
        read_sources(&path.join("src"), "", &mut files).unwrap();
        assert!(
            files.iter().any(|(file, _)| file == "lib.rs" || file == "main.rs"),
            "no sources in {}",
            path.display()
        );
        Crate { name: path.file_name().unwrap().display().to_string(), files }
    };
    paths.filter(|path| path.join("Cargo.toml").is_file()).map(read).collect()
}

/// The names of the types that a file shows to other files, outside of comments and `#[cfg(test)]` items.
pub fn shown_types(text: &str) -> Vec<String> {
    let is_kind = |word: &&str| ["struct", "enum", "trait", "union", "type"].contains(word);
    let code = code(text);
    let names = code.lines().filter_map(|line| {
        let words = line.trim_start().strip_prefix("pub")?.trim_start_matches(|c: char| c != ' ').trim_start();
        let (kind, rest) = words.split_once(' ')?;
        is_kind(&kind).then(|| rest.split(|c| !is_in_name(c)).next().unwrap_or_default().to_owned())
    });
    names.collect()
}

/// For each name that the `use` items of a file import outside of functions and inline modules, the path as written.
pub fn imports(text: &str) -> HashMap<String, Vec<String>> {
    let code = code(text);
    let mut paths = Vec::new();
    for (at, start) in code.match_indices("use ") {
        let before = &code[code[..at].rfind('\n').map_or(0, |end| end + 1)..at];
        if before.is_empty() || before.starts_with("pub") {
            read_tree(&code[at + start.len()..], &[], &mut paths);
        }
    }
    paths.into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect()
}

/// Every path whose first name is a root, with the line on which it begins.
pub fn paths(text: &str, is_root: impl Fn(&str) -> bool) -> Vec<(usize, Vec<String>)> {
    let code = code(text);
    let mut found = Vec::new();
    for (end, _) in code.match_indices("::") {
        let start = code[..end].rfind(|c| !is_in_name(c)).map_or(0, |before| before + 1);
        // Skip the second `super` of `super::super`.
        if code[..start].ends_with(':') || !is_root(&code[start..end]) {
            continue;
        }
        let line = 1 + code[..start].matches('\n').count();
        let mut paths = Vec::new();
        read_tree(&code[start..], &[], &mut paths);
        found.extend(paths.into_iter().map(|path| (line, path)));
    }
    found
}

/// The text, line by line, with comments and `#[cfg(test)]` items replaced by blanks. An item ends at the first line of
/// its own indentation that closes a brace or is a statement.
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

/// Reads the path at the start of `text`, or each path of `a::{b, c::d}`, into `found`. Returns the text after it.
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
        // The path `module::{self}` names the module.
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
