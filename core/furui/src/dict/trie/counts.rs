use std::collections::VecDeque;

use super::TrieError;
use super::block::{INNER, NodeBlock, below};
use super::position::{NODES, Position};
use super::room::{no_memory, reserve};
use super::values::is_terminal;
use crate::bits::prefetch;

/// An inner node with many keys below it. It has its rank among the inner nodes, the rank of its parent (`above`), its
/// position, and the number of keys below it.
pub(super) struct Counted {
    pub(super) inner: u32,
    pub(super) above: u32,
    pub(super) position: Position,
    pub(super) keys: u32,
}

/// The number of blocks of nodes by which the prefetch is ahead of the count. Only the beginnings of blocks are
/// prefetched.
const PREFETCH_BLOCKS: usize = 8;

/// The inner nodes with at least `least` keys below them, the last one first, and after them the root, even if it has
/// fewer keys.
///
/// `lengths` are the lengths of the blocks. Blocks are read backwards. In this direction, children come before their
/// parents and in the same order, so that only the counts of one level are held.
#[inline(always)]
pub(super) fn count_keys(
    blocks: &[u8],
    lengths: &[u16],
    terminals: &[u8],
    nodes: u64,
    least: u32,
) -> Result<Vec<Counted>, TrieError> {
    let mut counted = vec![];
    let mut waiting: VecDeque<u32> = VecDeque::new();
    // The rank of the last inner node that was not visited yet, and that of the parent of the current group.
    let (mut inner, mut above) = (None, 0);
    let mut keys = 0;
    let mut valid = !0 >> (nodes.wrapping_neg() % NODES as u64);
    let offsets = lengths.iter().rev().scan(blocks.len(), |end, &length| {
        *end = end.saturating_sub(usize::from(length));
        Some(*end)
    });
    let mut ahead = offsets.clone().skip(PREFETCH_BLOCKS);
    for offset in offsets {
        let begin = ahead.next().and_then(|ahead| blocks.get(ahead + INNER));
        begin.into_iter().for_each(prefetch);
        let Some(block) = NodeBlock::at(blocks, offset) else { continue };
        let (mut left, mut firsts, inners) = (valid, block.first() & valid, block.inner() & valid);
        valid = !0;
        // A block has at most `NODES` inner nodes, and at most `NODES` groups.
        reserve(&mut counted, NODES)?;
        waiting.try_reserve(NODES).map_err(|_| no_memory::<u32>(waiting.len() + NODES))?;
        let inner = inner.get_or_insert_with(|| {
            above = block.inner_rank(0) as u32 + inners.count_ones() - 1;
            above
        });
        while left != 0 {
            let group = left & (!0 << (firsts | 1).ilog2());
            keys += (group & !inners).count_ones();
            let mut within = group & inners;
            while within != 0 {
                let slot = within.ilog2();
                within &= below(slot);
                let below = waiting.pop_front().unwrap_or(0);
                if below >= least {
                    let position = Position::new(offset, slot);
                    counted.push(Counted { inner: *inner, above, position, keys: below });
                }
                keys += below + u32::from(is_terminal(terminals, u64::from(*inner)));
                *inner = inner.saturating_sub(1);
            }
            left ^= group;
            // A group whose first child is not in this block begins in an earlier block.
            if firsts & group != 0 {
                firsts &= left;
                waiting.push_back(std::mem::take(&mut keys));
                above = above.saturating_sub(1);
            }
        }
    }
    let keys = waiting.pop_front().unwrap_or(0) + u32::from(is_terminal(terminals, 0));
    reserve(&mut counted, 1)?;
    counted.push(Counted { inner: 0, above: 0, position: Position(u64::MAX), keys });
    Ok(counted)
}
