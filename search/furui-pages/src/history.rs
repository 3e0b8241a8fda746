use std::io::{self, Read};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, MAIN_DB, Row};

use crate::{Address, Document, Entry, MAX_PAGE, Page};

/// The maximum size of a browser's history, in bytes. Firefox keeps its own below a third of that.
pub const MAX_HISTORY: u64 = 256 << 20;
/// The number of rows, and of their bytes, after which no more are read from the database before these are taken.
/// Chosen: what a megabyte or two can hold.
const AT_ONCE: (usize, usize) = (1024, 1 << 20);
/// The number of instructions of SQLite's machine for one row, after which reading ends with an error: a database can
/// have columns that compute without end. Derived: what passing over all rows of the largest file takes.
const MAX_STEPS: i32 = 256 << 20;
/// The offset in a file of SQLite of the two bytes that tell whether a log is to be read beside it (2) or not (1).
const VERSIONS: usize = 18;
/// The tables in which browsers have the pages that were visited: Firefox, and Chromium.
const TABLES: [&str; 2] = ["moz_places", "urls"];

/// Reads the history of a browser: a file of SQLite, such as Firefox's `places.sqlite` and Chromium's `History`. Each
/// page with a title is a document under its URL; there is no text. A file of SQLite without the tables of a browser
/// yields one [`Entry::Other`].
///
/// Nothing is read but the file: what a running browser has written only into the log beside it is missing. Memory:
/// the size of the file.
pub struct History {
    database: Connection,
    table: Option<&'static str>,
    /// The id of the last row that was read.
    last: i64,
    /// Entries that were read and not yet returned, in reverse order.
    entries: Vec<Entry>,
    /// The number of bytes that rows may still have. Those of a sound file have fewer than the file.
    left: u64,
    is_ended: bool,
}

impl History {
    /// Reads a database of `size` bytes.
    ///
    /// # Errors
    /// If the file is larger than [`MAX_HISTORY`], or damaged, or if reading fails.
    pub fn read(mut from: impl Read, size: u64) -> io::Result<Self> {
        if size > MAX_HISTORY {
            return Err(invalid(format!("a database of more than {MAX_HISTORY} bytes")));
        }
        let mut head = vec![0; size.min(100) as usize];
        from.read_exact(&mut head)?;
        if let Some(versions) = head.get_mut(VERSIONS..VERSIONS + 2) {
            versions.fill(1);
        }
        let mut history = Self::open(head.chain(from), size).map_err(|error| invalid(error.to_string()))?;
        let mut tables = TABLES.into_iter();
        history.table = tables.find(|table| history.database.prepare(&query(table)).is_ok());
        if history.table.is_none() {
            history.entries.push(Entry::Other);
            history.is_ended = true;
        }
        Ok(history)
    }

    fn open(from: impl Read, size: u64) -> rusqlite::Result<Self> {
        let mut database = Connection::open_in_memory()?;
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        database.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_PAGE as i32)?;
        database.progress_handler(MAX_STEPS, Some(|| true))?;
        database.deserialize_read_exact(MAIN_DB, from, size as usize, true)?;
        // A database that is no database says so when it is first used.
        database.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(Self { database, table: None, last: i64::MIN, entries: Vec::new(), left: size, is_ended: false })
    }

    /// Reads the next rows.
    fn fill(&mut self, table: &str) -> rusqlite::Result<()> {
        let mut statement = self.database.prepare(&query(table))?;
        let mut rows = statement.query([self.last])?;
        let mut bytes = 0;
        while self.entries.len() < AT_ONCE.0 && bytes < AT_ONCE.1 {
            let Some(row) = rows.next()? else {
                self.is_ended = true;
                break;
            };
            self.last = row.get(0)?;
            let place = format!("row {}", self.last);
            let (length, entry) = match page(row) {
                Ok((url, title)) => {
                    let length = url.len() + title.len();
                    let page = Page { title, ..Page::default() };
                    (length, Entry::Document(Document { place, address: Address::Url(url), page }))
                }
                // It counts as a byte, so that pages of the file that refer to each other in a circle come to an end.
                Err(why) => (1, Entry::Broken { place, why }),
            };
            bytes += length;
            let left = self.left.checked_sub(length as u64);
            self.left =
                left.ok_or_else(|| rusqlite::Error::ToSqlConversionFailure("rows larger than their file".into()))?;
            self.entries.push(entry);
        }
        self.entries.reverse();
        Ok(())
    }
}

