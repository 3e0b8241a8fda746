use std::path::Path;
use std::sync::Arc;

use furui::search::ContentId;
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, Table, TableDefinition};
use sha2::{Digest, Sha256};

use super::NodeError;

const FILE: &str = "published.redb";
/// From the id of a document to when it was published last, or withdrawn, in seconds since 1970; how often it was withdrawn;
/// and whether it is published.
const DOCUMENTS: TableDefinition<'_, &[u8; ContentId::BYTES], (u64, u32, bool)> = TableDefinition::new("documents");
/// From the hash of a URL to the document that is published under it.
const URLS: TableDefinition<'_, &[u8; URL], &[u8; ContentId::BYTES]> = TableDefinition::new("urls");
/// Documents whose keepers are still to be told that they are withdrawn, and how often they had been before.
const WITHDRAWN: TableDefinition<'_, (&[u8; ContentId::BYTES], u32), ()> = TableDefinition::new("withdrawn");
/// Bytes of a URL's hash.
const URL: usize = 16;
/// Memory for pages.
const CACHE: usize = 4 << 20;

type DocumentTable<'t> = Table<'t, &'static [u8; ContentId::BYTES], (u64, u32, bool)>;
type WithdrawnTable<'t> = Table<'t, (&'static [u8; ContentId::BYTES], u32), ()>;

/// What this node has published for its users, when, and under which URL: so that it is not published twice in a short
/// time, and again before it expires; and that what takes its place makes it go.
#[derive(Clone)]
pub(super) struct Published {
    database: Arc<Database>,
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
        let database = Self { database: Arc::new(database.map_err(|error| failed(error.into()))?) };
        database.set(&[], 0).map_err(failed)?;
        Ok(database)
    }

    /// Which of these are published, and were so at `since` or later.
    pub(super) fn recent(&self, ids: &[ContentId], since: u64) -> Result<Vec<bool>, redb::Error> {
        let table = self.database.begin_read()?.open_table(DOCUMENTS)?;
        let mut recent = Vec::with_capacity(ids.len());
        for id in ids {
            let row = table.get(id.as_bytes())?.map(|row| row.value());
            recent.push(row.is_some_and(|(at, _, is_published)| is_published && at >= since));
        }
        Ok(recent)
    }

    /// How often each of these was withdrawn.
    pub(super) fn withdrawals(&self, ids: &[ContentId]) -> Result<Vec<u32>, redb::Error> {
        let table = self.database.begin_read()?.open_table(DOCUMENTS)?;
        let mut withdrawals = Vec::with_capacity(ids.len());
        for id in ids {
            withdrawals.push(table.get(id.as_bytes())?.map_or(0, |row| row.value().1));
        }
        Ok(withdrawals)
    }

    /// Notes that these were published, each under its URL; documents that were before are to be withdrawn. Returns how
    /// many there are of those.
    pub(super) fn set(&self, documents: &[(ContentId, String)], now: u64) -> Result<u64, redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut replaced = 0;
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for (id, url) in documents {
                let before = urls.insert(&hash(url), id.as_bytes())?.map(|before| ContentId::new(*before.value()));
                if let Some(before) = before.filter(|before| before != id) {
                    withdraw(&mut table, &mut withdrawn, before, now)?;
                    replaced += 1;
                }
                let withdrawals = table.get(id.as_bytes())?.map_or(0, |row| row.value().1);
                table.insert(id.as_bytes(), (now, withdrawals, true))?;
            }
        }
        transaction.commit()?;
        Ok(replaced)
    }

    /// Notes that these, which are published, were so again.
    pub(super) fn renew(&self, ids: &[ContentId], now: u64) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            for id in ids {
                let row = table.get(id.as_bytes())?.map(|row| row.value());
                // It may have been withdrawn meanwhile.
                if let Some((_, withdrawals, true)) = row {
                    table.insert(id.as_bytes(), (now, withdrawals, true))?;
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Notes that what is published under these URLs is to be withdrawn: for each whether there was something.
    pub(super) fn withdraw(&self, of: &[String], now: u64) -> Result<Vec<bool>, redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut found = Vec::with_capacity(of.len());
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for url in of {
                let id = urls.remove(&hash(url))?.map(|id| ContentId::new(*id.value()));
                if let Some(id) = id {
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
        let transaction = self.database.begin_write()?;
        let mut some = Vec::new();
        {
            let mut table = transaction.open_table(DOCUMENTS)?;
            let (mut urls, mut withdrawn) = (transaction.open_table(URLS)?, transaction.open_table(WITHDRAWN)?);
            for entry in urls.iter()?.take(most) {
                let (url, id) = entry?;
                some.push((*url.value(), ContentId::new(*id.value())));
            }
            for (url, id) in &some {
                urls.remove(url)?;
                withdraw(&mut table, &mut withdrawn, *id, now)?;
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
        let table = self.database.begin_read()?.open_table(WITHDRAWN)?;
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
        let transaction = self.database.begin_write()?;
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
        let table = self.database.begin_read()?.open_table(DOCUMENTS)?;
        let mut stale = Vec::new();
        for entry in table.iter()? {
            let (id, row) = entry?;
            let (at, _, is_published) = row.value();
            if is_published && at < before {
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
        let transaction = self.database.begin_write()?;
        transaction.open_table(DOCUMENTS)?.retain(|_, (at, _, is_published)| is_published || at >= before)?;
        transaction.commit()?;
        Ok(())
    }
}

/// Notes that a document is to be withdrawn, if it is published.
fn withdraw(
    table: &mut DocumentTable<'_>,
    withdrawn: &mut WithdrawnTable<'_>,
    id: ContentId,
    now: u64,
) -> Result<(), redb::Error> {
    let row = table.get(id.as_bytes())?.map(|row| row.value());
    if let Some((_, withdrawals, true)) = row {
        withdrawn.insert((id.as_bytes(), withdrawals), ())?;
        table.insert(id.as_bytes(), (now, withdrawals.saturating_add(1), false))?;
    }
    Ok(())
}

fn hash(url: &str) -> [u8; URL] {
    let mut hash = [0; URL];
    hash.copy_from_slice(&Sha256::digest(url)[..URL]);
    hash
}
