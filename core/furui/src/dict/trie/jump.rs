//! The jump table: a hash table from prefixes of keys, of a few fixed lengths, to nodes deep in the trie. A search that
//! finds the prefix of its key there skips the upper levels.
//!
//! The table is only a shortcut: an entry holds the whole path to its node, so a jump is exact, and a key without an
//! entry is searched from the root. Buckets are cache lines of four entries, and entries that do not fit are left out,
//! so a search reads one line for each length.

use super::TrieError;
use super::block::below;
use super::counts::{Counted, count_keys};
use super::guard::Guard;
use super::parts::Names;
use super::position::Position;
use super::room::{collected, filled, reserve};
use super::search::group;
use crate::bits::{Cpu, scale};
use crate::format::field::{put, u16_at, u64_at};
use crate::hash::HashSpec;

/// The maximum number of different prefix lengths of a jump table's entries.
pub(super) const MAX_LENGTHS: usize = 4;
/// The maximum length of a prefix in the jump table, in bytes.
pub(super) const MAX_JUMP_LENGTH: u16 = 248;

/// The minimum number of keys below a node for which the jump table has an entry.
const MIN_KEYS: u32 = 72;

/// The difference in bytes between adjacent prefix lengths that are considered for the jump table.
const STEP: usize = 4;
/// The number of prefix lengths that are considered for the jump table.
const CANDIDATES: usize = MAX_JUMP_LENGTH as usize / STEP;

const ENTRY: usize = 16;
pub(super) const BUCKET: usize = 64;
const TAG_BITS: u32 = 24;

/// The prefix lengths of a jump table in bytes, the longest first; unused entries are 0.
pub(super) type Lengths = [u16; MAX_LENGTHS];

/// A node to which the jump table leads, with the prefix that is its entry.
struct Landing {
    /// The bytes on the path from the root to the node.
    path: Vec<u8>,
    /// The length in bytes of the prefix of the path that is hashed to find the entry.
    length: u16,
    keys: u32,
    /// The position of the node's children.
    children: Position,
}

pub(super) struct Jump {
    pub(super) lengths: Lengths,
    pub(super) buckets: Vec<u8>,
    pub(super) paths: Vec<u8>,
}

/// An inner node with many keys below it. The root is the first such node.
struct Heavy {
    inner: u32,
    /// The position of the node among the blocks of nodes; meaningless for the root, which is in no block.
    position: Position,
    parent: usize,
    /// The length of the path from the root, in bytes.
    depth: usize,
    /// The number of nodes on the path from the root to this node, the root not counted.
    level: u64,
    keys: u32,
}

/// The gain and the cost of jump-table entries for the nodes that a prefix length reaches, compared with entries of the
/// next shorter length.
#[derive(Clone, Copy, Default)]
struct Gain {
    /// The number of levels that searches skip, summed over all keys.
    saved: u64,
    /// The size in bytes of the entries of the jump table, and of the paths that are stored for them.
    bytes: usize,
    /// The number of keys whose search uses one of the entries of the jump table.
    reached: u64,
}

impl Gain {
    fn plus(self, other: Self) -> Self {
        Self {
            saved: self.saved.wrapping_add(other.saved),
            bytes: self.bytes.wrapping_add(other.bytes),
            reached: self.reached.wrapping_add(other.reached),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            saved: self.saved.wrapping_sub(other.saved),
            bytes: self.bytes.wrapping_sub(other.bytes),
            reached: self.reached.wrapping_sub(other.reached),
        }
    }
}

