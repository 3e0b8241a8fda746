//! Helpers that the tests of storage share.

mod failing;

pub(crate) use failing::{Failing, Fault};
