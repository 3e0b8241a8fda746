//! The links of Markdown pages: where they stand, and whether they lead somewhere.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Directories whose Markdown is not for readers: sources, fixtures, and outputs of builds.
const LEFT_OUT: [&str; 4] = ["src", "tests", "target", "python"];

/// A link of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The link with its text and brackets, as bytes of the page.
    pub(super) whole: Range<usize>,
    /// Its text, as bytes of the page.
    pub(super) text: Range<usize>,
    /// What it leads to, as bytes of the page.
    pub(super) target: Range<usize>,
}

/// All pages below a directory, in the order of their paths.
pub(super) fn pages(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![];
    let entries = fs::read_dir(dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    for entry in entries.map_err(|error| format!("cannot list {}: {error}", dir.display()))? {
        let (path, name) = (entry.path(), entry.file_name());
        match path.is_dir() {
            true if LEFT_OUT.iter().any(|one| name == *one) || name.as_encoded_bytes().starts_with(b".") => {}
            true => found.extend(pages(&path)?),
            false => found.extend(path.extension().is_some_and(|end| end == "md").then_some(path)),
        }
    }
    found.sort();
    Ok(found)
}

/// Fails if a link of a page below `root` leads to no file, or to no heading of a page.
pub(super) fn check(root: &Path) -> Result<(), String> {
    let pages = pages(root)?;
    let read = |page: &PathBuf| {
        let text = fs::read_to_string(page).map_err(|error| format!("cannot read {}: {error}", page.display()))?;
        Ok((page.clone(), text))
    };
    let texts = pages.iter().map(read).collect::<Result<HashMap<PathBuf, String>, String>>()?;
    let mut dead = vec![];
    for page in &pages {
        let text = &texts[page];
        for link in links(text) {
            let target = &text[link.target.clone()];
            let Some((file, anchor)) = local(page, target) else { continue };
            let is_there = match (anchor, texts.get(&file)) {
                (Some(anchor), Some(other)) => anchors(other).iter().any(|one| one == anchor),
                (None, _) => file.exists(),
                (Some(_), None) => false,
            };
            if !is_there {
                let line = text[..link.target.start].lines().count();
                dead.push(format!("{}:{line}: {target}", page.strip_prefix(root).unwrap_or(page).display()));
            }
        }
    }
    match dead.is_empty() {
        true => Ok(()),
        false => Err(format!("these links lead nowhere:\n{}", dead.join("\n"))),
    }
}

/// The file that a link leads to, and its anchor. `None` if it leads out of the repository, or to an item of Rust.
pub(super) fn local<'a>(page: &Path, target: &'a str) -> Option<(PathBuf, Option<&'a str>)> {
    if target.contains("::") || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { page.to_owned() } else { plain(&page.with_file_name(file)) };
    Some((path, anchor))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The links and images of a page, in order.
pub(super) fn links(page: &str) -> Vec<Link> {
    let prose = without_code(page);
    let mut found = vec![];
    for (middle, _) in prose.match_indices("](") {
        let start = middle + 2;
        let Some(end) = prose[start..].find(')').map(|length| start + length) else { continue };
        let target = prose[start..end].split_whitespace().next().unwrap_or_default();
        // The text may have brackets of its own, as that of an image within a link has.
        let mut depth = 1;
        let open = prose[..middle].char_indices().rev().find(|&(_, c)| {
            depth += match c {
                ']' => 1,
                '[' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((open, _)) = open.filter(|_| !target.is_empty()) else { continue };
        found.push(Link { whole: open..end + 1, text: open + 1..middle, target: start..start + target.len() });
    }
    found
}

/// The page with spaces in the place of code, so that what stands in code is no link.
fn without_code(page: &str) -> String {
    let mut prose = String::with_capacity(page.len());
    let (mut in_block, mut in_code) = (false, false);
    for line in page.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        in_code &= !line.trim().is_empty();
        let mut is_left_out = |c: char| {
            let is_tick = c == '`' && !in_block && !is_fence;
            in_code ^= is_tick;
            (in_block || is_fence || in_code || is_tick) && c != '\n'
        };
        // As many bytes as before, so that places in the text are places in the page.
        line.chars().for_each(|c| match is_left_out(c) {
            true => prose.extend(std::iter::repeat_n(' ', c.len_utf8())),
            false => prose.push(c),
        });
        in_block ^= is_fence;
    }
    prose
}

/// The anchors of a page's headings, as hosts of repositories and mdBook make them.
fn anchors(page: &str) -> Vec<String> {
    let mut in_block = false;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = page.lines().filter_map(|line| {
        in_block ^= line.trim_start().starts_with("```");
        let text = line.trim_start_matches('#');
        (!in_block && text.len() < line.len()).then(|| text.strip_prefix(' ')).flatten()
    });
    let anchor = |heading: &str| {
        let mut heading = heading.to_owned();
        for link in links(&heading).into_iter().rev() {
            let text = heading[link.text].to_owned();
            heading.replace_range(link.whole, &text);
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = seen.entry(anchor.clone()).or_default();
        *before += 1;
        if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
    };
    headings.map(anchor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(page: &str) -> Vec<&str> {
        links(page).into_iter().map(|link| &page[link.target]).collect()
    }

    #[test]
    fn links_in_code_are_none_and_images_in_links_are_two() {
        let page =
            "[a](b.md#c), `[x](y)` and [`d`](e.md)\n```\n[x](y)\n```\n[![f](g.svg)](h.md \"title\") 篩 [i\nj](k)";
        assert_eq!(targets(page), ["b.md#c", "e.md", "g.svg", "h.md", "k"]);
        let outer = &links(page)[3];
        assert_eq!(&page[outer.text.clone()], "![f](g.svg)");
        assert_eq!(&page[outer.whole.clone()], "[![f](g.svg)](h.md \"title\")");
    }

    #[test]
    fn anchors_are_those_of_headings() {
        let page = "# A `b`, and c: 39 % and 73 %\n## Same\n```\n# no\n```\n## Same\n#no\n### [Link](x.md) of É";
        assert_eq!(anchors(page), ["a-b-and-c-39--and-73-", "same", "same-1", "link-of-é"]);
    }

    #[test]
    fn dead_links_are_named_with_their_place() {
        let dir = std::env::temp_dir().join(format!("furui-pages-{}", std::process::id()));
        fs::create_dir_all(dir.join("docs")).unwrap();
        fs::write(dir.join("a.md"), "# A\n\n[b](docs/b.md#b) [c](docs/b.md#c)\n[d](d.md) [e](https://e.example)")
            .unwrap();
        fs::write(dir.join("docs/b.md"), "# B\n[a](../a.md) [a](../a.md#a) [own](#b) [x](furui::X)").unwrap();
        let error = check(&dir).unwrap_err();
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(error, "these links lead nowhere:\na.md:3: docs/b.md#c\na.md:4: d.md");
    }
}
