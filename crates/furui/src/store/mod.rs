//! Storage: immutable files, published whole, and the exact set that is built from them.

pub mod cascade;
