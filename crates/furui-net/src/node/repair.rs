use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use furui::search::{ContentId, Fetched, IdRange, Peer, Request, Response, limits};
use tokio::time::sleep;

use super::keeper::{LIFE, unix_seconds};
use super::places::Places;
use super::publish::{self, Document};
use super::search;
use super::{Inner, call, record_key, word_key};
use crate::shelf::Shelf;

/// How long nothing is compared if nobody comes or goes.
const INTERVAL: Duration = Duration::from_secs(10 * 60);
/// After a change of the neighbourhood: others come or go, too, and look around.
const PAUSE: Duration = Duration::from_secs(1);
/// With how many of the nearest nodes lists are compared.
const NEIGHBOURS: usize = 20;

/// Compares what this node holds with its neighbours, at the start, whenever one comes or goes, and now and then.
pub(super) async fn run(inner: Weak<Inner>) {
    // Until the node is there.
    while inner.strong_count() == 0 {
        tokio::task::yield_now().await;
    }
    let Some(mut neighbourhood) = inner.upgrade().map(|inner| inner.net.neighbourhood()) else { return };
    if let Some(inner) = inner.upgrade() {
        inner.net.joined().await;
    }
    loop {
        neighbourhood.mark_unchanged();
        match inner.upgrade() {
            Some(inner) => {
                round(&inner).await;
                renew(&inner).await;
            }
            None => return,
        }
        tokio::select! {
            changed = neighbourhood.changed() => match changed {
                Ok(()) => sleep(PAUSE).await,
                Err(_) => return,
            },
            () = sleep(INTERVAL) => {}
        }
    }
}

/// Forgets what has expired, and publishes again what this node has published and what has lived for half of its life.
async fn renew(inner: &Inner) {
    let now = unix_seconds();
    // A storage that fails says so to whoever asks it next.
    let _ = inner.keeper.ask(move |shelf| shelf.expire(now)).await;
    let half = now - LIFE.as_secs() / 2;
    while let Ok(stale) = inner.published.stale(half, limits::FETCHED)
        && !stale.is_empty()
    {
        let records = search::records(inner, &stale).await;
        let documents = records.into_iter().filter_map(|(id, record)| {
            let words = record.words().into_iter().collect();
            record.encode().ok().map(|record| Document { id, record, words })
        });
        // Those whose record nobody has any more are left out until then, too.
        if publish::store(inner, documents.collect()).await.is_err() || inner.published.set(&stale, now).is_err() {
            return;
        }
    }
}

/// Takes over what neighbours have and this node should have.
pub(super) async fn round(inner: &Inner) {
    inner.known.forget();
    let me = inner.net.me();
    let neighbours = Places::of(&inner.net).await.neighbours(&me, NEIGHBOURS);
    for neighbour in &neighbours {
        let places = Places::of(&inner.net).await;
        // One that fails is compared with in the next round; whoever else keeps the same lists is asked in this one.
        let _ = take_lists(inner, &me, neighbour, &places).await;
        let _ = take_records(inner, &me, neighbour, &places).await;
    }
    if inner.keeper.ask(|shelf| shelf.set_whole(true)).await.is_some() {
        inner.whole.store(true, Ordering::Relaxed);
    }
}

/// The lists of a neighbour that differ from those of this node.
async fn take_lists(inner: &Inner, me: &Peer, from: &Peer, places: &Places) -> Option<()> {
    let mut after = String::new();
    loop {
        let request = Request::Compare { from: after.clone() };
        let Some(Response::Compared { lists, more }) = call(&inner.net, from, &request).await else { return None };
        let last = lists.last().map(|(word, ..)| word.clone());
        let mine: Vec<_> = lists.into_iter().filter(|(word, ..)| places.keeps(me, &word_key(word))).collect();
        let differing = inner.keeper.ask(move |shelf| {
            mine.into_iter()
                .filter(|(word, ids, sum)| shelf.fingerprint(word).ok() != Some((*ids, *sum)))
                .collect::<Vec<_>>()
        });
        for (word, ..) in differing.await? {
            take_list(inner, from, word).await?;
        }
        match last {
            Some(last) if more && last > after => after = last,
            _ => return Some(()),
        }
    }
}

async fn take_list(inner: &Inner, from: &Peer, word: String) -> Option<()> {
    let mut range = IdRange::ALL;
    loop {
        let (ids, next) = list(inner, from, &word, range).await?;
        let postings = vec![(word.clone(), ids)];
        let expires = unix_seconds() + LIFE.as_secs();
        inner.keeper.ask(move |shelf| shelf.store(&postings, &[], expires)).await?.ok()?;
        match next {
            Some(next) => range = next,
            None => return Some(()),
        }
    }
}

/// Ids of a list, and what of the range is left after them.
async fn list(inner: &Inner, from: &Peer, word: &str, range: IdRange) -> Option<(Vec<ContentId>, Option<IdRange>)> {
    let request = Request::List { word: word.to_owned(), range };
    let Some(Response::Listed { ids, more }) = call(&inner.net, from, &request).await else { return None };
    if !ids.is_sorted() || ids.iter().any(|id| !range.contains(*id)) {
        return None;
    }
    let next =
        ids.last().filter(|_| more).map(|last| last.head().saturating_add(1)).filter(|first| *first <= range.last);
    Some((ids, next.map(|first| IdRange { first, ..range })))
}

/// The records that a neighbour keeps, and this node should.
async fn take_records(inner: &Inner, me: &Peer, from: &Peer, places: &Places) -> Option<()> {
    let mut range = IdRange::ALL;
    loop {
        let (ids, next) = list(inner, from, "", range).await?;
        let mine: Vec<ContentId> = ids.into_iter().filter(|id| places.keeps(me, &record_key(*id))).collect();
        let missing =
            inner.keeper.ask(move |shelf| mine.into_iter().filter(|id| !has_record(shelf, *id)).collect::<Vec<_>>());
        let mut missing = missing.await?;
        while !missing.is_empty() {
            let batch: Vec<ContentId> = missing.drain(..missing.len().min(limits::FETCHED)).collect();
            let request = Request::Fetch { ids: batch.clone() };
            let Some(Response::Fetched(fetched)) = call(&inner.net, from, &request).await else { return None };
            let mut records = Vec::new();
            let mut later = Vec::new();
            for (id, fetched) in batch.into_iter().zip(fetched) {
                match fetched {
                    Fetched::Record(record) if ContentId::of(&record) == id => records.push((id, record)),
                    Fetched::Later => later.push(id),
                    Fetched::Record(_) | Fetched::Unknown => {}
                }
            }
            if !records.is_empty() {
                missing.extend(later);
            }
            let expires = unix_seconds() + LIFE.as_secs();
            inner.keeper.ask(move |shelf| shelf.store(&[], &records, expires)).await?.ok()?;
        }
        match next {
            Some(next) => range = next,
            None => return Some(()),
        }
    }
}

/// Whether the record is kept here; yes, if the storage fails, as nothing more can be kept then.
fn has_record(shelf: &mut Shelf, id: ContentId) -> bool {
    let range = IdRange { first: id.head(), last: id.head() };
    shelf.records(range, limits::IDS).map_or(true, |ids| ids.contains(&id))
}
