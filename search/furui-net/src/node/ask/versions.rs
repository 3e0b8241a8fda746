use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use furui_search::{ContentId, Place, PublisherKey};

use crate::node::answer::Version;

/// The maximum number of documents with shared URLs that are compared in one search. The value is a choice, not a
/// measurement.
pub(in crate::node) const COMPARED: usize = 256;
/// The maximum number of other versions that are listed with a shown document. The value is a choice, not a
/// measurement.
const ALSO: usize = 16;

/// The documents of a search, grouped by URL. One document of each URL is shown.
///
/// The rule: a document that names the publisher key of its site and was published with this key comes before all
/// others. If there are such documents for several keys, the key counts whose documents have the most publishers
/// altogether. Then the document with the most publishers is shown; of these, the one with the smallest id.
#[derive(Default)]
pub(in crate::node) struct Versions {
    /// The documents by the hashes of their URLs. The hash seed is random.
    urls: HashMap<u64, Url>,
    hasher: RandomState,
    /// The hashes of the URLs of which several documents are not compared yet.
    open: BTreeSet<u64>,
    compared: usize,
}

/// The documents of one URL, of which one is shown.
struct Url {
    versions: Vec<Found>,
    is_shown: bool,
}

/// A document that a search has found.
struct Found {
    place: Place,
    /// The publisher key that the document names.
    named: Option<PublisherKey>,
    /// The publishers of the document; `None` if they were not requested yet.
    publishers: Option<BTreeSet<PublisherKey>>,
    /// True if the document may be shown; false if another version is shown in its place.
    is_left: bool,
}

impl Versions {
    /// Adds a document. Returns false if it is not to be shown, because another version is shown already or the maximum
    /// number of documents was compared.
    pub(in crate::node) fn add(&mut self, url: &str, place: Place, named: Option<PublisherKey>) -> bool {
        let hash = self.hasher.hash_one(url);
        let found = Found { place, named, publishers: None, is_left: true };
        match self.urls.entry(hash) {
            Entry::Vacant(entry) => {
                entry.insert(Url { versions: vec![found], is_shown: false });
                true
            }
            Entry::Occupied(mut entry) => {
                let url = entry.get_mut();
                let more = if url.versions.len() == 1 { 2 } else { 1 };
                if url.is_shown || self.compared + more > COMPARED {
                    return false;
                }
                self.compared += more;
                self.open.insert(hash);
                url.versions.push(found);
                true
            }
        }
    }

    /// The documents whose publishers must be requested before it can be decided which version of a URL is shown.
    pub(in crate::node) fn to_ask(&self) -> Vec<ContentId> {
        let versions = self.open.iter().flat_map(|hash| &self.urls[hash].versions);
        versions.filter(|version| version.publishers.is_none()).map(|version| version.place.id).collect()
    }

    /// Decides for each URL with several versions which one is shown, and returns the places of the others.
    /// `publishers` has those of the documents of [`to_ask`](Self::to_ask).
    pub(in crate::node) fn decide(&mut self, mut publishers: HashMap<ContentId, BTreeSet<PublisherKey>>) -> Vec<Place> {
        let mut others = vec![];
        for hash in std::mem::take(&mut self.open) {
            let Some(url) = self.urls.get_mut(&hash) else { continue };
            for version in &mut url.versions {
                version.publishers.get_or_insert_with(|| publishers.remove(&version.place.id).unwrap_or_default());
            }
            let best = url.best();
            for version in url.versions.iter_mut().filter(|version| version.is_left && Some(version.place) != best) {
                version.is_left = false;
                others.push(version.place);
            }
        }
        others
    }

    /// Marks a document as shown. Returns its publishers and the other versions; both are empty if the URL has one
    /// version.
    pub(in crate::node) fn show(&mut self, url: &str, id: ContentId) -> (Vec<PublisherKey>, Vec<Version>) {
        let Some(url) = self.urls.get_mut(&self.hasher.hash_one(url)) else { return Default::default() };
        url.is_shown = true;
        if url.versions.len() == 1 {
            return Default::default();
        }
        let publishers = |of: &Found| of.publishers.iter().flatten().copied().collect();
        let shown = url.versions.iter().find(|version| version.place.id == id).map(publishers);
        let mut others: Vec<&Found> = url.versions.iter().filter(|version| version.place.id != id).collect();
        others.sort_by_key(|version| Reverse(url.rank(version)));
        let also = others.into_iter().take(ALSO);
        let also = also.map(|version| Version { id: version.place.id, publishers: publishers(version) });
        (shown.unwrap_or_default(), also.collect())
    }
}

impl Url {
    /// The place of the best document among those that may still be shown.
    fn best(&self) -> Option<Place> {
        let left = self.versions.iter().filter(|version| version.is_left);
        left.max_by_key(|version| self.rank(version)).map(|version| version.place)
    }

