use std::collections::VecDeque;

use super::super::{ContentId, limits};
use furui::filter::{RingedKeys, RingedParams};

/// What ringed filters of the parameters that are asked with need to know of the ids of lists that are asked for, computed
/// before the filter comes: it is good for filters of every size.
///
/// **Source.** The paper's sections 2.2.2 and 3: hashes computed before are what a ringed filter is for. There, all lists have
/// theirs; here, those that are asked for a second time, up to [`limits::KEY_BYTES`]. An id being a hash already, what
/// is saved are its k offsets: some percent of the time that a check takes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The last used last.
    kept: VecDeque<Kept>,
}

/// A piece of a list.
#[derive(Debug)]
struct Kept {
    word: String,
    first: ContentId,
    keys: RingedKeys,
}

impl Keys {
    /// The keys of a piece of a word's list; none the first time.
    pub(super) fn of(&mut self, word: &str, ids: &[ContentId], params: RingedParams) -> Option<&RingedKeys> {
        let &first = ids.first()?;
        let is_it = |kept: &Kept| kept.first == first && kept.word == word && kept.keys.params() == params;
        let Some(place) = self.kept.iter().position(is_it) else {
            self.make_room(0);
            self.kept.push_back(Kept { word: word.to_owned(), first, keys: RingedKeys::new(params) });
            return None;
        };
        let mut kept = self.kept.remove(place)?;
        // The list may have changed.
        let hashes = ids.iter().map(|id| id.hash());
        if !kept.keys.iter().map(|key| key.hash()).eq(hashes.clone()) {
            kept.keys = RingedKeys::new(params);
            self.make_room(bytes(ids.len(), params));
            kept.keys.extend(hashes);
        }
        self.kept.push_back(kept);
        self.kept.back().map(|kept| &kept.keys)
    }

    /// Forgets what was not used for the longest time, until there is room for one more of so many bytes.
    fn make_room(&mut self, more: usize) {
        let mut held: usize = self.kept.iter().map(|kept| bytes(kept.keys.len(), kept.keys.params())).sum();
        while held + more > limits::KEY_BYTES || self.kept.len() >= limits::KEYED {
            let Some(oldest) = self.kept.pop_front() else { return };
            held -= bytes(oldest.keys.len(), oldest.keys.params());
        }
    }
}

/// What so many keys take.
fn bytes(keys: usize, params: RingedParams) -> usize {
    keys * (8 + 4 * params.probes() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use furui::filter::Gamma;

    #[test]
    fn the_second_time_there_are_keys_and_they_are_those_of_the_list_as_it_is() {
        let params = |probes| RingedParams::new(probes, Gamma::Exact, 1000).expect("parameters that can be");
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
        let params = RingedParams::new(64, Gamma::Exact, 1000).expect("parameters that can be");
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
