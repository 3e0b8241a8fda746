//! Finds the browser in which the search page is tested.

use crate::command::{install, is_there};

/// The names that the browser's program has on different systems.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Returns the name of an installed Chromium program. If there is none, installs it on systems based on Debian, where
/// the user has the right to do so.
pub(crate) fn ensure() -> Result<&'static str, String> {
    if let Some(name) = found() {
        return Ok(name);
    }
    let missing = "there is no Chromium, in which the search page is tested";
    install("chromium").map_err(|why| {
        let names = NAMES.join(", ");
        format!(
            "{missing}, and it could not be installed ({why}); install it so that one of these is in the PATH: {names}"
        )
    })?;
    found().ok_or_else(|| format!("{missing}, although it was installed; put it into the PATH"))
}

fn found() -> Option<&'static str> {
    NAMES.into_iter().find(|name| is_there(name))
}
