//! The value of a key of `DICT.SET` or `DICT.NUMBER`: a dictionary.

mod content;
pub mod reads;
mod threads;
pub mod writes;

use std::ops::Bound;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use furui::HashSpec;
use furui::dict::{DictOptions, Done, Purpose};
use furui::raw::Rolling;
use furui::store::{Layout, Manifest, Memory};
use valkey_module::digest::Digest;
use valkey_module::native_types::ValkeyType;

use self::content::{Answer, Content, remove_others};
pub use self::threads::STARTED as STARTED_THREADS;
use self::threads::{Pending, Work, free, start_threads};
use crate::fact::Fact;
use crate::files::Files;
use crate::limits::{Account, DICT_WINDOW, Held, Holder};
use crate::rdb::{VERSION, Value, methods};
use crate::refusal::Refusal;

/// The server's type for values that are dictionaries.
pub static DICTS: ValkeyType = ValkeyType::new("furui-dct", VERSION, methods::<Dictionary>());

/// An ordered map from fields to byte strings, or to numbers.
///
/// New fields go to a window, a hash table. A thread freezes full windows into tries, and another one merges tries; the
/// next command that uses the key installs what they made.
pub struct Dictionary {
    pub content: Content,
    /// The files of the dictionary's tries. Threads write to it, so the child process that saves after a fork must not
    /// read it.
    memory: Memory,
    /// The number of fields of the dictionary, which `DICT.SET` and `DICT.DEL` keep up to date, because counting the
    /// fields is a walk over all of them.
    pub len: u64,
    freezing: Option<Pending>,
    merging: Option<Pending>,
    /// True if a job of a thread has failed. No further job is started until a command has done the work itself.
    stuck: bool,
    /// An upper bound of the size, in bytes, of the window (hash table) that takes new fields.
    open: usize,
    /// The size in bytes of the full windows (hash tables of new fields), which wait to be frozen.
    full: usize,
    account: Account,
}

/// The memory in bytes that a field and its value take in a window in addition to their own bytes: the head of the
/// record, slots of the hash table, the place in the order of fields, and the end of the value.
const ENTRY: usize = 64;

/// The limits of the number of tries. If there are more than `SOME_TRIES` when a window is full, the command waits
/// [`WAIT`] for the merge; if there are more than `MANY_TRIES`, it waits until the merge is done. A store has at most
/// 4096 tries, so the second wait, which may be long, is needed if fields come without a pause during a merge of
/// hundreds of millions of fields.
const SOME_TRIES: usize = 64;
const MANY_TRIES: usize = 2048;
/// The time for which a command waits for a merge if there are more than [`SOME_TRIES`].
const WAIT: Duration = Duration::from_millis(20);

impl Dictionary {
    /// Creates an empty dictionary with this purpose.
    pub fn new(purpose: Purpose, seed: u64, layout: Layout) -> Result<Self, Refusal> {
        let options = DictOptions { hash: Some(Rolling::spec(seed)), layout: Some(layout), ..options() };
        let memory = Memory::new();
        let mut new = Self::of(memory.clone(), Content::open(memory, purpose, options)?, 0);
        new.settle();
        Ok(new)
    }

    fn of(memory: Memory, content: Content, len: u64) -> Self {
        start_threads();
        let (freezing, merging) = (None, None);
        Self {
            content,
            memory,
            len,
            freezing,
            merging,
            stuck: false,
            open: 0,
            full: 0,
            account: Account::of(Holder::Dict),
        }
    }

