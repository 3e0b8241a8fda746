//! What an experiment is given.

use std::path::{Path, PathBuf};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// How and on what to run.
pub(crate) struct Context {
    /// The directory of the real data.
    pub(crate) data: Option<PathBuf>,
    /// All tiny: for tests.
    pub(crate) quick: bool,
    /// Of all that is random.
    pub(crate) seed: u64,
    /// All progress bars.
    pub(super) progress: MultiProgress,
}

impl Context {
    /// The size to run at.
    pub(crate) fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A file or directory of the real data, if it is there and the run is not a quick one.
    pub(crate) fn real(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        let path = self.data.as_ref().filter(|_| !self.quick)?.join(name);
        path.exists().then_some(path)
    }

    /// A progress bar for an experiment's own steps; it vanishes when it is dropped. Nothing is drawn where standard error
    /// is no terminal.
    pub(crate) fn bar(&self, steps: u64, what: &str) -> ProgressBar {
        let style = ProgressStyle::with_template("{msg:32} {bar:40} {pos}/{len} {elapsed}");
        let style = style.expect("a template that is one").progress_chars("##-");
        self.progress.add(ProgressBar::new(steps).with_style(style).with_message(what.to_owned()))
    }
}
