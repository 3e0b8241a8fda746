//! Reports postings that contradict the documents' records to the nodes that keep the words' lists.

use std::collections::{BTreeMap, HashMap};

use furui_search::{ContentId, Peer, Request, limits};
use futures::StreamExt;

use crate::net::Net;
use crate::node::{call, word_key};

/// The maximum number of doubted postings that are reported at once. Further ones are dropped, and are reported when a
/// later search meets them again. The value is a choice, not a measurement.
const MOST: usize = 4096;
/// The maximum number of messages with reports of doubted postings in flight. The value is a choice, not a measurement.
const MESSAGES: usize = 8;

/// Reports postings, each as its word and its document, that contradict the documents' records to the nodes that keep
/// the words' lists. These nodes check the records themselves. The reports are sent in the background. Must be called
/// on a runtime.
pub(in crate::node) fn tell(net: Net, mut doubts: Vec<(String, ContentId)>) {
    doubts.sort_unstable();
    doubts.dedup();
    doubts.truncate(MOST);
    if doubts.is_empty() {
        return;
    }
    tokio::spawn(async move {
        let mut by_word: BTreeMap<String, Vec<ContentId>> = BTreeMap::new();
        doubts.into_iter().for_each(|(word, id)| by_word.entry(word).or_default().push(id));
        let keys: Vec<Vec<u8>> = by_word.keys().map(|word| word_key(word)).collect();
        let mut loads: HashMap<Peer, Vec<(String, ContentId)>> = HashMap::new();
        for ((word, ids), keepers) in by_word.into_iter().zip(net.replicas(keys, limits::REPLICAS).await) {
            for keeper in keepers {
                loads.entry(keeper).or_default().extend(ids.iter().map(|id| (word.clone(), *id)));
            }
        }
        let net = &net;
        let messages = loads.iter().flat_map(|(keeper, claims)| {
            claims.chunks(limits::DOUBTS).map(move |claims| tell_one(net, keeper, claims.to_vec()))
        });
        let messages: Vec<_> = messages.collect();
        futures::stream::iter(messages).buffer_unordered(MESSAGES).collect::<Vec<()>>().await;
    });
}

/// Reports doubted postings to one peer, at most [`limits::DOUBTS`] in the message.
async fn tell_one(net: &Net, to: &Peer, claims: Vec<(String, ContentId)>) {
    // The answer is ignored, because the peer decides on its own after a check.
    let _ = call(net, to, &Request::Doubt { claims }).await;
}
