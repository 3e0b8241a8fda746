use super::any_trie::AnyTrie;
use super::entries::Entries;
use super::filtered_trie::Union;
use super::hashes::{Hashes, blocked};
use super::layer::Layer;
use super::part::{Part, PartNode, records};
use super::polynomial_filter::PolynomialFilter;
use super::trie::{collected, reserve};
use super::trie_filter::NewFilter;
use super::{Found, LoudsTrie, MAX_MERGED, Merged, Record, Skeleton, SortedKeys, Trie, Value, freeze};
use crate::error::{Result, TrieError};
use crate::hash::{KeyHash, KeyHasher, PolynomialHashes, Rolling};
use crate::store::{FilterHash, Layout};

/// The way in which the tries of a dictionary are made.
#[derive(Clone, Debug)]
pub(super) struct Making {
    pub(super) layout: Layout,
    pub(super) hasher: KeyHasher,
    pub(super) filter_hash: FilterHash,
    /// The false-positive rate of the filters.
    pub(super) rate: f64,
}

/// Merges several parts, at least one, which are oldest first, into one trie and its filter. Of equal keys the newest
/// counts. With `forget` deleted keys are left out, which is right if there is no older part.
///
/// With hashes that a walk carries, they are merged as tries, and otherwise key by key.
pub(super) fn merge(layers: &[Layer], making: &Making, forget: bool) -> Result<Union> {
    let rolling = making.hasher.rolling();
    match (making.layout, rolling, layers) {
        (Layout::Compact, _, [Layer::Window(window)]) => {
            let stays = |record: &Record<'_>| !forget || record.found != Found::Deleted;
            let mut hashes = Hashes::with_room(window.buffer.len() as u64)?;
            let records = records(window)?.filter(stays).inspect(|record| hashes.push(record.hash));
            let trie = encoded(records.map(|record| (record.key, record.found.value())))?;
            one_state(AnyTrie::Compact(trie), hashes, making)
        }
        (Layout::Compact, Some(rolling), _) if layers.len() <= MAX_MERGED => compact(layers, rolling, making, forget),
        (Layout::Louds, Some(_), _) => louds(layers, making, forget),
        (Layout::Louds, None, _) if making.filter_hash != FilterHash::OneState => louds(layers, making, forget),
        _ => by_key(layers, making, forget),
    }
}

/// Merges compact tries in one walk over all of them, after windows were made into tries.
fn compact(layers: &[Layer], rolling: &Rolling, making: &Making, forget: bool) -> Result<Union> {
    let of_window = |layer: &Layer| match layer {
        Layer::Window(window) => encoded(records(window)?.map(|record| (record.key, record.found.value()))).map(Some),
        Layer::Trie(_) => Ok(None),
    };
    let of_windows = layers.iter().map(of_window).collect::<Result<Vec<_>>>()?;
    // A trie is checked as a whole before it is merged, so that damaged bytes never get new checksums.
    let mut tries = vec![];
    for (layer, of_window) in layers.iter().zip(&of_windows).rev() {
        match (layer, of_window) {
            (Layer::Window(_), of_window) => tries.extend(of_window.as_ref().map(Trie::borrowed)),
            (Layer::Trie(trie), _) => match trie.trie().whole()? {
                AnyTrie::Compact(trie) => tries.push(trie),
                AnyTrie::Louds(_) => return Err(TrieError::Damaged.into()),
            },
        }
    }
    let mut hashes = Hashes::with_room(tries.iter().map(Trie::keys).sum())?;
    let trie = Trie::merge(&tries.iter().collect::<Vec<_>>(), rolling, forget, |hash| hashes.push(hash))?;
    one_state(AnyTrie::Compact(trie), hashes, making)
}

/// Merges windows and LOUDS tries in one walk over virtual nodes.
fn louds(layers: &[Layer], making: &Making, forget: bool) -> Result<Union> {
    // Newest first.
    let parts = layers.iter().rev().map(Part::new).collect::<Result<Vec<_>>>()?;
    let roots = parts.iter().map(Part::root).collect::<Result<Vec<_>>>()?;
    let root = Merged::new(roots).ok_or(TrieError::Damaged)?;
    let most = layers.iter().map(Layer::keys).sum();
    match (making.filter_hash, making.hasher.rolling()) {
        (FilterHash::OneState, Some(rolling)) => {
            let mut hashes = Hashes::with_room(most)?;
            let push = |&state: &_, byte| rolling.push(state, byte);
            let trie = freeze(root, rolling.start(), push, forget, |state| hashes.push(state.finish()))?;
            one_state(AnyTrie::Louds(trie), hashes, making)
        }
        (FilterHash::Polynomials1, _) => polynomials::<1>(root, most, making, forget),
        (FilterHash::Polynomials2, _) => polynomials::<2>(root, most, making, forget),
        (FilterHash::Polynomials4, _) => polynomials::<4>(root, most, making, forget),
        (FilterHash::Polynomials8 | FilterHash::OneState, _) => polynomials::<8>(root, most, making, forget),
    }
}

/// Freezes a trie of at most `most` keys, and makes its filter of `K` polynomials.
fn polynomials<const K: usize>(root: Merged<PartNode<'_>>, most: u64, making: &Making, forget: bool) -> Result<Union> {
    let mut hashes = Hashes::<PolynomialHashes<K>>::with_room(most)?;
    let start = PolynomialHashes::start();
    let trie = freeze(root, start, |state, byte| state.push(byte), forget, |&state| hashes.push(state))?;
    let filter = PolynomialFilter::new(&hashes.finish(trie.keys())?, making.filter_hash, making.rate)?;
    Ok(Union { trie: AnyTrie::Louds(trie), filter: NewFilter::Polynomials(filter) })
}

/// Merges key by key, for hashes that no walk carries.
fn by_key(layers: &[Layer], making: &Making, forget: bool) -> Result<Union> {
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

/// A trie and the filter of its keys, which have these hashes.
fn one_state(trie: AnyTrie, hashes: Hashes<KeyHash>, making: &Making) -> Result<Union> {
    let filter = blocked(&hashes.finish(trie.keys())?, making.hasher.spec(), making.rate)?;
    Ok(Union { trie, filter: NewFilter::OneState(filter) })
}

fn encoded<'k>(keys: impl Iterator<Item = (&'k [u8], Value)>) -> Result<Trie> {
    Ok(Skeleton::from_sorted(keys).and_then(|skeleton| Trie::encode(&skeleton))?)
}

fn frozen(keys: &[(&[u8], Value)]) -> Result<LoudsTrie> {
    Ok(freeze(SortedKeys::new(keys)?.root(), (), |(), _| (), false, |()| {})?)
}
