//! Sets of 64-bit keys on storage: the cascade and its rivals.

use std::path::Path;

use furui::KeyHash;
use furui::store::Directory;
use furui::store::cascade::Cascade;

use crate::report::Result;
use crate::store::sort_merge::SortMerge;
use crate::store::{Store, ours};

pub(super) const CASCADE: &str = "furui";

type Open = fn(&Path, u64) -> Result<Box<dyn Store>>;

/// The name of each store, and the function that creates it.
pub(super) const STORES: &[(&str, Open)] = &[
    (CASCADE, |directory, memory| {
        let storage = Directory::open(directory.join("set"))?.mapped(false);
        Ok(Box::new(Ours { set: ours::open(storage, memory)?, keys: vec![], new: vec![], found: vec![] }))
    }),
    ("sort-merge file", |directory, memory| Ok(Box::new(SortMerge::create(directory, memory)?))),
    #[cfg(feature = "rivals")]
    ("LMDB", |directory, _| Ok(Box::new(crate::store::rivals::Lmdb::create(directory)?))),
    #[cfg(feature = "rivals")]
    ("redb", |directory, memory| Ok(Box::new(crate::store::rivals::Redb::create(directory, memory as usize)?))),
    #[cfg(feature = "rocksdb")]
    ("RocksDB", |directory, memory| Ok(Box::new(crate::store::rocksdb::RocksDb::create(directory, memory)?))),
    #[cfg(feature = "rivals")]
    ("fjall", |directory, memory| Ok(Box::new(crate::store::rivals::Fjall::create(directory, memory)?))),
];

struct Ours {
    set: Cascade<Directory>,
    keys: Vec<KeyHash>,
    new: Vec<u32>,
    found: Vec<bool>,
}

impl Ours {
    fn take(&mut self, keys: &[u64]) {
        self.keys.clear();
        self.keys.extend(keys.iter().copied().map(KeyHash::new));
    }
}

impl Store for Ours {
    fn insert(&mut self, keys: &[u64]) -> Result<Option<u64>> {
        self.take(keys);
        self.new.clear();
        self.set.insert_all(&self.keys, &mut self.new)?;
        Ok(Some(self.new.len() as u64))
    }

    fn count(&mut self, keys: &[u64]) -> Result<Option<usize>> {
        self.take(keys);
        self.set.contains_all(&self.keys, &mut self.found)?;
        Ok(Some(self.found.iter().filter(|&&found| found).count()))
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.set.sync()?)
    }
}