    /// The facts that `FURUI.INFO` prints about the dictionary.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("type", "dictionary".into()),
            ("values", self.content.purpose().name().into()),
            ("fields", self.len.into()),
            ("tries", self.content.tries().into()),
            ("bytes", self.bytes().into()),
        ]
    }

    /// The maximum number of bytes by which the insertion of these fields and values lets the dictionary grow.
    pub fn growth<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> usize {
        parts.into_iter().fold(0, |sum: usize, part| sum.saturating_add(part.len() + ENTRY))
    }

    /// Checks that the dictionary may grow by this number of bytes. A merge needs room for a second copy of all tries,
    /// which is counted, too.
    ///
    /// # Errors
    /// If it would exceed a limit of the module.
    pub fn admit(&self, growth: usize) -> Result<(), Refusal> {
        self.account.admit(self.windows_bytes() + 2 * self.content.trie_bytes(), growth)
    }

    /// Updates the counted memory of the module to the present size of the dictionary.
    pub fn settle(&mut self) {
        self.account.settle(Held { bytes: self.bytes(), members: self.len as usize, slices: 0 });
    }

    /// Installs the tries that the threads have made. Every command calls this first.
    pub fn tend(&mut self) {
        let frozen = self.freezing.as_ref().and_then(Pending::poll);
        if let Some(done) = frozen {
            self.freezing = None;
            self.install(done);
        }
        let merged = self.merging.as_ref().and_then(Pending::poll);
        if let Some(done) = merged {
            self.merging = None;
            self.install(done);
        }
    }

    /// Sets the value of a field. Returns true if the field is new.
    ///
    /// # Errors
    /// If the values are numbers that the dictionary gives, or there is not enough memory.
    pub fn put(&mut self, field: &[u8], value: &[u8]) -> Result<bool, Refusal> {
        let is_new = !self.content.contains(field)?;
        self.write(field.len() + value.len(), |content| match content {
            Content::Bytes(dict) => Ok(dict.put(field, value)?),
            Content::Numbers(_) => Err(Refusal::because("the key is a dictionary of numbers")),
        })?;
        self.len += u64::from(is_new);
        Ok(is_new)
    }

    /// Returns the number of a field. A field without a number gets the next one.
    ///
    /// # Errors
    /// If this dictionary does not give numbers, or there is not enough memory.
    pub fn number(&mut self, field: &[u8]) -> Result<u32, Refusal> {
        if self.content.purpose() == Purpose::Numbers
            && let Some(Answer::Number(number)) = self.content.get(field)?
        {
            return Ok(number);
        }
        let number = self.write(field.len(), |content| match content {
            Content::Numbers(dict) => Ok(dict.number(field)?),
            Content::Bytes(_) => Err(Refusal::because("the key is a dictionary of bytes")),
        })?;
        self.len += 1;
        Ok(number)
    }

    /// Removes a field. Returns false if the dictionary does not have it.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn remove(&mut self, field: &[u8]) -> Result<bool, Refusal> {
        if !self.content.contains(field)? {
            return Ok(false);
        }
        self.write(field.len(), |content| content.delete(field))?;
        self.len -= 1;
        Ok(true)
    }

    /// Runs a write of a field and a value, which together have this length in bytes. Then gives a full window to the
    /// thread that freezes.
    fn write<T>(
        &mut self,
        length: usize,
        write: impl FnOnce(&mut Content) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if self.content.will_freeze(length)
            && let Some(freezing) = self.freezing.take()
        {
            // The next window is full, too, before the last one is frozen. The wait lasts for the rest of the time that
            // a thread takes to freeze a window, or for all of it if no thread has begun; the size of windows bounds
            // it. Without the wait the window would be frozen here, and perhaps merged with many other fields.
            self.install(freezing.wait());
        }
        let (had_waiting, buffered) = (self.content.has_waiting(), self.content.buffered());
        let written = write(&mut self.content)?;
        let was_frozen = self.content.buffered() < buffered;
        let is_sealed = self.content.has_waiting() && (was_frozen || !had_waiting);
        if was_frozen {
            (self.full, self.stuck) = (0, false);
        }
        if is_sealed {
            (self.full, self.open) = (self.full + self.open, 0);
        }
        self.open += length + ENTRY;
        if is_sealed {
            self.keep_pace();
            self.hand_out();
        }
        Ok(written)
    }

    /// Waits for the thread that merges tries if there are far more tries than it usually leaves.
    fn keep_pace(&mut self) {
        let tries = self.content.tries();
        let merged = match &self.merging {
            Some(merging) if tries > MANY_TRIES => Some(merging.wait()),
            Some(merging) if tries > SOME_TRIES => merging.wait_for(WAIT),
            _ => None,
        };
        if let Some(done) = merged {
            self.merging = None;
            self.install(done);
        }
    }

    /// Installs the result of a thread's job, and starts the next jobs. `None` is the result of a job that has failed.
    fn install(&mut self, done: Option<Done>) {
        // A thread frees the files that the result replaces.
        let replaced = self.content.trie_files(&self.memory);
        // A result that cannot be installed leaves the dictionary as it was. The next command that changes it
        // returns the error.
        self.stuck |= done.is_none_or(|done| self.content.install(done).is_err());
        if !self.content.has_waiting() {
            self.full = 0;
        }
        free(replaced);
        self.hand_out();
        self.settle();
    }

    /// Gives all waiting jobs (freezes and merges) to the threads.
    fn hand_out(&mut self) {
        while !self.stuck {
            let work = match (&self.freezing, &self.merging) {
                (None, _) if self.content.has_waiting() => Work::Freeze,
                (_, None) => Work::Merge,
                _ => return,
            };
            match self.content.job() {
                Ok(Some(job)) if work == Work::Freeze => self.freezing = Some(Pending::begin(work, job)),
                Ok(Some(job)) => self.merging = Some(Pending::begin(work, job)),
                Ok(None) => return,
                Err(_) => self.stuck = true,
            }
        }
    }

    fn windows_bytes(&self) -> usize {
        size_of::<Self>() + self.open + self.full
    }
}

