//! The links of the built book.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The attributes that lead to other files.
const LINKS: [&str; 2] = [" href=\"", " src=\""];

/// Fails if a link of a built page leads to no file, or to no place in a page. Links out of the book are not followed.
pub(super) fn check(book: &Path) -> Result<(), String> {
    let mut pages = HashMap::new();
    read(book, &mut pages)?;
    if pages.len() < 2 {
        return Err(format!("there are no pages in {}", book.display()));
    }
    let ids: HashMap<&PathBuf, HashSet<&str>> =
        pages.iter().map(|(page, text)| (page, values(text, " id=\"").collect())).collect();
    let mut dead: Vec<String> = vec![];
    for (page, text) in &pages {
        for target in LINKS.iter().flat_map(|attribute| values(text, attribute)) {
            if target.contains(':') || target.starts_with("//") {
                continue;
            }
            let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
            let file = if file.is_empty() { page.clone() } else { page.with_file_name(decoded(file)) };
            let file = fs::canonicalize(&file).unwrap_or(file);
            let is_there = match anchor.filter(|anchor| !anchor.is_empty()) {
                None => file.is_file(),
                Some(anchor) => ids.get(&file).is_some_and(|ids| ids.contains(&*decoded(anchor))),
            };
            if !is_there {
                dead.push(format!("{}: {target}", page.strip_prefix(book).unwrap_or(page).display()));
            }
        }
    }
    dead.sort();
    dead.dedup();
    match dead.is_empty() {
        true => Ok(()),
        false => Err(format!("these links of the book lead nowhere:\n{}", dead.join("\n"))),
    }
}

/// Reads all pages of HTML below a directory, by their true paths.
fn read(dir: &Path, pages: &mut HashMap<PathBuf, String>) -> Result<(), String> {
    let failed = |error| format!("cannot read {}: {error}", dir.display());
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            read(&path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            pages.insert(fs::canonicalize(&path).map_err(failed)?, text);
        }
    }
    Ok(())
}

/// The values of an attribute, which mdBook puts between double quotes. What stands outside of tags is text.
fn values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let tags = text.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    tags.filter_map(move |tag| tag.split_once(attribute)?.1.split('"').next())
}

/// A text with `%C3%A9` as é.
fn decoded(text: &str) -> String {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_stand_for_bytes_if_digits_follow() {
        assert_eq!(decoded("caf%C3%A9%2"), "café%2");
    }

    #[test]
    fn a_link_to_a_missing_file_or_place_is_named() {
        let book = std::env::temp_dir().join(format!("furui-book-{}", std::process::id()));
        fs::create_dir_all(book.join("a")).unwrap();
        fs::write(
            book.join("index.html"),
            r##"<a href="a/b.html#x">x</a> <a href="https://e.example/">&lt;a href="z"></a>"##,
        )
        .unwrap();
        fs::write(book.join("a/b.html"), r##"<h1 id="x"> <a href="../index.html"> <a href="#y"> <img src="c.svg">"##)
            .unwrap();
        let error = check(&book).unwrap_err();
        fs::remove_dir_all(&book).unwrap();
        assert_eq!(error, "these links of the book lead nowhere:\na/b.html: #y\na/b.html: c.svg");
    }
}
