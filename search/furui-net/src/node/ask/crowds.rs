use std::collections::{HashMap, HashSet};

use furui_search::{PublisherKey, SimHash};
use url::Url;

use crate::node::Hit;

/// The maximum number of places on a page of at most twenty results for what one publisher has published whom the owner
/// does not trust, and for what is on one host. Chosen: five others fill a page of ten. On a longer page, it is a tenth
/// of the places.
const PLACES: usize = 2;

/// The results of a page so far, which decide whether the next one has a place on it. What has none is shown below
/// those that have one, so that nobody fills a page alone.
#[derive(Debug)]
pub(crate) struct Crowds {
    /// The maximum number of places of a publisher or host.
    places: usize,
    publishers: HashMap<PublisherKey, usize>,
    hosts: HashMap<String, usize>,
    texts: HashSet<[u8; 32]>,
    near: Vec<SimHash>,
    /// True if a result has no place.
    are_displaced: bool,
}

/// The reason that a result has no place on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Crowd {
    /// Its publisher, whom the owner does not trust, has his [`PLACES`] already; or its text is so short, or repeats
    /// itself so much, that it has no SimHash, and it would gain a place by what a result above has lost.
    Publisher(PublisherKey),
    /// A result above it, of another URL, has the same text, or nearly so.
    Text,
    /// Its host has its [`PLACES`] already.
    Host(String),
}

impl Crowds {
    /// The results of a page with at most `limit` results, of which there is none so far.
    pub(crate) fn of(limit: u64) -> Self {
        let places = PLACES.max((limit / 10) as usize);
        Self {
            places,
            publishers: HashMap::new(),
            hosts: HashMap::new(),
            texts: HashSet::new(),
            near: vec![],
            are_displaced: false,
        }
    }

    /// Counts a result, which follows the others in rank. Returns the reason that it has no place, if it has none.
    pub(crate) fn add(&mut self, hit: &Hit) -> Option<Crowd> {
        let crowd = self.crowd(hit);
        self.are_displaced |= crowd.is_some();
        crowd
    }

    fn crowd(&mut self, hit: &Hit) -> Option<Crowd> {
        let publisher = hit.publishers.first().filter(|_| !hit.trusted);
        let published = publisher.map_or(0, |publisher| count(&mut self.publishers, *publisher));
        let is_new = hit.text_hash.is_none_or(|text| self.texts.insert(text))
            && hit.simhash.is_none_or(|text| !self.near.iter().any(|other| other.is_near(text)));
        self.near.extend(hit.simhash.filter(|_| is_new));
        let host = Url::parse(&hit.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        match (publisher, host) {
            (Some(publisher), _) if published > self.places || self.are_displaced && hit.simhash.is_none() => {
                Some(Crowd::Publisher(*publisher))
            }
            _ if !is_new => Some(Crowd::Text),
            (_, Some(host)) if count(&mut self.hosts, host.clone()) > self.places => Some(Crowd::Host(host)),
            _ => None,
        }
    }

    /// True if this publisher, whom the owner does not trust, has all his places.
    pub(crate) fn is_full(&self, publisher: &PublisherKey) -> bool {
        self.publishers.get(publisher).is_some_and(|count| *count >= self.places)
    }

    /// True if some publisher has all his places.
    pub(crate) fn have_full(&self) -> bool {
        self.publishers.values().any(|count| *count >= self.places)
    }

    /// True if a single publisher, whom the owner does not trust, has published all `results` of the page, or all are
    /// on one host.
    pub(crate) fn are_of_one(&self, results: u64) -> bool {
        self.publishers.values().chain(self.hosts.values()).any(|count| *count as u64 == results)
    }
}

/// Counts one more of `what`, and returns how many there are.
fn count<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, what: K) -> usize {
    let count = counts.entry(what).or_default();
    *count += 1;
    *count
}
