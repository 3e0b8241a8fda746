//! The memory that values take, and its limits: for one key, and for all keys of the module together.
//!
//! All memory comes from the server's allocator, so `maxmemory` counts it, and commands that need memory are flagged
//! `deny-oom`. That allocator ends the process when there is no memory, so memory is counted here before it is taken.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::context;
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

/// The number of times that a limit has refused to let a key grow: `furui.max-key-memory`, and `furui.max-memory`.
pub static REFUSED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// What takes memory: a value of one of the module's types, or the files of a value that a client fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Set,
    Filter,
    Dict,
    Arriving,
    Dump,
}

/// How much one holder, or all of a kind, takes.
#[derive(Clone, Copy, Default)]
pub struct Held {
    pub bytes: usize,
    /// The members of sets, the keys of filters with a window, and the fields of dictionaries.
    pub members: usize,
    /// The number of slices of sets with windows of time, and of filters with keys in such windows. A timer drops what
    /// is old.
    pub slices: usize,
}

/// The sums over all holders of a kind.
struct Sums {
    number: AtomicUsize,
    bytes: AtomicUsize,
    members: AtomicUsize,
    slices: AtomicUsize,
}

static SUMS: [Sums; 5] = [const {
    let zero = AtomicUsize::new;
    Sums { number: zero(0), bytes: zero(0), members: zero(0), slices: zero(0) }
}; 5];

impl Holder {
    pub const ALL: [Self; 5] = [Self::Set, Self::Filter, Self::Dict, Self::Arriving, Self::Dump];

    /// The number of holders of this kind in the server, and the sums of what they hold.
    pub fn sums(self) -> (usize, Held) {
        let sums = &SUMS[self as usize];
        let [bytes, members, slices] = [&sums.bytes, &sums.members, &sums.slices].map(|sum| sum.load(Relaxed));
        (sums.number.load(Relaxed), Held { bytes, members, slices })
    }
}

/// The memory that all holders take, in bytes.
fn all_bytes() -> usize {
    SUMS.iter().map(|sums| sums.bytes.load(Relaxed)).sum()
}

/// What one holder holds, counted in the sums of all.
pub struct Account {
    holder: Holder,
    counted: Held,
}

/// Checks that a new value of this number of bytes may be made. See [`Account::admit`].
///
/// # Errors
/// If it would exceed one of the limits, which the message names.
pub fn admit(bytes: usize) -> Result<(), Refusal> {
    check(0, 0, bytes)
}

/// Checks that a value of this number of bytes, which was made and is in the sums, may stay. See [`Account::admit`].
///
/// # Errors
/// If it exceeds one of the limits, which the message names.
pub fn admit_made(bytes: usize) -> Result<(), Refusal> {
    check(bytes, 0, bytes)
}

/// Checks that a value of `bytes` bytes, of which `counted` are in the sums, may grow by `more`. What the master, an
/// AOF file or another node has taken, this server takes, too, whatever its own limits are.
fn check(counted: usize, bytes: usize, more: usize) -> Result<(), Refusal> {
    let exceeds = |sum: usize, limit: i64| usize::try_from(limit).is_ok_and(|limit| limit > 0 && sum > limit);
    let key = bytes.saturating_add(more);
    let all = all_bytes().saturating_sub(counted).saturating_add(key);
    let (refused, limit, text) = if exceeds(key, MAX_KEY.load(Relaxed)) {
        (&REFUSED[0], "furui.max-key-memory", format!("the key would take {key} bytes"))
    } else if exceeds(all, MAX_ALL.load(Relaxed)) {
        (&REFUSED[1], "furui.max-memory", format!("all keys of furui would take {all} bytes"))
    } else {
        return Ok(());
    };
    if more == 0 || context::is_repeated() {
        return Ok(());
    }
    refused.fetch_add(1, Relaxed);
    Err(Refusal::because(format!("{text}, more than {limit} allows")))
}

impl Account {
    pub fn of(holder: Holder) -> Self {
        SUMS[holder as usize].number.fetch_add(1, Relaxed);
        Self { holder, counted: Held::default() }
    }

    /// Checks that a value of `bytes` bytes may grow by `more` bytes.
    ///
    /// # Errors
    /// If it would exceed one of the limits, which the message names.
    pub fn admit(&self, bytes: usize, more: usize) -> Result<(), Refusal> {
        check(self.counted.bytes, bytes, more)
    }

    /// Updates the sums to what the value holds now.
    pub fn settle(&mut self, held: Held) {
        let sums = &SUMS[self.holder as usize];
        let old = std::mem::replace(&mut self.counted, held);
        for (sum, new, old) in [
            (&sums.bytes, held.bytes, old.bytes),
            (&sums.members, held.members, old.members),
            (&sums.slices, held.slices, old.slices),
        ] {
            sum.fetch_add(new, Relaxed);
            sum.fetch_sub(old, Relaxed);
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.settle(Held::default());
        SUMS[self.holder as usize].number.fetch_sub(1, Relaxed);
    }
}
