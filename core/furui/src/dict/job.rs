use std::fmt;
use std::io::Write;
use std::sync::Arc;

use super::FilteredTrie;
use super::layer::Layer;
use super::making::Making;
use super::merge::{copy_values, merge};
use crate::error::Result;
use crate::store::{Storage, Taken};

/// Work on a [`Dict`](super::Dict) that any thread can do while the dictionary is read and written: freezing windows
/// (write buffers) or merging tries into one trie with its filter.
///
/// ```text
///   dict.job() ──Job──> another thread: run() ──Done──> dict.install()
/// ```
///
/// A job holds the parts that it works on, and changes nothing in the dictionary. If it is dropped, the dictionary
/// hands the work out again.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// let options = DictOptions { window: 2, ..DictOptions::default() };
/// let mut dict = Dict::open_with(Memory::new(), options)?;
/// for key in ["a", "b", "c"] {
///     dict.number(key)?;
/// }
/// let job = dict.job()?.expect("the first window is full");
/// let done = std::thread::spawn(move || job.run()).join().expect("no panic")?;
/// assert!(dict.install(done)?);
/// assert_eq!(dict.tries().count(), 1);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct Job<S> {
    pub(super) storage: Arc<S>,
    pub(super) task: Task,
}

impl<S> fmt::Debug for Job<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("task", &self.task).finish_non_exhaustive()
    }
}

/// The result of a [`Job`], to be [installed](super::Dict::install) in the dictionary.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// let options = DictOptions { window: 1, ..DictOptions::default() };
/// let mut dict = Dict::open_with(Memory::new(), options)?;
/// dict.put("a", 1)?;
/// dict.put("b", 2)?;
/// let done = dict.job()?.expect("a window is full").run()?;
/// assert!(dict.install(done)?);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Done {
    pub(super) sources: Vec<Layer>,
    /// The new trie with its filter; `None` if no key is left.
    pub(super) trie: Option<Arc<FilteredTrie>>,
    /// The numbers that were put into the windows (write buffers) among the sources.
    pub(super) taken: Taken,
    _ticket: Arc<()>,
}

/// The work of a job: parts of a dictionary that are merged into one.
#[derive(Debug)]
pub(super) struct Task {
    /// The parts (tries and write buffers) of the dictionary that are merged, oldest first.
    pub(super) sources: Vec<Layer>,
    /// The number that the name of the job's new file contains.
    pub(super) number: u64,
    pub(super) making: Making,
    /// True if the dictionary has no part that is older than the `sources`. Then deletions can be dropped, and values
    /// may have ids from 0 on.
    pub(super) oldest: bool,
    /// A token that exists as long as the job may be running, so that the dictionary does not hand out the work twice.
    pub(super) ticket: Arc<()>,
}

impl<S: Storage> Job<S> {
    /// Does the work: merges, and writes the new file durably.
    ///
    /// # Errors
    /// [`Error`](crate::Error) if storage fails or a trie cannot be built. The dictionary is then unchanged.
    pub fn run(self) -> Result<Done> {
        self.task.run(&*self.storage)
    }

    /// The number of keys in all sources together, by which a caller can show the size of the work. A key that several
    /// sources have counts several times.
    pub fn keys(&self) -> u64 {
        self.task.sources.iter().map(Layer::keys).sum()
    }
}

impl Task {
    /// Merges the sources into one trie, and publishes its file with its filter and values. The dictionary itself is
    /// not changed.
    ///
    /// # Errors
    /// Those of reading the sources and of publishing the file of the new trie. Nothing refers to such a file yet.
    pub(super) fn run<S: Storage>(self, storage: &S) -> Result<Done> {
        let mut merged = merge(&self.sources, &self.making, self.oldest)?;
        let mut ids = vec![];
        if self.making.has_bytes() {
            ids = merged.trie.value_ids()?;
            if self.oldest && ids.last().is_some_and(|&last| last as usize >= ids.len()) {
                merged.trie.renumber(&ids);
            }
        }
        let trie = match merged.trie.keys() {
            0 => None,
            _ => {
                let name = storage.path(&self.making.kind.file_name(self.number));
                let values = |out: &mut dyn Write| copy_values(&self.sources, &ids, self.oldest, out, &name);
                Some(Arc::new(FilteredTrie::publish(storage, self.number, merged, &self.making, values)?))
            }
        };
        let mut taken = Taken::default();
        for source in &self.sources {
            if let Layer::Buffer(window) = source {
                taken.extend(&window.taken);
            }
        }
        Ok(Done { sources: self.sources, trie, taken, _ticket: self.ticket })
    }
}
