//! Who may take a record away: locks beside records, and the keys that opened some.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use furui::Result;
use furui::search::{ContentId, IdRange, Lock, LockKey, limits};
use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};

use super::documents::{self, Document, Documents};
use super::fault::{Fault, Outcome};
use super::tables::{LOCKS, META, MORE_LOCKS, Row, Tablets, View, WITHDRAWN};
use super::{RECORDS, Shelf, expire, lists, records};

/// Documents in a row: what just fills a page of the database.
const CHUNK: u32 = 168;
/// A lock and when it expires; or a key and when it is forgotten.
const ENTRY: usize = Lock::BYTES + 4;
/// The most keys that are remembered: 24 MiB.
const MAX_WITHDRAWN: u64 = 1 << 18;
/// Of these, as many as others may tell of what was never here.
const MAX_TOLD: u64 = MAX_WITHDRAWN / 2;
/// In the place of the first lock of a record that has none left.
const GONE: Kept = (Lock::NOBODY, 1);

/// A lock, and when it expires; 0 where there is none.
type Kept = (Lock, u32);

impl Shelf {
    /// The locks of a document, each with the time at which it expires.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn locks(&mut self, id: ContentId) -> Result<Vec<(Lock, u64)>> {
        self.asking(|shelf| {
            let Some(number) = shelf.number(id)? else { return Ok(vec![]) };
            let view = shelf.tables.view()?;
            let locks = beside(&view.locks, &view.more_locks, number)?.unwrap_or_default();
            Ok(locks.into_iter().map(|(lock, expires)| (lock, expires.into())).collect())
        })
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
                        && let Some(at) = left.iter().position(|(lock, _)| *lock == key.lock())
                    {
                        left.remove(at);
                        tables.put(number, &left)?;
                        has_opened = true;
                        opened += 1;
                    }
                    let room = if has_opened { MAX_WITHDRAWN } else { MAX_TOLD };
                    if (has_opened || told) && withdrawn.len()? < room {
                        withdrawn.insert(&withdrawn_row(id, key.lock()), &entry(key.as_bytes(), expires))?;
                    }
                }
                Ok(opened)
            })?;
            shelf.withdrawals += opened;
            Ok(opened)
        })
    }

    /// Those of the keys that open something, or are to be remembered; with the numbers of their documents.
    fn useful(&mut self, keys: &[(ContentId, LockKey)], told: bool) -> Outcome<Vec<(ContentId, LockKey, Option<u32>)>> {
        let mut useful = vec![];
        for &(id, key) in keys {
            let number = self.number(id)?;
            let view = self.tables.view()?;
            let locks = number.map_or(Ok(None), |number| beside(&view.locks, &view.more_locks, number))?;
            let opens = locks.is_some_and(|locks| locks.iter().any(|(lock, _)| *lock == key.lock()));
            if opens || told && view.withdrawn.get(&withdrawn_row(id, key.lock()))?.is_none() {
                useful.push((id, key, number));
            }
        }
        Ok(useful)
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
            let rows = shelf.tables.view()?.withdrawn.range::<&[u8; 40]>(&first..=&last)?;
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

    /// The number of a document.
    fn number(&mut self, id: ContentId) -> Outcome<Option<u32>> {
        match self.recent.ids.get(&id) {
            Some(&number) => Ok(Some(number)),
            None => Documents::new(self.tables.view()?).find(self.totals.id_hash(), id),
        }
    }

    /// Forgets locks and keys that expire by `now`, and throws away the records that are gone. To be called when nothing is
    /// recent.
    pub(super) fn forget_locks(&mut self, now: u32) -> Outcome<()> {
        let gone = self.tables.rewrite(|transaction, view| {
            transaction.open_table(WITHDRAWN)?.retain(|_, entry| split(entry).1 > now)?;
            let mut tables = Locks::open(transaction)?;
            let mut older = Documents::new(view);
            let mut gone = vec![];
            for row in view.locks.iter()? {
                let (chunk, row) = row?;
                let chunk = chunk.value();
                let count = entries(chunk, row.value())?.len() as u32;
                for number in chunk * CHUNK..chunk * CHUNK + count {
                    let Some(mut left) = beside(&view.locks, &view.more_locks, number)? else { continue };
                    if older.get(number)?.is_none() {
                        tables.clear(number)?;
                        continue;
                    }
                    let before = left.len();
                    left.retain(|(_, expires)| *expires > now);
                    if left.is_empty() {
                        gone.push(number);
                    } else if left.len() < before {
                        tables.put(number, &left)?;
                    }
                }
            }
            Ok(gone)
        })?;
        if gone.is_empty() { Ok(()) } else { self.throw_away(&gone) }
    }

    /// Takes records out of their list and, if that is worth it, out of their blocks. Their postings stay until they expire.
    fn throw_away(&mut self, gone: &[u32]) -> Outcome<()> {
        let mut totals = self.totals;
        self.tables.rewrite(|transaction, view| {
            let mut tables = Tablets::open(transaction)?;
            let mut locks = Locks::open(transaction)?;
            let mut older = Documents::new(view);
            let mut changed: BTreeMap<u32, Document> = BTreeMap::new();
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
                living.extend(expire::empty(&mut tables, &mut older, block, &mut changed)?);
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

/// The tables of locks, to be changed.
struct Locks<'t> {
    locks: Table<'t, u32, Row>,
    more: Table<'t, u32, Row>,
}

impl<'t> Locks<'t> {
    fn open(transaction: &'t WriteTransaction) -> Outcome<Self> {
        Ok(Self { locks: transaction.open_table(LOCKS)?, more: transaction.open_table(MORE_LOCKS)? })
    }

    fn beside(&self, number: u32) -> Outcome<Option<Vec<Kept>>> {
        beside(&self.locks, &self.more, number)
    }

    /// Says which locks a document has now: perhaps none any more.
    fn put(&mut self, number: u32, locks: &[Kept]) -> Outcome<()> {
        let (first, more) = locks.split_first().unwrap_or((&GONE, &[]));
        self.set_first(number, *first)?;
        if more.is_empty() {
            self.more.remove(number)?;
        } else {
            let row: Vec<u8> = more.iter().flat_map(|(lock, expires)| entry(lock.as_bytes(), *expires)).collect();
            self.more.insert(number, row.as_slice())?;
        }
        Ok(())
    }

    /// Forgets that a document ever had locks.
    fn clear(&mut self, number: u32) -> Outcome<()> {
        self.more.remove(number)?;
        self.set_first(number, (Lock::NOBODY, 0))
    }

    fn set_first(&mut self, number: u32, (lock, expires): Kept) -> Outcome<()> {
        let (chunk, at) = (number / CHUNK, (number % CHUNK) as usize);
        let mut row = match self.locks.get(chunk)? {
            Some(row) => entries(chunk, row.value())?.to_vec(),
            None => vec![],
        };
        row.resize(row.len().max(at + 1), [0; ENTRY]);
        row[at] = entry(lock.as_bytes(), expires);
        match row.iter().rposition(|entry| *entry != [0; ENTRY]) {
            Some(last) => self.locks.insert(chunk, row[..=last].as_flattened())?,
            None => self.locks.remove(chunk)?,
        };
        Ok(())
    }
}

/// Whether a record is gone: it had locks, and has none left.
pub(super) fn is_gone(view: &View, number: u32) -> Outcome<bool> {
    Ok(beside(&view.locks, &view.more_locks, number)?.is_some_and(|locks| locks.is_empty()))
}

/// What may be kept of what came.
pub(super) struct Admitted<'r> {
    pub(super) records: Cow<'r, [(ContentId, Vec<u8>)]>,
    pub(super) locks: Vec<(ContentId, Lock)>,
}

/// Those of the records that may be kept, and their locks: not those of which all locks were opened before.
pub(super) fn admit<'r>(
    view: &View,
    records: &'r [(ContentId, Vec<u8>)],
    locks: &[(ContentId, Lock)],
) -> Outcome<Admitted<'r>> {
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
pub(super) fn add(transaction: &WriteTransaction, locks: &[(u32, Lock)], expires: u32) -> Outcome<()> {
    let mut tables = Locks::open(transaction)?;
    for &(number, lock) in locks {
        let mut all = tables.beside(number)?.unwrap_or_default();
        // If so many have published it, it goes when it expires.
        let lock = if all.len() < limits::LOCKS || all.iter().any(|(other, _)| *other == lock) {
            lock
        } else {
            all[limits::LOCKS - 1].0 = Lock::NOBODY;
            Lock::NOBODY
        };
        match all.iter().position(|(other, _)| *other == lock) {
            Some(at) if all[at].1 >= expires => continue,
            Some(at) => all[at].1 = expires,
            None => all.push((lock, expires)),
        }
        tables.put(number, &all)?;
    }
    Ok(())
}

/// The locks of a document; none at all if it never had any.
fn beside(
    locks: &impl ReadableTable<u32, Row>,
    more: &impl ReadableTable<u32, Row>,
    number: u32,
) -> Outcome<Option<Vec<Kept>>> {
    let (chunk, at) = (number / CHUNK, (number % CHUNK) as usize);
    let Some(row) = locks.get(chunk)? else { return Ok(None) };
    let first = entries(chunk, row.value())?.get(at).map(kept);
    let Some(first) = first.filter(|(_, expires)| *expires > 0) else { return Ok(None) };
    if first == GONE {
        return Ok(Some(vec![]));
    }
    let mut all = vec![first];
    if let Some(row) = more.get(number)? {
        match row.value().as_chunks() {
            (entries, []) if entries.len() < limits::LOCKS => all.extend(entries.iter().map(kept)),
            _ => return Err(Fault::damaged("more locks", number)),
        }
    }
    Ok(Some(all))
}

/// The entries of a row.
fn entries(chunk: u32, row: &[u8]) -> Outcome<&[[u8; ENTRY]]> {
    match row.as_chunks() {
        (entries, []) if entries.len() <= CHUNK as usize && chunk < u32::MAX / CHUNK => Ok(entries),
        _ => Err(Fault::damaged("locks", chunk)),
    }
}

fn withdrawn_row(id: ContentId, lock: Lock) -> [u8; 40] {
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

fn kept(entry: &[u8; ENTRY]) -> Kept {
    let (lock, expires) = split(entry);
    (Lock::new(lock), expires)
}
