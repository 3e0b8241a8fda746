/// Opens the page in the user's browser, if there is a display. Failures are ignored, as the address has been printed.
pub(super) fn open(url: &str) {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_display || cfg!(any(target_os = "macos", windows)) {
        // The browser is detached, because ^C must end only the demo.
        let _ = open::that_detached(url);
    }
}
