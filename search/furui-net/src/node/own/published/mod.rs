//! The documents that this node has published for its users.

mod tables;

use std::collections::HashMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use furui_search::ContentId;
use redb::{ReadableTable, WriteTransaction};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::database::ReopenedDatabase;
use crate::node::Inner;
use tables::{DOCUMENTS, DocumentTable, FILE, PublishedRow, URLS, WITHDRAWN, WithdrawnTable, find, head, seconds};

/// The table of published documents is compacted after this time without a publication. The value is a choice, not a
/// measurement.
const QUIET: Duration = Duration::from_secs(60);
/// The table of published documents is compacted only after at least this number of changes. The value is a choice, not
/// a measurement.
const CHANGES: u64 = 8;

/// The table of the documents that this node has published for its users, with their times and URLs. It serves to skip
/// documents that were published recently, to publish documents again before they expire, and to withdraw a document
/// when another one replaces it under its URL.
///
/// URLs are stored as 64-bit hashes. Among n URLs, about n²/2⁶⁵ hash collisions are expected; a document whose URL
/// collides with another one replaces that URL's document.
#[derive(Clone)]
pub(in crate::node) struct PublishedTable(Arc<ReopenedDatabase>);

impl PublishedTable {
    /// Opens the table in a directory or, without a directory, an empty one in memory.
    pub(in crate::node) fn open(directory: Option<&Path>) -> furui::Result<Self> {
        Ok(Self(Arc::new(tables::open(directory)?)))
    }

    /// Compacts the table whenever nothing was published for [`QUIET`], until the node is dropped.
    pub(in crate::node) async fn tidy(published: Weak<Inner>) {
        let (mut before, mut compacted) = (0, 0);
        loop {
            sleep(QUIET).await;
            let Some(published) = published.upgrade().map(|node| node.published.clone()) else { return };
            let changes = published.0.changes();
            if changes == before && changes >= compacted + CHANGES {
                compacted = changes;
                // If the storage fails, the next publication reports it.
                let _ = spawn_blocking(move || published.0.compact()).await;
            }
            before = changes;
        }
    }

    /// Copies the table into a directory, in the state after its last change.
    pub(in crate::node) fn copy(&self, to: &Path) -> furui::Result<()> {
        self.0.copy(&to.join(FILE))
    }

    /// For each of these documents, returns true if it is published and was last published at `since` or later. Times
    /// are seconds since 1970.
    pub(in crate::node) fn recent(&self, ids: &[ContentId], since: u64) -> furui::Result<Vec<bool>> {
        Ok(self.rows(ids)?.into_iter().map(|(url, at)| url > 0 && u64::from(at) >= since).collect())
    }

    /// The time of the next publication of each of these documents: `now`, but later than an earlier withdrawal and not
    /// before an earlier publication, whatever the clock has said then.
    pub(in crate::node) fn next(&self, ids: &[ContentId], now: u64) -> furui::Result<HashMap<ContentId, u32>> {
        let rows = ids.iter().copied().zip(self.rows(ids)?);
        let next = rows.map(|(id, (url, at))| (id, seconds(now).max(at.saturating_add(u32::from(url == 0 && at > 0)))));
        Ok(next.collect())
    }

    /// The rows of these documents. That of a document without one has only zeros.
    fn rows(&self, ids: &[ContentId]) -> furui::Result<Vec<PublishedRow>> {
        self.0.read(|transaction| {
            let table = transaction.open_table(DOCUMENTS)?;
            let row = |id: &ContentId| Ok(table.get(id.as_bytes())?.map(|row| row.value()).unwrap_or_default());
            ids.iter().map(row).collect()
        })
    }

    /// Records that these documents were published under the given URLs, each at its time `at`, and that the documents
    /// which they replace are withdrawn. Returns the number of replaced documents.
    pub(in crate::node) fn set(
        &self,
        documents: &[(ContentId, String)],
        at: &HashMap<ContentId, u32>,
    ) -> furui::Result<u64> {
        self.0.change(|transaction| {
            let mut replaced = 0;
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for (id, url) in documents {
                let url = hash(url);
                let before = find(&table, &urls, url)?.filter(|before| before != id);
                if let Some(before) = before {
                    withdraw(&mut table, &mut withdrawn, before, at.get(id).copied().unwrap_or_default())?;
                    replaced += 1;
                }
                urls.insert(url, head(*id))?;
                table.insert(id.as_bytes(), (url, at.get(id).copied().unwrap_or_default()))?;
            }
            Ok(replaced)
        })
    }

