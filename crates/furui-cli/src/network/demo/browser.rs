use std::process::{Command, Stdio};

/// What opens an address on this system, with its first arguments.
const OPENER: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["cmd", "/C", "start", ""]
} else {
    &["xdg-open"]
};

/// Opens the page in the user's browser, if there is a display to show it on. Whether it worked is seen there; the address
/// has been printed in any case.
pub(super) fn open(url: &str) {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_display && !cfg!(any(target_os = "macos", windows)) {
        return;
    }
    let mut command = Command::new(OPENER[0]);
    command.args(&OPENER[1..]).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // ^C is for the demo: the browser is the user's, and stays.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    if let Ok(mut child) = command.spawn() {
        // So that it does not stay as a zombie.
        std::thread::spawn(move || child.wait());
    }
}
