use std::collections::VecDeque;

use super::super::{ContentId, limits};
use furui::filter::{RingedKeys, RingedParams};

/// A cache of precomputed keys: what ringed filters with certain parameters need to know of the ids of a list. The keys
/// of a list serve ringed filters of every size.
///
/// **Source.** The paper's sections 2.2.2 and 3: a ringed filter exists so that hashes can be computed before it
/// arrives. In the paper every list has precomputed keys. Here only lists that are requested a second time have them,
/// up to [`limits::KEY_BYTES`]. Because an id is a hash already, only its k offsets are saved: a few percent of the
/// time of a check.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The cached keys, least recently used first.
    kept: VecDeque<Kept>,
}

/// The keys of a part of a list.
#[derive(Debug)]
struct Kept {
    word: String,
    first: ContentId,
    keys: RingedKeys,
}

impl Keys {
    /// The keys of a part of a word's list. `None` the first time the part is requested.
    pub(super) fn of(&mut self, word: &str, ids: &[ContentId], params: RingedParams) -> Option<&RingedKeys> {
        let &first = ids.first()?;
        let is_it = |kept: &Kept| kept.first == first && kept.word == word && kept.keys.params() == params;
        let Some(place) = self.kept.iter().position(is_it) else {
            self.make_room(0);
            self.kept.push_back(Kept { word: word.to_owned(), first, keys: RingedKeys::new(params) });
            return None;
        };
        let mut kept = self.kept.remove(place)?;
        // The list may have changed since its keys were made.
        let hashes = ids.iter().map(|id| id.hash());
        if !kept.keys.iter().map(|key| key.hash()).eq(hashes.clone()) {
            kept.keys = RingedKeys::new(params);
            self.make_room(bytes(ids.len(), params));
            kept.keys.extend(hashes);
        }
        self.kept.push_back(kept);
        self.kept.back().map(|kept| &kept.keys)
    }

    /// Evicts the least recently used keys until `more` bytes fit.
    fn make_room(&mut self, more: usize) {
        let mut held: usize = self.kept.iter().map(|kept| bytes(kept.keys.len(), kept.keys.params())).sum();
        while held + more > limits::KEY_BYTES || self.kept.len() >= limits::KEYED {
            let Some(oldest) = self.kept.pop_front() else { return };
            held -= bytes(oldest.keys.len(), oldest.keys.params());
        }
    }
}

/// The memory that `keys` keys take, in bytes.
fn bytes(keys: usize, params: RingedParams) -> usize {
    keys * (8 + 4 * params.probes() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use furui::filter::Gamma;

    #[test]
    fn the_second_time_there_are_keys_and_they_are_those_of_the_list_as_it_is() {
        let params = |probes| RingedParams::new(probes, Gamma::Exact, 1000).expect("valid parameters");
        let ids: Vec<ContentId> = (0..200).map(|byte| ContentId::new([byte; 20])).collect();
        let mut keys = Keys::default();
        assert!(keys.of("word", &ids, params(7)).is_none());
        assert!(keys.of("word", &ids, params(8)).is_none());
        assert!(keys.of("other", &ids, params(7)).is_none());
        assert!(keys.of("word", &[], params(7)).is_none());
        for ids in [&ids[..], &ids[..100], &[ids[0], ids[7]], &ids[..]] {
            let found = keys.of("word", ids, params(7)).expect("asked before");
            assert!(found.iter().map(|key| key.hash()).eq(ids.iter().map(|id| id.hash())));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let params = RingedParams::new(64, Gamma::Exact, 1000).expect("valid parameters");
        let ids: Vec<ContentId> = (0..200).map(|byte| ContentId::new([byte; 20])).collect();
        let mut keys = Keys::default();
        let held = |keys: &Keys| keys.kept.iter().map(|kept| bytes(kept.keys.len(), params)).sum::<usize>();
        for word in 0..2 * limits::KEYED {
            let word = word.to_string();
            assert!(keys.of(&word, &ids, params).is_none());
            assert!(keys.of(&word, &ids, params).is_some());
            assert!(keys.kept.len() <= limits::KEYED && held(&keys) <= limits::KEY_BYTES);
        }
        assert!(held(&keys) > limits::KEY_BYTES / 2);
    }
}
