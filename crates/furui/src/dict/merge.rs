use super::entries::Entries;
use super::filtered_trie::Union;
use super::hashes::{Hashes, blocked};
use super::layer::{Layer, Window};
use super::trie::reserve;
use super::{Found, MAX_MERGED, Record, Skeleton, Trie};
use crate::error::Result;
use crate::hash::{KeyHash, KeyHasher, Rolling};

/// Merges several parts, which are oldest first, into one trie and its filter. Of equal keys the newest counts. With
/// `forget` deleted keys are left out, which is right if there is no older part. `rate` is the false-positive rate of
/// the filter.
///
/// With rolling hashes, which a walk carries, they are merged as tries, and otherwise key by key.
pub(super) fn merge(layers: &[Layer], hasher: &KeyHasher, rate: f64, forget: bool) -> Result<Union> {
    if let [Layer::Window(window)] = layers {
        let stays = |record: &Record<'_>| !forget || record.found != Found::Deleted;
        let mut hashes = Hashes::with_room(window.buffer.len() as u64)?;
        let trie = built(records(window)?.filter(stays).inspect(|record| hashes.push(record.hash)))?;
        return union(trie, hashes, hasher, rate);
    }
    if let Some(rolling) = hasher.rolling().filter(|_| layers.len() <= MAX_MERGED) {
        return merge_tries(layers, hasher, rolling, rate, forget);
    }
    let mut bytes = vec![];
    let mut ends = vec![];
    let mut hashes = Hashes::with_room(layers.iter().map(Layer::keys).sum())?;
    let mut entries = Entries::new(layers, b"", None);
    while let Some((key, found)) = entries.next_found()? {
        if forget && found == Found::Deleted {
            continue;
        }
        reserve(&mut bytes, key.len())?;
        bytes.extend_from_slice(key);
        reserve(&mut ends, 1)?;
        ends.push((bytes.len(), found.value()));
        hashes.push(hasher.hash(key));
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    union(encoded(keys)?, hashes, hasher, rate)
}

/// Merges in one walk over all tries, after windows were made into tries.
fn merge_tries(layers: &[Layer], hasher: &KeyHasher, rolling: &Rolling, rate: f64, forget: bool) -> Result<Union> {
    let of_window = |layer: &Layer| match layer {
        Layer::Window(window) => built(records(window)?).map(Some),
        Layer::Trie(_) => Ok(None),
    };
    let of_windows = layers.iter().map(of_window).collect::<Result<Vec<_>>>()?;
    // A trie is checked as a whole before it is merged, so that damaged bytes never get new checksums.
    let tries = layers.iter().zip(&of_windows).rev().filter_map(|(layer, of_window)| match layer {
        Layer::Trie(trie) => Some(trie.trie().whole()),
        Layer::Window(_) => of_window.as_ref().map(|trie| Ok(trie.borrowed())),
    });
    let tries: Vec<Trie<&[u8]>> = tries.collect::<std::result::Result<_, _>>()?;
    let mut hashes = Hashes::with_room(tries.iter().map(Trie::keys).sum())?;
    let trie = Trie::merge(&tries.iter().collect::<Vec<_>>(), rolling, forget, |hash| hashes.push(hash))?;
    union(trie, hashes, hasher, rate)
}

/// A trie and the filter of its keys, which have these hashes.
fn union(trie: Trie, hashes: Hashes<KeyHash>, hasher: &KeyHasher, rate: f64) -> Result<Union> {
    let filter = blocked(&hashes.finish(trie.keys())?, hasher.spec(), rate)?;
    Ok(Union { trie, filter })
}

/// The records of a window in order of keys.
fn records(window: &Window) -> Result<impl Iterator<Item = Record<'_>>> {
    window.buffer.sort()?;
    Ok((0..).map_while(|i| window.buffer.nth(i)))
}

fn built<'k>(records: impl Iterator<Item = Record<'k>>) -> Result<Trie> {
    encoded(records.map(|record| (record.key, record.found.value())))
}

fn encoded<'k>(keys: impl Iterator<Item = (&'k [u8], Option<u32>)>) -> Result<Trie> {
    Ok(Skeleton::from_sorted(keys).and_then(|skeleton| Trie::encode(&skeleton))?)
}
