//! What is read: files, pipes and standard input, decoded, in blocks of whole lines.

pub mod block;
pub mod blocks;
mod contents;
pub mod large_blocks;
pub mod missed;
pub mod reading;
pub mod source;
pub mod split;
