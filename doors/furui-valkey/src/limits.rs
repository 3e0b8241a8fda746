//! The limits of the memory that values take: for one key, and for all keys of the module together.
//!
//! The server's allocator ends the process when there is no memory, so memory is counted before it is taken. The
//! server's own `maxmemory` holds as well, because all commands that need memory are flagged `deny-oom`.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use crate::refusal::Refusal;

/// The configuration `furui.max-key-memory`, in bytes.
pub static MAX_KEY: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(DEFAULT_MAX_KEY));
/// The configuration `furui.max-memory`, in bytes; 0 for no limit of its own.
pub static MAX_ALL: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(DEFAULT_MAX_ALL));
/// The configuration `furui.dict-window`: the bytes of new fields that a dictionary gathers before they become a trie.
/// A dictionary keeps the window that it was made or loaded with.
pub static DICT_WINDOW: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(DEFAULT_DICT_WINDOW));

/// A key takes at most 4 GiB, unless the configuration says otherwise.
pub const DEFAULT_MAX_KEY: i64 = 4 << 30;
/// All keys together have no limit but the server's, unless the configuration says otherwise.
pub const DEFAULT_MAX_ALL: i64 = 0;
/// A window of 30,000 fields is sorted in about 3 ms, and frozen in about 15 ms.
pub const DEFAULT_DICT_WINDOW: i64 = 2 << 20;

/// The memory of all values.
static ALL: AtomicUsize = AtomicUsize::new(0);
/// The number of values.
static VALUES: AtomicUsize = AtomicUsize::new(0);

/// The memory of all values of the module in bytes, and their number.
pub fn totals() -> (usize, usize) {
    (ALL.load(Relaxed), VALUES.load(Relaxed))
}

/// The share of a value in the memory of all.
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
    /// Checks that a value of `bytes` may grow by `more` bytes.
    ///
    /// # Errors
    /// If it would exceed one of the limits, which the reason names.
    pub fn admit(&self, bytes: usize, more: usize) -> Result<(), Refusal> {
        if more == 0 {
            return Ok(());
        }
        let exceeds = |sum: usize, limit: i64| usize::try_from(limit).is_ok_and(|limit| limit > 0 && sum > limit);
        if exceeds(bytes.saturating_add(more), MAX_KEY.load(Relaxed)) {
            return Err(Refusal::because(format!(
                "the key would take {} bytes, more than furui.max-key-memory",
                bytes.saturating_add(more)
            )));
        }
        let all = ALL.load(Relaxed).saturating_sub(self.counted).saturating_add(bytes).saturating_add(more);
        if exceeds(all, MAX_ALL.load(Relaxed)) {
            return Err(Refusal::because(format!(
                "all keys of furui would take {all} bytes, more than furui.max-memory"
            )));
        }
        Ok(())
    }

    /// Notes that the value takes `bytes` now.
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
