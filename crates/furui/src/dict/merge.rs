use std::io::Write;

use super::entries::Entries;
use super::fill::Fill;
use super::filtered_trie::Union;
use super::layer::{Layer, Window};
use super::trie::reserve;
use super::values::ValueWriter;
use super::{Found, MAX_MERGED, Record, Skeleton, Trie, TrieError};
use crate::error::{Error, Result};
use crate::filter::BlockedBloom;
use crate::hash::{KeyHasher, Rolling};

/// Merges several parts, which are oldest first, into one trie and its filter. Of equal keys the newest counts. With
/// `forget` deleted keys are left out, which is right if there is no older part. `rate` is the false-positive rate of
/// the filter.
///
/// With rolling hashes, which a walk carries, they are merged as tries, and otherwise key by key.
pub(super) fn merge(layers: &[Layer], hasher: &KeyHasher, rate: f64, forget: bool) -> Result<Union> {
    if let [Layer::Window(window)] = layers {
        let stays = |record: &Record<'_>| !forget || record.found != Found::Deleted;
        let count = window.buffer.arrivals().filter(stays).count();
        let mut fill = Fill::new(count as u64, hasher.spec(), rate)?;
        let trie = built(records(window)?.filter(stays).inspect(|record| fill.push(record.hash)))?;
        return Ok(Union { trie, filter: fill.finish() });
    }
    if let Some(rolling) = hasher.rolling().filter(|_| layers.len() <= MAX_MERGED) {
        return merge_tries(layers, hasher, rolling, rate, forget);
    }
    let mut bytes = vec![];
    let mut ends = vec![];
    let mut entries = Entries::<u32>::new(layers, b"", None);
    while let Some((key, found)) = entries.next_found()? {
        if forget && found == Found::Deleted {
            continue;
        }
        reserve(&mut bytes, key.len())?;
        bytes.extend_from_slice(key);
        reserve(&mut ends, 1)?;
        ends.push((bytes.len(), found.value()));
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    let trie = encoded(keys)?;
    let filter = scan(&trie, hasher, rate)?;
    Ok(Union { trie, filter })
}

/// Merges in one walk over all tries, after windows were made into tries. The filter is sized for the keys of all tries
/// together. If many keys are equal or left out, it is built again.
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
    let most = tries.iter().map(Trie::keys).sum();
    let mut fill = Fill::new(most, hasher.spec(), rate)?;
    let trie = Trie::merge(&tries.iter().collect::<Vec<_>>(), rolling, forget, |hash| fill.push(hash));
    let trie = trie?;
    let filter = if trie.keys() < most - most / SPARE { scan(&trie, hasher, rate)? } else { fill.finish() };
    Ok(Union { trie, filter })
}

/// Writes the file of the values with these ids, which ascend and are those of the trie that was merged from these parts,
/// oldest first. The file is called `name` in errors.
///
/// Ids ascend from part to part, so each part's values are read once, in order, and written as they are read. Those
/// of keys that were put again or deleted are left behind. Memory: that of [`ValueWriter`].
pub(super) fn copy_values(layers: &[Layer], ids: &[u32], out: &mut dyn Write, name: &str) -> Result<()> {
    let failed = |source| Error::io("cannot write", name, source);
    let mut writer = ValueWriter::new(out, ids).map_err(failed)?;
    let mut rest = ids;
    for layer in layers {
        let range = layer.ids();
        let here;
        (here, rest) = rest.split_at(rest.partition_point(|&id| id < range.end));
        if here.first().is_some_and(|&first| first < range.start) {
            return Err(TrieError::Damaged.into());
        }
        if !here.is_empty() {
            layer.each_value(here, |id, value| writer.push(id, value).map_err(failed))?;
        }
    }
    if !rest.is_empty() || !ids.is_sorted_by(|a, b| a < b) {
        return Err(TrieError::Damaged.into());
    }
    writer.finish().map_err(failed)?;
    Ok(())
}

/// A filter is built again if its size is for too many keys, by more than one part in this many.
const SPARE: u64 = 16;

/// Builds the filter of a trie by reading its keys.
fn scan(trie: &Trie, hasher: &KeyHasher, rate: f64) -> Result<BlockedBloom> {
    let mut fill = Fill::new(trie.keys(), hasher.spec(), rate)?;
    let mut entries = trie.iter();
    while let Some((key, _)) = entries.next_entry() {
        fill.push(hasher.hash(key));
    }
    Ok(fill.finish())
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
