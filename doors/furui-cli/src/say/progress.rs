//! The progress bar of a long job.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The minimum duration of a job for which a progress bar is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that shows how much of the input was read. It appears after [`PATIENCE`] on standard error, if that is a
/// terminal.
pub struct Progress {
    read: u64,
    started: Instant,
    /// The bar exists from the beginning, so that it knows the speed, and is hidden at first.
    bar: ProgressBar,
    shown: bool,
}

impl Progress {
    /// Starts the progress bar of a job that reads these files. `what` names the job.
    pub fn new(what: &'static str, files: &[PathBuf]) -> Self {
        let bar = bar(what, total(files));
        bar.set_draw_target(ProgressDrawTarget::hidden());
        Self { read: 0, started: Instant::now(), bar, shown: false }
    }

    /// Adds `bytes` bytes to the number of bytes that were read, and updates the bar.
    pub fn advance(&mut self, bytes: usize) {
        self.read += bytes as u64;
        if !self.shown && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.set_position(self.read);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The total size of all files in bytes. `None` if one of them is not a regular file, or there are none. A file that
/// does not exist counts as empty; its reader reports the error.
pub fn total(files: &[PathBuf]) -> Option<u64> {
    if files.is_empty() {
        return None;
    }
    files.iter().try_fold(0, |sum, path| match std::fs::metadata(path) {
        _ if path.as_os_str() == "-" => None,
        Ok(data) => data.is_file().then_some(sum + data.len()),
        Err(_) => Some(sum),
    })
}

/// Makes a bar for `total` bytes, or one without a length if the size is unknown, as of a pipe.
fn bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{msg} {wide_bar} {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta}")
        }
        None => (ProgressBar::no_length(), "{msg} {spinner} {bytes}, {binary_bytes_per_sec}"),
    };
    // Only a mistake in the lines above could make a template invalid. Then the default bar is shown.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(what)
}
