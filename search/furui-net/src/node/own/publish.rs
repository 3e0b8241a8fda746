use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use furui_search::{Act, ContentId, Peer, Record, RecordError, Refusal, Request, Response, Signature, Weight, limits};
use futures::StreamExt;
use tokio::time::sleep;

use crate::net::CallError;
use crate::node::keeper::{LIFE, unix_seconds};
use crate::node::loads::loads;
use crate::node::{Inner, Node, PublishError, record_key, withdraw, word_key};

/// The maximum number of messages with a publication's postings and records in flight. The value is a choice, not a
/// measurement.
const MESSAGES: usize = 16;
/// The maximum size of the postings and records of a message in bytes, as [`Parcel::bytes`] counts them. The rest of
/// the message is for its other fields.
const MESSAGE_ROOM: usize = limits::MESSAGE_BYTES - (32 << 10);
/// The maximum number of times that a message of a publication is sent to a busy node. The value is a choice, not a
/// measurement.
const TRIES: u32 = 4;
/// The pause before a message is sent to a busy node for the second time. It doubles with each further repetition.
const PAUSE: Duration = Duration::from_millis(100);

/// A document to publish: its record, and the id and words derived from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The id of the document: the hash of `record`.
    pub id: ContentId,
    /// The encoded [`Record`](furui_search::Record).
    pub record: Vec<u8>,
    /// The distinct words of the document with their weights.
    pub words: Vec<(String, Weight)>,
}

impl Document {
    /// Encodes a record, and derives the document's id and words.
    ///
    /// # Errors
    /// If the record cannot be encoded.
    pub fn new(record: &Record) -> Result<Self, RecordError> {
        let bytes = record.encode()?;
        Ok(Self { id: ContentId::of(&bytes), record: bytes, words: record.postings().into_iter().collect() })
    }
}

/// The result of [`Node::publish`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The number of documents that were published. Those that had been published recently, and were left out, are not
    /// counted.
    pub new: u64,
    /// The number of `new` documents that replaced an earlier document of this node under the same URL.
    pub changed: u64,
    /// The number of `new` documents whose record, or one of whose postings, was accepted by fewer than
    /// [`limits::REPLICAS`] nodes. In a network with fewer nodes than that, this is the number of all new documents; in
    /// a larger network, repair will supply the missing copies.
    pub scarce: u64,
}

/// A part of a message that is stored entirely or not at all.
enum Parcel {
    Postings(String, Vec<(ContentId, Weight)>),
    Record(Signature, Vec<u8>),
}

impl Parcel {
    fn bytes(&self) -> usize {
        match self {
            Self::Postings(word, ids) => word.len() + (ContentId::BYTES + Weight::BYTES) * ids.len() + 8,
            Self::Record(_, record) => Signature::BYTES + record.len() + 8,
        }
    }

    /// The documents whose postings or record the parcel contains.
    fn documents(&self) -> Vec<ContentId> {
        match self {
            Self::Postings(_, ids) => ids.iter().map(|(id, _)| *id).collect(),
            Self::Record(_, record) => vec![ContentId::of(record)],
        }
    }
}

impl Node {
    /// For each of these documents, returns true if [`publish`](Self::publish) would publish it.
    ///
    /// # Errors
    /// If this node's storage fails.
    pub fn wanted(&self, ids: &[ContentId]) -> Result<Vec<bool>, PublishError> {
        let recent = self.0.published.recent(ids, unix_seconds() - LIFE.as_secs() / 2);
        let recent = recent.map_err(PublishError::storage)?;
        Ok(recent.into_iter().map(|recent| !recent).collect())
    }

    /// Publishes documents: sends the records to the nodes nearest to the documents' keys and, when the records are
    /// stored, the postings to the nodes that keep the words' lists, which check some of them against the records.
    /// Documents that this node published less than half of their lifetime ago are left out, unless `again` is true.
    /// Earlier documents of this node under the same URLs are withdrawn.
    ///
    /// # Errors
    /// If a list or record was not taken by any keeper, or this node's storage fails. Then nothing is noted as
    /// published, and all documents can be published again.
    pub async fn publish(&self, documents: Vec<Document>, again: bool) -> Result<Published, PublishError> {
        let inner = &*self.0;
        let now = unix_seconds();
        let ids: Vec<ContentId> = documents.iter().map(|document| document.id).collect();
        let wanted = if again { vec![true; ids.len()] } else { self.wanted(&ids)? };
        let fresh = documents.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
        let fresh: Vec<Document> = fresh.map(|(fresh, _)| fresh).collect();
        if fresh.is_empty() {
            return Ok(Published::default());
        }
        let urls =
            fresh.iter().map(|document| Record::decode(&document.record).map(|record| (document.id, record.url)));
        // Bytes that are not a record are refused by the keepers.
        let urls: Vec<(ContentId, String)> = urls.filter_map(Result::ok).collect();
        let new = fresh.len() as u64;
        let at = inner.published.next(&urls.iter().map(|(id, _)| *id).collect::<Vec<_>>(), now);
        let at = at.map_err(PublishError::storage)?;
        let scarce = store(inner, fresh, &at).await?;
        let published = inner.published.clone();
        let changed = tokio::task::spawn_blocking(move || published.set(&urls, &at)).await;
        let changed = changed.map_err(PublishError::storage)?.map_err(PublishError::storage)?;
        inner.documents.fetch_add(new, Ordering::Relaxed);
        if changed > 0 {
            // Keepers that do not answer receive the withdrawals later.
            let _ = withdraw::tell(inner).await;
        }
        Ok(Published { new, changed, scarce })
    }
}

