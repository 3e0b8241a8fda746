//! Who may take a record away: locks beside records, and the keys that opened some.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use furui::Result;
use furui::search::{ContentId, IdRange, Lock, LockKey, limits};
use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};

use super::documents::{self, Document, Documents};
use super::fault::{Fault, Outcome};
use super::tables::{LOCKS, META, Tablets, View, WITHDRAWN};
use super::{RECORDS, Shelf, lists, records};

/// The most keys that are remembered: 24 MiB.
const MAX_WITHDRAWN: u64 = 1 << 18;
/// Of these, as many as others may tell of what was never here.
const MAX_TOLD: u64 = MAX_WITHDRAWN / 2;
/// A lock and when it expires; or a key and when it is forgotten.
const ENTRY: usize = Lock::BYTES + 4;

type Row = [u8; 2 * ContentId::BYTES];

/// Records with the ids that are their hashes.
pub(super) type Records = [(ContentId, Vec<u8>)];

impl Shelf {
    /// The locks of a document, each with the time at which it expires.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn locks(&mut self, id: ContentId) -> Result<Vec<(Lock, u64)>> {
        self.asking(|shelf| beside(&shelf.tables.view()?.locks, id))
    }

    /// Takes away the locks that these keys open, and remembers the keys until `expires`; a record without any lock left
    /// is gone. Returns how many locks there were.
    ///
    /// Keys that open nothing are remembered only if they are `told` by another who keeps the record, or did.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn withdraw(&mut self, keys: &[(ContentId, LockKey)], expires: u64, told: bool) -> Result<u64> {
        let expires = u32::try_from(expires).unwrap_or(u32::MAX);
        let changes = self.asking(|shelf| {
            let view = shelf.tables.view()?;
            for (id, key) in keys {
                let opens = beside(&view.locks, *id)?.iter().any(|(lock, _)| *lock == key.lock());
                if opens || told && view.withdrawn.get(&withdrawn_row(*id, key.lock()))?.is_none() {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        if !changes? {
            return Ok(0);
        }
        self.changing(|shelf| {
            let opened = shelf.tables.change(|transaction| {
                let (mut locks, mut withdrawn) = (transaction.open_table(LOCKS)?, transaction.open_table(WITHDRAWN)?);
                let mut opened = 0;
                for (id, key) in keys {
                    let mut left = beside(&locks, *id)?;
                    let before = left.len();
                    left.retain(|(lock, _)| *lock != key.lock());
                    let has_opened = left.len() < before;
                    if has_opened {
                        opened += 1;
                        locks.insert(id.as_bytes(), write(&left).as_slice())?;
                    }
                    let room = if has_opened { MAX_WITHDRAWN } else { MAX_TOLD };
                    if (has_opened || told) && withdrawn.len()? < room {
                        let entry = entry(key.as_bytes(), expires);
                        withdrawn.insert(&withdrawn_row(*id, key.lock()), &entry)?;
                    }
                }
                Ok(opened)
            })?;
            shelf.withdrawals += opened;
            Ok(opened)
        })
    }

    /// Keys that opened locks of documents in `range`, and until when each is remembered: in the order of the documents,
    /// the first `most`.
    ///
    /// # Errors
    /// As [`locks`](Self::locks).
    pub fn withdrawn(&mut self, range: IdRange, most: usize) -> Result<Vec<(ContentId, LockKey, u64)>> {
        self.asking(|shelf| {
            let (mut first, mut last) = ([0; 40], [0xff; 40]);
            // The head of an id is its first bytes, the highest first.
            first[..8].copy_from_slice(&range.first.swap_bytes().to_le_bytes());
            last[..8].copy_from_slice(&range.last.swap_bytes().to_le_bytes());
            let rows = shelf.tables.view()?.withdrawn.range::<&Row>(&first..=&last)?;
            let mut keys = vec![];
            for row in rows.take(most) {
                let (row, entry) = row?;
                let (id, _) = row.value().split_first_chunk().expect("longer than an id");
                let (key, expires) = split(entry.value());
                keys.push((ContentId::new(*id), LockKey::new(key), u64::from(expires)));
            }
            Ok(keys)
        })
    }

    /// Forgets locks and keys that expire by `now`, and throws away the records that are gone.
    pub(super) fn forget_locks(&mut self, now: u32) -> Outcome<()> {
        let mut gone = vec![];
        self.tables.change(|transaction| {
            let mut withdrawn = transaction.open_table(WITHDRAWN)?;
            withdrawn.retain(|_, entry| split(entry).1 > now)?;
            let mut locks = transaction.open_table(LOCKS)?;
            let mut changed = vec![];
            for row in locks.iter()? {
                let (id, row) = row?;
                let id = ContentId::new(*id.value());
                let mut left = read(id, row.value())?;
                let before = left.len();
                left.retain(|(_, expires)| *expires > u64::from(now));
                if left.is_empty() {
                    gone.push(id);
                } else if left.len() < before {
                    changed.push((id, left));
                }
            }
            for (id, left) in changed {
                locks.insert(id.as_bytes(), write(&left).as_slice())?;
            }
            Ok(())
        })?;
        if gone.is_empty() { Ok(()) } else { self.throw_away(&gone) }
    }

    /// Takes records out of their list and, if that is worth it, out of their blocks, and the rows of their locks. Their
    /// postings stay until they expire.
    fn throw_away(&mut self, gone: &[ContentId]) -> Outcome<()> {
        self.flush()?;
        let mut totals = self.totals;
        self.tables.rewrite(|transaction, view| {
            let mut tables = Tablets::open(transaction)?;
            let mut older = Documents::new(view);
            let mut changed: BTreeMap<u32, Document> = BTreeMap::new();
            for id in gone {
                transaction.open_table(LOCKS)?.remove(id.as_bytes())?;
                let number = older.find(totals.id_hash(), *id)?;
                let document = number.map_or(Ok(None), |number| older.get(number))?;
                if let Some((number, document)) = number.zip(document).filter(|(_, document)| document.block.is_some())
                {
                    changed.insert(number, document);
                }
            }
            let blocks: BTreeSet<u32> = changed.values().filter_map(|document| document.block).collect();
            if changed.is_empty() {
                return Ok(());
            }
            let mut extent = lists::extent(&view.words, RECORDS)?;
            extent.ids =
                extent.ids.checked_sub(changed.len() as u64).ok_or_else(|| Fault::damaged("words", RECORDS))?;
            for document in changed.values_mut() {
                extent.sum = extent.sum.wrapping_sub(document.id.hash().get());
                document.block = None;
            }
            lists::rewrite(&mut tables, view, RECORDS, |number| !changed.contains_key(&number), extent)?;
            let mut living = vec![];
            for block in blocks {
                living.extend(super::expire::empty(&mut tables, &mut older, block, &mut changed)?);
            }
            living.sort_by_key(|(number, _)| *number);
            totals.next_block = records::append(&mut tables, totals.next_block, living, &mut changed)?;
            documents::write(&mut tables, &changed)?;
            totals.write(&mut transaction.open_table(META)?)
        })?;
        self.totals = totals;
        self.runs.clear();
        Ok(())
    }
}

/// Whether a record is gone: it had locks, and has none left.
pub(super) fn is_gone(view: &View, id: ContentId) -> Outcome<bool> {
    Ok(view.locks.get(id.as_bytes())?.is_some_and(|row| row.value().is_empty()))
}

/// What may be kept of what came.
pub(super) struct Admitted<'r> {
    pub(super) records: Cow<'r, Records>,
    pub(super) locks: Vec<(ContentId, Lock)>,
}

/// Those of the records that may be kept, and their locks: not those of which all locks were opened before.
pub(super) fn admit<'r>(view: &View, records: &'r Records, locks: &[(ContentId, Lock)]) -> Outcome<Admitted<'r>> {
    let mut admitted = Vec::with_capacity(locks.len());
    for &(id, lock) in locks {
        if view.withdrawn.get(&withdrawn_row(id, lock))?.is_none() {
            admitted.push((id, lock));
        }
    }
    if admitted.len() == locks.len() {
        return Ok(Admitted { records: Cow::Borrowed(records), locks: admitted });
    }
    let having: BTreeSet<ContentId> = locks.iter().map(|(id, _)| *id).collect();
    let left: BTreeSet<ContentId> = admitted.iter().map(|(id, _)| *id).collect();
    let may_come = |(id, _): &&(ContentId, Vec<u8>)| !having.contains(id) || left.contains(id);
    let records = records.iter().filter(may_come).cloned().collect();
    Ok(Admitted { records: Cow::Owned(records), locks: admitted })
}

