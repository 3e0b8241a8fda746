use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use furui_pages::{Format, MAX_PAGE};
use url::Url;
use walkdir::WalkDir;

use super::sums::Reason;
use super::{Publisher, Repeats, Source};
use crate::Error;

impl Publisher<'_> {
    /// Publishes a file, or the files at and under a directory, in the order of their names. In directories, hidden
    /// files are left out, and symbolic links are not followed.
    pub(super) fn path(&mut self, path: &Path) -> Result<(), Error> {
        if path.as_os_str() == "-" {
            return match self.options.format() {
                None | Some(Format::Jsonl) => self.lines(path),
                Some(Format::Warc) => {
                    let input =
                        self.program.input().map_err(|error| Error::io("cannot read", "standard input", error))?;
                    self.warc(path, input)
                }
                Some(Format::Page(_)) => {
                    Err(Error::Message("a page on standard input has no URL; put it into a file, and name that".into()))
                }
            };
        }
        let root = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
        let entries = WalkDir::new(path).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name())) {
            match entry {
                Ok(entry) if entry.depth() == 0 && path.is_dir() => {}
                Ok(entry) if entry.depth() == 0 || entry.file_type().is_file() => {
                    if let Err(error) = self.file(entry.path(), root, entry.depth() == 0)? {
                        self.unreadable(entry.path(), error, path)?;
                    }
                }
                Ok(entry) if entry.file_type().is_dir() || entry.file_type().is_symlink() => {}
                Ok(entry) => {
                    self.sums.leave_out(&entry.path().display().to_string(), "neither a file nor a directory")?;
                }
                Err(error) => {
                    let file = error.path().unwrap_or(path).to_owned();
                    // As links are not followed, there can be no cycle, so the error is one of the operating system.
                    let error = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                    self.unreadable(&file, error, path)?;
                }
            }
        }
        Ok(())
    }

    /// Handles a file that cannot be read. It is an error if the user named the file; in a directory, it is left out
    /// with a message.
    fn unreadable(&mut self, file: &Path, error: io::Error, named: &Path) -> Result<(), Error> {
        let place = file.display().to_string();
        if file == named {
            return Err(Error::io("cannot read", place, error));
        }
        self.sums.leave_out(&place, &error.to_string())
    }

    /// Publishes a file of any format. The inner error says that the file could not be read.
    pub(super) fn file(&mut self, path: &Path, root: &Path, is_named: bool) -> Result<io::Result<()>, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let format = self.options.format().or_else(|| Format::of_name(&name));
        // A directory may contain scripts, styles and pictures, which are read only with --format.
        if format.is_none() && !is_named && path.extension().is_some() {
            self.sums.pass(Reason::Kind);
            return Ok(Ok(()));
        }
        let mut head = Vec::new();
        let opened = self.open(path).and_then(|mut file| {
            file.by_ref().take(Format::HEAD as u64).read_to_end(&mut head)?;
            Ok(file)
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let kind = match format.unwrap_or_else(|| Format::of_content(&head)) {
            Format::Jsonl => return self.lines(path).map(Ok),
            Format::Warc => return self.warc(path, head.chain(file)).map(Ok),
            Format::Page(kind) => kind,
        };
        // One byte more than the maximum is read, to detect a file that is too long.
        if let Err(error) = file.take((MAX_PAGE + 1 - head.len()) as u64).read_to_end(&mut head) {
            return Ok(Err(error));
        }
        (self.progress)(head.len());
        let place = path.display().to_string();
        let url = self.url(path, root).map_err(|error| Error::io("cannot make a URL for", &place, error))?;
        let media = &kind.into();
        self.page(Source { place, url, is_own: true, media, title: &name, bytes: &head }).map(Ok)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        match &self.repeats {
            Repeats::InRun(_) => File::open(path),
            Repeats::Watched(watching) => watching.open(),
        }
    }

    /// The URL under which a file is published: the `file:` URL of its path or, with the option `--base`, that URL
    /// extended by the path within `root`.
    fn url(&self, path: &Path, root: &Path) -> io::Result<Url> {
        let Some(base) = &self.options.base else {
            let absolute = std::path::absolute(path)?;
            return Url::from_file_path(absolute).map_err(|()| io::ErrorKind::InvalidFilename.into());
        };
        let mut url = base.clone();
        let inside = path.strip_prefix(root).unwrap_or(path);
        // A base without a path, such as mailto:, is the whole URL.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            segments.extend(inside.iter().map(|name| name.to_string_lossy()));
        }
        Ok(url)
    }
}