impl Jump {
    /// Builds the jump table of a trie. It chooses the prefix lengths that save most: the levels that keys skip, less
    /// the cost of the entries and of failed searches.
    pub(super) fn choose(
        names: &Names<'_>,
        lengths: &[u16],
        terminals: &[u8],
        nodes: u64,
        vectors: Cpu,
    ) -> Result<Self, TrieError> {
        let heavy = heavy(names, lengths, terminals, nodes, vectors)?;
        let all = f64::from(heavy[0].keys);
        let mut lengths: Vec<usize> = vec![];
        // For each node, the deepest level to which a chosen length jumps on the path to the node. `covered` has the
        // number of the node's keys that jump to this node or to a node below it.
        let mut above = filled(0u64, heavy.len())?;
        while lengths.len() < MAX_LENGTHS {
            let lands = |node: &Heavy, length: usize| heavy[node.parent].depth < length && length <= node.depth;
            let mut covered = filled(0u64, heavy.len())?;
            for (i, node) in heavy.iter().enumerate().skip(1).rev() {
                if lengths.iter().any(|&length| lands(node, length)) {
                    covered[i] = u64::from(node.keys);
                }
                covered[node.parent] += covered[i];
            }
            let mut gains = [Gain::default(); CANDIDATES + 1];
            for (i, node) in heavy.iter().enumerate().skip(1) {
                let (first, behind) = (heavy[node.parent].depth / STEP, (node.depth / STEP).min(CANDIDATES));
                if first < behind {
                    let saved = (u64::from(node.keys) - covered[i]) * node.level.saturating_sub(above[i]);
                    let gain = Gain { saved, bytes: node.depth + ENTRY * 5 / 4, reached: u64::from(node.keys) };
                    gains[first] = gains[first].plus(gain);
                    gains[behind] = gains[behind].minus(gain);
                }
            }
            for i in 1..gains.len() {
                gains[i] = gains[i].plus(gains[i - 1]);
            }
            let candidates = (STEP..).step_by(STEP).zip(&gains[..CANDIDATES]).map(|(length, gain)| {
                let in_vain = 1.0 - gain.reached as f64 / all;
                let levels = gain.saved as f64 / all;
                (levels - VAIN_LEVELS * in_vain - LEVELS_PER_BYTE * gain.bytes as f64 / all, length)
            });
            let Some((_, best)) = candidates.filter(|&(score, _)| score > MIN_SCORE).max_by(|a, b| a.0.total_cmp(&b.0))
            else {
                break;
            };
            lengths.push(best);
            for i in 1..heavy.len() {
                above[i] = above[heavy[i].parent].max(above[i]);
                if lands(&heavy[i], best) {
                    above[i] = above[i].max(heavy[i].level);
                }
            }
        }
        Self::build(&landings(names, &heavy, &lengths, vectors)?)
    }

    fn build(landings: &[Landing]) -> Result<Self, TrieError> {
        let mut lengths: Vec<u16> = collected(landings.iter().map(|landing| landing.length))?;
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.dedup();
        lengths.resize(MAX_LENGTHS, 0);
        let mut by_path: Vec<&Landing> = collected(landings)?;
        by_path.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        // Paths are visited in descending order, so a path that is a prefix of others follows one of them, and shares
        // its bytes.
        let mut paths: Vec<u8> = vec![];
        let mut entries: Vec<(u32, &Landing, usize)> = vec![];
        reserve(&mut entries, by_path.len())?;
        let mut last: &[u8] = &[];
        for landing in by_path.into_iter().rev() {
            if !last.starts_with(&landing.path) {
                reserve(&mut paths, landing.path.len())?;
                paths.extend_from_slice(&landing.path);
                last = &landing.path;
            }
            entries.push((landing.keys, landing, paths.len() - last.len()));
        }
        // Entries with equal numbers of keys are ordered by the start of the path, and then by its length, the longest
        // first.
        let last_first = |landing: &Landing| std::cmp::Reverse(landing.path.len());
        entries.sort_unstable_by_key(|&(keys, landing, start)| (std::cmp::Reverse(keys), start, last_first(landing)));
        let mut buckets = filled(0, (entries.len() * ENTRY * 5 / 4).div_ceil(BUCKET) * BUCKET)?;
        let count = buckets.len() / BUCKET;
        for (_, landing, start) in entries {
            let hash = HashSpec::default().hash(&landing.path[..usize::from(landing.length)]).get();
            let bucket = &mut buckets[scale(hash, count) * BUCKET..][..BUCKET];
            if let Some(entry) = bucket.as_chunks_mut::<ENTRY>().0.iter_mut().find(|entry| u16_at(*entry, 14) == 0) {
                let tag = hash & ((1 << TAG_BITS) - 1);
                put(entry, 0, (landing.children.0 | tag << Position::BITS).to_le_bytes());
                put(entry, 8, (start as u64 | (landing.path.len() as u64) << 48).to_le_bytes());
            }
        }
        Ok(Self { lengths: array_of(&lengths), buckets, paths })
    }
}

fn array_of(lengths: &[u16]) -> Lengths {
    std::array::from_fn(|i| lengths[i])
}

/// The cost of a look-up in the jump table that finds no entry, in levels of the trie.
const VAIN_LEVELS: f64 = 0.5;
/// The cost of the jump table's size: the number of levels that a search must save for each byte that the table takes
/// per key.
const LEVELS_PER_BYTE: f64 = 8.0;
/// The minimum number of levels that a further prefix length of the jump table must save after its costs are
/// subtracted.
const MIN_SCORE: f64 = 0.3;

