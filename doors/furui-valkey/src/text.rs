//! Arguments as text: windows and seeds.

use std::num::NonZeroU64;

use furui::store::Window;

use crate::refusal::Refusal;

/// Reads a seed: a hexadecimal number of 64 bits.
pub fn read_seed(text: &str) -> Result<u64, Refusal> {
    u64::from_str_radix(text, 16)
        .map_err(|_| Refusal::because(format!("SEED {text:?} is not a hexadecimal number of 64 bits")))
}

/// Reads a window: a number of members, or a time as in `90s`, `15m`, `12h`, `30d`.
pub fn read_window(text: &str) -> Result<Window, Refusal> {
    const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let ticks = |digits: &str, unit: u64| digits.parse::<u64>().ok()?.checked_mul(unit).and_then(NonZeroU64::new);
    if let Some(members) = ticks(text, 1) {
        return Ok(Window::Keys(members));
    }
    let time = UNITS.into_iter().find_map(|(name, unit)| ticks(text.strip_suffix(name)?, unit));
    time.map(Window::Milliseconds).ok_or_else(|| {
        Refusal::because(format!("WINDOW {text:?} is invalid: give a number of members, or a time such as 12h"))
    })
}

/// A window as [`read_window`] reads it.
pub fn window_text(window: Window) -> String {
    match window {
        Window::Keys(members) => members.to_string(),
        Window::Milliseconds(time) => format!("{time}ms"),
    }
}