/// Sends each record to the nodes that keep it, and then each posting to the nodes that keep its list, because these
/// check postings against records. Returns the number of documents whose record, or one of whose postings, was accepted
/// by fewer than [`limits::REPLICAS`] nodes. `at` has the time of each document's publication.
pub(in crate::node) async fn store(
    inner: &Inner,
    documents: Vec<Document>,
    at: &HashMap<ContentId, u32>,
) -> Result<u64, PublishError> {
    let mut lists: BTreeMap<String, Vec<(ContentId, Weight)>> = BTreeMap::new();
    let mut parcels = Vec::new();
    for Document { id, record, words } in documents {
        words.into_iter().for_each(|(word, weight)| lists.entry(word).or_default().push((id, weight)));
        let signature = inner.identity.sign(Act::Publish, id, at.get(&id).copied().unwrap_or_default());
        parcels.push((record_key(id), Parcel::Record(signature, record)));
    }
    for (word, ids) in lists {
        let key = word_key(&word);
        let parts = ids.chunks(limits::IDS);
        parcels.extend(parts.map(|ids| (key.clone(), Parcel::Postings(word.clone(), ids.to_vec()))));
    }
    let (keys, parcels): (Vec<Vec<u8>>, Vec<Parcel>) = parcels.into_iter().unzip();
    let loads = loads(&inner.net, keys).await;
    let mut keepers = vec![0; parcels.len()];
    let is_record = |number: &usize| matches!(parcels[*number], Parcel::Record(..));
    for records in [true, false] {
        let turn = |number: &usize| is_record(number) == records;
        let mut messages = Vec::new();
        for (keeper, load) in &loads {
            messages.extend(cut(keeper, load.iter().copied().filter(turn), &parcels));
        }
        let deliveries: Vec<_> =
            messages.into_iter().map(|(keeper, numbers)| deliver(inner, keeper, numbers, &parcels)).collect();
        let mut deliveries = futures::stream::iter(deliveries).buffer_unordered(MESSAGES);
        while let Some(numbers) = deliveries.next().await {
            numbers.into_iter().for_each(|number| keepers[number] += 1);
        }
        let missing = (0..parcels.len()).filter(|number| turn(number) && keepers[*number] == 0).count();
        if missing > 0 {
            return Err(inner
                .keeper
                .fault()
                .map_or(PublishError::NotStored { missing }, |why| PublishError::Storage { why }));
        }
    }
    let scarce = parcels.iter().zip(&keepers).filter(|(_, keepers)| **keepers < limits::REPLICAS);
    Ok(scarce.flat_map(|(parcel, _)| parcel.documents()).collect::<HashSet<_>>().len() as u64)
}

/// Divides the parcels with these indices in `parcels`, all for one node, into messages of at most the maximum size.
/// Returns each message as the node and the indices.
fn cut<'a>(keeper: &'a Peer, load: impl Iterator<Item = usize>, parcels: &[Parcel]) -> Vec<(&'a Peer, Vec<usize>)> {
    let mut messages = Vec::new();
    let (mut message, mut bytes) = (Vec::new(), 0);
    for number in load {
        let more = parcels[number].bytes();
        let full = bytes + more > MESSAGE_ROOM || message.len() >= limits::RECORDS.min(limits::POSTINGS);
        if full && !message.is_empty() {
            messages.push((keeper, std::mem::take(&mut message)));
            bytes = 0;
        }
        message.push(number);
        bytes += more;
    }
    if !message.is_empty() {
        messages.push((keeper, message));
    }
    messages
}

/// Sends the parcels with these indices in `parcels` in one message, and repeats it if the node is busy or does not
/// find the records that prove the postings. Returns the indices if the node accepted the message; otherwise none.
async fn deliver(inner: &Inner, keeper: &Peer, numbers: Vec<usize>, parcels: &[Parcel]) -> Vec<usize> {
    let (mut postings, mut records) = (Vec::new(), Vec::new());
    for &number in &numbers {
        match &parcels[number] {
            Parcel::Postings(word, ids) => postings.push((word.clone(), ids.clone())),
            Parcel::Record(signature, record) => records.push((*signature, record.clone())),
        }
    }
    let Ok(request) = (Request::Store { postings, records }).encode() else { return Vec::new() };
    for tried in 0..TRIES {
        let answer = inner.net.call(keeper, request.clone()).await;
        match answer.as_deref().map(Response::decode) {
            Ok(Ok(Response::Stored { .. })) => return numbers,
            Ok(Ok(Response::Refused(Refusal::Busy | Refusal::Unproven))) | Err(CallError::Busy) => {}
            // The keeper may be starting or returning, so it is asked once more. The other keepers receive the parcels
            // meanwhile.
            Err(CallError::Unreachable | CallError::Closed) if tried == 0 => {}
            _ => break,
        }
        sleep(PAUSE * (1 << tried)).await;
    }
    Vec::new()
}
