use std::path::Path;

use furui::Result;
use furui_search::{ContentId, IdRange, Index, ListPart, Listing, Peer};

use super::places::Places;
use super::{record_key, word_key};
use crate::shelf::Shelf;

/// The maximum number of nodes in [`Kept::since`]. If it is exceeded, the node calls none of its lists complete until
/// it has taken over everything again. The value is a choice, not a measurement.
const MET: usize = 1 << 13;

/// The shelf of this node, with the bookkeeping that tells which of its lists are complete.
pub(super) struct Kept {
    pub(super) shelf: Shelf,
    me: Peer,
    /// The nodes that were known when one of the nearest nodes last joined or left.
    pub(super) near: Places,
    /// All nodes known when this node last held everything that it should, and all that have come since; `None` if that
    /// never was so. A key that this node keeps even among all of these nodes was kept by it all the time, so the key's
    /// list is complete here.
    since: Option<Places>,
}

impl Kept {
    pub(super) fn new(shelf: Shelf, me: Peer, near: Places) -> Self {
        Self { shelf, me, near, since: None }
    }

    /// Records that this node has taken over everything that it should hold, provided that `places` contains all nodes
    /// around it. A node that has lost all others since then has not.
    pub(super) fn settle(&mut self, mut places: Places) {
        if self.is_alone(&self.near) && !self.is_alone(&places) {
            return;
        }
        places.extend(&self.near);
        self.since = Some(places);
        self.shelf.set_whole(true);
    }

    /// True if this node was given all withdrawals of these documents, because it was to keep them all the time since
    /// it last held everything that it should. A copy from before others came who are nearer may be withdrawn.
    pub(super) fn is_sure_of(&self, documents: impl IntoIterator<Item = ContentId>) -> bool {
        let sure = |places: &Places| documents.into_iter().all(|id| places.keeps(&self.me, &record_key(id)));
        self.since.as_ref().is_some_and(sure)
    }

    /// Reopens the shelf after a failed change. Afterwards no list counts as complete.
    pub(super) fn reopen(&mut self, directory: &Path) -> Result<()> {
        self.since = None;
        self.shelf.reopen(directory)
    }

    fn is_alone(&self, places: &Places) -> bool {
        places.neighbours(&self.me, 1).is_empty()
    }

    /// Records that nodes have come or gone; `near` are the nodes around. If this node was alone before, nothing was
    /// transferred to it yet, and if it has lost all others, it does not know what they have: then it calls none of its
    /// lists complete.
    pub(super) fn met_others(&mut self, near: Places) {
        self.near = near;
        let Some(since) = &mut self.since else { return };
        let (was_alone, is_alone) =
            [&*since, &self.near].map(|places| places.neighbours(&self.me, 1).is_empty()).into();
        since.extend(&self.near);
        if was_alone || is_alone || since.len() > MET {
            self.since = None;
            self.shelf.set_whole(false);
        }
    }
}

impl Index for Kept {
    /// The size of a word's list, and whether the list is complete. It is complete if this node was to keep it all the
    /// time since the node last held everything that it should. When other nodes leave, this node is to keep lists that
    /// it does not have yet. When nodes join, new postings of some lists are sent to them instead of to this node, and
    /// are missing here even after those nodes have left.
    fn size(&mut self, word: &str) -> Result<Listing> {
        let listing = self.shelf.size(word)?;
        let Listing { whole, .. } = listing;
        let settled = || self.since.as_ref().is_some_and(|places| places.keeps(&self.me, &word_key(word)));
        Ok(Listing { whole: whole && settled(), ..listing })
    }

    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<ListPart> {
        self.shelf.slice(word, range, most)
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
        // Nodes join and leave again.
        kept.met_others(around(12));
        assert_eq!(whole(&mut kept), kept_by(12));
        kept.met_others(around(5));
        assert_eq!(whole(&mut kept), kept_by(12));
        assert_ne!(kept_by(12), kept_by(5));
        kept.settle(around(5));
        assert_eq!(whole(&mut kept), kept_by(5));
        // Some nodes were present when this node took everything over, and have left since.
        kept.settle(around(12));
        assert_eq!(whole(&mut kept), kept_by(12));
    }
}
