//! The experiments for the encyclopedia's entry on quotient filters, and for the cascade that is built from them.

mod cascade;
mod clusters;
mod literal;
mod load;
mod resize;
mod rivals;
mod space;
mod storage_bloom;
mod stores;
mod walk;

use crate::report::Run;

pub(crate) const EXPERIMENTS: &[(&str, Run)] = &[
    ("load", load::run),
    ("space", space::run),
    ("clusters", clusters::run),
    ("walk", walk::walk),
    ("tombstones", walk::tombstones),
    ("resize", resize::run),
    ("cascade", cascade::run),
    ("stores", stores::run),
];
