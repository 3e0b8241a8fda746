use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use furui_search::{
    ContentId, Lock, LockKey, Peer, Record, RecordError, Refusal, Request, Response, SAMPLE, Weight, is_sampled, limits,
};
use futures::StreamExt;
use tokio::time::sleep;

use super::keeper::{LIFE, unix_seconds};
use super::loads::loads;
use super::{Inner, Node, PublishError, record_key, withdraw, word_key};
use crate::net::CallError;

/// Messages on their way at once.
const MESSAGES: usize = 16;
/// Bytes of a message's postings and records, as they are counted here; what a message adds around them is less than the
/// rest.
const MESSAGE_ROOM: usize = limits::MESSAGE_BYTES - (32 << 10);
/// How often a busy node is asked again, and how long after: twice as long each time.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// A document to publish, with all that can be told from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The hash of `record`.
    pub id: ContentId,
    /// The encoded [`Record`](furui_search::Record).
    pub record: Vec<u8>,
    /// The words it is found under, each once, with how much each counts.
    pub words: Vec<(String, Weight)>,
}

impl Document {
    /// That of a record.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn new(record: &Record) -> Result<Self, RecordError> {
        let bytes = record.encode()?;
        Ok(Self { id: ContentId::of(&bytes), record: bytes, words: record.postings().into_iter().collect() })
    }
}

/// What [`Node::publish`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Documents that were published: those that were so lately are not among them.
    pub new: u64,
    /// How many of these took the place of another that this node had published under the same URL.
    pub changed: u64,
    /// Of how many the record or some list has been taken by fewer than [`limits::REPLICAS`] nodes: all of them in a network
    /// of fewer; in others, repair will make up for it.
    pub scarce: u64,
}

/// What belongs together: it is stored as a whole, or not at all.
enum Parcel {
    Postings(String, Vec<(ContentId, Weight)>),
    Record(Lock, Vec<u8>),
}

impl Parcel {
    fn bytes(&self) -> usize {
        match self {
            Self::Postings(word, ids) => word.len() + (ContentId::BYTES + Weight::BYTES) * ids.len() + 8,
            Self::Record(_, record) => Lock::BYTES + record.len() + 8,
        }
    }

    /// The documents that it belongs to.
    fn documents(&self) -> Vec<ContentId> {
        match self {
            Self::Postings(_, ids) => ids.iter().map(|(id, _)| *id).collect(),
            Self::Record(_, record) => vec![ContentId::of(record)],
        }
    }
}

impl Node {
    /// For each of these documents whether [`publish`](Self::publish) would publish it.
    ///
    /// # Errors
    /// If this node's storage fails.
    pub fn wanted(&self, ids: &[ContentId]) -> Result<Vec<bool>, PublishError> {
        let recent = self.0.published.recent(ids, unix_seconds() - LIFE.as_secs() / 2);
        let recent = recent.map_err(PublishError::storage)?;
        Ok(recent.into_iter().map(|recent| !recent).collect())
    }

    /// Publishes documents: their words to the lists, their records to the nodes closest to them. Those that this node
    /// published within half of their life are left out, unless `again`. What this node has published before under the same
    /// URLs is withdrawn.
    ///
    /// # Errors
    /// If a list or record found no keeper: then nothing is noted as published, and all can be published again.
    pub async fn publish(&self, documents: Vec<Document>, again: bool) -> Result<Published, PublishError> {
        let inner = &*self.0;
        let now = unix_seconds();
        let ids: Vec<ContentId> = documents.iter().map(|document| document.id).collect();
        let recent = match again {
            true => vec![false; ids.len()],
            false => inner.published.recent(&ids, now - LIFE.as_secs() / 2).map_err(PublishError::storage)?,
        };
        let fresh: Vec<Document> =
            documents.into_iter().zip(recent).filter(|(_, recent)| !recent).map(|(fresh, _)| fresh).collect();
        if fresh.is_empty() {
            return Ok(Published::default());
        }
        let urls =
            fresh.iter().map(|document| Record::decode(&document.record).map(|record| (document.id, record.url)));
        // What is no record nobody will find; its keepers do not mind.
        let urls: Vec<(ContentId, String)> = urls.filter_map(Result::ok).collect();
        let new = fresh.len() as u64;
        let scarce = store(inner, fresh).await?;
        let published = inner.published.clone();
        let changed = tokio::task::spawn_blocking(move || published.set(&urls, now)).await;
        let changed = changed.map_err(PublishError::storage)?.map_err(PublishError::storage)?;
        inner.documents.fetch_add(new, Ordering::Relaxed);
        if changed > 0 {
            // Those whose keepers do not answer are noted, and told later.
            let _ = withdraw::tell(inner).await;
        }
        Ok(Published { new, changed, scarce })
    }
}

