//! Files of bare hashes, which other programs write and read.

use std::io::Read;

use super::Cascade;
use super::room::reserve;
use crate::error::{Error, Result};
use crate::hash::KeyHash;
use crate::store::Storage;

/// The size of a hash in a file of hashes, in bytes.
const HASH: usize = 8;

/// The number of bytes that are read at a time.
const READ: usize = 1 << 20;

impl<S: Storage> Cascade<S> {
    /// Inserts hashes of 8 bytes each, the least significant first, in any order, from a file that is called `name` in
    /// errors. They must have been made by [`hash_spec`](Self::hash_spec), which nothing can check.
    ///
    /// ```
    /// use furui::store::Memory;
    /// use furui::store::cascade::{Cascade, CascadeOptions};
    ///
    /// let mut set = Cascade::open(Memory::new(), CascadeOptions::default())?;
    /// set.insert_from(&[7, 0, 0, 0, 0, 0, 0, 0][..], "example")?;
    /// assert_eq!(set.sorted()?.next_keys()?, [7]);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, or ends within a hash; those of [`insert_all`](Self::insert_all). The
    /// hashes of the mebibytes before the error are in the set then.
    pub fn insert_from(&mut self, mut file: impl Read, name: &str) -> Result<()> {
        let failed = |source| Error::io("cannot read", name, source);
        let (mut bytes, mut keys, mut new) = (vec![], vec![], vec![]);
        loop {
            bytes.clear();
            file.by_ref().take(READ as u64).read_to_end(&mut bytes).map_err(failed)?;
            let (hashes, rest) = bytes.as_chunks::<HASH>();
            if !rest.is_empty() {
                let what = "the file ends within a hash, which takes 8 bytes: write it again";
                return Err(failed(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, what)));
            }
            if hashes.is_empty() {
                return Ok(());
            }
            keys.clear();
            reserve(&mut keys, hashes.len())?;
            keys.extend(hashes.iter().map(|&hash| KeyHash::new(u64::from_le_bytes(hash))));
            new.clear();
            self.insert_all(&keys, &mut new)?;
        }
    }
}
