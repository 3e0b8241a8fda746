use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::rc::Rc;

use furui_pages::{Address, Bookmarks, Document, Entry, Epub, History, MAX_MESSAGE, MAX_PAGE, Mbox, Several, message};
use url::Url;

use super::Publisher;
use super::apart::Apart;
use super::sums::Reason;
use crate::Error;

/// A file with several documents, from which the number of bytes read is counted.
pub(super) struct Counted<R> {
    from: R,
    bytes: Rc<Cell<usize>>,
}

impl<R> Counted<R> {
    /// Makes a reader of `from` that adds the bytes that it reads to `bytes`.
    pub(super) fn new(from: R, bytes: &Rc<Cell<usize>>) -> Self {
        Self { from, bytes: Rc::clone(bytes) }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.bytes.update(|bytes| bytes + read);
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.from.seek(to)
    }
}

impl Publisher<'_> {
    /// Publishes the documents of a file that holds several. The file has a name, a title for a document without one,
    /// and a URL, and begins with `head`. The inner error says that the file could not be read.
    pub(super) fn several(
        &mut self,
        kind: Several,
        (name, title): (&str, &str),
        url: &Url,
        head: Vec<u8>,
        mut file: File,
    ) -> Result<io::Result<()>, Error> {
        let bytes: Rc<Cell<usize>> = Rc::default();
        let result = match kind {
            Several::Bookmarks => match self.whole(head, file, MAX_PAGE).map(|bytes| Bookmarks::read(&bytes)) {
                Ok(Ok(bookmarks)) => return self.entries(name, url, bookmarks.entries(), &bytes).map(Ok),
                Ok(Err(why)) => Err(io::Error::new(ErrorKind::InvalidData, why)),
                Err(error) => Err(error),
            },
            Several::History => {
                let size = file.metadata().map(|metadata| metadata.len());
                match size.and_then(|size| History::read(Counted::new(head.chain(file), &bytes), size)) {
                    Ok(history) => return self.entries(name, url, history, &bytes).map(Ok),
                    Err(error) => Err(error),
                }
            }
            Several::Mbox => {
                let mbox = Mbox::new(BufReader::new(Counted::new(head.chain(file), &bytes)));
                return self.entries(name, url, mbox, &bytes).map(Ok);
            }
            Several::Message => match self.whole(head, file, MAX_MESSAGE).map(|bytes| message(&bytes, "")) {
                Ok(Ok(document)) => return self.entry(name, url, document).map(Ok),
                Ok(Err(why)) => Err(io::Error::new(ErrorKind::InvalidData, why)),
                Err(error) => Err(error),
            },
            Several::Epub => match file.rewind().and_then(|()| Epub::open(Counted::new(file, &bytes))) {
                Ok(book) => return self.entries(name, url, book, &bytes).map(Ok),
                Err(error) => Err(error),
            },
            Several::Pdf => {
                bytes.set(file.metadata().map_or(0, |metadata| metadata.len() as usize));
                match Apart::start(file) {
                    Ok(mut entries) => {
                        let titled = entries.by_ref().map(|entry| match entry {
                            Entry::Document(mut document) if document.page.title.is_empty() => {
                                title.clone_into(&mut document.page.title);
                                Entry::Document(document)
                            }
                            entry => entry,
                        });
                        self.entries(name, url, titled, &bytes)?;
                        if entries.is_interrupted() { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
                    }
                    Err(error) => Err(error),
                }
            }
        };
        match result {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
                self.sums.leave_out(name, &error.to_string()).map(Ok)
            }
            other => Ok(other),
        }
    }

    /// Publishes documents. `bytes` is counted up by their reader.
    fn entries(
        &mut self,
        name: &str,
        url: &Url,
        entries: impl Iterator<Item = Entry>,
        bytes: &Cell<usize>,
    ) -> Result<(), Error> {
        for entry in entries {
            (self.progress)(bytes.take());
            match entry {
                Entry::Document(document) => self.entry(name, url, document)?,
                Entry::Other => self.sums.pass(Reason::Kind),
                Entry::Broken { place, why } => self.sums.leave_out(&within(name, &place), &why)?,
            }
        }
        (self.progress)(bytes.take());
        Ok(())
    }

    fn entry(&mut self, name: &str, file: &Url, Document { place, address, page }: Document) -> Result<(), Error> {
        let url = match address {
            Address::Part(part) => {
                let mut url = file.clone();
                url.set_fragment(Some(&*part).filter(|part| !part.is_empty()));
                url
            }
            Address::Url(url) => match Url::parse(&url) {
                Ok(url) if url.scheme() == "mid" => url,
                Ok(mut url) if matches!(url.scheme(), "http" | "https") => {
                    url.set_fragment(None);
                    url
                }
                // Browsers have bookmarks of their own pages, of programs and of files.
                _ => {
                    self.sums.pass(Reason::Kind);
                    return Ok(());
                }
            },
        };
        self.extracted(within(name, &place), url, page)
    }
}

/// The place in a file, for messages.
fn within(name: &str, place: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{name}: {place}") }
}
