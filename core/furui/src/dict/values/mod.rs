//! The values of a dictionary whose values are byte strings. They are stored beside its tries, and a trie of any layout
//! has the id of each value.
//!
//! Ids are given in order of time, so all ids of a part of a dictionary are greater than those of an older part. A
//! merge with the oldest part gives ids from 0 on, so that the ids of values that were replaced can be given again.
//! `buffer` holds the values of a window (a write buffer), and `file` reads those of a trie's file. `writer` writes
//! values to a file, one after the other with a `head` in front of each.

mod buffer;
mod file;
mod head;
mod writer;

pub(super) use buffer::ValueBuffer;
pub(super) use file::ValueFile;
pub(super) use writer::ValueWriter;

use crate::format::Tag;

/// The maximum number of bytes of a value that is a byte string: 16 MiB.
pub const MAX_VALUE: usize = 16 << 20;

/// The tag of the section with the number of values and the range of their ids.
const META: Tag = Tag::new(*b"META");
const META_LEN: usize = 16;
const META_FIRST: usize = 8;
const META_END: usize = 12;

/// The tag of the section with the bytes of the values.
const DATA: Tag = Tag::new(*b"DATA");

/// The tag of the section with the index: the first id and the offset of each block of values.
const INDEX: Tag = Tag::new(*b"INDX");
const ENTRY_LEN: usize = 12;
const ENTRY_AT: usize = 4;

/// The minimum size of a block of values, in bytes: the value that reaches it ends the block, and the next one begins a
/// new block.
const BLOCK: u64 = 1024;
