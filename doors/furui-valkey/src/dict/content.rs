//! The entries of a dictionary: a map from byte strings to numbers or to byte strings, behind one interface.

use std::ops::Bound;

use furui::dict::{Dict, DictOptions, DictValue, Done, Job, Merging, Purpose, Snapshot};
use furui::store::{Bytes, Manifest, Memory, Storage};

use crate::refusal::Refusal;

/// The entries of a dictionary, of one of two kinds.
pub enum Content {
    Bytes(Dict<Memory, [u8]>),
    Numbers(Dict<Memory>),
}

/// The value of a field, as a look-up returns it: a number or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    Bytes(&'a [u8]),
    Number(u32),
}

/// Evaluates the same expression for both kinds of dictionaries.
macro_rules! either {
    ($content:expr, $dict:ident => $do:expr) => {
        match $content {
            Content::Bytes($dict) => $do,
            Content::Numbers($dict) => $do,
        }
    };
}

impl<'a> From<&'a [u8]> for Answer<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<u32> for Answer<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl Answer<'_> {
    /// The length of the value in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Number(_) => size_of::<u32>(),
        }
    }
}

impl Content {
    /// Opens the dictionary that a storage holds, or creates a new one if the storage is empty. The dictionary must
    /// have this purpose.
    ///
    /// # Errors
    /// If a file is damaged or missing, or belongs to another kind of store.
    pub fn open(memory: Memory, purpose: Purpose, options: DictOptions) -> Result<Self, Refusal> {
        let options = DictOptions { purpose: Some(purpose), ..options };
        match purpose {
            Purpose::Numbers | Purpose::Values | Purpose::Counts => {
                Ok(Self::Numbers(Dict::open_with(memory, options)?))
            }
            Purpose::Bytes => Ok(Self::Bytes(Dict::open_bytes_with(memory, options)?)),
        }
    }

    pub fn purpose(&self) -> Purpose {
        either!(self, dict => dict.purpose())
    }

    /// The number that the next new field gets; 0 if the values are byte strings, so that no numbers are given.
    pub fn next_number(&self) -> u32 {
        match self {
            Self::Bytes(_) => 0,
            Self::Numbers(dict) => dict.next_id(),
        }
    }

