//! Formats words, numbers and quotes for messages to people.

pub mod escape;
pub mod notes;
pub mod number;
pub mod progress;
pub mod quote;
pub mod report;
pub mod size;
pub mod windows;
