//! What a node holds itself, in a directory or in memory: [`Shelf`].

mod change;
mod deflate;
mod documents;
mod expire;
mod fault;
mod flush;
mod lists;
mod place;
mod recent;
mod records;
mod resolver;
mod runs;
mod shelf;
mod tables;
mod varint;

use runs::Runs;
pub use shelf::{MAX_CHANGE, MAX_RECORD, MAX_WORD, Shelf, ShelfOptions, Statistics, Stored, WordList};

/// The number of the word that all records stand under: none that the dictionary gives.
const RECORDS: u32 = u32::MAX;
