//! Withdraws records, and removes what was withdrawn.

use std::collections::{BTreeMap, BTreeSet};

use furui::Result;
use furui_search::{ContentId, IdRange, PublisherKey, Signature, Withdrawal};
use redb::{ReadableTable, ReadableTableMetadata};

use super::documents::{DocumentEntry, Documents};
use super::fault::Outcome;
use super::publications::{Publications, Standing, decode, standing, withdrawal, withdrawn_row};
use super::tables::{META, Tablets, WITHDRAWN};
use super::{RECORDS, Shelf, expire, lists};

/// The maximum number of withdrawals that are remembered: 32 MiB. The value is a choice, not a measurement.
const MAX_WITHDRAWN: u64 = 1 << 18;
/// A withdrawal of a record that is not on the shelf is remembered only while fewer withdrawals than this are
/// remembered. The value is a choice, not a measurement.
const MAX_TOLD: u64 = MAX_WITHDRAWN / 2;

impl Shelf {
    /// Returns the remembered withdrawal of a document: that of the publisher whom the shelf knows or, if it knows
    /// none, of anybody.
    ///
    /// # Errors
    /// Those of [`publication`](Self::publication).
    pub fn withdrawal(&mut self, id: ContentId) -> Result<Option<Withdrawal>> {
        self.asking(|shelf| {
            let number = shelf.number(id)?;
            let view = shelf.tables.view()?;
            let known = number.map_or(Ok(None), |number| standing(&view.publications, number))?;
            let row = match known {
                Some(Standing::Withdrawn(publisher) | Standing::Published(publisher, _)) => {
                    view.withdrawn.get(&withdrawn_row(id, publisher))?.map(|row| (publisher, *row.value()))
                }
                None => {
                    let of_id = |byte| withdrawn_row(id, PublisherKey::new([byte; PublisherKey::BYTES]));
                    let first = view.withdrawn.range::<&[u8; 52]>(&of_id(0)..=&of_id(0xff))?.next().transpose()?;
                    first.map(|(key, row)| (split(key.value()).1, *row.value()))
                }
            };
            Ok(row.map(|(publisher, row)| Withdrawal { id, publisher, signature: withdrawal(&row).0 }))
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

    /// Withdraws records, and remembers the withdrawals until `expires`, in seconds since 1970. Returns the number of
    /// records that are gone now. The caller has checked the signatures; who is the publisher of a record is checked
    /// here.
    ///
    /// Withdrawals of records that the shelf does not have are remembered only if `told` is true, which means that
    /// another node that keeps the document, or the publisher, sent them.
    ///
    /// # Errors
    /// Those of [`store`](Self::store).
    pub fn withdraw(&mut self, withdrawals: &[Withdrawal], expires: u64, told: bool) -> Result<u64> {
        let expires = u32::try_from(expires).unwrap_or(u32::MAX);
        let useful = self.asking(|shelf| shelf.useful(withdrawals, told))?;
        if useful.is_empty() {
            return Ok(0);
        }
        self.changing(|shelf| {
            let gone = shelf.tables.change(|transaction| {
                let mut publications = Publications::open(transaction)?;
                let mut withdrawn = transaction.open_table(WITHDRAWN)?;
                let mut gone = 0;
                for (Withdrawal { id, publisher, signature }, number) in useful {
                    if let Some(number) = number {
                        publications.withdraw(number, publisher)?;
                        gone += 1;
                    }
                    let room = if number.is_some() { MAX_WITHDRAWN } else { MAX_TOLD };
                    if withdrawn.len()? < room {
                        withdrawn.insert(&withdrawn_row(id, publisher), &remembered(signature, expires))?;
                    }
                }
                Ok(gone)
            })?;
            shelf.withdrawals += gone;
            Ok(gone)
        })
    }

    /// Selects the withdrawals that make a record go, each with the number of the record, and those that must be
    /// remembered.
    fn useful(&mut self, withdrawals: &[Withdrawal], told: bool) -> Outcome<Vec<(Withdrawal, Option<u32>)>> {
        let mut useful = vec![];
        for &withdrawal in withdrawals {
            let Withdrawal { id, publisher, signature } = withdrawal;
            let number = self.number(id)?;
            let view = self.tables.view()?;
            let known = number.map_or(Ok(None), |number| standing(&view.publications, number))?;
            let is_new = || -> Outcome<bool> {
                let row = view.withdrawn.get(&withdrawn_row(id, publisher))?;
                Ok(row.is_none_or(|row| self::withdrawal(row.value()).0.at < signature.at))
            };
            match known {
                Some(Standing::Published(by, publication))
                    if by == publisher && publication.signature.at <= signature.at =>
                {
                    useful.push((withdrawal, number));
                }
                Some(Standing::Published(..)) => {}
                Some(Standing::Withdrawn(by)) if by != publisher => {}
                _ if told && is_new()? => useful.push((withdrawal, None)),
                _ => {}
            }
        }
        Ok(useful)
    }

    /// Returns the first `most` withdrawals of documents in `range`, in the order of the documents, each with the time
    /// until which it is remembered, in seconds since 1970.
    ///
    /// # Errors
    /// Those of [`publication`](Self::publication).
    pub fn withdrawn(&mut self, range: IdRange, most: usize) -> Result<Vec<(Withdrawal, u64)>> {
        self.asking(|shelf| {
            let (mut first, mut last) = ([0; 52], [0xff; 52]);
            // The head of an id is its first 8 bytes in big-endian order.
            first[..8].copy_from_slice(&range.first.swap_bytes().to_le_bytes());
            last[..8].copy_from_slice(&range.last.swap_bytes().to_le_bytes());
            let rows = shelf.tables.view()?.withdrawn.range::<&[u8; 52]>(&first..=&last)?;
            let withdrawals = rows.take(most).map(|row| {
                let (key, row) = row?;
                let ((id, publisher), (signature, expires)) = (split(key.value()), withdrawal(row.value()));
                Ok((Withdrawal { id, publisher, signature }, u64::from(expires)))
            });
            withdrawals.collect()
        })
    }

    /// Removes withdrawals that expire by `now`, and the records that were withdrawn. The journal must be empty.
    pub(super) fn forget_withdrawn(&mut self, now: u32) -> Outcome<()> {
        let gone = self.tables.rewrite(|transaction, view| {
            transaction.open_table(WITHDRAWN)?.retain(|_, row| withdrawal(row).1 > now)?;
            let mut gone = vec![];
            for row in view.publications.iter()? {
                let (number, row) = row?;
                if matches!(decode(number.value(), row.value())?, Standing::Withdrawn(_)) {
                    gone.push(number.value());
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
            let mut publications = Publications::open(transaction)?;
            let mut older = Documents::new(view);
            let mut changed: BTreeMap<u32, DocumentEntry> = BTreeMap::new();
            for &number in gone {
                let Some(document) = older.get(number)? else { continue };
                publications.clear(number, document.id)?;
                if document.block.is_some() {
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

/// Encodes a row of the table of withdrawals.
fn remembered(signature: Signature, expires: u32) -> [u8; 72] {
    let mut row = [0; 72];
    row[..Signature::BYTES].copy_from_slice(&signature.to_bytes());
    row[Signature::BYTES..].copy_from_slice(&expires.to_le_bytes());
    row
}

/// The document and the publisher of a key of the table of withdrawals.
fn split(key: &[u8; 52]) -> (ContentId, PublisherKey) {
    let (id, publisher) = key.split_first_chunk().expect("longer than an id");
    let mut bytes = [0; PublisherKey::BYTES];
    bytes.copy_from_slice(publisher);
    (ContentId::new(*id), PublisherKey::new(bytes))
}
