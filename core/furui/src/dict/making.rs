use crate::hash::KeyHasher;
use crate::store::{FilterHash, Layout, Manifest, Purpose, StoreKind};

/// The parameters by which the tries and filters of a dictionary are made.
#[derive(Clone, Debug)]
pub(super) struct Making {
    /// The kind of the store, which names the purpose of the dictionary.
    pub(super) kind: StoreKind,
    pub(super) layout: Layout,
    pub(super) hasher: KeyHasher,
    pub(super) filter_hash: FilterHash,
    /// The false-positive rate of the filters of new tries.
    pub(super) rate: f64,
}

impl Making {
    /// True if the values are byte strings, which are stored beside the tries.
    pub(super) fn has_bytes(&self) -> bool {
        self.kind == StoreKind::Dict(Purpose::Bytes)
    }

    /// Takes the parameters of the dictionary from its manifest. `rate` is the false-positive rate of new filters.
    pub(super) fn new(manifest: &Manifest, rate: f64) -> Self {
        let Manifest { store: kind, layout, filter_hash, hash, .. } = *manifest;
        Self { kind, layout, hasher: hash.hasher(), filter_hash, rate }
    }
}
