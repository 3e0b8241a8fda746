use std::sync::Arc;

use furui::Result;
use furui::search::{ContentId, IdRange, Index, Listing, Peer, Weight};

use super::places::Places;
use super::word_key;
use crate::shelf::Shelf;

/// What this node keeps, and of which lists it knows that it has been given all.
pub(super) struct Kept {
    pub(super) shelf: Shelf,
    me: Peer,
    /// Who is around, as of the last time that one of the nearest came or went.
    pub(super) near: Places,
    /// Who was around when this node had last been given everything that it should hold then.
    settled: Option<Places>,
}

impl Kept {
    pub(super) fn new(shelf: Shelf, me: Peer, near: Places) -> Self {
        Self { shelf, me, near, settled: None }
    }

    /// Everything was taken over that this node should hold if these are the nodes around.
    pub(super) fn settle(&mut self, places: Places) {
        self.settled = Some(places);
        self.shelf.set_whole(true);
    }

    /// Others have come, or gone: now it is these. A node that was alone has been given nothing by anyone.
    pub(super) fn met_others(&mut self, near: Places) {
        self.near = near;
        if self.settled.as_ref().is_some_and(|places| places.neighbours(&self.me, 1).is_empty()) {
            self.settled = None;
            self.shelf.set_whole(false);
        }
    }
}

impl Index for Kept {
    /// A list is whole if it is one of those that this node was to keep when it was last given everything, and still is:
    /// when nodes go, it has others to keep, and of those not yet all; when nodes come, they are given some instead of it.
    fn size(&mut self, word: &str) -> Result<Listing> {
        let Listing { ids, whole } = self.shelf.size(word)?;
        let key = word_key(word);
        let settled = || self.settled.as_ref().is_some_and(|places| places.keeps(&self.me, &key));
        Ok(Listing { ids, whole: whole && settled() && self.near.keeps(&self.me, &key) })
    }

    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[ContentId]>> {
        self.shelf.slice(word, range, most)
    }

    fn weights(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[Weight]>> {
        self.shelf.weights(word, range, most)
    }

    fn document(&mut self, id: ContentId) -> Result<Option<Vec<u8>>> {
        self.shelf.document(id)
    }
}
