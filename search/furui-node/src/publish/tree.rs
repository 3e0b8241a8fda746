use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use furui_pages::{Format, Kind, MAX_PAGE};
use url::Url;
use walkdir::{DirEntry, WalkDir};

use super::sums::Reason;
use super::{Publisher, Repeats, Source};
use crate::Error;
use crate::gitignore::{self, Gitignore};

/// The reason that an archive is left out.
const ZIM: &str =
    "a ZIM archive, which is not read; unpack it by `zimdump dump --redirect --dir=DIR FILE`, and publish DIR";

impl Publisher<'_> {
    /// Publishes a file, or the files at and under a directory, in the order of their names. In directories, hidden
    /// files and those that a `.gitignore` excludes are left out, and symbolic links are not followed.
    pub(super) fn path(&mut self, path: &Path) -> Result<(), Error> {
        if path.as_os_str() == "-" {
            return match self.options.format() {
                None | Some(Format::Jsonl) => self.lines(path),
                Some(Format::Warc) => {
                    let input =
                        self.program.input().map_err(|error| Error::io("cannot read", "standard input", error))?;
                    self.warc(path, input)
                }
                Some(_) => {
                    let why = "what is on standard input has no URL; put it into a file, and name that";
                    Err(Error::Message(why.into()))
                }
            };
        }
        let root = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let is_left = |entry: &DirEntry, gitignore: &Gitignore| {
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            is_hidden || gitignore.excludes(entry.path(), entry.file_type().is_dir())
        };
        let mut gitignore = Gitignore::default();
        let mut entries = WalkDir::new(path).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) if entry.depth() > 0 && is_left(&entry, &gitignore) => {
                    if entry.file_type().is_dir() {
                        entries.skip_current_dir();
                    }
                }
                Ok(entry) if entry.file_type().is_dir() || entry.depth() == 0 && path.is_dir() => {
                    if let Err(why) = gitignore.enter(entry.path()) {
                        self.sums.leave_out(&entry.path().join(gitignore::NAME).display().to_string(), &why)?;
                    }
                }
                Ok(entry) if entry.depth() == 0 || entry.file_type().is_file() => {
                    if let Err(error) = self.file(entry.path(), root, entry.depth() == 0)? {
                        self.unreadable(entry.path(), error, path)?;
                    }
                }
                Ok(entry) if entry.file_type().is_symlink() => {}
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
        let mut head = Vec::new();
        let opened = self.open(path).and_then(|mut file| {
            file.by_ref().take(Format::HEAD as u64).read_to_end(&mut head)?;
            Ok(file)
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let format = self.options.format().or_else(|| Format::of(&name, &head));
        // A directory may contain pictures and programs; and one that is found on the web contains scripts and styles.
        let is_site = self.options.base.is_some() && path.extension().is_some();
        if format.is_none() && !is_named && (is_site || Format::is_binary(&head)) {
            self.sums.pass(Reason::Kind);
            return Ok(Ok(()));
        }
        let place = path.display().to_string();
        let url = self.url(path, root).map_err(|error| Error::io("cannot make a URL for", &place, error))?;
        let title = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let kind = match format.unwrap_or(Format::Page(Kind::Text)) {
            Format::Jsonl => return self.lines(path).map(Ok),
            Format::Warc => return self.warc(path, head.chain(file)).map(Ok),
            Format::Several(several) => return self.several(several, (&place, &title), &url, head, file),
            Format::Zim => return self.sums.leave_out(&place, ZIM).map(Ok),
            Format::Page(kind) => kind,
        };
        let bytes = match self.whole(head, file, MAX_PAGE) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        };
        let media = &kind.into();
        self.page(Source { place, url, is_own: true, media, title: &title, bytes: &bytes }).map(Ok)
    }

    /// The bytes of a file that begins with `head`; of a file that is too long, one byte more than `most`.
    pub(super) fn whole(&mut self, mut head: Vec<u8>, file: File, most: usize) -> io::Result<Vec<u8>> {
        file.take((most + 1 - head.len()) as u64).read_to_end(&mut head)?;
        (self.progress)(head.len());
        Ok(head)
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
