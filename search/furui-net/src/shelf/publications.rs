//! The publications of records: who has published a record and when, and which records have the same URL.

use std::borrow::Cow;
use std::collections::HashSet;

use furui_search::{ContentId, Publication, PublisherKey, Signature};
use redb::{ReadableTable, Table, WriteTransaction};

use super::fault::{Fault, Outcome};
use super::tables::{PUBLICATIONS, Row, URLS, View};

/// The encoded length of a publication in its table, in bytes. A row with nothing but the publisher is that of a
/// withdrawn record.
const ENTRY: usize = PublisherKey::BYTES + Signature::BYTES + 12;

/// The publication of a record with its publisher, which the record names.
pub type Published = (ContentId, PublisherKey, Publication);

/// The row of a record in the table of publications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Published(PublisherKey, Publication),
    /// The publisher has withdrawn the record, which is gone.
    Withdrawn(PublisherKey),
}

/// The tables of publications and of URLs, open for changes.
pub(super) struct Publications<'t> {
    publications: Table<'t, u32, Row>,
    urls: Table<'t, (u64, u32), ()>,
}

impl<'t> Publications<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Outcome<Self> {
        Ok(Self { publications: transaction.open_table(PUBLICATIONS)?, urls: transaction.open_table(URLS)? })
    }

    /// Adds the publication of the record with this number. Of several, the one with the latest signature counts, and
    /// the earliest time of arrival.
    pub(super) fn add(&mut self, number: u32, (id, publisher, new): Published) -> Outcome<()> {
        let mut publication = new;
        if let Some(Standing::Published(_, old)) = standing(&self.publications, number)? {
            publication.first = old.first.min(new.first);
            publication.network = if old.network == 0 { new.network } else { old.network };
            if new.signature.at <= old.signature.at {
                publication.signature = old.signature;
            }
            if publication == old {
                return Ok(());
            }
        }
        let mut row = [0; ENTRY];
        row[..32].copy_from_slice(publisher.as_bytes());
        row[32..100].copy_from_slice(&publication.signature.to_bytes());
        row[100..108].copy_from_slice(&publication.first.to_le_bytes());
        row[108..].copy_from_slice(&publication.network.to_le_bytes());
        self.publications.insert(number, &row[..])?;
        self.urls.insert((url_of(id), number), ())?;
        Ok(())
    }

    /// Notes that the publisher of a record has withdrawn it.
    pub(super) fn withdraw(&mut self, number: u32, publisher: PublisherKey) -> Outcome<()> {
        self.publications.insert(number, &publisher.as_bytes()[..])?;
        Ok(())
    }

    /// Removes what is known of a record.
    pub(super) fn clear(&mut self, number: u32, id: ContentId) -> Outcome<()> {
        self.publications.remove(number)?;
        self.urls.remove((url_of(id), number))?;
        Ok(())
    }
}

/// True if a record was withdrawn.
pub(super) fn is_gone(view: &View, number: u32) -> Outcome<bool> {
    Ok(matches!(standing(&view.publications, number)?, Some(Standing::Withdrawn(_))))
}

/// Reads what is known of the record with this number; `None` if nothing is.
pub(super) fn standing(table: &impl ReadableTable<u32, Row>, number: u32) -> Outcome<Option<Standing>> {
    table.get(number)?.map(|row| decode(number, row.value())).transpose()
}

/// Decodes a row of the table of publications.
pub(super) fn decode(number: u32, row: &[u8]) -> Outcome<Standing> {
    let damaged = || Fault::damaged("publications", number);
    let (publisher, rest) = row.split_first_chunk().ok_or_else(damaged)?;
    let publisher = PublisherKey::new(*publisher);
    if rest.is_empty() {
        return Ok(Standing::Withdrawn(publisher));
    }
    let (signature, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let (first, network) = rest.split_first_chunk().ok_or_else(damaged)?;
    let network = network.try_into().map_err(|_| damaged())?;
    let signature = Signature::from_bytes(*signature);
    let publication =
        Publication { signature, first: u64::from_le_bytes(*first), network: u32::from_le_bytes(network) };
    Ok(Standing::Published(publisher, publication))
}

/// The records and publications of a call that may be stored, because they were not withdrawn.
pub(super) struct Standings<'r> {
    pub(super) records: Cow<'r, [(ContentId, Vec<u8>)]>,
    pub(super) published: Vec<Published>,
}

/// Selects the publications of a call that are later than the publishers' withdrawals, and their records.
pub(super) fn not_withdrawn<'r>(
    view: &View,
    records: &'r [(ContentId, Vec<u8>)],
    published: &[Published],
) -> Outcome<Standings<'r>> {
    let mut left = Vec::with_capacity(published.len());
    for &(id, publisher, publication) in published {
        let withdrawn = view.withdrawn.get(&withdrawn_row(id, publisher))?.map(|row| withdrawal(row.value()).0.at);
        if withdrawn.is_none_or(|at| at < publication.signature.at) {
            left.push((id, publisher, publication));
        }
    }
    if left.len() == published.len() {
        return Ok(Standings { records: Cow::Borrowed(records), published: left });
    }
    let may_come: HashSet<ContentId> = left.iter().map(|(id, ..)| *id).collect();
    let records = records.iter().filter(|(id, _)| may_come.contains(id)).cloned().collect();
    Ok(Standings { records: Cow::Owned(records), published: left })
}

/// The key of a withdrawal in its table.
pub(super) fn withdrawn_row(id: ContentId, publisher: PublisherKey) -> [u8; 52] {
    let mut row = [0; 52];
    row[..20].copy_from_slice(id.as_bytes());
    row[20..].copy_from_slice(publisher.as_bytes());
    row
}

/// Decodes a row of the table of withdrawals: the signature, and the time until which it is remembered.
pub(super) fn withdrawal(row: &[u8; 72]) -> (Signature, u32) {
    let (signature, expires) = row.split_first_chunk().expect("longer than a signature");
    let (expires, _) = expires.as_chunks();
    (Signature::from_bytes(*signature), u32::from_le_bytes(expires[0]))
}

/// The part of a document's id that depends on the URL, as a number.
pub(super) fn url_of(id: ContentId) -> u64 {
    let mut bytes = [0; 8];
    bytes[..ContentId::URL_BYTES].copy_from_slice(&id.of_url());
    u64::from_le_bytes(bytes)
}
