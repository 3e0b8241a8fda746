use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use furui_net::watched::{FileReading, Stamp, Watched};
use serde::Deserialize;
use walkdir::{DirEntry, IntoIter, WalkDir};

use super::events::Events;
use super::{is_directory, is_gone};
use crate::Error;
use crate::client::Client;
use crate::gitignore::Gitignore;
use crate::options::node::NodeAddress;
use crate::options::publish::PublishOptions;
use crate::program::Program;
use crate::publish::Publisher;

/// The maximum size of a request to withdraw URLs in bytes, apart from its last URL. Chosen: half of what a node takes.
const BYTES: usize = 512 << 10;
/// The maximum number of directories that could not be read, and files under which are not withdrawn. If there are
/// more, no file is withdrawn. The value is a choice, not a measurement.
const MAX_UNREAD: usize = 256;

/// A comparison of the watched directories with what was published of them.
pub(super) struct Comparison<'a> {
    watched: &'a Watched,
    client: Client,
    program: &'a dyn Program,
    events: &'a Events,
    options: PublishOptions,
}

/// The state of a comparison.
struct Progress<'p> {
    publisher: Publisher<'p>,
    /// Files that are to be read again, because another file with the same URL has gone.
    heirs: Vec<PathBuf>,
    /// Directories and files that a failing disk or network does not show.
    unread: Vec<PathBuf>,
    withdrawn: u64,
    gitignore: Gitignore,
}

/// The JSON answer of a node to a request to withdraw documents.
#[derive(Deserialize)]
struct Withdrawn {
    withdrawn: u64,
}

/// The JSON answer of a node to the ids of published documents: the indices of those that it would publish again.
#[derive(Deserialize)]
struct StillWanted {
    wanted: Vec<usize>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(watched: &'a Watched, client: Client, program: &'a dyn Program, events: &'a Events) -> Self {
        Self { watched, client, program, events, options: PublishOptions::usual(NodeAddress::default()) }
    }

    /// Compares everything. If it is the first comparison, the node is asked whether all documents are still published.
    pub(super) fn all(&self, is_first: bool) -> Result<(), Error> {
        if is_first {
            self.ask()?;
        }
        self.run(|progress| {
            for root in self.watched.roots() {
                self.tree(root, progress)?;
            }
            self.sweep(None, progress)
        })
    }

    /// Compares the files at these paths, and the directories with everything in them.
    pub(super) fn some(&self, paths: BTreeSet<PathBuf>) -> Result<(), Error> {
        self.run(|progress| {
            for path in &paths {
                let is_directory = is_directory(path);
                if self.is_ignored(path, is_directory, progress)? {
                    // What was published of it is withdrawn below.
                } else if is_directory {
                    self.tree(path, progress)?;
                } else {
                    self.file(path, progress)?;
                }
                self.sweep(Some(path), progress)?;
            }
            Ok(())
        })
    }

    fn run(&self, compare: impl FnOnce(&mut Progress<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let publisher = Publisher::watching(self.watched.clone(), self.client.clone(), &self.options, self.program);
        let mut progress =
            Progress { publisher, heirs: vec![], unread: vec![], withdrawn: 0, gitignore: Gitignore::default() };
        let done = compare(&mut progress).and_then(|()| {
            self.settle(&mut progress)?;
            // A file that is read again may lose documents to a third one, but each file does so at most once.
            while let Some(heir) = progress.heirs.pop() {
                self.file(&heir, &mut progress)?;
                self.settle(&mut progress)?;
            }
            Ok(())
        });
        let sums = progress.publisher.take_sums();
        if progress.withdrawn > 0 || sums.is_some() {
            let withdrawn = progress.withdrawn;
            let sums = sums.unwrap_or_else(|| "0 documents".into());
            tracing::info!(withdrawn, "watched directories: {sums}");
        }
        done
    }

    /// Marks the files to be read again whose documents the node has not published, or would publish again.
    fn ask(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let documents = self.watched.documents(after.as_ref())?;
            let Some((path, url, _)) = documents.last() else { return Ok(()) };
            after = Some((path.clone(), url.clone()));
            let ids: String = documents.iter().map(|(.., id)| format!("{id}\n")).collect();
            let StillWanted { wanted } = self.client.post("/wanted", ids.as_bytes())?.read()?;
            let wanted = wanted.into_iter().filter_map(|number| documents.get(number));
            self.watched.forget(&wanted.map(|(path, ..)| path.clone()).collect::<Vec<_>>())?;
        }
    }

