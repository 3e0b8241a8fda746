//! Answers queries about the lists and documents on a shelf.

use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use furui::{Error, Result};
use furui_search::{ContentId, First, IdRange, Index, ListPart, Listing};
use redb::ReadableTableMetadata;
use serde::Serialize;

use super::documents::Documents;
use super::fault::{Fault, Outcome};
use super::holdings::{DATABASE, WORDS};
use super::lists::{self, Extent};
use super::posting::Posting;
use super::recent::Fresh;
use super::runs::Run;
use super::{RECORDS, Shelf, publications, records};

/// A word of a shelf with the size and the fingerprint of its list. Equal lists have equal sizes and fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordList {
    /// The word of which this is the list.
    pub word: String,
    /// The number of ids in the word's list, one for each document that contains the word.
    pub ids: u64,
    /// The sum, modulo 2⁶⁴, of the ids' [hashes](ContentId::hash).
    pub fingerprint: u64,
}

/// The size of a [`Shelf`]: the numbers of its entries, and its bytes on disk and in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// The number of words whose lists have postings.
    pub words: u64,
    /// The number of postings in all lists.
    pub postings: u64,
    /// The number of documents with a posting or a record.
    #[serde(skip)]
    pub documents: u64,
    /// The number of documents whose record is kept. Users see this as the number of documents.
    #[serde(rename = "documents")]
    pub records: u64,
    /// The size of the shelf's files on disk, in bytes; 0 in memory.
    #[serde(rename = "disk")]
    pub disk_bytes: u64,
    /// The size of the cached lists, in bytes.
    #[serde(skip)]
    pub cached_bytes: u64,
}

impl Shelf {
    /// Returns the first `most` words after `word` in byte order, with the sizes and fingerprints of their lists. The
    /// empty word comes before all others.
    ///
    /// # Errors
    /// [`Error::Io`] if the database cannot be read, or is damaged.
    pub fn words_after(&mut self, word: &str, most: usize) -> Result<Vec<WordList>> {
        self.asking(|shelf| {
            let mut found = vec![];
            let view = shelf.tables.view()?;
            let mut entries = shelf.words.range::<&[u8]>((Bound::Excluded(word.as_bytes()), Bound::Unbounded));
            while found.len() < most
                && let Some((word, number)) = entries.next_entry().map_err(Fault::Other)?
            {
                let extent = match shelf.recent.lists.get(&number) {
                    Some(fresh) => fresh.extent(),
                    None => lists::extent(&view.words, number)?,
                };
                if extent.ids > 0 {
                    let word = String::from_utf8(word.to_vec());
                    let word = word.map_err(|_| Fault::Damaged(format!("damaged: word {number} is not UTF-8")))?;
                    found.push(WordList { word, ids: extent.ids, fingerprint: extent.sum });
                }
            }
            Ok(found)
        })
    }

    /// Returns the number of ids in the word's list, and their fingerprint as in [`WordList`].
    ///
    /// # Errors
    /// Those of [`words_after`](Self::words_after).
    pub fn fingerprint(&mut self, word: &str) -> Result<(u64, u64)> {
        self.asking(|shelf| match shelf.number_of(word)? {
            Some(number) => shelf.extent(number).map(|extent| (extent.ids, extent.sum)),
            None => Ok((0, 0)),
        })
    }

    /// Returns the first `most` ids in `range` of the documents whose records are kept, in ascending order. Recently
    /// withdrawn documents are included.
    ///
    /// # Errors
    /// As [`slice`](Index::slice).
    pub fn records(&mut self, range: IdRange, most: usize) -> Result<Arc<[ContentId]>> {
        self.asking(|shelf| Ok(shelf.run(RECORDS, range, most)?.0))
    }

    /// Returns the number of documents whose records are kept, including recently withdrawn documents.
    ///
    /// # Errors
    /// As [`slice`](Index::slice).
    pub fn record_count(&mut self) -> Result<u64> {
        self.asking(|shelf| Ok(shelf.extent(RECORDS)?.ids))
    }

    /// True if the record of the document is kept. This takes less time than [`document`](Self::document).
    ///
    /// # Errors
    /// As [`slice`](Index::slice).
    pub fn has_record(&mut self, id: ContentId) -> Result<bool> {
        self.asking(|shelf| Ok(shelf.stand(id)?.is_some()))
    }

    /// Returns the expiry time of each of these documents, in seconds since 1970; 0 for a document that is not on the
    /// shelf.
    ///
    /// # Errors
    /// As [`slice`](Index::slice).
    pub fn expiries(&mut self, ids: &[ContentId]) -> Result<Vec<u64>> {
        self.asking(|shelf| {
            let expiry = |&id| Ok(shelf.entry(id)?.map_or(0, |document| u64::from(document.expires)));
            ids.iter().map(expiry).collect()
        })
    }

