//! How far a long job is, on a terminal.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A job that takes less says nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Bytes read of the bytes there are. Shown on standard error if that is a terminal, and if the job takes its time.
pub struct Progress {
    read: u64,
    started: Instant,
    /// From the beginning, so that it knows the speed; seen when the job has taken its time.
    bar: ProgressBar,
    shown: bool,
}

impl Progress {
    /// A job that reads these files.
    pub fn new(what: &'static str, files: &[PathBuf]) -> Self {
        let bar = bar(what, total(files));
        bar.set_draw_target(ProgressDrawTarget::hidden());
        Self { read: 0, started: Instant::now(), bar, shown: false }
    }

    /// So many bytes more were read.
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

/// The size of all files together, if they are regular files.
pub fn total(files: &[PathBuf]) -> Option<u64> {
    if files.is_empty() {
        return None;
    }
    files.iter().try_fold(0, |sum, path| {
        let data = std::fs::metadata(path).ok().filter(|data| data.is_file() && path.as_os_str() != "-")?;
        Some(sum + data.len())
    })
}

/// Of the size of all files, or of none if nobody knows: standard input, a pipe.
fn bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{msg} {wide_bar} {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta}")
        }
        None => (ProgressBar::no_length(), "{msg} {spinner} {bytes}, {binary_bytes_per_sec}"),
    };
    // A template that cannot be read would be a slip in the lines above; the usual bar does then.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(what)
}
