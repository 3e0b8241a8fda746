use super::entries::Entries;
use super::fill::Fill;
use super::layer::Layer;
use super::{Found, MAX_MERGED, Skeleton, Trie};
use crate::error::{Error, Result};
use crate::filter::BlockedBloom;
use crate::format::Bytes;
use crate::hash::{HashAlgorithm, HashSpec};

/// What several parts of a dictionary are as one.
pub(super) struct Union {
    pub(super) trie: Trie,
    /// The filter of its keys.
    pub(super) filter: BlockedBloom,
}

/// Makes one of several parts, oldest first: of equal keys the newest counts. `forget`: keys that are deleted are left
/// out, which is right if there is nothing older. The filter is wrong about one key in 1 / `rate`.
///
/// Tries are merged in one walk, which fills the filter if its hashes are rolling ones. Windows are ordered, and merged key
/// by key.
pub(super) fn merge(layers: &[Layer], hash: HashSpec, rate: f64, forget: bool) -> Result<Union> {
    if let [Layer::Window(window)] = layers {
        let records =
            (0..).map_while(|i| window.buffer.nth(i)).filter(|record| !forget || record.found != Found::Deleted);
        let (keys, hashes): (Vec<_>, Vec<_>) =
            records.map(|record| ((record.key, record.found.value()), record.hash)).unzip();
        let mut fill = Fill::new(keys.len() as u64, hash, rate)?;
        hashes.into_iter().for_each(|hash| fill.push(hash));
        return Ok(Union { trie: built(keys)?, filter: fill.finish()? });
    }
    if let (HashAlgorithm::Rolling, Some(tries)) = (hash.algorithm, tries(layers)) {
        return merge_tries(&tries, hash, rate, forget);
    }
    let mut bytes = vec![];
    let mut ends = vec![];
    let mut entries = Entries::new(layers, b"", None);
    while let Some((key, found)) = entries.next_found() {
        if forget && found == Found::Deleted {
            continue;
        }
        bytes.extend_from_slice(key);
        ends.push((bytes.len(), found.value()));
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    let trie = built(keys)?;
    let filter = scan(&trie, hash, rate)?;
    Ok(Union { trie, filter })
}

/// The filter is sized for all keys of all tries. If many of them are the same or left out, it is made anew.
fn merge_tries(tries: &[&Trie<Bytes>], hash: HashSpec, rate: f64, forget: bool) -> Result<Union> {
    let most = tries.iter().map(|trie| trie.keys()).sum();
    let mut fill = Fill::new(most, hash, rate)?;
    let trie = Trie::merge(tries, hash.seed, forget, |hash| fill.push(hash));
    let trie = trie.map_err(|error| Error::Config(error.to_string()))?;
    let filter = if trie.keys() < most - most / SPARE { scan(&trie, hash, rate)? } else { fill.finish()? };
    Ok(Union { trie, filter })
}

/// A filter may have been made for this share of keys more than it has.
const SPARE: u64 = 16;

/// The filter of a trie's keys, which are read.
fn scan(trie: &Trie, hash: HashSpec, rate: f64) -> Result<BlockedBloom> {
    let mut fill = Fill::new(trie.keys(), hash, rate)?;
    let mut entries = trie.iter();
    while let Some((key, _)) = entries.next_entry() {
        fill.push(hash.hash(key));
    }
    fill.finish()
}

/// The tries, newest first, if all parts are tries, and not more than are merged in one walk.
fn tries(layers: &[Layer]) -> Option<Vec<&Trie<Bytes>>> {
    let tries = layers.iter().rev().map(|layer| match layer {
        Layer::Trie(trie) => Some(trie.trie()),
        Layer::Window(_) => None,
    });
    (layers.len() <= MAX_MERGED).then(|| tries.collect())?
}

fn built<'k>(keys: impl IntoIterator<Item = (&'k [u8], Option<u32>)>) -> Result<Trie> {
    let trie = Skeleton::from_sorted(keys).and_then(|skeleton| Trie::encode(&skeleton));
    trie.map_err(|error| Error::Config(error.to_string()))
}
