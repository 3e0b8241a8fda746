use std::collections::VecDeque;

use super::super::{ContentId, limits};
use furui::filter::RingedKey;

/// A cache of precomputed keys. A key is what a ringed filter needs to know of an id. The keys of a list serve ringed
/// filters of every size and every rate.
///
/// **Source.** The paper's sections 2.2.2 and 3: ringed filters exist so that hashes can be computed before a filter
/// arrives. In the paper of Sei et al. every list has precomputed keys, for one rate that all nodes agree on. Here each
/// pair of lists can have its own rate, but only lists that are requested a second time have keys, up to
/// [`limits::KEY_BYTES`]. Because an id is a hash already, a key saves only the computation of its probes' fractions.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The parts of lists whose keys are cached, least recently used first.
    kept: VecDeque<Kept>,
}

/// The precomputed keys of a part of a list.
#[derive(Debug)]
struct Kept {
    word: String,
    first: ContentId,
    keys: Vec<RingedKey>,
}

impl Keys {
    /// The keys of a part of a word's list, for ringed filters. They are computed when the part is requested for the
    /// second time; `None` at the first request.
    pub(super) fn of(&mut self, word: &str, ids: &[ContentId]) -> Option<&[RingedKey]> {
        let &first = ids.first()?;
        let Some(place) = self.kept.iter().position(|kept| kept.first == first && kept.word == word) else {
            self.make_room(0);
            self.kept.push_back(Kept { word: word.to_owned(), first, keys: Vec::new() });
            return None;
        };
        let mut kept = self.kept.remove(place)?;
        // The list may have changed since its keys were computed.
        let hashes = ids.iter().map(|id| id.hash());
        if !kept.keys.iter().map(RingedKey::hash).eq(hashes.clone()) {
            kept.keys = Vec::new();
            self.make_room(ids.len() * size_of::<RingedKey>());
            kept.keys.extend(hashes.map(RingedKey::new));
        }
        self.kept.push_back(kept);
        self.kept.back().map(|kept| &*kept.keys)
    }

    /// The total size of the cached keys, in bytes.
    fn held(&self) -> usize {
        self.kept.iter().map(|kept| size_of_val(&*kept.keys)).sum()
    }

    /// Evicts the least recently used keys until `more` bytes fit into the cache.
    fn make_room(&mut self, more: usize) {
        let mut held = self.held();
        while held + more > limits::KEY_BYTES || self.kept.len() >= limits::KEYED {
            let Some(oldest) = self.kept.pop_front() else { return };
            held -= size_of_val(&*oldest.keys);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_there_are_keys_and_they_are_those_of_the_list_as_it_is() {
        let ids: Vec<ContentId> = (0..200).map(|byte| ContentId::new([byte; 20])).collect();
        let mut keys = Keys::default();
        assert!(keys.of("word", &ids).is_none());
        assert!(keys.of("other", &ids).is_none());
        assert!(keys.of("word", &[]).is_none());
        for ids in [&ids[..], &ids[..100], &[ids[0], ids[7]], &ids[..]] {
            let found = keys.of("word", ids).expect("asked before");
            assert!(found.iter().map(RingedKey::hash).eq(ids.iter().map(|id| id.hash())));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let id = |number: u16| {
            let mut bytes = [0; 20];
            bytes[..2].copy_from_slice(&number.to_le_bytes());
            ContentId::new(bytes)
        };
        let ids: Vec<ContentId> = (0..1000).map(id).collect();
        let mut keys = Keys::default();
        for word in 0..2 * limits::KEYED {
            let word = word.to_string();
            assert!(keys.of(&word, &ids).is_none());
            assert!(keys.of(&word, &ids).is_some());
            assert!(keys.kept.len() <= limits::KEYED && keys.held() <= limits::KEY_BYTES);
        }
        assert!(keys.held() > limits::KEY_BYTES / 2);
    }
}
