//! The Python module `furui._furui`. The package `furui`, in `python/`, gives its names to users.
//!
//! ```text
//!   keys (key.rs) and batches of keys (batch/) ──> hashes ──> Seen (seen.rs), filters (filter/), Dict (dict.rs)
//!                                                                 │
//!   answers, in the kind of the batch (batch/answers.rs) <────────┘
//! ```
//!
//! The interpreter's lock is released while a batch is looked up, and while anything waits for storage.

mod batch;
mod clock;
mod dict;
mod errors;
mod files;
mod filter;
mod fork;
mod guard;
mod hashed;
mod key;
mod locked;
mod missing;
mod options;
mod packs;
mod run;
mod seen;
mod sets;
mod shared;
mod shares;
mod surrogates;
mod syncer;

use pyo3::prelude::*;

/// The compiled part of the package `furui`.
// A Python without the interpreter's lock gets it back when it imports this: the code was never tried without it.
#[pymodule(gil_used = true)]
mod _furui {
    #[pymodule_export]
    use crate::batch::Answers;
    #[pymodule_export]
    use crate::dict::{Dict, Entries};
    #[pymodule_export]
    use crate::filter::{
        BlockedBloom, Bloom, CountingBloom, Filter, Fuse, QuotientFilter, RingedBloom, ScalableBloom, SplitBlockBloom,
        StableBloomLight, WindowBloom,
    };
    #[pymodule_export]
    use crate::fork::after_fork;
    #[pymodule_export]
    use crate::guard::close_all;
    #[pymodule_export]
    use crate::options::window;
    #[pymodule_export]
    use crate::packs::{
        decode_manifest, encode_manifest, hash_many, open_over, pack_new, pack_runs, random_hash, read_table, shard_of,
    };
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::seen::Seen;
    #[pymodule_export]
    use crate::sets::{export_hashes, import_hashes, intersect, subtract, union};
    #[pymodule_export]
    use crate::shares::{Shares, answers};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
