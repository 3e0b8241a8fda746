//! Windows of sets, in the words of messages.

use furui::store::Window;

/// What a set with this window remembers, in the words of messages: "all lines" or "the last 1h".
pub fn said(window: Option<Window>) -> String {
    match window {
        None => "all lines".to_owned(),
        Some(window) => format!("the last {}", of_lines(window)),
    }
}

/// A window as text: `1h` or `1000000 lines`.
pub fn of_lines(window: Window) -> String {
    match window {
        Window::Keys(lines) => format!("{lines} lines"),
        Window::Milliseconds(_) => window.to_string(),
    }
}