/// The inner nodes with at least [`MIN_KEYS`] keys below them, in breadth-first order.
fn heavy(
    names: &Names<'_>,
    lengths: &[u16],
    terminals: &[u8],
    nodes: u64,
    vectors: Cpu,
) -> Result<Vec<Heavy>, TrieError> {
    let mut counted = vectors.run(
        #[inline(always)]
        |_| count_keys(names.nodes, lengths, terminals, nodes, MIN_KEYS),
    )?;
    let position = Position(u64::MAX);
    let root = counted.pop().map_or(0, |root| root.keys);
    let mut heavy = vec![Heavy { inner: 0, position, parent: 0, depth: 0, level: 0, keys: root }];
    reserve(&mut heavy, counted.len())?;
    let mut parent = 0;
    for Counted { inner, above, position, keys } in counted.into_iter().rev() {
        // The parent of a heavy node is heavy, and parents are in the order of their children.
        while heavy[parent].inner < above {
            parent += 1;
        }
        let (depth, level) = (heavy[parent].depth, heavy[parent].level);
        let depth = depth + 1 + rest(names, position, vectors).len();
        heavy.push(Heavy { inner, position, parent, depth, level: level + 1, keys });
    }
    Ok(heavy)
}

/// The label, without its first byte, of the node at `position`.
fn rest(names: &Names<'_>, position: Position, vectors: Cpu) -> Vec<u8> {
    let mut out = vec![];
    let label = names.block(position.offset()).and_then(|block| block.label(position.slot(), vectors));
    let rest = label.and_then(|label| names.rest(label, vectors));
    rest.into_iter().for_each(|rest| names.append(rest, &mut out));
    out
}

fn landings(names: &Names<'_>, heavy: &[Heavy], lengths: &[usize], vectors: Cpu) -> Result<Vec<Landing>, TrieError> {
    let mut landings = vec![];
    for node in &heavy[1..] {
        let above = heavy[node.parent].depth;
        let Some(&length) = lengths.iter().filter(|&&length| above < length && length <= node.depth).max() else {
            continue;
        };
        let mut path = vec![];
        reserve(&mut path, node.depth)?;
        let mut at = node;
        while at.level > 0 {
            path.extend(rest(names, at.position, vectors).iter().rev());
            path.extend(names.block(at.position.offset()).map(|block| block.edges()[at.position.slot() as usize]));
            at = &heavy[at.parent];
        }
        path.reverse();
        if path.len() < usize::from(u16::MAX)
            && let Some(children) = children(names, node.position, vectors)
        {
            reserve(&mut landings, 1)?;
            landings.push(Landing { path, length: length as u16, keys: node.keys, children });
        }
    }
    Ok(landings)
}

/// The position of the first child of the inner node at `position`.
fn children(names: &Names<'_>, position: Position, vectors: Cpu) -> Option<Position> {
    let block = names.block(position.offset())?;
    let (down, skip) = (block.down(), (block.inner() & below(position.slot())).count_ones());
    let (_, offset, slot) = group(names, down.offset(), down.slot(), skip, vectors)?;
    Some(Position::new(offset, slot))
}

/// A view of the jump table among the bytes of a trie.
pub(super) struct JumpTable<'a, G> {
    pub(super) lengths: &'a Lengths,
    pub(super) buckets: &'a [u8],
    pub(super) paths: &'a [u8],
    /// The offsets of the buckets and of the paths among the trie's bytes, by which the guard checks these bytes before
    /// they are read.
    pub(super) starts: [usize; 2],
    pub(super) guard: G,
}

/// Looks a key up in the jump table. Returns the position of the children at which the search continues, and the length
/// in bytes of the prefix that leads there, which is less than the length of the key; `None` if no prefix of the key
/// has an entry.
#[inline(always)]
pub(super) fn land<G: Guard>(table: &JumpTable<'_, G>, key: &[u8], vectors: Cpu) -> Option<(Position, usize)> {
    let lines = table.buckets.as_chunks::<BUCKET>().0;
    for &length in table.lengths {
        let Some(start) = key.get(..usize::from(length)).filter(|start| !start.is_empty()) else { continue };
        let hash = HashSpec::default().hash(start).get();
        let index = scale(hash, lines.len());
        let line = lines.get(index)?;
        if !table.guard.touch(table.starts[0] + index * BUCKET, BUCKET) {
            return None;
        }
        for entry in line.as_chunks::<ENTRY>().0 {
            let (target, place) = (u64_at(entry, 0), u64_at(entry, 8));
            if (target >> Position::BITS) ^ (hash & ((1 << TAG_BITS) - 1)) != 0 {
                continue;
            }
            let (start, len) = (place & ((1 << 48) - 1), (place >> 48) as usize);
            let path = table.paths.get(start as usize..).and_then(|paths| paths.get(..len)).unwrap_or(&[]);
            if !table.guard.touch(table.starts[1].saturating_add(start as usize), path.len()) {
                return None;
            }
            if len > 0 && path.len() == len && len < key.len() && vectors.starts_with(key, path) {
                return Some((Position(target & ((1 << Position::BITS) - 1)), len));
            }
        }
    }
    None
}
