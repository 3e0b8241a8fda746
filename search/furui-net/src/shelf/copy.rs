use std::fs;
use std::io;
use std::path::Path;

use furui::{Error, Result};

use super::Shelf;
use super::holdings::{DATABASE, WORDS};

impl Shelf {
    /// Copies the shelf, in its present state, into a directory that has none. Cost: the size of its files; where the
    /// file system shares the blocks of copies, less.
    ///
    /// # Errors
    /// If the shelf is in memory, an earlier change has failed, or the files cannot be read or written.
    pub fn copy(&mut self, to: &Path) -> Result<()> {
        let Some(directory) = self.directory.clone() else {
            let why = "a shelf in memory has no files";
            return Err(Error::io("cannot copy", "memory", io::Error::new(io::ErrorKind::Unsupported, why)));
        };
        // All changes are then in the files: no other thread changes them.
        self.changing(Self::flush)?;
        furui::store::snapshot(directory.join(WORDS), to.join(WORDS))?;
        let from = directory.join(DATABASE);
        let failed = |error| Error::io("cannot copy", from.display().to_string(), error);
        fs::copy(&from, to.join(DATABASE)).map_err(failed)?;
        Ok(())
    }
}
