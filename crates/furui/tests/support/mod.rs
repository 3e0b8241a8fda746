//! What the tests of storage share.

mod failing;

pub use failing::{Failing, Fault};