    /// Reads the files at and under a directory that have changed.
    fn tree(&self, path: &Path, progress: &mut Progress<'_>) -> Result<(), Error> {
        let mut entries = WalkDir::new(path).follow_root_links(false).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) if self.watched.root_of(entry.path()).is_none() => skip(&entry, &mut entries),
                Ok(entry) if self.is_ignored(entry.path(), entry.file_type().is_dir(), progress)? => {
                    skip(&entry, &mut entries);
                }
                Ok(entry) if entry.file_type().is_file() => self.file(entry.path(), progress)?,
                Ok(_) => {}
                Err(error) => {
                    let place = error.path().unwrap_or(path).to_owned();
                    let error = error.into_io_error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
                    self.unreadable(&place, &error, progress)?;
                }
            }
        }
        Ok(())
    }

    /// True if a `.gitignore` in the watched directory excludes a path, or cannot be read.
    fn is_ignored(&self, path: &Path, is_directory: bool, progress: &mut Progress<'_>) -> Result<bool, Error> {
        let Some(root) = self.watched.root_of(path) else { return Ok(false) };
        match progress.gitignore.excludes_in(root, path, is_directory) {
            Ok(is_ignored) => Ok(is_ignored),
            Err((file, why)) => progress.publisher.leave_out(&file, &why).map(|()| true),
        }
    }

    /// Reads a file if it has changed since it was last read.
    fn file(&self, path: &Path, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.events.is_stopped() {
            return Err(Error::Message("the node ends".into()));
        }
        let opened = self.watched.open_file(path).and_then(|file| Ok((Stamp::of(&file.metadata()?), file)));
        match opened {
            Ok((stamp, _)) if self.watched.is_current(path, stamp)? => Ok(()),
            Ok((stamp, file)) => match progress.publisher.watched_file(path, file, stamp)? {
                true => self.settle(progress),
                false => Ok(()),
            },
            Err(error) => self.unreadable(path, &error, progress),
        }
    }

    fn unreadable(&self, path: &Path, error: &std::io::Error, progress: &mut Progress<'_>) -> Result<(), Error> {
        if !is_gone(error) {
            progress.unread.push(path.to_owned());
        } else if error.kind() != std::io::ErrorKind::PermissionDenied {
            return Ok(());
        }
        progress.publisher.leave_out(path, &error.to_string())
    }

    /// Publishes what was read, and withdraws what the files that were read no more have.
    fn settle(&self, progress: &mut Progress<'_>) -> Result<(), Error> {
        for reading in progress.publisher.settle()? {
            self.withdraw(&reading, progress)?;
        }
        Ok(())
    }

    /// Withdraws the documents of files that have gone: of all files, or of those at and under a path.
    fn sweep(&self, under: Option<&Path>, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.settle(progress)?;
        let mut after: Option<PathBuf> = None;
        while progress.unread.len() <= MAX_UNREAD {
            let files = self.watched.files(under, after.as_deref())?;
            let Some(last) = files.last() else { break };
            after = Some(last.clone());
            let mut gone = Vec::new();
            for path in files {
                let is_unread = progress.unread.iter().any(|unread| path.starts_with(unread));
                let is_lost = self.watched.open_file(&path).is_err_and(|error| is_gone(&error));
                if !is_unread && (is_lost || self.is_ignored(&path, false, progress)?) {
                    gone.push(path);
                }
            }
            for path in &gone {
                let number = self.watched.next_reading();
                self.withdraw(&FileReading { path: path.clone(), number }, progress)?;
            }
            self.watched.forget(&gone)?;
        }
        Ok(())
    }

    /// Withdraws the documents that a file had before this reading and has no more.
    fn withdraw(&self, reading: &FileReading, progress: &mut Progress<'_>) -> Result<(), Error> {
        loop {
            let stale = self.watched.stale(reading)?;
            if stale.is_empty() {
                return Ok(());
            }
            let heirs = self.watched.heirs(&reading.path, &stale)?;
            let (mut lines, mut heads) = (String::new(), Vec::new());
            for (url, heir) in stale.iter().zip(heirs) {
                match heir {
                    Some(heir) => heads.push(heir),
                    None => lines += &format!("{url}\n"),
                }
                if lines.len() >= BYTES {
                    progress.withdrawn += self.unpublish(&std::mem::take(&mut lines))?;
                }
            }
            progress.withdrawn += self.unpublish(&lines)?;
            self.watched.remove(&reading.path, &stale)?;
            heads.sort();
            heads.dedup();
            self.watched.forget(&heads)?;
            progress.heirs.extend(heads);
        }
    }

    fn unpublish(&self, lines: &str) -> Result<u64, Error> {
        if lines.is_empty() {
            return Ok(0);
        }
        let Withdrawn { withdrawn } = self.client.post("/unpublish", lines.as_bytes())?.read()?;
        Ok(withdrawn)
    }
}

/// Leaves out a file, or a directory with everything in it.
fn skip(entry: &DirEntry, entries: &mut IntoIter) {
    if entry.file_type().is_dir() {
        entries.skip_current_dir();
    }
}
