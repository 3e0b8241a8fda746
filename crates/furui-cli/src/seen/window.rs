//! Sets that remember the last part of the stream.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use furui::seen::{Seen, SeenOptions};
use furui::store::{Manifest, Storage, Window};

use crate::cli;
use crate::error::Error;
use crate::windows::said;

/// Opens the set in `storage`, with the window of the options. A store of another window is an error.
pub fn open<S: Storage>(storage: S, settings: SeenOptions, options: &cli::SeenOptions) -> Result<Seen<S>, Error> {
    if let Some(manifest) = Manifest::load(&storage)?
        && manifest.window != options.window
    {
        let asked =
            options.window.map_or("no --window was given".to_owned(), |window| format!("--window {}", asked(window)));
        return Err(Error::Message(format!(
            "{}: remembers {}, but {asked}: give the same --window as the run that made it, or name another store",
            options.store.as_deref().unwrap_or(Path::new("")).display(),
            said(manifest.window),
        )));
    }
    Ok(match options.window {
        Some(window) => Seen::open_window(storage, settings, window)?,
        None => Seen::open_with(storage, settings)?,
    })
}

/// Tells a set the time of the system's clock.
pub fn tell_time<S: Storage>(seen: &mut Seen<S>) {
    // A time before 1970 is taken for the beginning of 1970.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    seen.set_time(u64::try_from(now).unwrap_or(u64::MAX));
}

/// A window as the option --window takes it.
fn asked(window: Window) -> String {
    match window {
        Window::Keys(lines) => lines.to_string(),
        Window::Milliseconds(_) => window.to_string(),
    }
}
