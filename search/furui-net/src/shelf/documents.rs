//! The table of documents by number. A row holds [`CHUNK`] documents.

use std::collections::BTreeMap;

use furui::HashSpec;
use furui_search::{ContentId, Weight};
use redb::{AccessGuard, ReadableTable};

use super::fault::{Fault, Outcome};
use super::tables::{Row, Tablets, View};

/// The number of documents in a row of the table: as many as fit into a page of the database.
pub(super) const CHUNK: u32 = 107;
const ENTRY: usize = ContentId::BYTES + 18;
/// The bit in the origin field of an encoded entry for [`proven`](DocumentEntry::proven).
const PROVEN: u32 = 1 << 31;
/// The bit in the origin field of an encoded entry for [`mixed`](DocumentEntry::mixed).
const MIXED: u32 = 1 << 30;

/// The entry of a document in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentEntry {
    pub(super) id: ContentId,
    /// The expiry time of the document, in seconds since 1970; 0 if the document was removed.
    pub(super) expires: u32,
    /// The number of the block with the document's record; `None` if no record is kept.
    pub(super) block: Option<u32>,
    /// The lengths of the document and its title, as the [bits](Weight::size_bits) of a weight; 0 if no posting has
    /// stated them yet.
    pub(super) size: u16,
    /// The number of the origin (the peer) that has brought the document first.
    pub(super) origin: u32,
    /// True if the data that another origin brought for the document was compared with the record, so that the document
    /// is kept when its origin is removed.
    pub(super) proven: bool,
    /// True if postings of the document were taken over from another origin than the document's, so that a false
    /// posting is no evidence against the document's origin.
    pub(super) mixed: bool,
    /// The approximate size of the data that this origin has brought for the document, in bytes.
    pub(super) bytes: u32,
}

impl DocumentEntry {
    /// The entry of a removed document.
    pub(super) const NONE: Self = Self {
        id: ContentId::new([0; ContentId::BYTES]),
        expires: 0,
        block: None,
        size: 0,
        origin: 0,
        proven: false,
        mixed: false,
        bytes: 0,
    };

    /// The weight of a posting of the document, which has these [uses](super::posting::Posting::uses).
    pub(super) fn weight(&self, uses: u16) -> Weight {
        Weight::of_bits(uses ^ Weight::PLAIN_USE, self.size).unwrap_or_default()
    }

    fn read(entry: &[u8; ENTRY]) -> Self {
        let (id, rest) = entry.split_first_chunk().expect("longer than an id");
        let (words, _) = rest.as_chunks();
        let block = u32::from_le_bytes(words[1]);
        Self {
            id: ContentId::new(*id),
            expires: u32::from_le_bytes(words[0]),
            block: block.checked_sub(1),
            origin: u32::from_le_bytes(words[2]) & !(PROVEN | MIXED),
            proven: u32::from_le_bytes(words[2]) & PROVEN != 0,
            mixed: u32::from_le_bytes(words[2]) & MIXED != 0,
            bytes: u32::from_le_bytes(words[3]),
            size: u16::from_le_bytes([entry[ENTRY - 2], entry[ENTRY - 1]]),
        }
    }

    fn write(self, entry: &mut [u8; ENTRY]) {
        entry[..20].copy_from_slice(self.id.as_bytes());
        entry[20..24].copy_from_slice(&self.expires.to_le_bytes());
        entry[24..28].copy_from_slice(&self.block.map_or(0, |block| block + 1).to_le_bytes());
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let origin = self.origin | flag(self.proven, PROVEN) | flag(self.mixed, MIXED);
        entry[28..32].copy_from_slice(&origin.to_le_bytes());
        entry[32..36].copy_from_slice(&self.bytes.to_le_bytes());
        entry[ENTRY - 2..].copy_from_slice(&self.size.to_le_bytes());
    }
}

/// Splits a row into its encoded entries.
pub(super) fn entries(chunk: u32, row: &[u8]) -> Outcome<&[[u8; ENTRY]]> {
    match row.as_chunks() {
        (entries, []) if entries.len() <= CHUNK as usize => Ok(entries),
        _ => Err(Fault::damaged("documents", chunk)),
    }
}

/// Returns the documents in a row of the table of documents, except those that were removed, each with its number.
/// `chunk` is the key of the row: its first document has the number `chunk` · [`CHUNK`].
///
/// # Errors
/// [`Fault`] if the row does not consist of at most [`CHUNK`] whole entries.
pub(super) fn alive(chunk: u32, row: &[u8]) -> Outcome<impl Iterator<Item = (u32, DocumentEntry)>> {
    let numbered = (chunk.saturating_mul(CHUNK)..).zip(entries(chunk, row)?);
    Ok(numbered
        .map(|(number, entry)| (number, DocumentEntry::read(entry)))
        .filter(|(_, document)| document.expires > 0))
}

/// Reads entries of documents from the tables. Access in ascending order of numbers is fastest, because the current row
/// is cached.
pub(super) struct Documents<'v> {
    view: &'v View,
    chunk: Option<(u32, Option<AccessGuard<'v, Row>>)>,
}

impl<'v> Documents<'v> {
    pub(super) fn new(view: &'v View) -> Self {
        Self { view, chunk: None }
    }

    /// Reads the entry of the document with this number; `None` if there is none.
    pub(super) fn get(&mut self, number: u32) -> Outcome<Option<DocumentEntry>> {
        let chunk = number / CHUNK;
        let row = match &self.chunk {
            Some((at, row)) if *at == chunk => row,
            _ => &self.chunk.insert((chunk, self.view.documents.get(chunk)?)).1,
        };
        let Some(row) = row else { return Ok(None) };
        let entry = entries(chunk, row.value())?.get((number % CHUNK) as usize);
        Ok(entry.map(DocumentEntry::read).filter(|document| document.expires > 0))
    }

    /// Returns the number of the document with this id; `None` if there is none.
    pub(super) fn find(&mut self, hash: HashSpec, id: ContentId) -> Outcome<Option<u32>> {
        let hash = hash.hash(id.as_bytes()).get();
        for row in self.view.ids.range((hash, 0)..=(hash, u32::MAX))? {
            let number = row?.0.value().1;
            if self.get(number)?.is_some_and(|document| document.id == id) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

/// Writes the entries of documents, and removes those whose expiry is 0.
pub(super) fn write(tables: &mut Tablets<'_>, changed: &BTreeMap<u32, DocumentEntry>) -> Outcome<()> {
    let mut changed = changed.iter().peekable();
    while let Some(&(&first, _)) = changed.peek() {
        let chunk = first / CHUNK;
        let mut row = match tables.documents.get(chunk)? {
            Some(row) => entries(chunk, row.value())?.to_vec(),
            None => vec![],
        };
        while let Some((&number, document)) = changed.next_if(|(number, _)| **number / CHUNK == chunk) {
            let at = (number % CHUNK) as usize;
            if row.len() <= at {
                row.resize(at + 1, [0; ENTRY]);
            }
            document.write(&mut row[at]);
        }
        let kept = row.iter().rposition(|entry| DocumentEntry::read(entry).expires > 0);
        match kept {
            Some(last) => tables.documents.insert(chunk, row[..=last].as_flattened())?,
            None => tables.documents.remove(chunk)?,
        };
    }
    Ok(())
}
