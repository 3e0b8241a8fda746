use std::path::Path;
use std::sync::Arc;

use furui::search::ContentId;
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::NodeError;

const FILE: &str = "published.redb";
/// From the id of a document to when it was published last, in seconds since 1970.
const PUBLISHED: TableDefinition<'_, &[u8; ContentId::BYTES], u64> = TableDefinition::new("published");
/// Memory for pages.
const CACHE: usize = 4 << 20;

/// What this node has published for its users, and when: so that it is not published twice in a short time, and again
/// before it expires.
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

    /// Which of these were published at `since` or later.
    pub(super) fn recent(&self, ids: &[ContentId], since: u64) -> Result<Vec<bool>, redb::Error> {
        let transaction = self.database.begin_read()?;
        let table = transaction.open_table(PUBLISHED)?;
        let mut recent = Vec::with_capacity(ids.len());
        for id in ids {
            recent.push(table.get(id.as_bytes())?.is_some_and(|at| at.value() >= since));
        }
        Ok(recent)
    }

    /// Notes that these were published.
    pub(super) fn set(&self, ids: &[ContentId], now: u64) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            let mut table = transaction.open_table(PUBLISHED)?;
            for id in ids {
                table.insert(id.as_bytes(), now)?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// At most `most` of those that were published before `before`.
    pub(super) fn stale(&self, before: u64, most: usize) -> Result<Vec<ContentId>, redb::Error> {
        let transaction = self.database.begin_read()?;
        let table = transaction.open_table(PUBLISHED)?;
        let mut stale = Vec::new();
        for entry in table.iter()? {
            let (id, at) = entry?;
            if at.value() < before {
                stale.push(ContentId::new(*id.value()));
                if stale.len() == most {
                    break;
                }
            }
        }
        Ok(stale)
    }
}