    pub fn get(&self, field: &[u8]) -> Result<Option<Answer<'_>>, Refusal> {
        either!(self, dict => Ok(dict.get(field)?.map(Answer::from)))
    }

    pub fn get_all(&self, fields: &[&[u8]]) -> Result<Vec<Option<Answer<'_>>>, Refusal> {
        either!(self, dict => {
            let mut found = vec![];
            dict.get_all(fields, &mut found)?;
            Ok(found.into_iter().map(|value| value.map(Answer::from)).collect())
        })
    }

    pub fn contains(&self, field: &[u8]) -> Result<bool, Refusal> {
        either!(self, dict => Ok(dict.contains(field)?))
    }

    /// Calls `each` for the fields of a range and their values, in byte order, until `each` returns false.
    pub fn for_each<'a>(
        &'a self,
        (from, to): (Bound<&[u8]>, Bound<&[u8]>),
        mut each: impl FnMut(&[u8], Answer<'a>) -> bool,
    ) -> Result<(), Refusal> {
        either!(self, dict => {
            let mut entries = dict.range((from.map(<[u8]>::to_vec), to.map(<[u8]>::to_vec)));
            while let Some((field, value)) = entries.next_entry()? {
                if !each(field, value.into()) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The number of fields that begin with a prefix, if there are `len` fields in all; `None` if they must be read.
    pub fn keys_with(&self, prefix: &[u8], len: u64) -> Result<Option<u64>, Refusal> {
        either!(self, dict => Ok(dict.keys_with(prefix, len)?))
    }

    /// The number of fields. Cost: all fields are read.
    pub fn count(&self) -> Result<u64, Refusal> {
        either!(self, dict => Ok(dict.count()?))
    }

    pub fn delete(&mut self, field: &[u8]) -> Result<(), Refusal> {
        either!(self, dict => Ok(dict.delete(field)?))
    }

    /// Checks every byte of the files of all tries, with their filters and values, by checksums and for consistency.
    ///
    /// # Errors
    /// If any of them is damaged.
    pub fn verify(&self) -> Result<(), Refusal> {
        either!(self, dict => Ok(dict.verify()?))
    }

    /// The number of fields in windows (hash tables of new fields), which are not in a trie yet.
    pub fn buffered(&self) -> usize {
        either!(self, dict => dict.buffered())
    }

    pub fn tries(&self) -> usize {
        either!(self, dict => dict.tries().count())
    }

    /// The size in bytes of the files of all tries, with their filters and values.
    pub fn trie_bytes(&self) -> usize {
        let length = either!(self, dict => dict.tries().map(|trie| trie.entry().seal.length).sum::<u64>());
        usize::try_from(length).unwrap_or(usize::MAX)
    }

    pub fn trie_files(&self, memory: &Memory) -> Vec<Bytes> {
        let manifest = either!(self, dict => dict.manifest());
        manifest.runs.iter().filter_map(|run| run.open(memory, manifest.store).ok()).collect()
    }

    /// True if a window (a hash table of new fields) is full, and waits until it is frozen into a trie.
    pub fn has_waiting(&self) -> bool {
        // A window of more than the maximum number of fields would need a freeze of the waiting window, if there is
        // one.
        either!(self, dict => dict.will_freeze(dict.options().window + 1, 0))
    }

    /// True if a field and a value, which together have this length in bytes, may have no room until a full window is
    /// frozen into a trie.
    pub fn will_freeze(&self, length: usize) -> bool {
        either!(self, dict => dict.will_freeze(1, length))
    }

    /// The next job that a thread can do: a freeze is preferred to a merge. `None` if there is none.
    ///
    /// Everything that is computed when it is first read, which is the order of the fields in windows and the tables of
    /// tries, is computed here: if a thread were computing it when the server forks to save, the child process would
    /// wait forever.
    pub fn job(&mut self) -> Result<Option<Job<Memory>>, Refusal> {
        either!(self, dict => {
            drop(dict.iter());
            Ok(dict.job()?)
        })
    }

    /// Replaces the windows or tries from which a job was made by the job's result.
    pub fn install(&mut self, done: Done) -> Result<(), Refusal> {
        either!(self, dict => dict.install(done))?;
        Ok(())
    }

    /// Creates the files of a dictionary with the same entries in one trie. The storage of this dictionary is not read,
    /// because a thread may hold its lock.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn compacted(&self) -> Result<Memory, Refusal> {
        let memory = Memory::new();
        match self {
            Self::Bytes(dict) => {
                let mut copy = Dict::open_bytes_with(memory.clone(), copying(dict, dict.manifest()))?;
                let mut entries = dict.iter();
                while let Some((field, value)) = entries.next_entry()? {
                    copy.put(field, value)?;
                }
                copy.compact()?;
            }
            Self::Numbers(dict) => {
                let mut copy = Dict::open_with(memory.clone(), copying(dict, dict.manifest()))?;
                let mut entries = dict.iter();
                while let Some((field, value)) = entries.next_entry()? {
                    copy.put(field, value)?;
                }
                copy.compact()?;
                let missing = || Refusal::because("the copy has no manifest");
                let mut manifest = Manifest::load(&memory)?.ok_or_else(missing)?;
                manifest.taken = dict.taken().clone();
                manifest.save(&memory)?;
            }
        }
        Ok(memory)
    }
}

/// The options of the dictionary that [`Content::compacted`] creates. It writes each entry twice: first to tries that
/// are not merged, and then to one trie. The tries are few enough for one merge of all.
fn copying<V: DictValue + ?Sized>(dict: &Snapshot<V>, manifest: &Manifest) -> DictOptions {
    const TRIES: usize = 64;
    let (keys, bytes) = dict.tries().fold((dict.buffered(), 0usize), |(keys, bytes), trie| {
        (keys.saturating_add(trie.keys() as usize), bytes.saturating_add(trie.entry().seal.length as usize))
    });
    DictOptions {
        purpose: manifest.store.purpose(),
        form: Some(manifest.form),
        layout: Some(manifest.layout),
        filter_hash: Some(manifest.filter_hash),
        hash: Some(manifest.hash),
        window: DictOptions::DEFAULT.window.max(keys / TRIES),
        // Fields that are compressed in tries may take ten times as much space in a window.
        window_bytes: (32 << 20).max(bytes / TRIES * 10),
        merge_after: usize::MAX,
        merging: Merging::All,
        ..DictOptions::DEFAULT
    }
}

/// Removes the files that the manifest does not name, because they do not belong to the store.
pub fn remove_others(memory: &Memory, manifest: &Manifest) -> Result<(), Refusal> {
    let named = |name: &str| {
        name == furui::store::MANIFEST || manifest.runs.iter().any(|run| manifest.store.file_name(run.number) == name)
    };
    for name in memory.list()?.iter().filter(|name| !named(name)) {
        memory.remove(name)?;
    }
    Ok(())
}
