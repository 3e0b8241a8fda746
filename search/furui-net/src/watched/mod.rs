//! The watched directories of a node: which files were published, under which URLs. The program `furui node` reads and
//! publishes the files; the search page opens those whose documents are published.

mod beneath;
mod tables;

use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use furui_search::ContentId;

use crate::database::ReopenedDatabase;
pub(crate) use tables::FILE;

/// The maximum number of rows that a call returns. Chosen: they fit in a megabyte or two.
const MOST: usize = 1024;

/// The files in the watched directories of a node, with the documents that the node has published from them.
///
/// Clones refer to the same table. Each document of a file has a row, which is written before the document is
/// published, and removed after it was withdrawn; so nothing stays published unnoticed after a crash. If several files
/// have a document of the same URL, that of the first file, in the order of the paths, is published.
#[derive(Clone, Debug)]
pub struct Watched(Arc<Files>);

#[derive(Debug)]
struct Files {
    database: ReopenedDatabase,
    /// The number of the last reading of a file.
    reading: AtomicU64,
    roots: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
}

/// What shows that a file has changed: its size in bytes, the times of the last change of its contents and of its
/// metadata in nanoseconds since 1970, and its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub(crate) (u64, i64, i64, u64));

/// The reading of a file's documents: its path and the number of the reading, by which documents that the file no more
/// has are told from those that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReading {
    /// The path of the file.
    pub path: PathBuf,
    /// The number of the reading, which is greater than that of every earlier reading.
    pub number: u64,
}

impl Stamp {
    /// The stamp of a file with these metadata.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self((
            metadata.len(),
            nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            metadata.ino(),
        ))
    }

    /// The stamp of a file with these metadata.
    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Self {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let changed = since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or_default();
        Self((metadata.len(), changed, 0, 0))
    }
}

impl Watched {
    /// Opens the table in the directory of a node, or creates one. `roots` are the watched directories, without
    /// symbolic links; nothing at or below the paths in `secrets` is published or opened, such as the directory of the
    /// node itself.
    ///
    /// # Errors
    /// If the file cannot be read or written, or is damaged.
    pub fn open(directory: &Path, roots: Vec<PathBuf>, secrets: Vec<PathBuf>) -> furui::Result<Self> {
        let (database, last) = tables::open(directory.join(FILE))?;
        Ok(Self(Arc::new(Files { database, reading: AtomicU64::new(last), roots, secrets })))
    }