impl Iterator for History {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.entries.is_empty()
            && !self.is_ended
            && let Err(error) = self.table.map_or(Ok(()), |table| self.fill(table))
        {
            self.is_ended = true;
            let broken = Entry::Broken { place: format!("after row {}", self.last), why: error.to_string() };
            self.entries.insert(0, broken);
        }
        self.entries.pop()
    }
}

/// The query for the rows of a table with a title.
fn query(table: &str) -> String {
    format!("SELECT rowid, url, title FROM {table} WHERE rowid > ?1 AND title <> '' ORDER BY rowid")
}

/// The URL and the title in a row.
fn page(row: &Row<'_>) -> Result<(String, String), String> {
    let text = |column| -> Result<String, String> {
        let value = row.get_ref(column).map_err(|error| error.to_string())?;
        value.as_str().map(str::to_owned).map_err(|error| error.to_string())
    };
    Ok((text(1)?, text(2)?))
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of a database that these statements make.
    fn database(statements: &str) -> Vec<u8> {
        let mut database = Connection::open_in_memory().unwrap();
        database.execute_batch(statements).unwrap();
        database.serialize(MAIN_DB).unwrap().to_vec()
    }

    fn entries(bytes: &[u8]) -> io::Result<Vec<Entry>> {
        Ok(History::read(bytes, bytes.len() as u64)?.collect())
    }

    #[test]
    fn pages_with_a_title_are_documents() {
        let mut file = database(
            "CREATE TABLE urls (id INTEGER PRIMARY KEY, url, title);
             INSERT INTO urls VALUES (7, 'http://a/', 'A'), (8, 'http://b/', NULL), (-3, 'http://c/', 'C'), (9, 1, 'x');",
        );
        let urls = |file: &[u8]| -> Vec<String> {
            let entries = entries(file).unwrap().into_iter();
            let urls = entries.map(|entry| match entry {
                Entry::Document(Document { address: Address::Url(url), page, .. }) => format!("{url} {}", page.title),
                other => format!("{other:?}").chars().take(6).collect(),
            });
            urls.collect()
        };
        assert_eq!(urls(&file), ["http://c/ C", "http://a/ A", "Broken"]);
        // As if there were a log beside the file.
        file[VERSIONS..VERSIONS + 2].fill(2);
        assert_eq!(urls(&file).len(), 3);
        assert_eq!(entries(&database("CREATE TABLE urls (url);")).unwrap(), [Entry::Other]);
        assert_eq!(entries(&database("CREATE VIEW urls AS SELECT 1 AS url, 2 AS title;")).unwrap(), [Entry::Other]);
    }

    #[test]
    fn a_hostile_database_ends_with_an_error() {
        for columns in [
            "url AS (hex(zeroblob(4000000))), title AS ('x')",
            "url AS (hex(zeroblob(400000000))), title AS ('x')",
            "url, title AS (printf('%.*c', 1000000, 'x'))",
        ] {
            let file = database(&format!(
                "CREATE TABLE urls (id INTEGER PRIMARY KEY, {columns});
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                 INSERT INTO urls (id) SELECT i FROM n;"
            ));
            let last = entries(&file).unwrap().pop();
            assert!(matches!(last, Some(Entry::Broken { .. })), "{columns}: {last:?}");
        }
        let file = database("CREATE TABLE urls (url, title); INSERT INTO urls VALUES ('http://a/', 'A');");
        for length in [0, 10, 50, 100, 2000, file.len() / 2] {
            assert!(entries(&file[..length]).is_err(), "{length}");
        }
        assert!(History::read(&b""[..], MAX_HISTORY + 1).is_err());
        // Each byte may be wrong of the head, and of what the file says of its tables and rows.
        for at in (0..120).chain(3900..4200) {
            let mut damaged = file.clone();
            damaged[at] ^= 0xff;
            let _ = entries(&damaged);
        }
    }
}
