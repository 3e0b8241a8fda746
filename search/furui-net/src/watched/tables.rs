use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use furui_search::ContentId;
use redb::{ReadTransaction, ReadableTable, TableDefinition};

use crate::database::ReopenedDatabase;

/// The name of the file in the directory of a node.
pub(crate) const FILE: &str = "watched.redb";
/// The table from the path of a file to the stamp with which it was read.
pub(super) const FILES: TableDefinition<'_, &[u8], (u64, i64, i64, u64)> = TableDefinition::new("files");
/// The table from the path of a file and the URL of a document in it to the number of the last reading that found it,
/// and the document's id.
pub(super) const DOCUMENTS: TableDefinition<'_, (&[u8], &str), DocumentRow> = TableDefinition::new("documents");
/// The set of URLs, each with the path of a file that has a document under it.
pub(super) const URLS: TableDefinition<'_, (&str, &[u8]), ()> = TableDefinition::new("urls");
/// A row of a document: the number of a reading, and the document's id.
type DocumentRow = (u64, &'static [u8; ContentId::BYTES]);

/// Opens the database of watched files, which is described in docs/format.md, "A node's directory". Also returns the
/// number of the last reading.
pub(super) fn open(path: PathBuf) -> furui::Result<(ReopenedDatabase, u64)> {
    let database = ReopenedDatabase::open(Some(path), |transaction| {
        transaction.open_table(FILES)?;
        transaction.open_table(DOCUMENTS)?;
        transaction.open_table(URLS)?;
        Ok(())
    })?;
    let reading = database.read(|transaction| {
        let rows = transaction.open_table(DOCUMENTS)?;
        rows.iter()?.try_fold(0, |last, row| Ok(row?.1.value().0.max(last)))
    })?;
    Ok((database, reading))
}

/// The bytes of a path, by which it is stored.
pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The path with these bytes.
fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    let name = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    #[cfg(not(unix))]
    let name = OsStr::new(std::str::from_utf8(bytes).unwrap_or_default());
    let name: &OsStr = name;
    PathBuf::from(name)
}

/// The first file other than `except`, in the order of the bytes of the paths, that has a document under this URL.
pub(super) fn heir(
    urls: &impl ReadableTable<(&'static str, &'static [u8]), ()>,
    url: &str,
    except: &[u8],
) -> Result<Option<PathBuf>, redb::Error> {
    for row in urls.range((url, &[][..])..)?.take(2) {
        let (key, _) = row?;
        let (found, name) = key.value();
        if found == url && name != except {
            return Ok(Some(path(name)));
        }
    }
    Ok(None)
}

pub(super) fn files(
    transaction: &ReadTransaction,
    under: Option<&Path>,
    after: Option<&Path>,
    most: usize,
) -> Result<Vec<PathBuf>, redb::Error> {
    // A file has a row in one of the tables or in both.
    let (read, documents) = (transaction.open_table(FILES)?, transaction.open_table(DOCUMENTS)?);
    let start = bytes(after.or(under).unwrap_or(Path::new("")));
    // Of all paths with the bytes of `under` at the beginning, those below it follow it, but not always at once.
    let prefix = bytes(under.unwrap_or(Path::new("")));
    let mut paths = std::collections::BTreeSet::new();
    let take = |name: &[u8], paths: &mut std::collections::BTreeSet<PathBuf>, count: &mut usize| {
        let found = path(name);
        let fits = under.is_none_or(|under| found.starts_with(under)) && after.is_none_or(|after| bytes(after) < name);
        if fits && paths.insert(found) {
            *count += 1;
        }
        name.starts_with(prefix) && *count < most
    };
    let mut count = 0;
    for row in read.range(start..)? {
        if !take(row?.0.value(), &mut paths, &mut count) {
            break;
        }
    }
    count = 0;
    for row in documents.range((start, "")..)? {
        if !take(row?.0.value().0, &mut paths, &mut count) {
            break;
        }
    }
    // Each table has given its first files, so the first of both together are the first of all.
    let mut paths: Vec<PathBuf> = paths.into_iter().collect();
    paths.sort_by(|a, b| bytes(a).cmp(bytes(b)));
    paths.truncate(most);
    Ok(paths)
}

pub(super) fn documents(
    transaction: &ReadTransaction,
    after: Option<&(PathBuf, String)>,
    most: usize,
) -> Result<Vec<(PathBuf, String, ContentId)>, redb::Error> {
    let table = transaction.open_table(DOCUMENTS)?;
    let start = after.map_or((&[][..], ""), |(path, url)| (bytes(path), url.as_str()));
    let mut rows = Vec::new();
    for row in table.range(start..)? {
        let (key, value) = row?;
        let (name, url) = key.value();
        if rows.len() == most {
            break;
        }
        if after.is_none() || (name, url) != start {
            rows.push((path(name), url.to_owned(), ContentId::new(*value.value().1)));
        }
    }
    Ok(rows)
}
