//! The locks of records, which decide which keys withdraw a record, and name its publishers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use furui_search::{ContentId, Lock, LockKey, limits};
use redb::{ReadableTable, Table, WriteTransaction};

use super::fault::{Fault, Outcome};
use super::tables::{LOCKS, Row, View};
use crate::net::is_signed;

/// The encoded length of a lock and its expiry time in a row of the table of locks, in bytes.
const ENTRY: usize = Lock::BYTES + 4;

/// A lock and its expiry time, in seconds since 1970.
type Kept = (Lock, u32);

/// The table of locks, open for changes.
pub(super) struct Locks<'t>(Table<'t, u32, Row>);

impl<'t> Locks<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Outcome<Self> {
        Ok(Self(transaction.open_table(LOCKS)?))
    }

    pub(super) fn beside(&self, number: u32) -> Outcome<Option<Vec<Kept>>> {
        beside(&self.0, number)
    }

    /// Sets the locks of a document. If `locks` is empty, the document counts as withdrawn: it had locks, and has none
    /// left.
    pub(super) fn put(&mut self, number: u32, locks: &[Kept]) -> Outcome<()> {
        let mut row = Vec::with_capacity(ENTRY * locks.len());
        for (lock, expires) in locks {
            row.extend(lock.as_bytes());
            row.extend(expires.to_le_bytes());
        }
        self.0.insert(number, row.as_slice())?;
        Ok(())
    }

    /// Removes the row of a document, as if it had never had locks.
    pub(super) fn clear(&mut self, number: u32) -> Outcome<()> {
        self.0.remove(number)?;
        Ok(())
    }
}

/// True if a record is withdrawn: it had locks, and has none left.
pub(super) fn is_gone(view: &View, number: u32) -> Outcome<bool> {
    Ok(beside(&view.locks, number)?.is_some_and(|locks| locks.is_empty()))
}

/// The records and locks of a call that may be stored, because no key has opened the locks before.
pub(super) struct Unopened<'r> {
    pub(super) records: Cow<'r, [(ContentId, Vec<u8>)]>,
    pub(super) locks: Vec<(ContentId, Lock)>,
}

/// Selects the records and locks of a call that may be stored. Locks that were opened before are left out, and so are
/// records all of whose locks were opened before.
pub(super) fn unopened<'r>(
    view: &View,
    records: &'r [(ContentId, Vec<u8>)],
    locks: &[(ContentId, Lock)],
) -> Outcome<Unopened<'r>> {
    let mut unopened = Vec::with_capacity(locks.len());
    for &(id, lock) in locks {
        if view.withdrawn.get(&withdrawn_row(id, lock.key_hash()))?.is_none() {
            unopened.push((id, lock));
        }
    }
    if unopened.len() == locks.len() {
        return Ok(Unopened { records: Cow::Borrowed(records), locks: unopened });
    }
    let having: BTreeSet<ContentId> = locks.iter().map(|(id, _)| *id).collect();
    let left: BTreeSet<ContentId> = unopened.iter().map(|(id, _)| *id).collect();
    let may_come = |(id, _): &&(ContentId, Vec<u8>)| !having.contains(id) || left.contains(id);
    let records = records.iter().filter(may_come).cloned().collect();
    Ok(Unopened { records: Cow::Owned(records), locks: unopened })
}

/// A lock to add to the record of a document.
pub(super) struct New {
    pub(super) number: u32,
    pub(super) id: ContentId,
    pub(super) lock: Lock,
    /// True if the publisher of the lock is the one that the record names.
    pub(super) is_of_site: bool,
}

/// Adds locks to records with the expiry time `expires`. The expiry of a lock that is there already becomes the later
/// of the two times.
pub(super) fn add(transaction: &WriteTransaction, locks: &[New], expires: u32) -> Outcome<()> {
    let mut tables = Locks::open(transaction)?;
    for &New { number, id, lock, is_of_site } in locks {
        let mut all = tables.beside(number)?.unwrap_or_default();
        match all.iter().position(|(other, _)| *other == lock) {
            Some(at) if all[at].1 >= expires => continue,
            Some(at) => all[at].1 = expires,
            // The first lock is never replaced, so no other publisher can displace the site's own.
            None if is_of_site && !all.is_empty() && is_signed(&lock, id) => all.insert(0, (lock, expires)),
            None => all.push((lock, expires)),
        }
        if all.len() > limits::LOCKS {
            // A record with too many publishers gets a lock that no key opens, so it is kept until it expires.
            let last = all.drain(limits::LOCKS - 1..).map(|(_, expires)| expires).max().unwrap_or(expires);
            all.push((Lock::NOBODY, last));
        }
        tables.put(number, &all)?;
    }
    Ok(())
}

/// Reads the locks of the document with this number; `None` if it never had any.
pub(super) fn beside(locks: &impl ReadableTable<u32, Row>, number: u32) -> Outcome<Option<Vec<Kept>>> {
    match locks.get(number)? {
        Some(row) => entries(number, row.value()).map(Some),
        None => Ok(None),
    }
}

/// Decodes the locks in a row.
pub(super) fn entries(number: u32, row: &[u8]) -> Outcome<Vec<Kept>> {
    match row.as_chunks() {
        (entries, []) if entries.len() <= limits::LOCKS => Ok(entries.iter().map(kept).collect()),
        _ => Err(Fault::damaged("locks", number)),
    }
}

pub(super) fn withdrawn_row(id: ContentId, key_hash: &[u8; LockKey::BYTES]) -> [u8; 40] {
    let mut row = [0; 40];
    row[..20].copy_from_slice(id.as_bytes());
    row[20..].copy_from_slice(key_hash);
    row
}

fn kept(entry: &[u8; ENTRY]) -> Kept {
    let (lock, expires) = entry.split_first_chunk().expect("longer than a lock");
    let (expires, _) = expires.as_chunks();
    (Lock::new(*lock), u32::from_le_bytes(expires[0]))
}