    /// The sort key of a document among the versions of its URL; the document with the greatest key is shown.
    fn rank(&self, of: &Found) -> (bool, usize, usize, Reverse<ContentId>) {
        let key = of.is_of_site();
        let of_key = self.versions.iter().filter(|version| key.is_some() && version.is_of_site() == key);
        let publishers: BTreeSet<&PublisherKey> =
            of_key.flat_map(|version| version.publishers.iter().flatten()).collect();
        let own = of.publishers.as_ref().map_or(0, BTreeSet::len);
        (key.is_some(), publishers.len(), own, Reverse(of.place.id))
    }
}

impl Found {
    /// The publisher key that the document names, if the document was also published with this key; otherwise `None`.
    fn is_of_site(&self) -> Option<PublisherKey> {
        self.named.filter(|key| self.publishers.as_ref().is_some_and(|publishers| publishers.contains(key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u8) -> Place {
        Place { score: 1000 - u32::from(number), id: ContentId::new([number; 20]) }
    }

    fn key(number: u8) -> PublisherKey {
        PublisherKey::new([number; 32])
    }

    /// Returns the number of the document that is shown among documents with these named keys and publishers.
    fn shown(documents: &[(Option<u8>, &[u8])]) -> u8 {
        let mut versions = Versions::default();
        for (number, (named, _)) in (1..).zip(documents) {
            assert!(versions.add("u:1", place(number), named.map(key)));
            assert!(versions.add(&format!("u:{number}0"), place(100 + number), None));
        }
        let ids: Vec<ContentId> = (1..).zip(documents).map(|(number, _)| place(number).id).collect();
        assert_eq!(versions.to_ask(), ids);
        let publishers = ids.into_iter().zip(documents);
        let publishers = publishers.map(|(id, (_, keys))| (id, keys.iter().map(|&number| key(number)).collect()));
        let others = versions.decide(publishers.collect());
        assert!(versions.to_ask().is_empty());
        let mut left = (1..).take(documents.len()).filter(|&number| !others.contains(&place(number)));
        let shown = left.next().expect("one is shown");
        assert_eq!(left.next(), None);
        shown
    }

    #[test]
    fn the_rule_decides() {
        // Without named keys, the document with the most publishers is shown; among equal ones, that with the smallest
        // id.
        assert_eq!(shown(&[(None, &[1]), (None, &[2, 3]), (None, &[4])]), 2);
        assert_eq!(shown(&[(None, &[1]), (None, &[2])]), 1);
        // A document of the site is preferred to all others. Naming a key without publishing with it has no effect.
        assert_eq!(shown(&[(None, &[1, 2, 3, 4]), (Some(9), &[9])]), 2);
        assert_eq!(shown(&[(None, &[1, 2]), (Some(9), &[3])]), 1);
        // With two sites' keys, the key whose documents have the most publishers in total is preferred.
        assert_eq!(shown(&[(Some(8), &[8, 1]), (Some(9), &[9, 2]), (Some(9), &[9, 3])]), 2);
        assert_eq!(shown(&[(Some(8), &[8, 1]), (Some(9), &[9]), (Some(9), &[9])]), 1);
        assert_eq!(shown(&[(Some(9), &[9]), (Some(9), &[9, 3]), (Some(8), &[8])]), 2);
    }

    #[test]
    fn what_comes_late_is_not_shown_and_what_was_passed_over_stays_so() {
        let mut versions = Versions::default();
        assert!(versions.add("u:1", place(1), None) && versions.add("u:1", place(2), Some(key(9))));
        let of = |number: u8, keys: &[u8]| (place(number).id, keys.iter().map(|&number| key(number)).collect());
        let others = versions.decide(HashMap::from([of(1, &[1, 2]), of(2, &[9])]));
        assert_eq!(others, [place(1)]);
        // The third document would make the first one, which was passed over, the best.
        assert!(versions.add("u:1", place(3), None));
        assert_eq!(versions.to_ask(), [place(3).id]);
        assert_eq!(versions.decide(HashMap::from([of(3, &[3])])), [place(3)]);
        let (publishers, also) = versions.show("u:1", place(2).id);
        assert_eq!(publishers, [key(9)]);
        let also: Vec<_> = also.into_iter().map(|version| (version.id, version.publishers)).collect();
        assert_eq!(also, [(place(1).id, vec![key(1), key(2)]), (place(3).id, vec![key(3)])]);
        assert!(!versions.add("u:1", place(4), Some(key(9))));
        assert_eq!(versions.show("u:2", place(5).id), (vec![], vec![]));
    }

    #[test]
    fn the_number_of_documents_that_are_compared_is_bounded() {
        let mut versions = Versions::default();
        let added = (0..2 * COMPARED).filter(|number| {
            let place = Place { score: *number as u32, ..place(1) };
            versions.add("u:1", place, None)
        });
        assert_eq!(added.count(), COMPARED);
        assert!(versions.add("u:2", place(2), None) && !versions.add("u:2", place(3), None));
    }
}
