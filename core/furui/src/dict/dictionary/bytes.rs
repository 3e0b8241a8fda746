use std::path::Path;

use super::Dict;
use crate::dict::{DictOptions, Found, MAX_VALUE};
use crate::error::{Error, Result};
use crate::filter::ConfigError;
use crate::store::{Directory, Storage};

impl Dict<Directory, [u8]> {
    /// Opens the dictionary with byte strings as values that a directory holds, with the default [`DictOptions`]. The
    /// directory is created if it is missing, and locked against other writers until the dictionary is dropped.
    ///
    /// ```
    /// use furui::dict::Dict;
    ///
    /// # let dir = std::env::temp_dir().join(format!("furui-doc-bytes-{}", std::process::id()));
    /// # let path = dir.join("titles.dict");
    /// # std::fs::create_dir_all(&dir).unwrap();
    /// let mut titles = Dict::open_bytes(&path)?;
    /// titles.put("http://example.org/", "Example Domain")?;
    /// titles.put("http://example.org/logo", [0x89, 0x50])?;
    /// assert_eq!(titles.get("http://example.org/")?, Some(&b"Example Domain"[..]));
    /// for entry in titles.prefix("http://example.org/") {
    ///     let (url, title) = entry?;
    ///     println!("{} {}", url.escape_ascii(), title.escape_ascii());
    /// }
    /// titles.sync()?;
    /// # drop(titles);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Directory::open`] and of [`open_bytes_with`](Self::open_bytes_with).
    pub fn open_bytes(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_bytes_with(Directory::open(path)?, DictOptions::default())
    }
}

impl<S: Storage> Dict<S, [u8]> {
    /// Opens the dictionary with byte strings as values that `storage` holds, or an empty one.
    ///
    /// The tries have a number for each key, the id of its value. The values are beside the tries: values of new keys
    /// are in the window (write buffer), all others in the files of the tries. When tries are merged, the values of the
    /// remaining keys are copied one by one, so that a merge of any size takes little memory: 16 bytes for each value.
    /// Values of keys that were put again or deleted are dropped.
    ///
    /// **Source.** Section 6 of Koyanagi et al. (2011) names a key-value store as future work. This is one, on one
    /// machine.
    ///
    /// # Errors
    /// Those of [`Dict::open_with`]; [`Error::Store`] also if the storage holds a dictionary with another purpose.
    pub fn open_bytes_with(storage: S, options: DictOptions) -> Result<Self> {
        Self::open_kind(storage, options)
    }

    /// Sets the value of a key, and replaces the value it had.
    ///
    /// Each value gets a 32-bit number. Merges with the oldest trie free the numbers of values that were replaced or
    /// deleted. If no number is left, which takes 2³² puts, this call first compacts the dictionary.
    ///
    /// # Errors
    /// [`Error::Config`] if the key is longer than [`MAX_KEY`](crate::dict::MAX_KEY) or the value longer than
    /// [`MAX_VALUE`]; [`Error::NoNumberLeft`] if there are 2³² - 1 keys; [`Error::Store`] if an earlier change failed;
    /// [`Error::NoMemory`]; any other error if this call had to make a trie of a full write buffer, or to compact the
    /// dictionary, and that failed. The key is then not put.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        if value.len() > MAX_VALUE {
            let (given, most) = (value.len() as u64, MAX_VALUE as u64);
            return Err(ConfigError::OutOfRange { what: "bytes of a value", given, least: 0, most }.into());
        }
        if self.next_id == u32::MAX {
            self.renumber()?;
        }
        let id = self.next_id;
        if id == u32::MAX {
            return Err(Error::NoNumberLeft { to: "values" });
        }
        self.write(key, self.hasher.hash(key), Found::Value(id), Some(value))?;
        self.next_id = id + 1;
        Ok(())
    }

    /// Gives new ids, from 0 on, to the values of all keys, by compacting the dictionary.
    fn renumber(&mut self) -> Result<()> {
        self.check_usable()?;
        match self.state.layers.len() {
            0 => self.next_id = 0,
            all => self.replace(0..all)?,
        }
        Ok(())
    }
}