    /// Updates the publication times of these documents.
    pub(in crate::node) fn renew(&self, at: &HashMap<ContentId, u32>) -> furui::Result<()> {
        self.0.change(|transaction| {
            let mut table = transaction.open_table(DOCUMENTS)?;
            for (id, at) in at {
                let row = table.get(id.as_bytes())?.map(|row| row.value());
                // The document may have been withdrawn meanwhile.
                if let Some((url, _)) = row.filter(|(url, _)| *url > 0) {
                    table.insert(id.as_bytes(), (url, *at))?;
                }
            }
            Ok(())
        })
    }

    /// For each of these URLs, returns the document that is published under it.
    pub(in crate::node) fn under(&self, of: &[String]) -> furui::Result<Vec<Option<ContentId>>> {
        self.0.read(|transaction| {
            let (table, urls) = (transaction.open_table(DOCUMENTS)?, transaction.open_table(URLS)?);
            of.iter().map(|url| find(&table, &urls, hash(url))).collect()
        })
    }

    /// Records the withdrawal of the documents under these URLs. For each URL, returns true if a document was published
    /// under it.
    pub(in crate::node) fn withdraw(&self, of: &[String], now: u64) -> furui::Result<Vec<bool>> {
        let urls: Vec<u64> = of.iter().map(|url| hash(url)).collect();
        self.0.change(|transaction| withdraw_all(transaction, &urls, seconds(now)))
    }

    /// Records the withdrawal of documents under at most `most` URLs. Returns the number of these URLs.
    pub(in crate::node) fn withdraw_some(&self, most: usize, now: u64) -> furui::Result<usize> {
        self.0.change(|transaction| {
            let some = {
                let urls = transaction.open_table(URLS)?;
                urls.iter()?.take(most).map(|entry| Ok(entry?.0.value())).collect::<Result<Vec<u64>, redb::Error>>()?
            };
            Ok(withdraw_all(transaction, &some, seconds(now))?.len())
        })
    }

    /// Returns at most `most` documents after `after`, in the order of ids, whose withdrawal is yet to be sent to the
    /// nodes that keep them, each with the time of the withdrawal.
    pub(in crate::node) fn to_tell(
        &self,
        after: Option<(ContentId, u32)>,
        most: usize,
    ) -> furui::Result<Vec<(ContentId, u32)>> {
        self.0.read(|transaction| {
            let table = transaction.open_table(WITHDRAWN)?;
            let after = after.as_ref().map_or(Unbounded, |(id, at)| Excluded((id.as_bytes(), *at)));
            let documents = table.range((after, Unbounded))?.take(most).map(|entry| {
                let (key, _) = entry?;
                let (id, at) = key.value();
                Ok((ContentId::new(*id), at))
            });
            documents.collect()
        })
    }

    /// Records that the nodes that keep these documents were informed of the withdrawal.
    pub(in crate::node) fn told(&self, documents: &[(ContentId, u32)]) -> furui::Result<()> {
        self.0.change(|transaction| {
            let mut withdrawn = transaction.open_table(WITHDRAWN)?;
            for (id, at) in documents {
                withdrawn.remove((id.as_bytes(), *at))?;
            }
            Ok(())
        })
    }

    /// Returns at most `most` of the documents that were last published before `before`.
    pub(in crate::node) fn stale(&self, before: u64, most: usize) -> furui::Result<Vec<ContentId>> {
        self.0.read(|transaction| {
            let table = transaction.open_table(DOCUMENTS)?;
            let mut stale = Vec::new();
            for entry in table.iter()? {
                let (id, row) = entry?;
                let (url, at) = row.value();
                if url > 0 && u64::from(at) < before {
                    stale.push(ContentId::new(*id.value()));
                    if stale.len() == most {
                        break;
                    }
                }
            }
            Ok(stale)
        })
    }

    /// Removes the rows of documents that were withdrawn before `before`, which all nodes have removed by then, and
    /// what was to be told of them.
    pub(in crate::node) fn forget(&self, before: u64) -> furui::Result<()> {
        self.0.change(|transaction| {
            transaction.open_table(WITHDRAWN)?.retain(|(_, at), ()| u64::from(at) >= before)?;
            transaction.open_table(DOCUMENTS)?.retain(|_, (url, at)| url > 0 || u64::from(at) >= before)?;
            Ok(())
        })
    }
}

/// Records the withdrawal of the documents under the URLs with these [hashes](hash). For each, returns true if there is
/// a document.
fn withdraw_all(transaction: &WriteTransaction, of: &[u64], now: u32) -> Result<Vec<bool>, redb::Error> {
    let mut table = transaction.open_table(DOCUMENTS)?;
    let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
    let mut found = Vec::with_capacity(of.len());
    for &url in of {
        let id = find(&table, &urls, url)?;
        urls.remove(url)?;
        id.map_or(Ok(()), |id| withdraw(&mut table, &mut withdrawn, id, now))?;
        found.push(id.is_some());
    }
    Ok(found)
}

