#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations, unreachable_pub)]

mod bits;
pub mod dict;
pub mod error;
pub mod filter;
pub mod format;
pub mod hash;
pub mod raw;
pub mod seen;
pub mod store;
pub mod text;
mod window;

pub use error::{Error, Result};
pub use hash::{HashAlgorithm, HashSpec, Hashes, InvalidKeyForm, KeyForm, KeyHash, KeyHasher};
