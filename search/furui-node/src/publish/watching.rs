use std::fs::File;
use std::io;
use std::path::Path;

use furui_net::watched::{FileReading, Stamp, Watched};
use furui_search::ContentId;

use super::sums::Sums;
use super::{Batch, Publisher, Repeats};
use crate::Error;
use crate::client::Client;
use crate::options::publish::PublishOptions;
use crate::program::Program;

/// The maximum number of read files, and of documents, that are kept in memory before the table is changed. Chosen:
/// some hundred kilobytes.
const MOST: usize = 1024;

/// The table of watched files, with the changes that are yet to be written to it.
pub(crate) struct Watching {
    watched: Watched,
    current: Option<(FileReading, File)>,
    /// Documents that were read and are not yet in the table.
    rows: Vec<(FileReading, String, ContentId)>,
    /// Files that were read to their end, and whose documents may not all have been sent.
    read: Vec<(FileReading, Stamp)>,
}

impl Watching {
    pub(crate) fn new(watched: Watched) -> Self {
        Self { watched, current: None, rows: Vec::new(), read: Vec::new() }
    }

    /// Another handle of the file that is being read.
    pub(super) fn open(&self) -> io::Result<File> {
        let (_, file) = self.current.as_ref().ok_or(io::ErrorKind::NotFound)?;
        file.try_clone()
    }

    /// Notes a document of the current file. Returns true if it is the one to be published under its URL.
    pub(super) fn claim(&mut self, url: &str, id: ContentId) -> Result<bool, Error> {
        let Some((reading, _)) = &self.current else { return Ok(false) };
        // Files are read in the order of their paths, so what was noted before comes before.
        let is_noted = self.rows.iter().any(|(_, noted, _)| noted == url);
        let is_first = !is_noted && self.watched.is_first(reading, url)?;
        self.rows.push((reading.clone(), url.to_owned(), id));
        if self.rows.len() >= MOST {
            self.write()?;
        }
        Ok(is_first)
    }

    /// Writes the noted documents to the table.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        if !self.rows.is_empty() {
            self.watched.claim(&self.rows)?;
            self.rows.clear();
        }
        Ok(())
    }
}

impl<'a> Publisher<'a> {
    /// A publisher of the files in watched directories.
    pub(crate) fn watching(
        watched: Watched,
        client: Client,
        options: &'a PublishOptions,
        program: &'a dyn Program,
    ) -> Self {
        Self {
            options,
            program,
            client,
            progress: Box::new(|_| ()),
            repeats: Repeats::Watched(Watching::new(watched)),
            batch: Batch::default(),
            sums: Sums::new(false, program),
            key: None,
        }
    }

    fn watched(&mut self) -> Option<&mut Watching> {
        match &mut self.repeats {
            Repeats::Watched(watching) => Some(watching),
            Repeats::InRun(_) => None,
        }
    }

    /// Reads a file that has changed, and publishes its documents. A file that cannot be read is left out with a
    /// message, and is read again when it has changed. Returns true if so many files were read that
    /// [`settle`](Self::settle) should be called.
    ///
    /// # Errors
    /// If the node, or the storage of the table, fails.
    pub(crate) fn watched_file(&mut self, path: &Path, file: File, stamp: Stamp) -> Result<bool, Error> {
        let Some(watching) = self.watched() else { return Ok(false) };
        let reading = FileReading { path: path.to_owned(), number: watching.watched.next_reading() };
        watching.current = Some((reading.clone(), file));
        let root = watching.watched.root_of(path).unwrap_or(path).to_owned();
        let done = match self.file(path, &root, false) {
            Ok(Ok(())) => Ok(()),
            // The node is ending, or it was a mistake: the file is read at its next start.
            Ok(Err(why)) if why.kind() == io::ErrorKind::Interrupted => {
                self.leave_out(path, &why.to_string())?;
                return Ok(false);
            }
            Ok(Err(why)) => Err(why.to_string()),
            Err(why) => {
                // If the node fails, so does the next message to it; otherwise it was the file.
                self.send()?;
                Err(why.to_string())
            }
        };
        if let Err(why) = done {
            self.sums.leave_out(&path.display().to_string(), &why)?;
        }
        let Some(watching) = self.watched() else { return Ok(false) };
        watching.current = None;
        watching.read.push((reading, stamp));
        Ok(watching.read.len() >= MOST)
    }

    /// Sends what is yet to be sent. Returns the files that were read to their end since the last call, all of whose
    /// documents are published.
    ///
    /// # Errors
    /// If the node, or the storage of the table, fails.
    pub(crate) fn settle(&mut self) -> Result<Vec<FileReading>, Error> {
        self.send()?;
        let Some(watching) = self.watched() else { return Ok(Vec::new()) };
        watching.write()?;
        let read = std::mem::take(&mut watching.read);
        watching.watched.settle(&read)?;
        Ok(read.into_iter().map(|(reading, _)| reading).collect())
    }

    /// Prints a message about a path in a watched directory that is left out.
    pub(crate) fn leave_out(&mut self, path: &Path, why: &str) -> Result<(), Error> {
        self.sums.leave_out(&path.display().to_string(), why)
    }

    /// The sums of what was published since the last call, for people; `None` if nothing was.
    pub(crate) fn take_sums(&mut self) -> Option<String> {
        let sums = std::mem::replace(&mut self.sums, Sums::new(false, self.program));
        (!sums.is_nothing()).then(|| sums.to_string())
    }
}
