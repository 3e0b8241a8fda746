//! Copies the pages of the book to one directory, with the files that they link to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::pages::{links, local, pages};

/// The list of chapters, and the settings of mdBook.
const SUMMARY: &str = "docs/SUMMARY.md";
const SETTINGS: &str = "docs/book.toml";

/// Makes the directory `stage` for mdBook: the pages that the list of chapters names, at their paths below `root`, and
/// the files that they link to. A link to a page that is no chapter, or to a directory, becomes its text.
pub(super) fn copy(root: &Path, stage: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("cannot copy {}: {error}", path.display());
    let summary = root.join(SUMMARY);
    let list = fs::read_to_string(&summary).map_err(|error| failed(&summary, error))?;
    let chapters: BTreeSet<PathBuf> = links(&list)
        .into_iter()
        .filter_map(|link| local(&summary, &list[link.target]).map(|(chapter, _)| chapter))
        .collect();
    let all = pages(&root.join("docs"))?;
    if let Some(page) = all.iter().find(|page| **page != summary && !chapters.contains(*page)) {
        return Err(format!("{} is no chapter: name it in {SUMMARY}", page.display()));
    }
    if stage.exists() {
        fs::remove_dir_all(stage).map_err(|error| failed(stage, error))?;
    }
    let source = stage.join("src");
    let put = |file: &Path, text: Option<&str>| {
        let copy = source.join(file.strip_prefix(root).unwrap_or(file));
        let directory = copy.parent().unwrap_or(&source);
        fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
        let written = match text {
            Some(text) => fs::write(&copy, text),
            None => fs::copy(file, &copy).map(drop),
        };
        written.map_err(|error| failed(file, error))
    };
    for page in &chapters {
        let mut text = fs::read_to_string(page).map_err(|error| failed(page, error))?;
        for link in links(&text).into_iter().rev() {
            let Some((file, _)) = local(page, &text[link.target.clone()]) else { continue };
            if file.is_dir() || file.extension().is_some_and(|end| end == "md") && !chapters.contains(&file) {
                let words = text[link.text].to_owned();
                text.replace_range(link.whole, &words);
            } else if !chapters.contains(&file) {
                put(&file, None)?;
            }
        }
        put(page, Some(&text))?;
    }
    let mut list = list;
    for link in links(&list).into_iter().rev() {
        if let Some((chapter, _)) = local(&summary, &list[link.target.clone()]) {
            let path = chapter.strip_prefix(root).unwrap_or(&chapter).display().to_string();
            list.replace_range(link.target, &path);
        }
    }
    put(&root.join("SUMMARY.md"), Some(&list))?;
    let settings = root.join(SETTINGS);
    fs::copy(&settings, stage.join("book.toml")).map(drop).map_err(|error| failed(&settings, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_come_with_their_files_and_without_links_to_what_is_no_chapter() {
        let root = std::env::temp_dir().join(format!("furui-stage-{}", std::process::id()));
        let put = |name: &str, text: &str| {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        };
        put("README.md", "[a](docs/a.md), [a picture](docs/a.svg), [crate](core/README.md) and [all](docs)");
        put("core/README.md", "");
        put("docs/a.md", "[up](../README.md#x)");
        put("docs/a.svg", "<svg/>");
        put("docs/book.toml", "");
        put(SUMMARY, "[Home](../README.md)\n- [A](a.md)\n");
        let stage = root.join("target/docs");
        copy(&root, &stage).unwrap();
        let read = |name: &str| fs::read_to_string(stage.join("src").join(name)).unwrap();
        assert_eq!(read("README.md"), "[a](docs/a.md), [a picture](docs/a.svg), crate and all");
        assert_eq!(read("SUMMARY.md"), "[Home](README.md)\n- [A](docs/a.md)\n");
        assert_eq!((&*read("docs/a.md"), &*read("docs/a.svg")), ("[up](../README.md#x)", "<svg/>"));
        put("docs/b.md", "");
        let error = copy(&root, &stage).unwrap_err();
        fs::remove_dir_all(&root).unwrap();
        assert!(error.contains("b.md is no chapter"), "{error}");
    }
}
