//! The cascade filter.
mod table;

use crate::error::Result;
use crate::hash::KeyHash;
use table::Table;

/// stub
pub struct Cascade {
    table: Table,
    hashes: Vec<u64>,
    memory: usize,
}

impl Cascade {
    /// stub
    pub fn new(memory: usize) -> Self {
        Self { table: Table::new(), hashes: vec![], memory }
    }
    /// stub
    pub fn insert_all(&mut self, keys: &[KeyHash], new: &mut Vec<u32>) -> Result<()> {
        self.hashes.clear();
        self.hashes.extend(keys.iter().map(|key| key.get().max(1)));
        if !self.table.reserve(keys.len(), self.memory) {
            panic!()
        }
        self.table.insert_all(&self.hashes, |i| new.push(i as u32));
        Ok(())
    }
    /// stub
    pub fn len(&self) -> usize {
        self.table.len()
    }
}