/// Records that a document is withdrawn, if it is published: at `now`, but not before it was published.
fn withdraw(
    table: &mut DocumentTable<'_>,
    withdrawn: &mut WithdrawnTable<'_>,
    id: ContentId,
    now: u32,
) -> Result<(), redb::Error> {
    let row = table.get(id.as_bytes())?.map(|row| row.value());
    if let Some((_, at)) = row.filter(|(url, _)| *url > 0) {
        let at = now.max(at);
        withdrawn.insert((id.as_bytes(), at), ())?;
        table.insert(id.as_bytes(), (0, at))?;
    }
    Ok(())
}

fn hash(url: &str) -> u64 {
    let hash: [u8; 32] = Sha256::digest(url).into();
    let (first, _) = hash.split_first_chunk().expect("longer than that");
    u64::from_le_bytes(*first).max(1)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::tables::FILE;
    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    fn id(n: u32) -> ContentId {
        let mut id = [0; ContentId::BYTES];
        // Groups of ids share their first bytes.
        id[..4].copy_from_slice(&(n / 3).to_le_bytes());
        id[16..].copy_from_slice(&n.to_le_bytes());
        ContentId::new(id)
    }

    fn url(n: u32) -> String {
        format!("http://a.example/{n}")
    }

    fn some(numbers: impl Iterator<Item = u32>) -> Vec<(ContentId, String)> {
        numbers.map(|n| (id(n), url(n))).collect()
    }

    fn at(numbers: std::ops::Range<u32>, time: u64) -> HashMap<ContentId, u32> {
        numbers.map(|n| (id(n), seconds(time))).collect()
    }

    /// Checks the rows of 100 documents, every tenth of which was withdrawn.
    fn check(published: &PublishedTable) {
        let ids: Vec<ContentId> = (0..100).map(id).collect();
        let recent: Vec<bool> = (0..100).map(|n| n % 10 > 0).collect();
        assert_eq!(published.recent(&ids, DAY).unwrap(), recent);
        assert!(!published.recent(&ids, DAY + 1).unwrap().contains(&true));
        // A withdrawn document is published after its withdrawal, even by a clock that goes back.
        let day = DAY as u32;
        for (now, of_withdrawn, of_published) in [(0, day + 1, day), (3 * DAY, 3 * day, 3 * day)] {
            let next = published.next(&ids, now).unwrap();
            let expected = |n| if n % 10 == 0 { of_withdrawn } else { of_published };
            assert!((0..100).all(|n| next[&id(n)] == expected(n)));
        }
        assert_eq!(published.to_tell(None, 99).unwrap(), (0..10).map(|n| (id(10 * n), day)).collect::<Vec<_>>());
        // Of the two new documents, one replaces a published document, and the other one a withdrawn document.
        assert_eq!(published.set(&[(id(200), url(1)), (id(201), url(0))], &at(200..202, 2 * DAY)).unwrap(), 1);
        assert_eq!(published.recent(&[id(1), id(200), id(201)], DAY).unwrap(), [false, true, true]);
        assert_eq!(published.next(&[id(1)], 0).unwrap()[&id(1)], 2 * day + 1);
        assert_eq!(published.withdraw(&[url(1), url(10), url(300)], DAY).unwrap(), [true, false, false]);
        assert_eq!(published.stale(2 * DAY, 200).unwrap().len(), 89);
        assert_eq!(published.withdraw_some(200, DAY).unwrap(), 90);
        published.forget(3 * DAY).unwrap();
        assert!(published.next(&ids, 0).unwrap().values().all(|at| *at == 0));
    }

    #[test]
    fn what_is_published_is_known_by_id_and_by_url() {
        let published = PublishedTable::open(None).unwrap();
        assert_eq!(published.set(&some(0..100), &at(0..100, 0)).unwrap(), 0);
        published.renew(&at(0..100, DAY)).unwrap();
        let tenth: Vec<String> = (0..10).map(|n| url(10 * n)).collect();
        assert_eq!(published.withdraw(&tenth, DAY).unwrap(), [true; 10]);
        published.0.compact().unwrap();
        check(&published);
    }

    #[test]
    fn compacting_gives_room_back() {
        let directory = env::temp_dir().join(format!("furui-published-room-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let published = PublishedTable::open(Some(&directory)).unwrap();
        for batch in 0..40 {
            let numbers = batch * 200..batch * 200 + 200;
            published.set(&some(numbers.clone()), &at(numbers, DAY)).unwrap();
        }
        let length = || fs::metadata(directory.join(FILE)).unwrap().len();
        let before = length();
        published.0.compact().unwrap();
        assert!(length() < before && length() < 8000 * 48 * 2, "{before} {}", length());
        assert_eq!(published.recent(&[id(7999), id(8000)], DAY).unwrap(), [true, false]);
        fs::remove_dir_all(directory).unwrap();
    }
}
