//! The locks beside records, which decide who may withdraw a record.

use std::borrow::Cow;
use std::collections::BTreeSet;

use furui_search::{ContentId, Lock, limits};
use redb::{ReadableTable, Table, WriteTransaction};

use super::fault::{Fault, Outcome};
use super::tables::{LOCKS, MORE_LOCKS, Row, View};

/// The number of documents in a row, which just fits into a page of the database.
pub(super) const CHUNK: u32 = 168;
/// The length of an entry: a lock and its expiry, or a key and the time at which it is forgotten.
const ENTRY: usize = Lock::BYTES + 4;
/// The entry in place of the first lock of a record that had locks and has none left.
const GONE: Kept = (Lock::NOBODY, 1);

/// A lock and its expiry. The expiry is 0 if there is no lock.
type Kept = (Lock, u32);

/// The tables of locks, open for changes.
pub(super) struct Locks<'t> {
    locks: Table<'t, u32, Row>,
    more: Table<'t, u32, Row>,
}

impl<'t> Locks<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Outcome<Self> {
        Ok(Self { locks: transaction.open_table(LOCKS)?, more: transaction.open_table(MORE_LOCKS)? })
    }

    pub(super) fn beside(&self, number: u32) -> Outcome<Option<Vec<Kept>>> {
        beside(&self.locks, &self.more, number)
    }

    /// Sets the locks of a document. If `locks` is empty, the document has had locks and has none left.
    pub(super) fn put(&mut self, number: u32, locks: &[Kept]) -> Outcome<()> {
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
    pub(super) fn clear(&mut self, number: u32) -> Outcome<()> {
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

/// True if a record is gone: it had locks, and has none left.
pub(super) fn is_gone(view: &View, number: u32) -> Outcome<bool> {
    Ok(beside(&view.locks, &view.more_locks, number)?.is_some_and(|locks| locks.is_empty()))
}

/// The records and locks that may be stored, of those that a call has passed.
pub(super) struct Admitted<'r> {
    pub(super) records: Cow<'r, [(ContentId, Vec<u8>)]>,
    pub(super) locks: Vec<(ContentId, Lock)>,
}

/// Selects the records and locks that may be stored. Locks that were opened before are left out, and so are records
/// whose locks were all opened before.
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

/// Puts locks beside records until `expires`; locks that are there already stay until the later of the two times.
pub(super) fn add(transaction: &WriteTransaction, locks: &[(u32, Lock)], expires: u32) -> Outcome<()> {
    let mut tables = Locks::open(transaction)?;
    for &(number, lock) in locks {
        let mut all = tables.beside(number)?.unwrap_or_default();
        // A record with too many publishers gets a lock that no key opens: it stays until it expires.
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

/// The locks of a document; `None` if it never had any.
pub(super) fn beside(
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
pub(super) fn entries(chunk: u32, row: &[u8]) -> Outcome<&[[u8; ENTRY]]> {
    match row.as_chunks() {
        (entries, []) if entries.len() <= CHUNK as usize && chunk < u32::MAX / CHUNK => Ok(entries),
        _ => Err(Fault::damaged("locks", chunk)),
    }
}

pub(super) fn withdrawn_row(id: ContentId, lock: Lock) -> [u8; 40] {
    let mut row = [0; 40];
    row[..20].copy_from_slice(id.as_bytes());
    row[20..].copy_from_slice(lock.as_bytes());
    row
}

pub(super) fn entry(bytes: &[u8; 20], expires: u32) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..20].copy_from_slice(bytes);
    entry[20..].copy_from_slice(&expires.to_le_bytes());
    entry
}

pub(super) fn split(entry: &[u8; ENTRY]) -> ([u8; 20], u32) {
    let (bytes, expires) = entry.split_first_chunk().expect("longer than a lock");
    let (expires, _) = expires.as_chunks();
    (*bytes, u32::from_le_bytes(expires[0]))
}

fn kept(entry: &[u8; ENTRY]) -> Kept {
    let (lock, expires) = split(entry);
    (Lock::new(lock), expires)
}
