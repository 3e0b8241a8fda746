//! The limits of the memory that values take: for one key, and for all keys of the module together.
//!
//! The server's allocator ends the process when there is no memory, so memory is counted before it is taken. The
//! server's own `maxmemory` holds as well, because all commands that need memory are flagged `deny-oom`.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use crate::refusal::Refusal;

/// The value of the configuration `furui.max-key-memory`: the maximum memory of a key, in bytes.
pub static MAX_KEY: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(DEFAULT_MAX_KEY));
/// The value of the configuration `furui.max-memory`: the maximum memory of all keys of the module, in bytes; 0 for no
/// limit.
pub static MAX_ALL: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(DEFAULT_MAX_ALL));
/// The value of the configuration `furui.dict-window`: the number of bytes of new fields that a dictionary gathers
/// before they become a trie. A dictionary keeps the window with which it was made or loaded.
pub static DICT_WINDOW: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(DEFAULT_DICT_WINDOW));

/// The default maximum memory of a key, in bytes: 4 GiB.
pub const DEFAULT_MAX_KEY: i64 = 4 << 30;
/// The default maximum memory of all keys of the module, in bytes: 0, for no limit but the server's.
pub const DEFAULT_MAX_ALL: i64 = 0;
/// The default size of a dictionary's window, in bytes. Its 30,000 fields or so are sorted in about 3 ms, and frozen in
/// about 15 ms.
pub const DEFAULT_DICT_WINDOW: i64 = 2 << 20;

/// The memory that all values of the module take, in bytes.
static ALL: AtomicUsize = AtomicUsize::new(0);
/// The number of values of the module that exist in the server.
static VALUES: AtomicUsize = AtomicUsize::new(0);

/// The memory that all values of the module take, in bytes, and their number.
pub fn totals() -> (usize, usize) {
    (ALL.load(Relaxed), VALUES.load(Relaxed))
}

/// The memory of one value that is counted in the memory of all values.
pub struct Account {
    counted: usize,
}

impl Default for Account {
    fn default() -> Self {
        VALUES.fetch_add(1, Relaxed);
        Self { counted: 0 }
    }
}

impl Account {
    /// Checks that a value of `bytes` bytes may grow by `more` bytes.
    ///
    /// # Errors
    /// If it would exceed one of the limits, which the message names.
    pub fn admit(&self, bytes: usize, more: usize) -> Result<(), Refusal> {
        if more == 0 {
            return Ok(());
        }
        let exceeds = |sum: usize, limit: i64| usize::try_from(limit).is_ok_and(|limit| limit > 0 && sum > limit);
        if exceeds(bytes.saturating_add(more), MAX_KEY.load(Relaxed)) {
            return Err(Refusal::because(format!(
                "the key would take {} bytes, more than furui.max-key-memory allows",
                bytes.saturating_add(more)
            )));
        }
        let all = ALL.load(Relaxed).saturating_sub(self.counted).saturating_add(bytes).saturating_add(more);
        if exceeds(all, MAX_ALL.load(Relaxed)) {
            return Err(Refusal::because(format!(
                "all keys of furui would take {all} bytes, more than furui.max-memory allows"
            )));
        }
        Ok(())
    }

    /// Updates the counted memory of the value to `bytes` bytes.
    pub fn settle(&mut self, bytes: usize) {
        ALL.fetch_add(bytes, Relaxed);
        ALL.fetch_sub(self.counted, Relaxed);
        self.counted = bytes;
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        ALL.fetch_sub(self.counted, Relaxed);
        VALUES.fetch_sub(1, Relaxed);
    }
}
