//! Reads any bytes as a page in any claimed charset, as Markdown, as text and as a sitemap: the result is a value or an
//! error.
#![no_main]

use furui_pages::{Format, Kind, Media, Page, Sitemap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let charset = ["utf-8", "windows-1252", "utf-16le", "shift_jis", "gb18030", "iso-2022-jp", "none such", ""];
    let charset = charset.get(usize::from(choice % 16)).map(|name| (*name).to_owned());
    for kind in [Kind::Html, Kind::Markdown, Kind::Text] {
        let page = Page::read(bytes, &Media { kind, charset: charset.clone() });
        if let (Ok(page), Kind::Html) = (page, kind) {
            assert!(page.text.len() <= 3 * bytes.len() && page.title.len() <= 3 * bytes.len());
            assert_eq!(page.text, page.text.trim_matches(['\n', ' ']));
        }
    }
    Sitemap::read(bytes);
    Format::of("", bytes);
});
