//! A real site: a tree of HTML pages on disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use super::order::Crawl;

/// Crawls the HTML pages below `root`, from the first `html/index.html` found. A link to a page that is not in the tree
/// counts as met, but leads to no further links.
pub(super) fn crawl(root: &Path, seed: u64) -> io::Result<Crawl> {
    let mut pages = HashSet::new();
    find_pages(root, "", &mut pages)?;
    let start = pages.iter().filter(|page| page.ends_with("html/index.html")).min_by_key(|page| (page.len(), *page));
    let start = start.ok_or_else(|| io::Error::other("no html/index.html among the real data"))?.clone();
    let mut result = Ok(());
    let links_of = |page: &String, targets: &mut Vec<String>| {
        if result.is_ok() && pages.contains(page) {
            result = fs::read(root.join(page)).map(|html| targets.extend(links(&html, page)));
        }
    };
    let crawl =
        Crawl::breadth_first("rust-doc", (start, seed), usize::MAX, links_of, |page| page.ends_with("/index.html"));
    result.map(|()| crawl)
}

/// Adds to `pages` the paths of the HTML pages below `directory`, relative to the root of the site, with `/` as
/// separator.
fn find_pages(directory: &Path, prefix: &str, pages: &mut HashSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            find_pages(&entry.path(), &format!("{path}/"), pages)?;
        } else if path.ends_with(".html") {
            pages.insert(path);
        }
    }
    Ok(())
}

/// The targets of the `href="..."` attributes in an HTML page, without fragments. Targets within the site are paths
/// from its root; `page` is the path of the page, to which relative links refer.
fn links(html: &[u8], page: &str) -> Vec<String> {
    const HREF: &[u8] = b"href=\"";
    let mut targets = vec![];
    let mut rest = html;
    while let Some(at) = find(rest, HREF) {
        rest = &rest[at + HREF.len()..];
        let end = rest.iter().position(|&byte| byte == b'"').unwrap_or(rest.len());
        targets.push(resolve(page, &String::from_utf8_lossy(&rest[..end])));
        rest = &rest[end..];
    }
    targets
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = haystack[from..].iter().position(|&byte| byte == needle[0]) {
        from += at;
        if haystack[from..].starts_with(needle) {
            return Some(from);
        }
        from += 1;
    }
    None
}

/// The path of a link's target if the link leads to the site; otherwise the link unchanged.
fn resolve(page: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or_default();
    let is_scheme = |scheme: &str| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if link.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) || link.starts_with("//") {
        return link.to_owned();
    }
    if link.is_empty() {
        return page.to_owned();
    }
    let mut parts: Vec<&str> = match link.starts_with('/') {
        true => vec![],
        false => page.rsplit_once('/').map_or(vec![], |(directory, _)| directory.split('/').collect()),
    };
    for part in link.trim_start_matches('/').split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_against_their_page() {
        let html = br##"<a href="../b/c.html#x">1</a> <a href="#top">2</a> <a href="/d.html">3</a>
            <a href="https://example.org/#y">4</a> <a href="./e.html">5</a> <link href="f"##;
        let expected = ["b/c.html", "a/page.html", "d.html", "https://example.org/", "a/e.html", "a/f"];
        assert_eq!(links(html, "a/page.html"), expected);
    }
}
