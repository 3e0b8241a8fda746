use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use furui_pages::{Capture, Gunzip, Item, Warc};
use url::Url;

use super::sums::Reason;
use super::{Publisher, Source};
use crate::Error;

/// The number of bytes of a WARC file that are read at a time.
const BUFFER: usize = 256 << 10;

impl Publisher<'_> {
    /// Publishes the pages of a WARC file, which may be compressed.
    pub(super) fn warc(&mut self, path: &Path, from: impl Read) -> Result<(), Error> {
        let name = path.display().to_string();
        let mut from = BufReader::with_capacity(BUFFER, from);
        let failed = |error| Error::io("cannot read", &name, error);
        if from.fill_buf().map_err(failed)?.starts_with(b"\x1f\x8b") {
            self.records(&name, BufReader::with_capacity(BUFFER, Gunzip::new(from)))
        } else {
            self.records(&name, from)
        }
    }

    fn records(&mut self, name: &str, from: impl BufRead) -> Result<(), Error> {
        let mut warc = Warc::new(from);
        while let Some(item) = warc.next_item().map_err(|error| Error::io("cannot read", name, error))? {
            match item {
                Item::Page(Capture { record, url, media, noindex, body }) => {
                    (self.progress)(body.len());
                    let place = format!("{name}: record {record}");
                    match Url::parse(&url) {
                        Ok(_) if noindex => self.sums.pass(Reason::NoIndex),
                        Ok(url) if matches!(url.scheme(), "http" | "https") => {
                            self.page(Source { place, url, is_own: false, media: &media, title: "", bytes: &body })?;
                        }
                        _ => self.sums.leave_out(&place, &format!("{url:?} is not a URL of the web"))?,
                    }
                }
                Item::Other => self.sums.pass(Reason::Kind),
                Item::Broken(broken) => {
                    let url = broken.url.map(|url| format!(" ({url})")).unwrap_or_default();
                    self.sums.leave_out(&format!("{name}: record {}{url}", broken.record), &broken.why)?;
                }
            }
        }
        Ok(())
    }
}
