//! Documents that resemble real ones, and questions about them.

use std::collections::BTreeMap;

use crate::local::Random;
use furui_net::node::Document;
use furui_search::{ContentId, PublisherKey, Record};

/// Common words first: a word is drawn with a probability that is inversely proportional to its place.
const WORDS: &str = "the of and to in is that for it as with on by this be are at from or which not an have can one node \
    list document word query key index time number set other each all more than if when their they two its only first \
    answer network peer message bits filter hash table store memory disk page part result size order search local remote \
    record copy server client request reply failure repair random uniform bound limit cost cache miss probe bucket slot \
    ring distance bloom cuckoo golomb rice trie prefix suffix merge sort run level block file write read sync crash \
    recover log garden river mountain bridge harbour letter winter summer island forest market kitchen bread butter coffee \
    tea sugar salt pepper lemon orange apple cherry violin piano drum singer theatre painter museum castle tower church \
    school teacher pupil lesson grammar language french german latin greek roman empire senate treaty border army navy \
    ship sailor captain storm cloud rain snow thunder desert camel caravan spice silk road trade coin bank debt credit \
    price wage labour union strike election parliament minister crown king queen prince duke earl farmer harvest wheat \
    barley rye oats mill miller baker smith iron copper tin lead silver gold mine miner coal steam engine rail train \
    station signal wire telegraph radio valve transistor circuit chip wafer silicon quartz crystal lattice electron proton \
    neutron quark photon laser lens mirror telescope comet asteroid planet orbit moon tide eclipse galaxy nebula";

/// The seed of everything random here.
const SEED: u64 = 34;
const QUERIES: usize = 50;

/// An id that no document has.
pub fn made_up(random: &mut Random) -> ContentId {
    let mut bytes = [0; ContentId::BYTES];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]));
    ContentId::new(bytes)
}

/// A number below `most`; the k-th has the probability of about 1 / k.
fn zipf(random: &mut Random, most: usize) -> usize {
    ((most as f64 + 1.0).powf(random.unit()) as usize).clamp(1, most) - 1
}

pub struct Library {
    pub records: Vec<Record>,
    pub documents: Vec<Document>,
    /// One word, two words, alternatives, and phrases, each with an answer.
    pub queries: Vec<String>,
}

impl Library {
    pub fn new(count: usize, publisher: PublisherKey) -> Self {
        let (words, mut random) = (WORDS.split_whitespace().collect::<Vec<_>>(), Random::new(SEED));
        let mut records = Vec::with_capacity(count);
        for number in 0..count {
            // The words of a document's subject occur often in it.
            let subject: Vec<&str> = (0..4).map(|_| words[20 + random.below(words.len() - 20)]).collect();
            let text: Vec<&str> = (0..30 + random.below(200))
                .map(|_| match random.below(6) {
                    0 => subject[random.below(subject.len())],
                    _ => words[zipf(&mut random, words.len())],
                })
                .collect();
            let url = format!("http://library.example/{}/{number}", subject[0]);
            records.push(Record { url, title: subject[..2].join(" and "), text: text.join(" "), publisher });
        }
        let documents: Vec<Document> = records.iter().map(|record| Document::new(record).unwrap()).collect();
        let mut queries = Vec::new();
        while queries.len() < QUERIES {
            let record = &records[random.below(records.len())];
            let text: Vec<&str> = record.text.split(' ').collect();
            let at = random.below(text.len() - 1);
            let (one, next, other) = (text[at], text[at + 1], text[random.below(text.len())]);
            let query = match queries.len() % 5 {
                0 | 1 => one.to_owned(),
                2 => format!("{one} {other}"),
                3 => format!("{one} OR {other}"),
                _ => format!("\"{one} {next}\""),
            };
            // The commonest word would be in most queries.
            if one != next && one != other && one != "the" && other != "the" && !queries.contains(&query) {
                queries.push(query);
            }
        }
        Self { records, documents, queries }
    }

    /// The words of the queries, each with the documents that have it.
    pub fn lists(&self) -> BTreeMap<String, Vec<ContentId>> {
        let mut lists: BTreeMap<String, Vec<ContentId>> = BTreeMap::new();
        let asked = self.queries.iter().flat_map(|query| query.split(|c: char| !c.is_ascii_lowercase()));
        asked.filter(|word| !word.is_empty()).for_each(|word| {
            lists.entry(word.to_owned()).or_default();
        });
        for Document { id, words, .. } in &self.documents {
            words.iter().for_each(|(word, _)| {
                if let Some(list) = lists.get_mut(word) {
                    list.push(*id);
                }
            });
        }
        lists.values_mut().for_each(|list| list.sort_unstable());
        lists
    }
}
