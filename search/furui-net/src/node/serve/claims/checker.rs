use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use furui_search::{ContentId, WordPostings};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::TruePostings;
use super::truths::Truths;
use crate::net::Net;
use crate::node::fetch;
use crate::node::reputation::Reputation;

/// The result of fetching documents' records. A document in neither `known` nor `gone` is one of which the nodes that
/// should keep its record did not answer.
pub(in crate::node) struct Found {
    /// The true postings of the documents whose records were found.
    pub(in crate::node) known: TruePostings,
    /// The documents whose records no node keeps, according to the nodes that should keep them.
    pub(in crate::node) gone: HashSet<ContentId>,
    /// For each document without a record, the number of other nodes that have shown a withdrawal of it.
    pub(in crate::node) withdrawn: HashMap<ContentId, usize>,
    /// The total size of the fetched records, in bytes.
    pub(in crate::node) bytes: u64,
}

/// Determines the true postings of documents from their records, and caches them. Clones share the cache.
#[derive(Clone)]
pub(in crate::node) struct Checker {
    net: Net,
    reputation: Reputation,
    truths: Arc<Truths>,
    sought: Arc<Sought>,
}

/// The documents whose records are being fetched. Many messages of a publication concern the same documents and arrive
/// together, so each record is fetched once.
#[derive(Default)]
struct Sought {
    ids: Mutex<HashSet<ContentId>>,
    changed: Notify,
}

impl Sought {
    fn ids(&self) -> MutexGuard<'_, HashSet<ContentId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Divides documents into those that no task is fetching, which the caller must fetch, and the others.
    fn take(self: &Arc<Self>, ids: &[ContentId]) -> (Seeking, Vec<ContentId>) {
        let mut sought = self.ids();
        let (mine, others) = ids.iter().copied().partition(|id| sought.insert(*id));
        (Seeking { sought: Arc::clone(self), ids: mine }, others)
    }

    /// Waits until no other task is fetching these documents.
    async fn wait(&self, ids: &[ContentId]) {
        loop {
            let changed = self.changed.notified();
            if ids.iter().all(|id| !self.ids().contains(id)) {
                return;
            }
            changed.await;
        }
    }
}

/// The documents whose records a task is fetching. When this is dropped, other tasks cease to wait for them.
struct Seeking {
    sought: Arc<Sought>,
    ids: Vec<ContentId>,
}

impl Drop for Seeking {
    fn drop(&mut self) {
        {
            let mut sought = self.sought.ids();
            self.ids.iter().for_each(|id| {
                sought.remove(id);
            });
        }
        self.sought.changed.notify_waiters();
    }
}

impl Checker {
    /// Returns the false ones among these postings, each as its word and its document. Only documents in `known` are
    /// compared.
    pub(in crate::node) fn lies(&self, known: &TruePostings, postings: &[WordPostings]) -> Vec<(String, ContentId)> {
        let mut lies = Vec::new();
        for (word, ids) in postings {
            let word_hash = self.word(word);
            for (id, weight) in ids {
                if known.get(id).is_some_and(|truth| truth.weight(word_hash) != Some(*weight)) {
                    lies.push((word.clone(), *id));
                }
            }
        }
        lies
    }

    pub(in crate::node) fn new(net: Net, reputation: Reputation) -> Self {
        Self { net, reputation, truths: Arc::new(Truths::new()), sought: Arc::default() }
    }

    /// The hash of a word under the checker's secret key, for [`Truth::weight`](super::Truth::weight).
    pub(in crate::node) fn word(&self, word: &str) -> u64 {
        self.truths.word(word)
    }

    /// Drops the true postings of these documents from the cache, because the documents may be withdrawn.
    pub(in crate::node) fn forget(&self, ids: &HashSet<ContentId>) {
        self.truths.forget(ids);
    }

    /// Divides documents into those whose true postings are cached, and the others.
    pub(in crate::node) fn remembered(
        &self,
        ids: impl IntoIterator<Item = ContentId>,
    ) -> (TruePostings, Vec<ContentId>) {
        let (mut known, mut unknown) = (TruePostings::new(), Vec::new());
        for id in ids {
            match self.truths.get(id) {
                Some(truth) => {
                    known.insert(id, truth);
                }
                None => unknown.push(id),
            }
        }
        (known, unknown)
    }

    /// Computes the true postings of documents from the records `own`, and for the documents of `missing` from records
    /// that are fetched from the nodes that keep them.
    pub(in crate::node) async fn find_out(&self, own: HashMap<ContentId, Vec<u8>>, missing: &[ContentId]) -> Found {
        let (mut known, unknown) = self.remembered(missing.iter().copied());
        let (seeking, others) = self.sought.take(&unknown);
        let (mut found, mut gone, mut withdrawn) = (own, HashSet::new(), HashMap::new());
        if !seeking.ids.is_empty() {
            let got = fetch::records(&self.reputation, Some(&self.net.me()), &seeking.ids).await;
            found.extend(got.found.into_iter().map(|(id, found)| (id, found.record)));
            (gone, withdrawn) = (got.gone, got.withdrawn);
        }
        let bytes = found.values().map(|record| record.len() as u64).sum();
        if !found.is_empty() {
            let truths = Arc::clone(&self.truths);
            // Counting the words of a short document takes a tenth of a millisecond, of a long one much more, so it
            // runs on a blocking thread.
            let count = move || -> TruePostings {
                found.iter().filter_map(|(id, record)| Some((*id, truths.learn(*id, record)?))).collect()
            };
            // The task fails only if the runtime is shut down.
            known.extend(spawn_blocking(count).await.unwrap_or_default());
        }
        drop(seeking);
        if !others.is_empty() {
            self.sought.wait(&others).await;
            known.extend(self.remembered(others).0);
        }
        Found { known, gone, withdrawn, bytes }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ids(numbers: impl IntoIterator<Item = u8>) -> Vec<ContentId> {
        numbers.into_iter().map(|number| ContentId::new([number; ContentId::BYTES])).collect()
    }

    #[tokio::test]
    async fn what_one_seeks_others_wait_for_also_if_the_one_gives_up() {
        let sought = Arc::new(Sought::default());
        let (first, none) = sought.take(&ids(0..4));
        assert!(first.ids.len() == 4 && none.is_empty());
        let (second, others) = sought.take(&ids(2..6));
        assert_eq!((second.ids.clone(), others.clone()), (ids(4..6), ids(2..4)));
        let waiting = tokio::spawn({
            let sought = Arc::clone(&sought);
            async move { sought.wait(&others).await }
        });
        tokio::task::yield_now().await;
        drop(second);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it is told").expect("it does not panic");
        assert!(sought.ids().is_empty());
    }
}
