use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, Weak};
use std::time::Duration;

use furui::search::ContentId;
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::{Inner, NodeError};

const FILE: &str = "published.redb";
/// From the id of a document to what is known of it.
const DOCUMENTS: TableDefinition<'_, &[u8; ContentId::BYTES], Row> = TableDefinition::new("ids");
/// From the hash of a URL to how the id of the document that is published under it begins.
const URLS: TableDefinition<'_, u64, u32> = TableDefinition::new("places");
/// Documents whose keepers are still to be told that they are withdrawn, and how often they had been before.
const WITHDRAWN: TableDefinition<'_, (&[u8; ContentId::BYTES], u32), ()> = TableDefinition::new("withdrawn");
/// What there was in the place of the first two once: seconds, withdrawals and whether it is published, by id; ids by 16
/// bytes of a URL's hash.
const OLD_DOCUMENTS: TableDefinition<'_, &[u8; ContentId::BYTES], (u64, u32, bool)> = TableDefinition::new("documents");
const OLD_URLS: TableDefinition<'_, &[u8; 16], &[u8; ContentId::BYTES]> = TableDefinition::new("urls");
/// Memory for pages.
const CACHE: usize = 4 << 20;
/// How long nothing may have been published before the table is made small, at least; and how much must have been: as many
/// batches.
const QUIET: Duration = Duration::from_secs(60);
const CHANGES: u64 = 8;

