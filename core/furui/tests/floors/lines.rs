//! Finds prose that is wider than code may be: on the pages of the repository, and in comments.

use std::fs;
use std::path::{Path, PathBuf};

use super::sources::{HOUSES, read_sources};

/// The width of code, which `max_width` in rustfmt.toml sets.
const WIDTH: usize = 120;

/// The directories of pages, beside those of the crates. Programs make the pages in `docs/papers` and `bench/runs`; the
/// changelog, to which every change adds, is as its authors left it.
const PAGES: [&str; 4] = ["", "docs", "bench", "fuzz"];

/// The directories of sources whose comments are within the width.
const SOURCES: [&str; 6] = ["core", "doors", "search", "papers", "xtask", "fuzz/fuzz_targets"];

/// One message for each line of prose in the repository that is too long.
pub fn long_lines(root: &Path) -> Vec<String> {
    let mut found = vec![];
    let files = |directory: PathBuf| fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let crates = HOUSES.iter().flat_map(|house| files(root.join(house))).filter(|path| path.is_dir());
    for directory in PAGES.iter().map(|name| root.join(name)).chain(crates) {
        for page in files(directory) {
            if page.extension().is_some_and(|kind| kind == "md") && !page.ends_with("CHANGELOG.md") {
                let lines = too_long(&fs::read_to_string(&page).unwrap(), prose_of_page);
                found.extend(lines.iter().map(|line| format!("{}:{line}", page.strip_prefix(root).unwrap().display())));
            }
        }
    }
    for directory in SOURCES {
        let mut sources = vec![];
        read_sources(&root.join(directory), &format!("{directory}/"), &mut sources).unwrap();
        for (file, text) in sources {
            found.extend(too_long(&text, prose_of_comment).iter().map(|line| format!("{file}:{line}")));
        }
    }
    found
}

/// The numbers of the lines that are too long, have a place to break them, and are prose: neither code nor a table.
/// `prose` cuts off what stands before the text of a line; it gives `None` for a line of code.
pub fn too_long(text: &str, prose: fn(&str) -> Option<&str>) -> Vec<usize> {
    let mut is_code = false;
    let lines = (1..).zip(text.lines()).filter_map(|(number, line)| {
        let text = prose(line)?;
        is_code ^= text.starts_with("```");
        let is_long = line.chars().count() > WIDTH && text.contains(' ');
        (is_long && !is_code && !text.starts_with('|')).then_some(number)
    });
    lines.collect()
}

pub fn prose_of_page(line: &str) -> Option<&str> {
    let text = line.trim_start_matches([' ', '-', '>']);
    (!line.starts_with("    ") || text.starts_with("```")).then_some(text)
}

pub fn prose_of_comment(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!', ' ']))
}
