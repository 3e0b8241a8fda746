use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::program::{Part, Program};

/// A program whose messages go to the log, for work in the background.
pub(crate) struct Logging(pub(crate) &'static dyn Program);

impl Program for Logging {
    fn print(&self, bytes: &[u8]) -> Result<bool, Error> {
        self.0.print(bytes)
    }

    fn is_styled(&self) -> bool {
        self.0.is_styled()
    }

    fn complain(&self, message: &str) {
        tracing::warn!("{}", furui::format::Printable(message));
    }

    fn input(&self) -> io::Result<File> {
        self.0.input()
    }

    fn lines(
        &self,
        path: &Path,
        most: usize,
        take: &mut dyn FnMut(Part<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.0.lines(path, most, take)
    }

    fn progress(&self, _: &'static str, _: &[PathBuf]) -> Box<dyn FnMut(usize)> {
        Box::new(|_| ())
    }
}