    /// True if the directory of a node has the table, because the node has watched directories before.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(FILE).exists()
    }

    /// The watched directories.
    pub fn roots(&self) -> &[PathBuf] {
        &self.0.roots
    }

    /// The watched directory in which a path is, if a file at this path may be published: neither the path below the
    /// directory nor a directory on the way is hidden or secret.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let Files { roots, secrets, .. } = &*self.0;
        let root = roots.iter().find(|root| path.starts_with(root))?;
        let usual = |part: Component<'_>| match part {
            Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
            _ => false,
        };
        let below = path.strip_prefix(root).ok()?;
        let is_secret = secrets.iter().any(|secret| path.starts_with(secret));
        (below.components().all(usual) && !is_secret).then_some(root)
    }

    /// Opens a file in a watched directory for reading, without following symbolic links below that directory.
    ///
    /// # Errors
    /// If the file may not be published, is no regular file, or the system refuses.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        let root = self.root_of(path).ok_or(io::ErrorKind::NotFound)?;
        beneath::open(root, path.strip_prefix(root).unwrap_or(path))
    }

    /// The file whose document is published under a `file:` URL, if the file is in a watched directory.
    pub fn file_of(&self, url: &str) -> Option<PathBuf> {
        let path = url::Url::parse(url).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()?;
        self.root_of(&path)?;
        let publishes = self.0.database.read(|transaction| {
            let rows = transaction.open_table(tables::DOCUMENTS)?;
            Ok(rows.get((tables::bytes(&path), url))?.is_some())
        });
        publishes.ok().filter(|publishes| *publishes).map(|_| path)
    }

    /// True if a file was read when it had this stamp.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn is_current(&self, path: &Path, stamp: Stamp) -> furui::Result<bool> {
        self.0.database.read(|transaction| {
            let files = transaction.open_table(tables::FILES)?;
            Ok(files.get(tables::bytes(path))?.is_some_and(|row| row.value() == stamp.0))
        })
    }

    /// True if the document of a file under a URL is the one to be published: the reading has found none before it, and
    /// no earlier file has one.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn is_first(&self, FileReading { path, number }: &FileReading, url: &str) -> furui::Result<bool> {
        self.0.database.read(|transaction| {
            let documents = transaction.open_table(tables::DOCUMENTS)?;
            let path = tables::bytes(path);
            let is_again = documents.get((path, url))?.is_some_and(|row| row.value().0 == *number);
            let first = tables::heir(&transaction.open_table(tables::URLS)?, url, path)?;
            Ok(!is_again && first.is_none_or(|first| path < tables::bytes(&first)))
        })
    }

    /// Writes down documents before they are published: for each the reading of its file, its URL and its id.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn claim(&self, rows: &[(FileReading, String, ContentId)]) -> furui::Result<()> {
        self.0.database.change(|transaction| {
            let mut documents = transaction.open_table(tables::DOCUMENTS)?;
            let mut urls = transaction.open_table(tables::URLS)?;
            for (FileReading { path, number }, url, id) in rows {
                documents.insert((tables::bytes(path), url.as_str()), (*number, id.as_bytes()))?;
                urls.insert((url.as_str(), tables::bytes(path)), ())?;
            }
            Ok(())
        })
    }

    /// Writes down that the documents of a file with this stamp were published.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn settle(&self, files: &[(FileReading, Stamp)]) -> furui::Result<()> {
        self.0.database.change(|transaction| {
            let mut rows = transaction.open_table(tables::FILES)?;
            for (FileReading { path, .. }, stamp) in files {
                rows.insert(tables::bytes(path), stamp.0)?;
            }
            Ok(())
        })
    }

    /// Some URLs, at most a thousand, of documents that a file had at an earlier reading and has no more.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn stale(&self, FileReading { path, number }: &FileReading) -> furui::Result<Vec<String>> {
        self.0.database.read(|transaction| {
            let documents = transaction.open_table(tables::DOCUMENTS)?;
            let path = tables::bytes(path);
            let mut stale = Vec::new();
            for row in documents.range((path, "")..)? {
                let (key, value) = row?;
                if key.value().0 != path || stale.len() == MOST {
                    break;
                }
                if value.value().0 < *number {
                    stale.push(key.value().1.to_owned());
                }
            }
            Ok(stale)
        })
    }

    /// For each of these URLs, the first other file that has a document under it; `None` if there is no other.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn heirs(&self, path: &Path, urls: &[String]) -> furui::Result<Vec<Option<PathBuf>>> {
        self.0.database.read(|transaction| {
            let rows = transaction.open_table(tables::URLS)?;
            urls.iter().map(|url| tables::heir(&rows, url, tables::bytes(path))).collect()
        })
    }

    /// Removes documents of a file, which were withdrawn or have an heir.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn remove(&self, path: &Path, urls: &[String]) -> furui::Result<()> {
        self.0.database.change(|transaction| {
            let mut documents = transaction.open_table(tables::DOCUMENTS)?;
            let mut rows = transaction.open_table(tables::URLS)?;
            for url in urls {
                documents.remove((tables::bytes(path), url.as_str()))?;
                rows.remove((url.as_str(), tables::bytes(path)))?;
            }
            Ok(())
        })
    }

    /// Forgets with which stamps files were read, so that they are read again, or that they existed.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn forget(&self, paths: &[PathBuf]) -> furui::Result<()> {
        self.0.database.change(|transaction| {
            let mut files = transaction.open_table(tables::FILES)?;
            for path in paths {
                files.remove(tables::bytes(path))?;
            }
            Ok(())
        })
    }

    /// The paths of some files, at most a thousand, that come after `after` and were read, or have documents; at or
    /// below `under`, or anywhere.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn files(&self, under: Option<&Path>, after: Option<&Path>) -> furui::Result<Vec<PathBuf>> {
        self.0.database.read(|transaction| tables::files(transaction, under, after, MOST))
    }

    /// Some documents, at most a thousand, that come after `after`: each the path of its file, its URL and its id.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn documents(&self, after: Option<&(PathBuf, String)>) -> furui::Result<Vec<(PathBuf, String, ContentId)>> {
        self.0.database.read(|transaction| tables::documents(transaction, after, MOST))
    }

    /// A number for the next reading of a file: greater than all before, also before the last start.
    pub fn next_reading(&self) -> u64 {
        self.0.reading.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Copies the table into a file, in the state after its last change.
    pub(crate) fn copy(&self, to: &Path) -> furui::Result<()> {
        self.0.database.copy(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("furui-watched-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        directory.canonicalize().unwrap()
    }

    fn id(byte: u8) -> ContentId {
        ContentId::new([byte; ContentId::BYTES])
    }

    #[test]
    fn what_a_file_had_and_has_no_more_is_stale_and_another_file_takes_its_place() {
        let directory = directory("stale");
        let watched = Watched::open(&directory, vec!["/r".into()], vec![]).unwrap();
        let reading = |path: &str| FileReading { path: path.into(), number: watched.next_reading() };
        let (a, b) = (reading("/r/a"), reading("/r/b"));
        watched.claim(&[(a.clone(), "u:1".into(), id(1)), (a.clone(), "u:2".into(), id(2))]).unwrap();
        watched.claim(&[(b.clone(), "u:1".into(), id(3))]).unwrap();
        assert!(!watched.is_first(&a, "u:1").unwrap() && !watched.is_first(&b, "u:1").unwrap());
        assert!(watched.is_first(&reading("/r/a"), "u:1").unwrap() && watched.is_first(&b, "u:3").unwrap());
        let stamp = Stamp((1, 2, 3, 4));
        watched.settle(&[(a.clone(), stamp)]).unwrap();
        assert!(
            watched.is_current(&a.path, stamp).unwrap() && !watched.is_current(&a.path, Stamp((1, 2, 3, 5))).unwrap()
        );
        assert_eq!(watched.stale(&a).unwrap(), [""; 0]);
        let again = reading("/r/a");
        watched.claim(&[(again.clone(), "u:2".into(), id(4))]).unwrap();
        assert_eq!(watched.stale(&again).unwrap(), ["u:1"]);
        for (reading, heir) in [(&a, Some(b.path.clone())), (&b, None)] {
            assert_eq!(watched.heirs(&reading.path, &["u:1".into()]).unwrap(), [heir]);
            watched.remove(&reading.path, &["u:1".into()]).unwrap();
        }
        assert_eq!(watched.documents(None).unwrap(), [(a.path.clone(), "u:2".into(), id(4))]);
        assert_eq!(watched.files(Some(Path::new("/r")), None).unwrap(), std::slice::from_ref(&a.path));
        drop(watched);
        let watched = Watched::open(&directory, vec!["/r".into()], vec![]).unwrap();
        assert!(watched.next_reading() > again.number, "numbers go on after a start");
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nothing_but_published_files_below_a_watched_directory_is_opened() {
        let directory = directory("open");
        let root = directory.join("root");
        for path in ["root/in/.hidden", "root/node", "root-other"] {
            std::fs::create_dir_all(directory.join(path)).unwrap();
        }
        for path in ["root/in/file", "root/in/.hidden/file", "root/in/other", "root/node/identity", "root-other/file"] {
            std::fs::write(directory.join(path), "some").unwrap();
        }
        std::os::unix::fs::symlink(directory.join("root-other"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(directory.join("root-other/file"), root.join("in/symbolic")).unwrap();
        let watched = Watched::open(&directory, vec![root.clone()], vec![root.join("node")]).unwrap();
        let url = |path: &Path| url::Url::from_file_path(path).unwrap().to_string();
        for (path, is_opened, is_served) in [
            ("in/file", true, true),
            ("in/other", true, false),
            ("in/.hidden/file", false, false),
            ("in/symbolic", false, true),
            ("link/file", false, true),
            ("in/../../root-other/file", false, false),
            ("../root-other/file", false, false),
            ("node/identity", false, false),
            ("in", false, false),
            ("", false, false),
        ] {
            let path = root.join(path);
            assert_eq!(watched.open_file(&path).is_ok(), is_opened, "{}", path.display());
            if !path.ends_with("other") {
                let row = (FileReading { path: path.clone(), number: 1 }, url(&path), id(1));
                watched.claim(&[row]).unwrap();
            }
            let opened = watched.file_of(&url(&path)).and_then(|path| watched.open_file(&path).ok());
            assert_eq!(opened.is_some(), is_opened && is_served, "{}", path.display());
        }
        // A document of another file does not open the file that its URL names.
        let row = (FileReading { path: root.join("in/file"), number: 1 }, url(&root.join("in/other")), id(1));
        watched.claim(&[row]).unwrap();
        assert_eq!(watched.file_of(&url(&root.join("in/other"))), None);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
