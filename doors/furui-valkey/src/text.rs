//! Seeds and windows as the module writes them, in replicated commands, in files and in `FURUI.INFO`. `furui` reads
//! them.

use furui::store::Window;

/// A seed, as [`furui::text::seed`] reads it.
pub fn seed_text(seed: u64) -> String {
    format!("{seed:#018x}")
}

/// A window without the spaces and the names of units that it is printed with.
pub fn window_text(window: Window) -> String {
    match window {
        Window::Keys(members) => members.to_string(),
        Window::Milliseconds(time) => format!("{time}ms"),
    }
}
