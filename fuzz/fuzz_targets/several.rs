//! Reads any bytes as bookmarks, a mailbox, a message, a book and the history of a browser: reading ends, and yields no
//! more entries than there are bytes.
#![no_main]

use std::io::Cursor;

use furui_pages::{Bookmarks, Epub, Format, History, MAX_PAGE, Mbox, message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    Format::of("", bytes);
    if let Ok(bookmarks) = Bookmarks::read(bytes) {
        assert!(bookmarks.entries().count() <= bytes.len());
    }
    assert!(Mbox::new(bytes).count() <= bytes.len());
    if let Ok(document) = message(bytes, "") {
        assert!(document.page.text.len() <= MAX_PAGE);
    }
    if let Ok(book) = Epub::open(Cursor::new(bytes)) {
        assert!(book.count() <= bytes.len());
    }
    if let Ok(history) = History::read(bytes, bytes.len() as u64) {
        assert!(history.count() <= bytes.len() + 1);
    }
});