/// Gives each list and each record to its keepers; returns of how many documents something has not as many as it should.
pub(super) async fn store(inner: &Inner, documents: Vec<Document>) -> Result<u64, PublishError> {
    let ids: Vec<ContentId> = documents.iter().map(|document| document.id).collect();
    let withdrawals = inner.published.withdrawals(&ids).map_err(PublishError::storage)?;
    let mut lists: BTreeMap<String, Vec<(ContentId, Weight)>> = BTreeMap::new();
    let mut parcels = Vec::new();
    for (Document { id, record, words }, withdrawals) in documents.into_iter().zip(withdrawals) {
        if is_sampled(id)
            && let Some((_, weight)) = words.first()
        {
            lists.entry(SAMPLE.to_owned()).or_default().push((id, *weight));
        }
        words.into_iter().for_each(|(word, weight)| lists.entry(word).or_default().push((id, weight)));
        let lock = LockKey::of(&inner.secret, id, withdrawals).lock();
        parcels.push((record_key(id), Parcel::Record(lock, record)));
    }
    for (word, ids) in lists {
        let key = word_key(&word);
        let parts = ids.chunks(limits::IDS);
        parcels.extend(parts.map(|ids| (key.clone(), Parcel::Postings(word.clone(), ids.to_vec()))));
    }
    let (keys, parcels): (Vec<Vec<u8>>, Vec<Parcel>) = parcels.into_iter().unzip();
    let loads = loads(&inner.net, keys).await;
    let messages = loads.iter().flat_map(|(keeper, load)| messages(keeper, load, &parcels));
    let deliveries: Vec<_> = messages.map(|(keeper, numbers)| deliver(inner, keeper, numbers, &parcels)).collect();
    let mut keepers = vec![0; parcels.len()];
    let mut deliveries = futures::stream::iter(deliveries).buffer_unordered(MESSAGES);
    while let Some(numbers) = deliveries.next().await {
        numbers.into_iter().for_each(|number| keepers[number] += 1);
    }
    let missing = keepers.iter().filter(|keepers| **keepers == 0).count();
    if missing > 0 {
        return Err(inner
            .keeper
            .fault()
            .map_or(PublishError::NotStored { missing }, |why| PublishError::Storage { why }));
    }
    let scarce = parcels.iter().zip(&keepers).filter(|(_, keepers)| **keepers < limits::REPLICAS);
    Ok(scarce.flat_map(|(parcel, _)| parcel.documents()).collect::<HashSet<_>>().len() as u64)
}

/// Cuts what a node is to be given into messages.
fn messages<'a>(keeper: &'a Peer, load: &[usize], parcels: &[Parcel]) -> Vec<(&'a Peer, Vec<usize>)> {
    let mut messages = Vec::new();
    let (mut message, mut bytes) = (Vec::new(), 0);
    for &number in load {
        let more = parcels[number].bytes();
        let full = bytes + more > MESSAGE_ROOM || message.len() >= limits::RECORDS.min(limits::POSTINGS);
        if full && !message.is_empty() {
            messages.push((keeper, std::mem::take(&mut message)));
            bytes = 0;
        }
        message.push(number);
        bytes += more;
    }
    messages.push((keeper, message));
    messages
}

/// Sends a message until it is taken, as often as makes sense; returns what was in it if it was.
async fn deliver(inner: &Inner, keeper: &Peer, numbers: Vec<usize>, parcels: &[Parcel]) -> Vec<usize> {
    let (mut postings, mut records) = (Vec::new(), Vec::new());
    for &number in &numbers {
        match &parcels[number] {
            Parcel::Postings(word, ids) => postings.push((word.clone(), ids.clone())),
            Parcel::Record(lock, record) => records.push((*lock, record.clone())),
        }
    }
    let Ok(request) = (Request::Store { postings, records }).encode() else { return Vec::new() };
    for tried in 0..TRIES {
        let answer = inner.net.call(keeper, request.clone()).await;
        match answer.as_deref().map(Response::decode) {
            Ok(Ok(Response::Stored { .. })) => return numbers,
            Ok(Ok(Response::Refused(Refusal::Busy))) | Err(CallError::Busy) => {}
            // It may have been about to start, or to come back; then others have it.
            Err(CallError::Unreachable | CallError::Closed) if tried == 0 => {}
            _ => break,
        }
        sleep(PAUSE * (1 << tried)).await;
    }
    Vec::new()
}
