use std::process::{Command, Stdio};

/// The command that opens an address on this system, with its leading arguments.
const OPENER: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["cmd", "/C", "start", ""]
} else {
    &["xdg-open"]
};

/// Opens the page in the user's browser, if there is a display. Failures are ignored, as the address has been printed.
pub(super) fn open(url: &str) {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_display && !cfg!(any(target_os = "macos", windows)) {
        return;
    }
    let mut command = Command::new(OPENER[0]);
    command.args(&OPENER[1..]).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The browser gets a process group of its own, because ^C must end only the demo.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    if let Ok(mut child) = command.spawn() {
        // Waiting for the process keeps it from becoming a zombie.
        std::thread::spawn(move || child.wait());
    }
}
