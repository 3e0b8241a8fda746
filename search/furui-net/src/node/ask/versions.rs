//! The documents of one URL that several publishers have published, of which a search shows one.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use furui_search::{
    Act, Clause, ContentId, Part, Publication, PublisherKey, RecordHead, Request, Response, Shown, limits,
};

use crate::net::is_signed;
use crate::node::answer::Version;
use crate::node::asking::{Asking, KeeperEvent};
use crate::node::spent::Spent;
use crate::node::{Inner, PATIENCE};

/// What tells one document of a URL from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::node) struct Known {
    pub(in crate::node) id: ContentId,
    pub(in crate::node) publisher: PublisherKey,
    text: Text,
    /// The time at which the document came to its keepers, in milliseconds since 1970: the median of what they say.
    first: u64,
    /// A hash of the network from which it was published; 0 if that is unknown.
    network: u32,
}

/// The title of a document, and the hash of its text. Documents of a URL with the same one differ in their publishers
/// only.
type Text = (String, [u8; 32]);

impl Known {
    /// A document of which nothing is known but its contents.
    pub(in crate::node) fn of(id: ContentId, head: &RecordHead) -> Self {
        let text = (head.title.clone(), head.text_hash);
        Self { id, publisher: head.publisher, text, first: u64::MAX, network: 0 }
    }
}

/// Whom the owner of this node trusts, and of whom he wants to see nothing.
#[derive(Debug, Default)]
pub(in crate::node) struct Opinion {
    /// The publishers whom the owner trusts; `None` in a network of friends, whose members all are trusted.
    pub(in crate::node) trusted: Option<HashSet<PublisherKey>>,
    pub(in crate::node) blocked: HashSet<PublisherKey>,
}

impl Opinion {
    pub(in crate::node) fn trusts(&self, publisher: &PublisherKey) -> bool {
        self.trusted.as_ref().is_none_or(|trusted| trusted.contains(publisher))
    }
}

/// The document that is shown of one URL.
#[derive(Debug)]
pub(in crate::node) struct Decided {
    id: ContentId,
    /// The publishers of this text, those first who are trusted or were first.
    pub(in crate::node) publishers: Vec<PublisherKey>,
    pub(in crate::node) is_trusted: bool,
    /// The other texts under the URL.
    pub(in crate::node) also: Vec<Version>,
}

/// The documents that one search shows, by URL.
///
/// The rule: of all documents of the URL that fit the query, a text of a publisher whom the owner trusts is shown; else
/// the text that was published from most networks, because identities are free and addresses are not; else the one that
/// its keepers have had for longest; else the one with the smallest id.
#[derive(Default)]
pub(in crate::node) struct Versions(HashMap<String, Decided>);

impl Versions {
    /// The document that is shown of a URL; `None` if that is not decided yet.
    pub(in crate::node) fn of(&self, url: &str) -> Option<&Decided> {
        self.0.get(url)
    }

    /// True if this document is the one that is shown of the URL.
    pub(in crate::node) fn shows(&self, url: &str, id: ContentId) -> bool {
        self.0.get(url).is_some_and(|decided| decided.id == id)
    }

    /// Decides which of these documents is shown of a URL.
    pub(in crate::node) fn decide(&mut self, url: String, mut known: Vec<Known>, opinion: &Opinion) {
        known.retain(|version| !opinion.blocked.contains(&version.publisher));
        known.sort_by_key(|version| (!opinion.trusts(&version.publisher), version.first, version.id));
        let mut texts: Vec<Vec<Known>> = vec![];
        for version in known {
            match texts.iter_mut().find(|text| text[0].text == version.text) {
                Some(text) => text.push(version),
                None => texts.push(vec![version]),
            }
        }
        // The first of each text is a trusted one if there is one, and else the oldest.
        texts.sort_by_cached_key(|text| {
            let first = &text[0];
            (!opinion.trusts(&first.publisher), Reverse(votes(text, opinion)), first.first, first.id)
        });
        let of = |text: &Vec<Known>| {
            let mut publishers: Vec<PublisherKey> = vec![];
            text.iter().for_each(|it| {
                if !publishers.contains(&it.publisher) {
                    publishers.push(it.publisher);
                }
            });
            Version { id: text.iter().map(|it| it.id).min().unwrap_or(text[0].id), publishers }
        };
        let mut versions = texts.iter().map(of);
        if let Some(Version { id, publishers }) = versions.next() {
            let is_trusted = publishers.first().is_some_and(|first| opinion.trusts(first));
            self.0.insert(url, Decided { id, publishers, is_trusted, also: versions.collect() });
        }
    }
}

/// The number of networks from which a text was published, where all that are unknown count as one. Among friends, who
/// may share a network, the number of publishers.
fn votes(text: &[Known], opinion: &Opinion) -> usize {
    match opinion.trusted {
        Some(_) => text.iter().map(|it| it.network).collect::<BTreeSet<u32>>().len(),
        None => text.iter().map(|it| it.publisher).collect::<BTreeSet<PublisherKey>>().len(),
    }
}