/// The hash of its URL, 0 if it is not published any more; when it was published last, or withdrawn, in seconds since 1970;
/// and how often it was withdrawn.
type Row = (u64, u32, u32);
type DocumentTable<'t> = Table<'t, &'static [u8; ContentId::BYTES], Row>;
type WithdrawnTable<'t> = Table<'t, (&'static [u8; ContentId::BYTES], u32), ()>;

/// What this node has published for its users, when, and under which URL: so that it is not published twice in a short
/// time, and again before it expires; and that what takes its place makes it go.
///
/// URLs are known by 64 bits of hash: among n of them, n²/2⁶⁵ are taken for another, which then takes its place.
#[derive(Clone)]
pub(super) struct Published(Arc<Shared>);

struct Shared {
    database: RwLock<Database>,
    changes: AtomicU64,
}

impl Published {
    pub(super) fn open(directory: Option<&Path>) -> Result<Self, NodeError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let file = directory.map(|directory| directory.join(FILE));
        let failed = |error: redb::Error| NodeError::Directory {
            file: file.clone().unwrap_or_default(),
            source: std::io::Error::other(error.to_string()),
        };
        let database = match &file {
            Some(file) => builder.create(file),
            None => builder.create_with_backend(InMemoryBackend::new()),
        };
        let database = database.map_err(|error| failed(error.into()))?;
        prepare(&database).map_err(failed)?;
        Ok(Self(Arc::new(Shared { database: RwLock::new(database), changes: AtomicU64::new(0) })))
    }

    fn database(&self) -> RwLockReadGuard<'_, Database> {
        // A panic elsewhere leaves the database as the last transaction did.
        self.0.database.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> Result<WriteTransaction, redb::Error> {
        self.0.changes.fetch_add(1, Ordering::Relaxed);
        Ok(self.database().begin_write()?)
    }

    /// Gives back the room that changes have left.
    fn compact(&self) -> Result<(), redb::Error> {
        self.0.database.write().unwrap_or_else(PoisonError::into_inner).compact()?;
        Ok(())
    }

    /// Makes the table small whenever nothing is published for a while, as long as there is a node.
    pub(super) async fn tidy(published: Weak<Inner>) {
        let (mut before, mut compacted) = (0, 0);
        loop {
            sleep(QUIET).await;
            let Some(published) = published.upgrade().map(|node| node.published.clone()) else { return };
            let changes = published.0.changes.load(Ordering::Relaxed);
            if changes == before && changes >= compacted + CHANGES {
                compacted = changes;
                // A storage that fails says so to whoever publishes next.
                let _ = spawn_blocking(move || published.compact()).await;
            }
            before = changes;
        }
    }

    /// Which of these are published, and were so at `since` or later.
    pub(super) fn recent(&self, ids: &[ContentId], since: u64) -> Result<Vec<bool>, redb::Error> {
        let table = self.database().begin_read()?.open_table(DOCUMENTS)?;
        let mut recent = Vec::with_capacity(ids.len());
        for id in ids {
            let row = table.get(id.as_bytes())?.map(|row| row.value());
            recent.push(row.is_some_and(|(url, at, _)| url > 0 && u64::from(at) >= since));
        }
        Ok(recent)
    }

    /// How often each of these was withdrawn.
    pub(super) fn withdrawals(&self, ids: &[ContentId]) -> Result<Vec<u32>, redb::Error> {
        let table = self.database().begin_read()?.open_table(DOCUMENTS)?;
        let mut withdrawals = Vec::with_capacity(ids.len());
        for id in ids {
            withdrawals.push(table.get(id.as_bytes())?.map_or(0, |row| row.value().2));
        }
        Ok(withdrawals)
    }

    /// Notes that these were published, each under its URL; documents that were before are to be withdrawn. Returns how
    /// many there are of those.
    pub(super) fn set(&self, documents: &[(ContentId, String)], now: u64) -> Result<u64, redb::Error> {
        let transaction = self.write()?;
        let mut replaced = 0;
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for (id, url) in documents {
                let url = hash(url);
                let before = find(&table, &urls, url)?.filter(|before| before != id);
                if let Some(before) = before {
                    withdraw(&mut table, &mut withdrawn, before, now)?;
                    replaced += 1;
                }
                urls.insert(url, head(*id))?;
                let withdrawals = table.get(id.as_bytes())?.map_or(0, |row| row.value().2);
                table.insert(id.as_bytes(), (url, seconds(now), withdrawals))?;
            }
        }
        transaction.commit()?;
        Ok(replaced)
    }

    /// Notes that these, which are published, were so again.
    pub(super) fn renew(&self, ids: &[ContentId], now: u64) -> Result<(), redb::Error> {
        let transaction = self.write()?;
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            for id in ids {
                let row = table.get(id.as_bytes())?.map(|row| row.value());
                // It may have been withdrawn meanwhile.
                if let Some((url, _, withdrawals)) = row.filter(|(url, ..)| *url > 0) {
                    table.insert(id.as_bytes(), (url, seconds(now), withdrawals))?;
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Notes that what is published under these URLs is to be withdrawn: for each whether there was something.
    pub(super) fn withdraw(&self, of: &[String], now: u64) -> Result<Vec<bool>, redb::Error> {
        let transaction = self.write()?;
        let mut found = Vec::with_capacity(of.len());
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for url in of {
                let url = hash(url);
                let id = find(&table, &urls, url)?;
                if let Some(id) = id {
                    urls.remove(url)?;
                    withdraw(&mut table, &mut withdrawn, id, now)?;
                }
                found.push(id.is_some());
            }
        }
        transaction.commit()?;
        Ok(found)
    }

    /// Notes that of all that is published some is to be withdrawn: at most `most`. Returns how many they are.
    pub(super) fn withdraw_some(&self, most: usize, now: u64) -> Result<usize, redb::Error> {
        let transaction = self.write()?;
        let mut some = Vec::new();
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for entry in urls.iter()?.take(most) {
                some.push(entry?.0.value());
            }
            for &url in &some {
                let id = find(&table, &urls, url)?;
                urls.remove(url)?;
                id.map_or(Ok(()), |id| withdraw(&mut table, &mut withdrawn, id, now))?;
            }
        }
        transaction.commit()?;
        Ok(some.len())
    }

    /// At most `most` documents whose keepers are to be told, and how often they had been withdrawn before; after that one.
    pub(super) fn to_tell(
        &self,
        after: Option<(ContentId, u32)>,
        most: usize,
    ) -> Result<Vec<(ContentId, u32)>, redb::Error> {
        let table = self.database().begin_read()?.open_table(WITHDRAWN)?;
        let mut some = Vec::new();
        let (id, times) = after.unwrap_or((ContentId::new([0; ContentId::BYTES]), 0));
        for entry in table.range((id.as_bytes(), times)..)? {
            let (key, _) = entry?;
            let (id, times) = key.value();
            let found = (ContentId::new(*id), times);
            if after != Some(found) {
                some.push(found);
            }
            if some.len() == most {
                break;
            }
        }
        Ok(some)
    }

    /// Notes that keepers of these were told.
    pub(super) fn told(&self, documents: &[(ContentId, u32)]) -> Result<(), redb::Error> {
        let transaction = self.write()?;
        {
            let mut withdrawn = transaction.open_table(WITHDRAWN)?;
            for (id, times) in documents {
                withdrawn.remove((id.as_bytes(), *times))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// At most `most` of those that were published before `before`.
    pub(super) fn stale(&self, before: u64, most: usize) -> Result<Vec<ContentId>, redb::Error> {
        let table = self.database().begin_read()?.open_table(DOCUMENTS)?;
        let mut stale = Vec::new();
        for entry in table.iter()? {
            let (id, row) = entry?;
            let (url, at, _) = row.value();
            if url > 0 && u64::from(at) < before {
                stale.push(ContentId::new(*id.value()));
                if stale.len() == most {
                    break;
                }
            }
        }
        Ok(stale)
    }

    /// Forgets what was withdrawn before `before`: by then every keeper has, too.
    pub(super) fn forget(&self, before: u64) -> Result<(), redb::Error> {
        let transaction = self.write()?;
        transaction.open_table(DOCUMENTS)?.retain(|_, (url, at, _)| url > 0 || u64::from(at) >= before)?;
        transaction.commit()?;
        Ok(())
    }
}

/// Makes what is missing, and what is now of what there was once.
fn prepare(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let (mut table, mut urls) = (transaction.open_table(DOCUMENTS)?, transaction.open_table(URLS)?);
        transaction.open_table(WITHDRAWN)?;
        for entry in transaction.open_table(OLD_DOCUMENTS)?.iter()? {
            let (id, row) = entry?;
            let (at, withdrawals, _) = row.value();
            table.insert(id.value(), (0, seconds(at), withdrawals))?;
        }
        for entry in transaction.open_table(OLD_URLS)?.iter()? {
            let (url, id) = entry?;
            let (url, _) = url.value().split_first_chunk().expect("longer than that");
            let (url, id) = (u64::from_le_bytes(*url).max(1), ContentId::new(*id.value()));
            let row = table.get(id.as_bytes())?.map(|row| row.value());
            if let Some((_, at, withdrawals)) = row {
                table.insert(id.as_bytes(), (url, at, withdrawals))?;
                urls.insert(url, head(id))?;
            }
        }
    }
    transaction.delete_table(OLD_DOCUMENTS)?;
    transaction.delete_table(OLD_URLS)?;
    transaction.commit()?;
    Ok(())
}

/// The document that is published under a URL of this hash.
fn find(table: &DocumentTable<'_>, urls: &Table<'_, u64, u32>, url: u64) -> Result<Option<ContentId>, redb::Error> {
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

/// Notes that a document is to be withdrawn, if it is published.
fn withdraw(
    table: &mut DocumentTable<'_>,
    withdrawn: &mut WithdrawnTable<'_>,
    id: ContentId,
    now: u64,
) -> Result<(), redb::Error> {
    let row = table.get(id.as_bytes())?.map(|row| row.value());
    if let Some((_, _, withdrawals)) = row.filter(|(url, ..)| *url > 0) {
        withdrawn.insert((id.as_bytes(), withdrawals), ())?;
        table.insert(id.as_bytes(), (0, seconds(now), withdrawals.saturating_add(1)))?;
    }
    Ok(())
}

fn hash(url: &str) -> u64 {
    let hash: [u8; 32] = Sha256::digest(url).into();
    let (first, _) = hash.split_first_chunk().expect("longer than that");
    u64::from_le_bytes(*first).max(1)
}

/// The first bytes of an id.
fn head(id: ContentId) -> u32 {
    let (first, _) = id.as_bytes().split_first_chunk().expect("longer than that");
    u32::from_le_bytes(*first)
}

/// A time as it is stored.
fn seconds(since_1970: u64) -> u32 {
    u32::try_from(since_1970).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails panics")]
    use std::{env, fs};

    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    fn id(n: u32) -> ContentId {
        let mut id = [0; ContentId::BYTES];
        // Some of them begin alike.
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

    /// Everything about 100 documents of which each tenth was withdrawn.
    fn check(published: &Published) {
        let ids: Vec<ContentId> = (0..100).map(id).collect();
        let recent: Vec<bool> = (0..100).map(|n| n % 10 > 0).collect();
        assert_eq!(published.recent(&ids, DAY).unwrap(), recent);
        assert!(!published.recent(&ids, DAY + 1).unwrap().contains(&true));
        let withdrawals: Vec<u32> = (0..100).map(|n| u32::from(n % 10 == 0)).collect();
        assert_eq!(published.withdrawals(&ids).unwrap(), withdrawals);
        assert_eq!(published.to_tell(None, 99).unwrap(), (0..10).map(|n| (id(10 * n), 0)).collect::<Vec<_>>());
        // What comes in the place of one, and of one that is withdrawn.
        assert_eq!(published.set(&[(id(200), url(1)), (id(201), url(0))], 2 * DAY).unwrap(), 1);
        assert_eq!(published.recent(&[id(1), id(200), id(201)], DAY).unwrap(), [false, true, true]);
        assert_eq!(published.withdrawals(&[id(1)]).unwrap(), [1]);
        assert_eq!(published.withdraw(&[url(1), url(10), url(300)], DAY).unwrap(), [true, false, false]);
        assert_eq!(published.stale(2 * DAY, 200).unwrap().len(), 89);
        assert_eq!(published.withdraw_some(200, DAY).unwrap(), 90);
        published.forget(3 * DAY).unwrap();
        assert_eq!(published.withdrawals(&ids).unwrap(), [0; 100]);
    }

    #[test]
    fn what_is_published_is_known_by_id_and_by_url() {
        let published = Published::open(None).unwrap();
        assert_eq!(published.set(&some(0..100), 0).unwrap(), 0);
        published.renew(&(0..100).map(id).collect::<Vec<_>>(), DAY).unwrap();
        let tenth: Vec<String> = (0..10).map(|n| url(10 * n)).collect();
        assert_eq!(published.withdraw(&tenth, DAY).unwrap(), [true; 10]);
        published.compact().unwrap();
        check(&published);
    }

    #[test]
    fn what_the_first_version_kept_is_there() {
        let directory = env::temp_dir().join(format!("furui-published-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let old = Database::create(directory.join(FILE)).unwrap();
        let transaction = old.begin_write().unwrap();
        for n in 0..100 {
            let is_published = n % 10 > 0;
            let row = (DAY, u32::from(!is_published), is_published);
            transaction.open_table(OLD_DOCUMENTS).unwrap().insert(id(n).as_bytes(), row).unwrap();
            if is_published {
                let mut hash = [0; 16];
                hash.copy_from_slice(&Sha256::digest(url(n))[..16]);
                transaction.open_table(OLD_URLS).unwrap().insert(&hash, id(n).as_bytes()).unwrap();
            } else {
                transaction.open_table(WITHDRAWN).unwrap().insert((id(n).as_bytes(), 0), ()).unwrap();
            }
        }
        transaction.commit().unwrap();
        drop(old);
        drop(Published::open(Some(&directory)).unwrap());
        check(&Published::open(Some(&directory)).unwrap());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn compacting_gives_room_back() {
        let directory = env::temp_dir().join(format!("furui-published-room-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let published = Published::open(Some(&directory)).unwrap();
        for batch in 0..40 {
            published.set(&some(batch * 200..batch * 200 + 200), DAY).unwrap();
        }
        let length = || fs::metadata(directory.join(FILE)).unwrap().len();
        let before = length();
        published.compact().unwrap();
        assert!(length() < before && length() < 8000 * 48 * 2, "{before} {}", length());
        assert_eq!(published.recent(&[id(7999), id(8000)], DAY).unwrap(), [true, false]);
        fs::remove_dir_all(directory).unwrap();
    }
}
