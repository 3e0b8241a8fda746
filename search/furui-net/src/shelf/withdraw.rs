//! Withdraws records with the keys of their locks, and removes records all of whose locks have expired.

use std::collections::{BTreeMap, BTreeSet};

use furui::Result;
use furui_search::{ContentId, IdRange, Lock, LockKey};
use redb::{ReadableTable, ReadableTableMetadata};

use super::documents::{DocumentEntry, Documents};
use super::fault::Outcome;
use super::locks::{Locks, beside, entries, withdrawn_row};
use super::tables::{META, Tablets, WITHDRAWN};
use super::{RECORDS, Shelf, expire, lists};

/// The maximum number of keys, which have opened locks, that are remembered: 24 MiB. The value is a choice, not a
/// measurement.
const MAX_WITHDRAWN: u64 = 1 << 18;
/// A key that opens no lock of this shelf (the node's storage) is remembered only while fewer keys than this are
/// remembered. The value is a choice, not a measurement.
const MAX_TOLD: u64 = MAX_WITHDRAWN / 2;

impl Shelf {
    /// Returns the locks of a document, each with its expiry time in seconds since 1970.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn locks(&mut self, id: ContentId) -> Result<Vec<(Lock, u64)>> {
        self.asking(|shelf| {
            let Some(number) = shelf.number(id)? else { return Ok(vec![]) };
            let view = shelf.tables.view()?;
            let locks = beside(&view.locks, number)?.unwrap_or_default();
            Ok(locks.into_iter().map(|(lock, expires)| (lock, expires.into())).collect())
        })
    }

    /// Returns the first `most` of the remembered keys that have opened locks of this document.
    ///
    /// # Errors
    /// Those of [`locks`](Self::locks).
    pub fn keys_of(&mut self, id: ContentId, most: usize) -> Result<Vec<LockKey>> {
        self.asking(|shelf| {
            let (mut first, mut last) = ([0; 40], [0xff; 40]);
            first[..20].copy_from_slice(id.as_bytes());
            last[..20].copy_from_slice(id.as_bytes());
            let rows = shelf.tables.view()?.withdrawn.range::<&[u8; 40]>(&first..=&last)?;
            rows.take(most).map(|row| Ok(split(row?.1.value()).0)).collect()
        })
    }

    /// The shelf's number of a document; `None` if it has none.
    pub(super) fn number(&mut self, id: ContentId) -> Outcome<Option<u32>> {
        self.recent.find(&mut Documents::new(self.tables.view()?), self.totals.id_hash(), id)
    }

    /// The entry of a document in the tables or the journal; `None` if the document has no number.
    pub(super) fn entry(&mut self, id: ContentId) -> Outcome<Option<DocumentEntry>> {
        let mut older = Documents::new(self.tables.view()?);
        let number = self.recent.find(&mut older, self.totals.id_hash(), id)?;
        number.map(|number| self.recent.known(&mut older, number)).transpose()
    }

    /// Removes the locks that these keys open, and remembers the keys until `expires`, in seconds since 1970. A record
    /// without locks left is withdrawn. Returns the number of locks removed.
    ///
    /// Keys that open no lock are remembered only if `told` is true, which means that another node that keeps the
    /// document sent them.
    ///
    /// # Errors
    /// Those of [`store`](Self::store).
    pub fn withdraw(&mut self, keys: &[(ContentId, LockKey)], expires: u64, told: bool) -> Result<u64> {
        let expires = u32::try_from(expires).unwrap_or(u32::MAX);
        let keys = self.asking(|shelf| shelf.useful(keys, told))?;
        if keys.is_empty() {
            return Ok(0);
        }
        self.changing(|shelf| {
            let opened = shelf.tables.change(|transaction| {
                let mut tables = Locks::open(transaction)?;
                let mut withdrawn = transaction.open_table(WITHDRAWN)?;
                let mut opened = 0;
                for (id, key, number) in keys {
                    let mut has_opened = false;
                    if let Some(number) = number
                        && let Some(mut left) = tables.beside(number)?
                        && left.iter().any(|(lock, _)| key.opens(lock))
                    {
                        let before = left.len();
                        left.retain(|(lock, _)| !key.opens(lock));
                        tables.put(number, &left)?;
                        has_opened = true;
                        opened += (before - left.len()) as u64;
                    }
                    let room = if has_opened { MAX_WITHDRAWN } else { MAX_TOLD };
                    if (has_opened || told) && withdrawn.len()? < room {
                        withdrawn.insert(&withdrawn_row(id, &key.hash()), &remembered(key, expires))?;
                    }
                }
                Ok(opened)
            })?;
            shelf.withdrawals += opened;
            Ok(opened)
        })
    }

    /// Selects the keys that open a lock or must be remembered, with the numbers of their documents.
    fn useful(&mut self, keys: &[(ContentId, LockKey)], told: bool) -> Outcome<Vec<(ContentId, LockKey, Option<u32>)>> {
        let mut useful = vec![];
        for &(id, key) in keys {
            let number = self.number(id)?;
            let view = self.tables.view()?;
            let locks = number.map_or(Ok(None), |number| beside(&view.locks, number))?;
            let opens = locks.is_some_and(|locks| locks.iter().any(|(lock, _)| key.opens(lock)));
            if opens || told && view.withdrawn.get(&withdrawn_row(id, &key.hash()))?.is_none() {
                useful.push((id, key, number));
            }
        }
        Ok(useful)
    }

    /// Returns the first `most` keys that have opened locks of documents in `range`, in the order of the documents,
    /// each with the time until which it is remembered, in seconds since 1970.
    ///
    /// # Errors
    /// Those of [`locks`](Self::locks).
    pub fn withdrawn(&mut self, range: IdRange, most: usize) -> Result<Vec<(ContentId, LockKey, u64)>> {
        self.asking(|shelf| {
            let (mut first, mut last) = ([0; 40], [0xff; 40]);
            // The head of an id is its first 8 bytes in big-endian order.
            first[..8].copy_from_slice(&range.first.swap_bytes().to_le_bytes());
            last[..8].copy_from_slice(&range.last.swap_bytes().to_le_bytes());
            let rows = shelf.tables.view()?.withdrawn.range::<&[u8; 40]>(&first..=&last)?;
            let mut keys = vec![];
            for row in rows.take(most) {
                let (row, entry) = row?;
                let (id, _) = row.value().split_first_chunk().expect("longer than an id");
                let (key, expires) = split(entry.value());
                keys.push((ContentId::new(*id), key, u64::from(expires)));
            }
            Ok(keys)
        })
    }

    /// Removes locks and keys that expire by `now`, and the records that have no lock left. The journal must be empty.
    pub(super) fn forget_locks(&mut self, now: u32) -> Outcome<()> {
        let gone = self.tables.rewrite(|transaction, view| {
            transaction.open_table(WITHDRAWN)?.retain(|_, entry| split(entry).1 > now)?;
            let mut tables = Locks::open(transaction)?;
            let mut older = Documents::new(view);
            let mut gone = vec![];
            for row in view.locks.iter()? {
                let (number, row) = row?;
                let number = number.value();
                if older.get(number)?.is_none() {
                    tables.clear(number)?;
                    continue;
                }
                let mut left = entries(number, row.value())?;
                let before = left.len();
                left.retain(|(_, expires)| *expires > now);
                if left.is_empty() {
                    gone.push(number);
                } else if left.len() < before {
                    tables.put(number, &left)?;
                }
            }
            Ok(gone)
        })?;
        if gone.is_empty() { Ok(()) } else { self.throw_away(&gone) }
    }

    /// Removes records from the list of records and, if that saves enough space, from their blocks. The records'
    /// postings are kept until they expire.
    fn throw_away(&mut self, gone: &[u32]) -> Outcome<()> {
        let mut totals = self.totals;
        self.tables.rewrite(|transaction, view| {
            let mut tables = Tablets::open(transaction)?;
            let mut locks = Locks::open(transaction)?;
            let mut older = Documents::new(view);
            let mut changed: BTreeMap<u32, DocumentEntry> = BTreeMap::new();
            for &number in gone {
                locks.clear(number)?;
                if let Some(document) = older.get(number)?.filter(|document| document.block.is_some()) {
                    changed.insert(number, document);
                }
            }
            if changed.is_empty() {
                return Ok(());
            }
            let blocks: BTreeSet<u32> = changed.values().filter_map(|document| document.block).collect();
            lists::remove(&mut tables, view, RECORDS, &changed)?;
            changed.values_mut().for_each(|document| document.block = None);
            expire::write_without(&mut tables, view, &mut totals, changed, blocks)?;
            totals.write(&mut transaction.open_table(META)?)
        })?;
        self.totals = totals;
        self.runs.clear();
        Ok(())
    }
}

/// Encodes an entry of the table of withdrawals: a key, and the time until which it is remembered.
fn remembered(key: LockKey, expires: u32) -> [u8; 24] {
    let mut entry = [0; 24];
    entry[..LockKey::BYTES].copy_from_slice(key.as_bytes());
    entry[LockKey::BYTES..].copy_from_slice(&expires.to_le_bytes());
    entry
}

fn split(entry: &[u8; 24]) -> (LockKey, u32) {
    let (key, expires) = entry.split_first_chunk().expect("longer than a key");
    let (expires, _) = expires.as_chunks();
    (LockKey::new(*key), u32::from_le_bytes(expires[0]))
}
