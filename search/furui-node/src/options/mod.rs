//! The options of the commands, as typed.

pub mod block;
pub mod demo;
pub mod node;
pub mod publish;
pub mod search;
pub mod unpublish;
