use std::cmp::Ordering;
use std::mem::size_of;

use super::{UNIT, WriteBuffer, record_len};
use crate::dict::TrieError;
use crate::dict::trie::reserve;

/// Groups of at most this many keys are sorted by comparison instead of quicksort.
const SMALL_GROUP: usize = 12;

/// Returns the places of a buffer's records, in [`UNIT`]s, in the order of their keys.
pub(super) fn in_order(buffer: &WriteBuffer) -> Result<Vec<u32>, TrieError> {
    let mut sorter = Sorter { buffer, items: vec![] };
    reserve(&mut sorter.items, buffer.keys)?;
    let mut at = 0;
    while at < buffer.arena.len() {
        let length = buffer.length(at);
        sorter.items.push(Item { chunk: 0, at: (at / UNIT) as u32 });
        at += record_len(length);
    }
    sorter.sort()
}

/// A multikey quicksort of the keys of a write buffer.
struct Sorter<'a> {
    buffer: &'a WriteBuffer,
    items: Vec<Item>,
}

/// A key in the sort: the 8 bytes of it that are compared at the current depth, and the place of its record.
#[derive(Clone, Copy)]
struct Item {
    chunk: u64,
    at: u32,
}

impl Sorter<'_> {
    fn sort(mut self) -> Result<Vec<u32>, TrieError> {
        let mut items = std::mem::take(&mut self.items);
        // Groups of keys that are equal up to a depth, and that depth. The stack is explicit, because keys may be long.
        let mut groups = vec![(0, items.len(), 0)];
        while let Some((start, end, depth)) = groups.pop() {
            let group = &mut items[start..end];
            if group.len() <= SMALL_GROUP {
                group.sort_unstable_by(|a, b| self.rest(a, depth).cmp(self.rest(b, depth)));
                continue;
            }
            for item in &mut *group {
                item.chunk = chunk(self.rest(item, depth));
            }
            group.sort_unstable_by_key(|item| item.chunk);
            let mut first = start;
            for run in group.chunk_by_mut(|a, b| a.chunk == b.chunk) {
                let length = run.len();
                if length > 1 {
                    reserve(&mut groups, 1)?;
                    let ended = self.ended_first(run, depth + 8);
                    groups.push((first + ended, first + length, depth + 8));
                }
                first += length;
            }
        }
        let mut order = vec![];
        reserve(&mut order, items.len())?;
        order.extend(items.into_iter().map(|item| item.at));
        Ok(order)
    }

    /// Moves the keys of `run` that have at most `depth` bytes to the front, shorter ones first, and returns their
    /// number. The first `depth` bytes of all keys in `run` are equal if short keys are padded with zeros.
    fn ended_first(&self, run: &mut [Item], depth: usize) -> usize {
        let mut ended = 0;
        for i in 0..run.len() {
            if self.buffer.key(run[i].at).len() <= depth {
                run.swap(i, ended);
                ended += 1;
            }
        }
        run[..ended].sort_unstable_by(|a, b| self.length_order(a, b));
        ended
    }

    fn length_order(&self, a: &Item, b: &Item) -> Ordering {
        self.buffer.key(a.at).len().cmp(&self.buffer.key(b.at).len())
    }

    /// The bytes of a key after its first `depth` bytes.
    fn rest(&self, item: &Item, depth: usize) -> &[u8] {
        &self.buffer.key(item.at)[depth..]
    }
}

/// The first 8 bytes as a number, so that the order of numbers is that of the bytes. Fewer bytes are padded with zeros.
fn chunk(bytes: &[u8]) -> u64 {
    let mut chunk = [0; size_of::<u64>()];
    match bytes.first_chunk() {
        Some(first) => chunk = *first,
        None => chunk[..bytes.len()].copy_from_slice(bytes),
    }
    u64::from_le_bytes(chunk).swap_bytes()
}
