use super::entries::Entries;
use super::layer::Layer;
use super::{Found, MAX_MERGED, Skeleton, Trie};
use crate::error::{Error, Result};
use crate::format::Bytes;
use crate::hash::{HashAlgorithm, HashSpec, KeyHash};

/// What several parts of a dictionary are as one.
pub(super) struct Union {
    pub(super) trie: Trie,
    /// The hashes of its keys, in no order.
    pub(super) hashes: Vec<KeyHash>,
}

/// Makes one of several parts, oldest first: of equal keys the newest counts. `forget`: keys that are deleted are left
/// out, which is right if there is nothing older.
///
/// Tries are merged in one walk, which carries the hashes if they are rolling ones. Windows are ordered, and merged key by
/// key.
pub(super) fn merge(layers: &[Layer], hash: HashSpec, forget: bool) -> Result<Union> {
    if let [Layer::Window(window)] = layers {
        let records =
            (0..).map_while(|i| window.buffer.nth(i)).filter(|record| !forget || record.found != Found::Deleted);
        let (keys, hashes): (Vec<_>, Vec<_>) =
            records.map(|record| ((record.key, record.found.value()), record.hash)).unzip();
        return Ok(Union { trie: built(keys)?, hashes });
    }
    if let (HashAlgorithm::Rolling, Some(tries)) = (hash.algorithm, tries(layers)) {
        let merged = Trie::merge(&tries, hash.seed, forget);
        let (trie, hashes) = merged.map_err(|error| Error::Config(error.to_string()))?;
        return Ok(Union { trie, hashes });
    }
    let mut bytes = vec![];
    let mut ends = vec![];
    let mut hashes = vec![];
    let mut entries = Entries::new(layers, b"", None);
    while let Some((key, found)) = entries.next_found() {
        if forget && found == Found::Deleted {
            continue;
        }
        bytes.extend_from_slice(key);
        ends.push((bytes.len(), found.value()));
        hashes.push(hash.hash(key));
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    Ok(Union { trie: built(keys)?, hashes })
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