/// Asks all nodes that keep these documents what tells them from each other. Returns those that fit the query, as most
/// of these nodes say.
pub(in crate::node) async fn fetch(inner: &Inner, ids: &[ContentId], clauses: &[Clause]) -> (Vec<Known>, Spent) {
    let mut asking = Asking::new(&inner.reputation, PATIENCE);
    for (keeper, load) in inner.reputation.loads(ids, limits::REPLICAS, None).await {
        for ids in load.chunks(limits::FETCHED) {
            let documents = ids.iter().map(|id| (*id, Part::Version)).collect();
            asking.ask(keeper.clone(), &Request::Show { documents, clauses: clauses.to_vec() }, ids.to_vec());
        }
    }
    let mut said: HashMap<ContentId, Said> = HashMap::new();
    while asking.waits_for(|_| true)
        && let Some(event) = asking.next().await
    {
        let KeeperEvent::Answer { from, about: ids, response } = event else { continue };
        match response {
            Some(Response::Shown { documents, .. }) if documents.len() == ids.len() => {
                let mut is_false = false;
                for (id, shown) in ids.into_iter().zip(documents) {
                    is_false |= !said.entry(id).or_default().hear(id, shown);
                }
                if is_false {
                    inner.reputation.distrust(from).await;
                }
            }
            None | Some(Response::Refused(_)) => {}
            Some(_) => inner.reputation.distrust(from).await,
        }
    }
    (said.into_iter().filter_map(|(id, said)| said.known(id)).collect(), asking.spent)
}

/// For each of these documents, asks the nodes that keep it which other documents have its URL. Returns the ids of all,
/// with its own, of those that have some.
async fn of_same_url(inner: &Inner, ids: &[ContentId]) -> HashMap<ContentId, BTreeSet<ContentId>> {
    let mut asking = Asking::new(&inner.reputation, PATIENCE);
    for (keeper, load) in inner.reputation.loads(ids, limits::REPLICAS, None).await {
        for ids in load.chunks(limits::FETCHED) {
            let documents = ids.iter().map(|id| (*id, Part::Presence)).collect();
            asking.ask(keeper.clone(), &Request::Show { documents, clauses: vec![] }, ids.to_vec());
        }
    }
    let mut all: HashMap<ContentId, BTreeSet<ContentId>> = HashMap::new();
    while asking.waits_for(|_| true)
        && let Some(event) = asking.next().await
    {
        let KeeperEvent::Answer { about, response: Some(Response::Shown { documents, .. }), .. } = event else {
            continue;
        };
        for (id, shown) in about.into_iter().zip(documents) {
            if let Shown::Kept { others } = shown
                && !others.is_empty()
            {
                all.entry(id).or_insert_with(|| BTreeSet::from([id])).extend(others);
            }
        }
    }
    all
}

/// For each of these documents, asks the nodes that keep it who else has published its text under its URL.
pub(in crate::node) async fn same_texts(inner: &Inner, ids: &[ContentId]) -> HashMap<ContentId, Vec<PublisherKey>> {
    let all = of_same_url(inner, ids).await;
    let several: Vec<ContentId> = all.values().flatten().copied().collect();
    let (known, _) = fetch(inner, &several, &[]).await;
    let known: HashMap<ContentId, Known> = known.into_iter().map(|known| (known.id, known)).collect();
    let same = all.into_iter().filter_map(|(id, others)| {
        let own = known.get(&id)?;
        let others = others.iter().filter_map(|other| known.get(other));
        let others = others.filter(|other| other.text == own.text && other.publisher != own.publisher);
        Some((id, others.map(|other| other.publisher).collect()))
    });
    same.collect()
}

/// Asks the nodes that keep a document for it and for all others with its text under its URL. Returns nothing if it is
/// not kept, or withdrawn.
pub(in crate::node) async fn of_same_text(inner: &Inner, id: ContentId) -> Vec<Known> {
    let all = of_same_url(inner, &[id]).await.remove(&id).unwrap_or_else(|| BTreeSet::from([id]));
    let (mut known, _) = fetch(inner, &Vec::from_iter(all), &[]).await;
    let text = known.iter().find(|it| it.id == id).map(|it| it.text.clone());
    known.retain(|it| Some(&it.text) == text.as_ref());
    known
}

/// What the keepers of one document say of it.
#[derive(Default)]
struct Said {
    head: Option<Box<RecordHead>>,
    publications: Vec<Publication>,
    unfit: usize,
    /// The publishers who have withdrawn the document, as the keepers say, each with the time.
    withdrawn: Vec<(PublisherKey, u32)>,
}

impl Said {
    /// Takes the statement of one keeper. Returns false if it contradicts the id, or a signature is false.
    fn hear(&mut self, id: ContentId, shown: Shown) -> bool {
        match shown {
            Shown::Version { head, publication } => {
                if head.id() != id || !is_signed(&head.publisher, Act::Publish, id, &publication.signature) {
                    return false;
                }
                self.head = Some(head);
                self.publications.push(publication);
            }
            Shown::Withdrawn { publisher, signature } => {
                if !is_signed(&publisher, Act::Withdraw, id, &signature) {
                    return false;
                }
                self.withdrawn.push((publisher, signature.at));
            }
            Shown::Unfit => self.unfit += 1,
            Shown::Unknown | Shown::Later => {}
            Shown::Document(_) | Shown::Record { .. } | Shown::Kept { .. } | Shown::Publisher { .. } => return false,
        }
        true
    }

