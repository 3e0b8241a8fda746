//! `furui publish`.

mod batch;
mod walk;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui::Error;
use furui::search::MAX_TEXT;
use serde::Serialize;
use url::Url;

use crate::blocks::Blocks;
use crate::cli::PublishOptions;
use crate::interrupt::Interrupt;
use crate::node::Client;
use crate::output::print;
use crate::progress::Progress;
use crate::report::grouped;
use batch::Batch;
use walk::{Found, walk};

/// A document, as a node reads it.
#[derive(Serialize)]
struct Document<'a> {
    url: &'a str,
    title: &'a str,
    text: &'a str,
}

/// Runs the command.
pub fn run(options: &PublishOptions) -> Result<ExitCode, Error> {
    let mut publisher = Publisher {
        options,
        client: Client::new(&options.node.url),
        progress: Progress::new("publishing", &options.files),
        batch: Batch::default(),
        sums: Sums { strict: options.strict, documents: 0, new: 0, bad: 0 },
    };
    let files = if options.files.is_empty() { &[PathBuf::from("-")][..] } else { &options.files };
    for path in files {
        publisher.path(path)?;
    }
    publisher.send()?;
    drop(publisher.progress);
    let Sums { documents, new, bad, .. } = publisher.sums;
    let known = documents - new.min(documents);
    let mut text = format!("{} documents: {} new, {} known", grouped(documents), grouped(new), grouped(known));
    if bad > 0 {
        text += &format!("; {} left out", grouped(bad));
    }
    print((text + "\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What has become of everything.
struct Sums {
    strict: bool,
    documents: u64,
    new: u64,
    /// Lines and files that are no documents.
    bad: u64,
}

impl Sums {
    /// Something is no document.
    fn leave_out(&mut self, place: &str, why: &str) -> Result<(), Error> {
        if self.strict {
            return Err(Error::Config(format!("{place}: {why}")));
        }
        self.bad += 1;
        // A standard error that takes nothing is no reason to end.
        let _ = writeln!(io::stderr(), "furui: {place}: {why}; left out");
        Ok(())
    }
}

struct Publisher<'a> {
    options: &'a PublishOptions,
    client: Client,
    progress: Progress,
    batch: Batch,
    sums: Sums,
}

impl Publisher<'_> {
    fn path(&mut self, path: &Path) -> Result<(), Error> {
        if path.as_os_str() == "-" {
            return self.lines(path);
        }
        let root = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        for found in walk(path) {
            let file = match found {
                Ok(Found::File(file)) => file,
                Ok(Found::Other(file)) => {
                    self.sums.leave_out(&file.display().to_string(), "neither a file nor a directory")?;
                    continue;
                }
                Err((file, error)) => {
                    self.unreadable(&file, error, path)?;
                    continue;
                }
            };
            if self.options.jsonl || file.extension().is_some_and(|end| end == "jsonl") {
                self.lines(&file)?;
                continue;
            }
            match read(&file) {
                Ok(bytes) => self.text(&file, &bytes, root)?,
                Err(error) => self.unreadable(&file, error, path)?,
            }
        }
        Ok(())
    }

    /// A file with a document a line.
    fn lines(&mut self, path: &Path) -> Result<(), Error> {
        let interrupt = Interrupt::ignore();
        let mut blocks = Blocks::new(&[path.to_owned()], b'\n', &interrupt);
        loop {
            let Some(block) = blocks.next()? else { return Ok(()) };
            for (index, line) in block.lines().enumerate() {
                if !line.trim_ascii().is_empty() {
                    self.batch.push(block.place(index), line);
                    self.send_if_full()?;
                }
            }
            self.progress.advance(block.bytes.len());
            if blocks.would_wait() {
                self.send()?;
            }
        }
    }

    /// What lies in a directory may be unreadable; what was named may not.
    fn unreadable(&mut self, file: &Path, error: io::Error, named: &Path) -> Result<(), Error> {
        let place = file.display().to_string();
        if file == named {
            return Err(Error::io("cannot read", place, error));
        }
        self.sums.leave_out(&place, &error.to_string())
    }

    /// A file that is a document.
    fn text(&mut self, path: &Path, bytes: &[u8], root: &Path) -> Result<(), Error> {
        let place = path.display().to_string();
        self.progress.advance(bytes.len());
        if bytes.contains(&0) {
            return self.sums.leave_out(&place, "no text: there are zeros in it");
        }
        if bytes.len() > MAX_TEXT {
            return self.sums.leave_out(&place, &format!("more than {MAX_TEXT} bytes; publish it in parts"));
        }
        let Ok(text) = str::from_utf8(bytes) else { return self.sums.leave_out(&place, "no text: not UTF-8") };
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let url = self.url(path, root).map_err(|error| Error::io("cannot name", &place, error))?;
        let document = Document { url: url.as_str(), title: &title, text };
        let line = serde_json::to_vec(&document).expect("a document has only strings for names");
        self.batch.push(place, &line);
        self.send_if_full()
    }

    /// Where a text file is found.
    fn url(&self, path: &Path, root: &Path) -> io::Result<Url> {
        let Some(base) = &self.options.base else {
            let absolute = std::path::absolute(path)?;
            return Url::from_file_path(absolute).map_err(|()| io::ErrorKind::InvalidFilename.into());
        };
        let mut url = base.clone();
        let inside = path.strip_prefix(root).unwrap_or(path);
        // A base that cannot have a path, as mailto:, is all there is.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            segments.extend(inside.iter().map(|name| name.to_string_lossy()));
        }
        Ok(url)
    }

    fn send_if_full(&mut self) -> Result<(), Error> {
        if self.batch.is_full() { self.send() } else { Ok(()) }
    }

    /// Publishes the batch.
    fn send(&mut self) -> Result<(), Error> {
        let batch = std::mem::take(&mut self.batch);
        let sent = batch.send(&self.client, self.options.again, |place, error| self.sums.leave_out(place, error))?;
        self.sums.documents += sent.documents;
        self.sums.new += sent.new;
        Ok(())
    }
}

/// The file's bytes, as far as a document may be long, and one more.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
