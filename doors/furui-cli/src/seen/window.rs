//! Sets with a window, which remember only the last part of the stream.

use std::path::Path;

use furui::seen::{Seen, SeenOptions};
use furui::store::{Manifest, Window};

use crate::cli;
use crate::complain;
use crate::error::Error;
use crate::files::Files;
use crate::say::windows::{ahead, date, now, said};

/// Opens the set in `storage`, with the window of the options. A store with another window is an error.
pub fn open(storage: Files, settings: SeenOptions, options: &cli::SeenOptions) -> Result<Seen<Files>, Error> {
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
        Some(window) => set_clock(Seen::open_window(storage, settings, window)?, window, options)?,
        None => Seen::open_with(storage, settings)?,
    })
}

/// With --reset-clock, sets the time of a set back to that of the system's clock. Otherwise warns if it is far ahead.
fn set_clock(mut seen: Seen<Files>, window: Window, options: &cli::SeenOptions) -> Result<Seen<Files>, Error> {
    let (time, now) = (seen.set().manifest().tick, now());
    if options.reset_clock {
        seen.reset_time(now)?;
    } else if ahead(window, time, now).is_some() {
        let store = options.store.as_deref().unwrap_or(Path::new("")).display();
        complain(&Error::Message(format!(
            "{store}: its time is {}, and this machine's is {}: until this machine's time is that of the store, no \
             line is forgotten; --reset-clock sets the store's time to this machine's",
            date(time),
            date(now)
        )));
    }
    Ok(seen)
}

/// Sets the time of a set to the time of the system's clock.
pub fn tell_time(seen: &mut Seen<Files>) {
    seen.set_time(now());
}

/// A window in the syntax of the option --window.
fn asked(window: Window) -> String {
    match window {
        Window::Keys(lines) => lines.to_string(),
        Window::Milliseconds(_) => window.to_string(),
    }
}