    fn known(mut self, id: ContentId) -> Option<Known> {
        let head = self.head?;
        let at = self.publications.iter().map(|it| it.signature.at).max()?;
        let is_withdrawn = self.withdrawn.iter().any(|(by, then)| *by == head.publisher && *then >= at);
        if is_withdrawn || self.unfit > self.publications.len() {
            return None;
        }
        self.publications.sort_unstable_by_key(|it| it.first);
        let first = self.publications[self.publications.len() / 2].first;
        // A network counts only if two keepers say the same, or there is but one.
        let networks = || self.publications.iter().map(|it| it.network);
        let is_agreed = |network: &u32| 2 * networks().filter(|it| it == network).count() > self.publications.len();
        let network = networks().find(is_agreed).unwrap_or_default();
        Some(Known { first, network, ..Known::of(id, &head) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> PublisherKey {
        PublisherKey::new([number; 32])
    }

    fn id(number: u8) -> ContentId {
        ContentId::new([number; 20])
    }

    /// A version with this number as its id and publisher.
    fn version(number: u8, text: &str, first: u64, network: u32) -> Known {
        Known { id: id(number), publisher: key(number), text: (text.to_owned(), [0; 32]), first, network }
    }

    fn open(trusted: &[u8], blocked: &[u8]) -> Opinion {
        let keys = |numbers: &[u8]| numbers.iter().map(|&number| key(number)).collect();
        Opinion { trusted: Some(keys(trusted)), blocked: keys(blocked) }
    }

    fn decided(versions: &[Known], opinion: &Opinion) -> Option<(u8, Vec<u8>, Vec<u8>)> {
        let mut all = Versions::default();
        all.decide("u".into(), versions.to_vec(), opinion);
        let number = |id: &ContentId| id.as_bytes()[0];
        let Decided { id, publishers, also, .. } = all.of("u")?;
        assert!(all.shows("u", *id));
        let publishers = publishers.iter().map(|key| key.as_bytes()[0]).collect();
        Some((number(id), publishers, also.iter().map(|it| number(&it.id)).collect()))
    }

    #[test]
    fn the_rule_decides() {
        let old = version(1, "true", 100, 7);
        // Of one text, all publishers are named. The smallest id is shown, so that it comes once.
        assert_eq!(decided(&[version(3, "true", 50, 7), old.clone()], &open(&[], &[])), Some((1, vec![3, 1], vec![])));
        // Twenty identities of one network count as one, so the older text is shown.
        let forged: Vec<Known> = (10..30).map(|number| version(number, "forged", 200, 9)).collect();
        let all = [&[old.clone()][..], &forged].concat();
        assert_eq!(decided(&all, &open(&[], &[])), Some((1, vec![1], vec![10])));
        // Two networks count for more than age, and trust for more than both.
        let two = [version(4, "new", 300, 1), version(5, "new", 300, 2), old.clone()];
        assert_eq!(decided(&two, &open(&[], &[])), Some((4, vec![4, 5], vec![1])));
        assert_eq!(decided(&two, &open(&[1], &[])), Some((1, vec![1], vec![4])));
        // What a blocked publisher alone has published is not there.
        assert_eq!(decided(&two, &open(&[], &[4, 5])), Some((1, vec![1], vec![])));
        assert_eq!(decided(&two, &open(&[], &[1, 4, 5])), None);
        // Among friends, the publishers count.
        let friends = Opinion::default();
        assert_eq!(decided(&[version(4, "new", 300, 1), version(5, "new", 300, 1), old], &friends).unwrap().0, 4);
    }

    #[test]
    fn keepers_are_believed_if_most_say_the_same() {
        let head = RecordHead {
            url: "u:1".into(),
            title: String::new(),
            publisher: key(1),
            text_bytes: 0,
            text_hash: [0; 32],
        };
        let said = |of: &[(u64, u32)], unfit| {
            let signature = furui_search::Signature { at: 5, bytes: [0; 64] };
            let publications = of.iter().map(|&(first, network)| Publication { signature, first, network }).collect();
            Said { head: Some(Box::new(head.clone())), publications, unfit, withdrawn: vec![] }
        };
        let known = |of: &[(u64, u32)]| said(of, 0).known(id(1)).map(|it| (it.first, it.network));
        assert_eq!(known(&[(0, 3), (100, 4), (101, 4)]), Some((100, 4)));
        assert_eq!(known(&[(9, 3), (8, 4)]), Some((9, 0)));
        assert_eq!(said(&[(9, 3)], 2).known(id(1)), None);
        let withdrawn = |by, at| Said { withdrawn: vec![(key(by), at)], ..said(&[(9, 3)], 0) }.known(id(1)).is_none();
        assert_eq!([withdrawn(1, 5), withdrawn(1, 4), withdrawn(2, 9)], [true, false, false]);
    }
}
