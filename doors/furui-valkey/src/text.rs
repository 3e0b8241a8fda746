//! The text form of seeds and windows in replicated commands, in files and in `FURUI.INFO`. `furui` can parse it.

use furui::store::Window;

/// Formats a seed so that [`furui::text::seed`] can parse it.
pub fn seed_text(seed: u64) -> String {
    format!("{seed:#018x}")
}

/// Formats a window without the spaces and the names of units with which it is displayed.
pub fn window_text(window: Window) -> String {
    match window {
        Window::Keys(members) => members.to_string(),
        Window::Milliseconds(time) => format!("{time}ms"),
    }
}
