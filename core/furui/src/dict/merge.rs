use std::io::Write;

use super::any_trie::AnyTrie;
use super::entries::Entries;
use super::filtered_trie::Union;
use super::hashes::{FilterHashes, blocked};
use super::layer::{BufferLayer, Layer};
use super::making::Making;
use super::part::{LoudsPart, PartNode, records};
use super::polynomial_filter::PolynomialFilter;
use super::trie::{collected, reserve};
use super::trie_filter::NewFilter;
use super::values::ValueWriter;
use super::{Found, LoudsTrie, MAX_MERGED, Merged, Record, Skeleton, SortedKeys, Trie, Value, freeze};
use crate::error::{Error, Result, TrieError};
use crate::hash::{KeyHash, PolynomialHashes, Rolling};
use crate::store::{FilterHash, Layout};

/// Merges one or more parts of a dictionary, oldest first, into one trie and its filter. Of equal keys, the newest one
/// is kept. With `forget` deleted keys are left out, which is right if there is no older part.
///
/// If the hash can be computed byte by byte during a walk over the nodes, the parts are merged as tries. Otherwise they
/// are merged key by key.
///
/// # Errors
/// [`Error::Format`] if a part is damaged, which is checked as a whole; [`Error::Trie`] if the result would be too
/// large for its layout, or if there is no memory.
pub(super) fn merge(layers: &[Layer], making: &Making, forget: bool) -> Result<Union> {
    if let (Layout::Compact, [Layer::Buffer(window)]) = (making.layout, layers) {
        return encode(window, making, forget);
    }
    let rolling = making.hasher.rolling();
    match (making.layout, making.filter_hash, rolling) {
        (Layout::Compact, _, Some(rolling)) if layers.len() <= MAX_MERGED => compact(layers, rolling, making, forget),
        (Layout::Louds, FilterHash::OneState, Some(rolling)) => louds(layers, rolling, making, forget),
        (Layout::Compact, ..) | (Layout::Louds, FilterHash::OneState, None) => by_key(layers, making, forget),
        (Layout::Louds, FilterHash::Polynomials1, _) => polynomials::<1>(layers, making, forget),
        (Layout::Louds, FilterHash::Polynomials2, _) => polynomials::<2>(layers, making, forget),
        (Layout::Louds, FilterHash::Polynomials4, _) => polynomials::<4>(layers, making, forget),
        (Layout::Louds, FilterHash::Polynomials8, _) => polynomials::<8>(layers, making, forget),
    }
}

/// Encodes the keys of a window (a write buffer) as a compact trie, and makes its filter. With `forget`, deleted keys
/// are left out.
fn encode(window: &BufferLayer, making: &Making, forget: bool) -> Result<Union> {
    let stays = |record: &Record<'_>| !forget || record.found != Found::Deleted;
    let mut hashes = FilterHashes::with_room(window.buffer.len() as u64)?;
    let records = records(window)?.filter(stays).inspect(|record| hashes.push(record.hash));
    let trie = encoded(records.map(|record| (record.key, record.found.value())))?;
    one_state(AnyTrie::Compact(trie), hashes, making)
}

/// Merges compact tries in one walk over all of them. Windows (write buffers) are made into tries first.
fn compact(layers: &[Layer], rolling: &Rolling, making: &Making, forget: bool) -> Result<Union> {
    let of_window = |layer: &Layer| match layer {
        Layer::Buffer(window) => encoded(records(window)?.map(|record| (record.key, record.found.value()))).map(Some),
        Layer::Trie(_) => Ok(None),
    };
    let of_windows = layers.iter().map(of_window).collect::<Result<Vec<_>>>()?;
    // A trie is checked as a whole before it is merged, so that damaged bytes never get new checksums.
    let mut tries = vec![];
    for (layer, of_window) in layers.iter().zip(&of_windows).rev() {
        match (layer, of_window) {
            (Layer::Buffer(_), of_window) => tries.extend(of_window.as_ref().map(Trie::borrowed)),
            (Layer::Trie(trie), _) => match trie.trie().whole()? {
                AnyTrie::Compact(trie) => tries.push(trie),
                AnyTrie::Louds(_) => return Err(TrieError::Damaged.into()),
            },
        }
    }
    let mut hashes = FilterHashes::with_room(tries.iter().map(Trie::keys).sum())?;
    let trie = Trie::merge(&tries.iter().collect::<Vec<_>>(), rolling, forget, |hash| hashes.push(hash))?;
    one_state(AnyTrie::Compact(trie), hashes, making)
}

/// Merges windows (write buffers) and LOUDS tries in one walk over virtual nodes, which carries one hash state along
/// each path.
fn louds(layers: &[Layer], rolling: &Rolling, making: &Making, forget: bool) -> Result<Union> {
    let (parts, mut hashes) = (parts(layers)?, room(layers)?);
    let push = |&state: &_, byte| rolling.push(state, byte);
    let trie = freeze(merged(&parts)?, rolling.start(), push, forget, |state| hashes.push(state.finish()))?;
    one_state(AnyTrie::Louds(trie), hashes, making)
}