impl Drop for Dictionary {
    fn drop(&mut self) {
        free(self.content.trie_files(&self.memory));
    }
}

/// The options of dictionaries in the server. Windows are small, so that they are sorted and frozen in a short time.
fn options() -> DictOptions {
    let window_bytes = usize::try_from(DICT_WINDOW.load(Relaxed)).unwrap_or(usize::MAX);
    DictOptions { window: 1 << 24, window_bytes, ..DictOptions::DEFAULT }
}

impl Value for Dictionary {
    const TYPE: &'static ValkeyType = &DICTS;

    /// The files of a store of `furui dict`, with all entries in one trie.
    fn files(&self) -> Result<Files, Refusal> {
        Files::of_storage(&self.content.compacted()?)
    }

    fn open(files: Files) -> Result<Self, Refusal> {
        let memory = files.into_storage()?;
        let manifest = Manifest::load(&memory)?.ok_or_else(|| Refusal::because("the store has no manifest"))?;
        remove_others(&memory, &manifest)?;
        let purpose = manifest.store.purpose();
        let purpose =
            purpose.ok_or_else(|| Refusal::because(format!("this is {}, not a dictionary", manifest.store)))?;
        let content = Content::open(memory.clone(), purpose, options())?;
        content.verify()?;
        let len = content.count()?;
        let mut opened = Self::of(memory, content, len);
        opened.settle();
        Ok(opened)
    }

    fn bytes(&self) -> usize {
        // A merge writes a file that may be as long as all the files that it reads.
        let copies = 1 + usize::from(self.merging.is_some());
        self.windows_bytes() + copies * self.content.trie_bytes()
    }

    fn digest(&self, digest: &mut Digest) {
        digest.add_string_buffer(self.content.purpose().name().as_bytes());
        digest.add_long_long(self.content.next_number().into());
        let (hasher, mut sum, mut entry) = (HashSpec::default().hasher(), 0u64, vec![]);
        let read = self.content.for_each((Bound::Unbounded, Bound::Unbounded), |field, value| {
            entry.clear();
            entry.extend_from_slice(&sum.to_le_bytes());
            entry.extend_from_slice(&(field.len() as u64).to_le_bytes());
            entry.extend_from_slice(field);
            match value {
                Answer::Bytes(bytes) => entry.extend_from_slice(bytes),
                Answer::Number(number) => entry.extend_from_slice(&number.to_le_bytes()),
            }
            sum = hasher.hash(&entry).get();
            true
        });
        digest.add_long_long(sum.cast_signed());
        if let Err(refusal) = read {
            digest.add_string_buffer(format!("{refusal:?}").as_bytes());
        }
    }

    fn copy(&self) -> Result<Self, Refusal> {
        let memory = self.content.compacted()?;
        let content = Content::open(memory.clone(), self.content.purpose(), options())?;
        let mut copy = Self::of(memory, content, self.len);
        copy.settle();
        Ok(copy)
    }
}
