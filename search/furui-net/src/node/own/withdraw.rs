//! Withdraws published documents.

use std::collections::HashSet;

use furui_search::{Act, ContentId, Peer, PublisherKey, Request, Response, Withdrawal, limits};
use futures::StreamExt;

use crate::node::keeper::unix_seconds;
use crate::node::loads::loads;
use crate::node::{Inner, Node, PublishError, call, record_key, versions};

/// The number of documents that are withdrawn at a time. The value is a choice, not a measurement.
const BATCH: usize = 1 << 10;
/// The maximum number of messages with withdrawals in flight. Chosen: as many as messages with publications.
const MESSAGES: usize = 16;

impl Node {
    /// Withdraws the documents that this node has published under these URLs, so that searches soon find them nowhere.
    /// What others have published under these URLs stays. For each URL, returns `None` if nothing was published under
    /// it, and else the others who have published the same text.
    ///
    /// # Errors
    /// If none of the nodes that keep some document answers, or this node's storage fails. A node that did not answer
    /// is told later.
    pub async fn withdraw(&self, urls: &[String]) -> Result<Vec<Option<Vec<PublisherKey>>>, PublishError> {
        let ids = self.0.published.under(urls).map_err(PublishError::storage)?;
        let own: Vec<ContentId> = ids.iter().flatten().copied().collect();
        let mut others = versions::same_texts(&self.0, &own).await;
        self.0.published.withdraw(urls, unix_seconds()).map_err(PublishError::storage)?;
        tell(&self.0).await?;
        Ok(ids.into_iter().map(|id| Some(others.remove(&id?).unwrap_or_default())).collect())
    }

    /// Withdraws some of the documents that this node has published. Returns the number of their URLs, which is 0 if
    /// none was left.
    ///
    /// # Errors
    /// Those of [`withdraw`](Self::withdraw).
    pub async fn withdraw_some(&self) -> Result<usize, PublishError> {
        let count = self.0.published.withdraw_some(BATCH, unix_seconds()).map_err(PublishError::storage)?;
        tell(&self.0).await?;
        Ok(count)
    }
}

/// Sends all pending withdrawals to the nodes that keep the documents. That of a document stays pending until all of
/// them have answered, because a search among friends asks only one of them.
pub(in crate::node) async fn tell(inner: &Inner) -> Result<(), PublishError> {
    let (mut after, mut missing) = (None, 0);
    loop {
        let documents = inner.published.to_tell(after, BATCH).map_err(PublishError::storage)?;
        let Some(last) = documents.last() else { break };
        after = Some(*last);
        let keys = documents.iter().map(|(id, _)| record_key(*id)).collect();
        let loads = loads(&inner.net, keys).await;
        let messages =
            loads.iter().flat_map(|(keeper, numbers)| numbers.chunks(limits::WITHDRAWALS).map(move |it| (keeper, it)));
        let messages: Vec<_> = messages.map(|(keeper, numbers)| deliver(inner, keeper, numbers, &documents)).collect();
        let (mut told, mut silent) = (HashSet::<usize>::new(), HashSet::new());
        let mut deliveries = futures::stream::iter(messages).buffer_unordered(MESSAGES);
        while let Some((numbers, is_told)) = deliveries.next().await {
            if is_told { &mut told } else { &mut silent }.extend(numbers);
        }
        missing += documents.len() - told.len();
        let told: Vec<_> = told.difference(&silent).map(|&number| documents[number]).collect();
        inner.published.told(&told).map_err(PublishError::storage)?;
    }
    if missing == 0 { Ok(()) } else { Err(PublishError::NotWithdrawn { missing }) }
}

/// Sends to one node the withdrawals with the indices `numbers` in `documents`. Returns `numbers`, and true if the node
/// has answered.
async fn deliver<'a>(
    inner: &Inner,
    keeper: &Peer,
    numbers: &'a [usize],
    documents: &[(ContentId, u32)],
) -> (&'a [usize], bool) {
    let publisher = inner.identity.publisher();
    let withdrawal = |&number: &usize| {
        let (id, at) = documents[number];
        Withdrawal { id, publisher, signature: inner.identity.sign(Act::Withdraw, id, at) }
    };
    let request = Request::Withdraw { withdrawals: numbers.iter().map(withdrawal).collect() };
    (numbers, matches!(call(&inner.net, keeper, &request).await, Some(Response::Withdrawn { .. })))
}
