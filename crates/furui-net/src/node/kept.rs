use std::sync::Arc;

use furui::Result;
use furui_search::{ContentId, IdRange, Index, Listing, Peer, Weight};

use super::places::Places;
use super::word_key;
use crate::shelf::Shelf;

/// Nodes that may have been around since all was taken over. If there were more, this node does not know of any list
/// whether it has all of it, until it has taken over everything again.
const MET: usize = 1 << 13;

/// What this node keeps, and of which lists it knows that it has been given all.
pub(super) struct Kept {
    pub(super) shelf: Shelf,
    me: Peer,
    /// Who is around, as of the last time that one of the nearest came or went.
    pub(super) near: Places,
    /// Who was around when this node had last been given everything that it should hold then, and who has been since. A
    /// key that it is to keep if all of them are there, it was to keep all the time: no list has been published past
    /// it.
    since: Option<Places>,
}

impl Kept {
    pub(super) fn new(shelf: Shelf, me: Peer, near: Places) -> Self {
        Self { shelf, me, near, since: None }
    }

    /// Everything was taken over that this node should hold if these are the nodes around.
    pub(super) fn settle(&mut self, mut places: Places) {
        places.join(&self.near);
        self.since = Some(places);
        self.shelf.set_whole(true);
    }

    /// Others have come, or gone: now it is these. A node that was alone has been given nothing by anyone.
    pub(super) fn met_others(&mut self, near: Places) {
        self.near = near;
        let Some(since) = &mut self.since else { return };
        let was_alone = since.neighbours(&self.me, 1).is_empty();
        since.join(&self.near);
        if was_alone || since.len() > MET {
            self.since = None;
            self.shelf.set_whole(false);
        }
    }
}

impl Index for Kept {
    /// A list is whole if it is one of those that this node was to keep when it was last given everything, and has been
    /// ever since: when nodes go, it has others to keep, and of those not yet all; when nodes come, they are given some
    /// instead of it, even if they go again.
    fn size(&mut self, word: &str) -> Result<Listing> {
        let Listing { ids, whole } = self.shelf.size(word)?;
        let settled = || self.since.as_ref().is_some_and(|places| places.keeps(&self.me, &word_key(word)));
        Ok(Listing { ids, whole: whole && settled() })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::ShelfOptions;

    #[test]
    fn of_a_list_that_was_published_while_others_were_nearer_it_is_not_said_that_it_is_whole() {
        let peers: Vec<Peer> = (0..12u8).map(|number| Peer::new(&[number], b"")).collect();
        let me = peers[0].clone();
        let around = |count: usize| Places::new(peers[..count].to_vec());
        let shelf = Shelf::in_memory(ShelfOptions::default()).expect("it is in memory");
        let mut kept = Kept::new(shelf, me.clone(), around(5));
        let words: Vec<String> = (0..300).map(|number| format!("word{number}")).collect();
        let is_to_keep = |word: &String, count| around(count).keeps(&me, &word_key(word));
        let whole = |kept: &mut Kept| -> Vec<bool> {
            words.iter().map(|word| kept.size(word).expect("it is in memory").whole).collect()
        };
        let kept_by = |count| words.iter().map(|word| is_to_keep(word, count)).collect::<Vec<bool>>();
        assert!(whole(&mut kept).iter().all(|whole| !whole));
        kept.settle(around(5));
        assert_eq!(whole(&mut kept), kept_by(5));
        // Some come, and go again.
        kept.met_others(around(12));
        assert_eq!(whole(&mut kept), kept_by(12));
        kept.met_others(around(5));
        assert_eq!(whole(&mut kept), kept_by(12));
        assert_ne!(kept_by(12), kept_by(5));
        kept.settle(around(5));
        assert_eq!(whole(&mut kept), kept_by(5));
        // Who was there when it took everything over, and is no more.
        kept.settle(around(12));
        assert_eq!(whole(&mut kept), kept_by(12));
    }
}
