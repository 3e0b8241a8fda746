//! Reads records from any bytes, compressed or not: reading ends, and a valid record after any others is read or
//! reported.
#![no_main]

use std::io::{BufRead, BufReader};

use furui_pages::{Gunzip, Item, Page, Warc};
use libfuzzer_sys::fuzz_target;

fn read(from: impl BufRead, most: usize) -> usize {
    let mut warc = Warc::new(from);
    let mut items = 0;
    while let Some(item) = warc.next_item().expect("memory is read without errors") {
        items += 1;
        assert!(items <= most, "more items than bytes");
        if let Item::Page(capture) = item {
            let _ = Page::read(&capture.body, &capture.media);
        }
    }
    items
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes, bytes.len() + 1);
    read(BufReader::with_capacity(64, Gunzip::new(bytes)), usize::MAX);
    // A response with any bytes.
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    assert_eq!(read(&[head.as_bytes(), bytes, b"\r\n\r\n"].concat()[..], 1), 1);
});