    /// Returns the numbers of words, postings and documents on the shelf, and its size in bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the database cannot be read, or is damaged.
    pub fn statistics(&mut self) -> Result<Statistics> {
        let disk_bytes = self.directory.as_deref().map_or(Ok(0), disk_bytes)?;
        self.asking(|shelf| {
            let records = shelf.extent(RECORDS)?.ids;
            let is_new = |(word, fresh): &(&u32, &Fresh)| **word != RECORDS && fresh.table.ids == 0;
            let new = shelf.recent.lists.iter().filter(is_new).count() as u64;
            let view = shelf.tables.view()?;
            let of_records = u64::from(lists::extent(&view.words, RECORDS)?.ids > 0);
            Ok(Statistics {
                words: view.words.len()? - of_records + new,
                postings: shelf.totals.postings,
                documents: shelf.totals.documents,
                records,
                disk_bytes,
                cached_bytes: shelf.runs.bytes() as u64,
            })
        })
    }

    fn extent(&mut self, word: u32) -> Outcome<Extent> {
        match self.recent.lists.get(&word) {
            Some(fresh) => Ok(fresh.extent()),
            None => lists::extent(&self.tables.view()?.words, word),
        }
    }

    fn run(&mut self, word: u32, range: IdRange, most: usize) -> Outcome<ListPart> {
        let ids = self.extent(word)?.ids;
        let Self { tables, recent, runs, options, .. } = self;
        let most = most.min(options.run_ids);
        if ids == 0 || most == 0 || range.last < range.first {
            return Ok(ListPart::default());
        }
        if let Some(part) = runs.get(word, range, most) {
            return Ok(part);
        }
        let view = tables.view()?;
        let from = if ids <= options.run_ids as u64 { 0 } else { range.first };
        let mut first = First::new(options.run_ids);
        let mut older = Documents::new(view);
        let mut show = |postings: &[Posting]| {
            for &Posting { number, uses } in postings {
                let document = recent.known(&mut older, number)?;
                if document.id.head() >= from {
                    first.push((document.id, document.weight(uses)));
                }
            }
            Ok(())
        };
        lists::read(view, word, &mut show)?;
        if let Some(fresh) = recent.lists.get(&word) {
            show(&fresh.postings)?;
        }
        let (postings, complete) = first.finish();
        let run = Run::new(from, postings, complete);
        let part = run.get(range, most).expect("the run was made for this range and number of ids");
        runs.insert(word, run);
        Ok(part)
    }

    /// Returns the encoded record of a document; `None` if this node does not keep it.
    ///
    /// # Errors
    /// As [`slice`](Index::slice).
    pub fn document(&mut self, id: ContentId) -> Result<Option<Vec<u8>>> {
        self.asking(|shelf| {
            let Some((number, block)) = shelf.stand(id)? else { return Ok(None) };
            let Some(block) = block else { return Ok(shelf.recent.records.get(&number).cloned()) };
            let row = shelf.tables.view()?.records.get(block)?.ok_or_else(|| Fault::damaged("records", block))?;
            records::find(&mut shelf.buffer, block, row.value(), number).map(Some)
        })
    }

    /// The number of a document and the block of its record, which has no block if it is among the recent changes.
    /// `None` if the record is not kept.
    fn stand(&mut self, id: ContentId) -> Outcome<Option<(u32, Option<u32>)>> {
        let Self { tables, recent, totals, .. } = self;
        let view = tables.view()?;
        let mut older = Documents::new(view);
        let Some(number) = recent.find(&mut older, totals.id_hash(), id)? else { return Ok(None) };
        if publications::is_gone(view, number)? {
            return Ok(None);
        }
        if recent.records.contains_key(&number) {
            return Ok(Some((number, None)));
        }
        if number >= recent.first {
            return Ok(None);
        }
        Ok(older.get(number)?.and_then(|document| document.block).map(|block| (number, Some(block))))
    }

    /// The number by which the shelf's tables refer to a word; `None` if the word has no number.
    pub(super) fn number_of(&self, word: &str) -> Outcome<Option<u32>> {
        self.words.get(word.as_bytes()).map_err(Fault::Other)
    }
}

impl Index for Shelf {
    fn size(&mut self, word: &str) -> Result<Listing> {
        let whole = self.whole;
        let extent = self.asking(|shelf| match shelf.number_of(word)? {
            Some(number) => shelf.extent(number),
            None => Ok(Extent::default()),
        })?;
        Ok(Listing { ids: extent.ids, log_length: extent.log_length(), whole })
    }

    /// Implements `Index::slice`, but returns at most [`run_ids`](super::ShelfOptions::run_ids) ids at a time.
    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<ListPart> {
        self.asking(|shelf| match shelf.number_of(word)? {
            Some(number) => shelf.run(number, range, most),
            None => Ok(ListPart::default()),
        })
    }
}

/// The total size of the files on disk, in bytes.
pub(super) fn disk_bytes(directory: &Path) -> Result<u64> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error| Error::io("cannot list", path, error)
    };
    let mut files = vec![directory.join(DATABASE)];
    let words = directory.join(WORDS);
    for entry in fs::read_dir(&words).map_err(failed(&words))? {
        files.push(entry.map_err(failed(&words))?.path());
    }
    let sizes = files.iter().map(|file| Ok(size_on_disk(&fs::metadata(file).map_err(failed(file))?)));
    sizes.sum()
}

#[cfg(unix)]
fn size_on_disk(file: &fs::Metadata) -> u64 {
    // Allocated disk blocks of 512 bytes are counted, because the database's file is sparse.
    std::os::unix::fs::MetadataExt::blocks(file) * 512
}

#[cfg(not(unix))]
fn size_on_disk(file: &fs::Metadata) -> u64 {
    file.len()
}
