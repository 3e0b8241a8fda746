//! Decodes any 4 KiB as a page: the result is an error, or a page whose operations do not panic.
#![no_main]

use furui::raw::{PAGE_BYTES, Page, RemainderBits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u64, u64, &[u8])| {
    let (bits, first, hash, bytes) = input;
    let Some(bits) = RemainderBits::new(u32::from(bits)) else { return };
    let mut page = [0; PAGE_BYTES];
    let count = bytes.len().min(PAGE_BYTES);
    page[..count].copy_from_slice(&bytes[..count]);
    if let Ok(page) = Page::new(&page, first, bits) {
        let mut keys = Vec::new();
        let _ = page.decode(&mut keys);
        let _ = (page.len(), page.contains(hash), page.check());
        for &key in keys.iter().take(4) {
            let _ = page.contains(key);
        }
    }
});