/// Puts locks beside records, until `expires` or, if they are there already, longer.
pub(super) fn add(transaction: &WriteTransaction, locks: &[(ContentId, Lock)], expires: u32) -> Outcome<()> {
    let mut table = transaction.open_table(LOCKS)?;
    for &(id, lock) in locks {
        let expires = u64::from(expires);
        let mut all = beside(&table, id)?;
        // If so many have published it, it goes when it expires.
        let lock = if all.len() < limits::LOCKS || all.iter().any(|(other, _)| *other == lock) {
            lock
        } else {
            all[limits::LOCKS - 1].0 = Lock::NOBODY;
            Lock::NOBODY
        };
        match all.iter().position(|(other, _)| *other == lock) {
            Some(at) if all[at].1 >= expires => {}
            Some(at) => all[at].1 = expires,
            None => all.push((lock, expires)),
        }
        table.insert(id.as_bytes(), write(&all).as_slice())?;
    }
    Ok(())
}

fn withdrawn_row(id: ContentId, lock: Lock) -> Row {
    let mut row = [0; 40];
    row[..20].copy_from_slice(id.as_bytes());
    row[20..].copy_from_slice(lock.as_bytes());
    row
}

fn entry(bytes: &[u8; 20], expires: u32) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..20].copy_from_slice(bytes);
    entry[20..].copy_from_slice(&expires.to_le_bytes());
    entry
}

fn split(entry: &[u8; ENTRY]) -> ([u8; 20], u32) {
    let (bytes, expires) = entry.split_first_chunk().expect("longer than a lock");
    let (expires, _) = expires.as_chunks();
    (*bytes, u32::from_le_bytes(expires[0]))
}

fn beside(
    table: &impl ReadableTable<&'static [u8; 20], super::tables::Row>,
    id: ContentId,
) -> Outcome<Vec<(Lock, u64)>> {
    table.get(id.as_bytes())?.map_or(Ok(vec![]), |row| read(id, row.value()))
}

fn read(id: ContentId, row: &[u8]) -> Outcome<Vec<(Lock, u64)>> {
    match row.as_chunks() {
        (entries, []) if entries.len() <= limits::LOCKS => {
            let locks = entries.iter().map(split);
            Ok(locks.map(|(lock, expires)| (Lock::new(lock), expires.into())).collect())
        }
        _ => Err(Fault::damaged("locks", id)),
    }
}

fn write(locks: &[(Lock, u64)]) -> Vec<u8> {
    let until = |expires: u64| u32::try_from(expires).unwrap_or(u32::MAX);
    locks.iter().flat_map(|(lock, expires)| entry(lock.as_bytes(), until(*expires))).collect()
}
