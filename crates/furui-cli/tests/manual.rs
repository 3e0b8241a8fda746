//! What the command says about itself.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod support;

use std::fs;

use support::{TempDir, stdout};

#[test]
fn shells_and_readers_of_manuals_are_served() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(stdout(&["completions", shell], b"")).unwrap();
        assert!(script.contains("compact"), "{shell}");
    }
    let page = String::from_utf8(stdout(&["man"], b"")).unwrap();
    assert!(page.contains(".TH") && page.contains(".SH FURUI SEEN") && page.contains("store"), "{page}");
    let dir = TempDir::new();
    let pages = dir.join("man");
    assert_eq!(stdout(&["man", "--dir", &pages], b""), b"");
    for name in ["furui.1", "furui-seen.1", "furui-verify.1"] {
        assert!(fs::read_to_string(format!("{pages}/{name}")).unwrap().contains(".SH"), "{name}");
    }
}
