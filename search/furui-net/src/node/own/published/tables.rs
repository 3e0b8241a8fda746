use std::path::Path;

use furui_search::ContentId;
use redb::{ReadableTable, Table, TableDefinition};

use crate::database::ReopenedDatabase;

pub(super) const FILE: &str = "published.redb";
/// The table from the id of a document, which this node publishes or has withdrawn, to its [`PublishedRow`].
pub(super) const DOCUMENTS: TableDefinition<'_, &[u8; ContentId::BYTES], PublishedRow> = TableDefinition::new("ids");
/// The table from the hash of a URL to the first four bytes of the id of the document that is published under it, as a
/// little-endian number ([`head`]).
pub(super) const URLS: TableDefinition<'_, u64, u32> = TableDefinition::new("places");
/// The set of withdrawn documents whose withdrawal is yet to be sent to the nodes that keep them, each with the time of
/// the withdrawal.
pub(super) const WITHDRAWN: TableDefinition<'_, (&[u8; ContentId::BYTES], u32), ()> = TableDefinition::new("withdrawn");

/// A row of a document: the hash of its URL, or 0 if it is withdrawn; and the time of its last publication or
/// withdrawal, in seconds since 1970.
pub(super) type PublishedRow = (u64, u32);
pub(super) type DocumentTable<'t> = Table<'t, &'static [u8; ContentId::BYTES], PublishedRow>;
pub(super) type WithdrawnTable<'t> = Table<'t, (&'static [u8; ContentId::BYTES], u32), ()>;

/// Opens the database of published documents, which is described in docs/format.md, "A node's directory", in a
/// directory or, without one, in memory. Missing tables are created.
pub(super) fn open(directory: Option<&Path>) -> furui::Result<ReopenedDatabase> {
    ReopenedDatabase::open(directory.map(|directory| directory.join(FILE)), |transaction| {
        transaction.open_table(DOCUMENTS)?;
        transaction.open_table(URLS)?;
        transaction.open_table(WITHDRAWN)?;
        Ok(())
    })
}

/// Finds the document that is published under the URL with this hash.
pub(super) fn find(
    table: &impl ReadableTable<&'static [u8; ContentId::BYTES], PublishedRow>,
    urls: &impl ReadableTable<u64, u32>,
    url: u64,
) -> Result<Option<ContentId>, redb::Error> {
    let Some(head) = urls.get(url)?.map(|head| head.value()) else { return Ok(None) };
    let (mut first, mut last) = ([0; ContentId::BYTES], [0xff; ContentId::BYTES]);
    first[..4].copy_from_slice(&head.to_le_bytes());
    last[..4].copy_from_slice(&head.to_le_bytes());
    for entry in table.range::<&[u8; ContentId::BYTES]>(&first..=&last)? {
        let (id, row) = entry?;
        if row.value().0 == url {
            return Ok(Some(ContentId::new(*id.value())));
        }
    }
    Ok(None)
}

/// The first four bytes of a document's id as a little-endian number, which is what the table [`URLS`] has of it.
pub(super) fn head(id: ContentId) -> u32 {
    let (first, _) = id.as_bytes().split_first_chunk().expect("longer than that");
    u32::from_le_bytes(*first)
}

/// Converts a time in seconds since 1970 to the stored 32-bit form.
pub(super) fn seconds(since_1970: u64) -> u32 {
    u32::try_from(since_1970).unwrap_or(u32::MAX)
}
