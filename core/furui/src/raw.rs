//! The parts that the structures of this crate are made of, for experiments and for crates that measure them.
//!
//! The items of this module are exempt from semantic versioning: any release may change or remove them, and the
//! changelog need not say so. A program that uses them should depend on one exact version of this crate.

pub use crate::bits::buffer::{Buffer, NoMemory};
pub use crate::bits::cells::Cells;
pub use crate::bits::rank::Rank1;
pub use crate::bits::scan::byte_positions;
pub use crate::bits::select::Select0;
pub use crate::dict::buffer::{MAX_PROBE_LENGTH, Record, WriteBuffer};
pub use crate::dict::depth_first::TrieEntries;
pub use crate::dict::filtered_trie::FilteredTrie;
pub use crate::dict::found::Found;
pub use crate::dict::freeze::freeze;
pub use crate::dict::louds::{LoudsBuilder, LoudsNode, LoudsTrie};
pub use crate::dict::merged::Merged;
pub use crate::dict::node::{Node, Value};
pub use crate::dict::sorted_keys::{SortedKeys, SortedNode};
pub use crate::dict::trie::{MAX_MERGED, Skeleton, Trie, TrieNode};
pub use crate::dict::trie_filter::TrieFilter;
pub use crate::dict::walk::breadth_first;
pub use crate::filter::ringed::{ringed_rate, ringed_rate_refined};
pub use crate::filter::stable_point::stable_decrements;
pub use crate::hash::polynomial::PolynomialHashes;
pub use crate::hash::rolling::{Rolling, RollingState};
pub use crate::seen::clock::Clock;
pub use crate::seen::lru::Lru;
pub use crate::seen::recent::RecentTag;
pub use crate::store::cascade::journal::MAX_RECORD_KEYS;
pub use crate::store::cascade::k_way::{MERGE_WINDOW, Merge, SortedSource};
pub use crate::store::cascade::page::{PAGE_BYTES, Page, RemainderBits};
pub use crate::store::cascade::run_reader::RunReader;
pub use crate::store::cascade::run_writer::{RunWriter, WrittenRun};