/// Merges as [`louds`] does, but the walk carries `K` hash states, for filters whose positions are `K` polynomials.
fn polynomials<const K: usize>(layers: &[Layer], making: &Making, forget: bool) -> Result<Union> {
    let (parts, mut hashes) = (parts(layers)?, room::<PolynomialHashes<K>>(layers)?);
    let start = PolynomialHashes::start();
    let trie = freeze(merged(&parts)?, start, |state, byte| state.push(byte), forget, |&state| hashes.push(state))?;
    let filter = PolynomialFilter::new(&hashes.finish(trie.keys())?, making.filter_hash, making.rate)?;
    Ok(Union { trie: AnyTrie::Louds(trie), filter: NewFilter::Polynomials(filter) })
}

/// The parts of a dictionary of LOUDS tries as tries that can be walked, newest first.
fn parts(layers: &[Layer]) -> Result<Vec<LoudsPart<'_>>> {
    layers.iter().rev().map(LoudsPart::new).collect()
}

/// The root of the virtual trie that has all keys of some parts of a dictionary.
fn merged<'p>(parts: &'p [LoudsPart<'_>]) -> Result<Merged<PartNode<'p>>> {
    let roots = parts.iter().map(LoudsPart::root).collect::<Result<Vec<_>>>()?;
    Ok(Merged::new(roots).expect("at least one part"))
}

/// Allocates room for the hashes of all keys of some parts of a dictionary.
fn room<H>(layers: &[Layer]) -> Result<FilterHashes<H>> {
    Ok(FilterHashes::with_room(layers.iter().map(Layer::keys).sum())?)
}

/// Merges the parts key by key, for a dictionary whose hash has no state that a walk over a trie can carry.
fn by_key(layers: &[Layer], making: &Making, forget: bool) -> Result<Union> {
    let mut bytes = vec![];
    let mut ends = vec![];
    let mut hashes = room(layers)?;
    let mut entries = Entries::<u32>::new(layers, b"", None);
    while let Some((key, found)) = entries.next_found()? {
        if forget && found == Found::Deleted {
            continue;
        }
        reserve(&mut bytes, key.len())?;
        bytes.extend_from_slice(key);
        reserve(&mut ends, 1)?;
        ends.push((bytes.len(), found.value()));
        hashes.push(making.hasher.hash(key));
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    let trie = match making.layout {
        Layout::Compact => AnyTrie::Compact(encoded(keys)?),
        Layout::Louds => AnyTrie::Louds(frozen(&collected(keys)?)?),
    };
    one_state(trie, hashes, making)
}

/// Makes the filter of a trie's keys, which have these hashes, and returns it with the trie.
fn one_state(trie: AnyTrie, hashes: FilterHashes<KeyHash>, making: &Making) -> Result<Union> {
    let filter = blocked(&hashes.finish(trie.keys())?, making.hasher.spec(), making.rate)?;
    Ok(Union { trie, filter: NewFilter::OneState(filter) })
}

fn encoded<'k>(keys: impl Iterator<Item = (&'k [u8], Value)>) -> Result<Trie> {
    Ok(Skeleton::from_sorted(keys).and_then(|skeleton| Trie::encode(&skeleton))?)
}

fn frozen(keys: &[(&[u8], Value)]) -> Result<LoudsTrie> {
    Ok(freeze(SortedKeys::new(keys)?.root(), (), |(), _| (), false, |()| {})?)
}

/// Writes the file of a merged trie's values, which is called `name` in errors. `ids` are the ids of the values,
/// ascending; `layers` are the parts that were merged, oldest first. With `renumber`, the values get the ids from 0 on
/// in the file.
///
/// Ids ascend from part to part, so each part's values are read once, in order, and written as they are read. Values
/// of keys that were put again or deleted are left out. Memory: that of [`ValueWriter`].
///
/// # Errors
/// [`TrieError::Damaged`] if an id belongs to no part; [`Error::Format`] if the file of a part is damaged;
/// [`Error::Io`] of `out`.
pub(super) fn copy_values(
    layers: &[Layer],
    ids: &[u32],
    renumber: bool,
    out: &mut dyn Write,
    name: &str,
) -> Result<()> {
    let failed = |source| Error::io("cannot write", name, source);
    let (count, first) = (ids.len() as u64, ids.first().copied().unwrap_or(0));
    let new_ids = if renumber { 0..ids.len() as u32 } else { first..ids.last().map_or(0, |last| last + 1) };
    let mut writer = ValueWriter::new(out, count, new_ids).map_err(failed)?;
    let (mut rest, mut next) = (ids, 0);
    for layer in layers {
        let range = layer.ids();
        let here;
        (here, rest) = rest.split_at(rest.partition_point(|&id| id < range.end));
        if here.first().is_some_and(|&first| first < range.start) {
            return Err(TrieError::Damaged.into());
        }
        if !here.is_empty() {
            layer.each_value(here, |id, value| {
                let id = if renumber { next } else { id };
                next += 1;
                writer.push(id, value).map_err(failed)
            })?;
        }
    }
    if !rest.is_empty() || !ids.is_sorted_by(|a, b| a < b) {
        return Err(TrieError::Damaged.into());
    }
    writer.finish().map_err(failed)?;
    Ok(())
}
