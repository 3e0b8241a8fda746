//! Reads files, pipes and standard input, decodes compressed ones, and hands out blocks of whole lines.

pub mod block;
pub mod blocks;
pub mod large_blocks;
mod magic;
pub mod reading;
pub mod source;
pub mod split;
pub mod unread;
