use std::ops::Range;
use std::sync::Arc;

use super::Dict;
use crate::dict::DictValue;
use crate::dict::job::{Done, Job, Task};
use crate::dict::layer::Layer;
use crate::dict::making::Making;
use crate::dict::policy::tries_to_merge;
use crate::error::{Error, Result, StoreProblem};
use crate::store::{MANIFEST, Purpose, RunEntry, Storage, StoreKind};

impl<S: Storage, V: DictValue + ?Sized> Dict<S, V> {
    /// Returns waiting work, if there is any: freezing full windows (write buffers) into tries, or else merging tries.
    /// At most one job of each kind is handed out at a time. The number of the job's file is made durable here, by
    /// writing the manifest.
    ///
    /// # Errors
    /// Those of [`sync`](Self::sync).
    pub fn job(&mut self) -> Result<Option<Job<S>>> {
        self.check_usable()?;
        let tries = self.tries_len();
        let (range, freezes) = if self.waiting > 0 && self.freezing.strong_count() == 0 {
            (tries..tries + self.waiting, true)
        } else if let Some(newest) = self.manifest.runs.last().filter(|_| self.merging.strong_count() == 0) {
            match self.outgrown(tries - 1, newest.keys) {
                0 => return Ok(None),
                count => (tries - 1 - count..tries, false),
            }
        } else {
            return Ok(None);
        };
        let task = self.task(range)?;
        self.save()?;
        let out = if freezes { &mut self.freezing } else { &mut self.merging };
        *out = Arc::downgrade(&task.ticket);
        Ok(Some(Job { storage: Arc::clone(&self.storage), task }))
    }

    /// Puts the result of a job in the place of the parts it was made from, and makes this change durable, as
    /// [`sync`](Self::sync) does. Returns false and changes nothing if those parts are gone, because the work was done
    /// in another way meanwhile.
    ///
    /// # Errors
    /// Those of [`sync`](Self::sync).
    pub fn install(&mut self, done: Done) -> Result<bool> {
        self.check_usable()?;
        let layers = &self.state.layers;
        let start = layers.iter().position(|layer| done.sources.first().is_some_and(|first| first.is(layer)));
        let range = start.map(|start| start..start + done.sources.len());
        let there = range.filter(|range| {
            layers.get(range.clone()).is_some_and(|found| found.iter().zip(&done.sources).all(|(a, b)| a.is(b)))
        });
        match there {
            Some(range) => self.commit(range, &done)?,
            None => {
                if let Some(trie) = done.trie {
                    // If the removal fails, the file is left over, and the next opening removes it.
                    let _ = self.storage.remove(&self.manifest.store.file_name(trie.entry().number));
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn tries_len(&self) -> usize {
        self.state.layers.partition_point(|layer| matches!(layer, Layer::Trie(_)))
    }

    pub(super) fn windows_len(&self) -> usize {
        self.state.layers.len() - self.tries_len()
    }

    /// Returns how many of the first `tries` tries, counted from the newest of them, are to be merged with `newer` new
    /// keys: those that these keys and the tries among them have outgrown.
    fn outgrown(&self, tries: usize, newer: u64) -> usize {
        let sizes: Vec<u64> = self.manifest.runs[..tries].iter().map(|run| run.keys).collect();
        tries_to_merge(&sizes, newer, &self.options)
    }

    /// Freezes the oldest `windows` windows (full write buffers), and merges them with the tries that they outgrew,
    /// unless a job is already merging these tries.
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace).
    pub(super) fn freeze(&mut self, windows: usize) -> Result<()> {
        if windows == 0 {
            return Ok(());
        }
        let tries = self.tries_len();
        let newer = self.state.layers[tries..tries + windows].iter().map(Layer::keys).sum();
        let outgrown = if self.merging.strong_count() == 0 { self.outgrown(tries, newer) } else { 0 };
        self.replace(tries - outgrown..tries + windows)
    }

    /// Merges the layers in `range` into one trie, in this thread.
    ///
    /// # Errors
    /// Those of reading the layers, of publishing the new trie and of saving the manifest. The dictionary is unusable
    /// afterwards.
    pub(super) fn replace(&mut self, range: Range<usize>) -> Result<()> {
        if !self.saved {
            self.save()?;
        }
        self.broken = true;
        let task = self.task(range.clone())?;
        let done = task.run(&*self.storage)?;
        self.commit(range, &done)
    }

    fn task(&mut self, range: Range<usize>) -> Result<Task> {
        Ok(Task {
            number: self.manifest.take_number()?,
            making: Making::new(&self.manifest, self.options.filter_rate),
            oldest: range.start == 0,
            sources: self.state.layers[range].to_vec(),
            ticket: Arc::default(),
        })
    }

    /// Replaces the layers in `range` by the trie of a finished job: first in the manifest on storage, then in this
    /// dictionary.
    fn commit(&mut self, range: Range<usize>, done: &Done) -> Result<()> {
        let tries = self.tries_len();
        let of_manifest = range.start..range.end.min(tries);
        let replaced: Vec<RunEntry> =
            self.manifest.runs.splice(of_manifest, done.trie.iter().map(|trie| *trie.entry())).collect();
        let new = done.trie.clone().map(Layer::Trie);
        if self.manifest.store == StoreKind::Dict(Purpose::Bytes) {
            // Ids that are greater than those of all remaining values can be given again.
            let layers = &self.state.layers;
            let left = layers[..range.start].iter().chain(&layers[range.end..]).chain(&new);
            self.next_id = left.map(|layer| layer.ids().end).max().unwrap_or(0);
            self.manifest.next_id = self.next_id;
        }
        self.manifest.taken.extend(&done.taken);
        self.save()?;
        self.waiting = self.waiting.saturating_sub(range.end.saturating_sub(tries));
        self.state.layers.splice(range, new);
        for old in replaced {
            // If the removal fails, the file is left over, and the next opening removes it.
            let _ = self.storage.remove(&self.manifest.store.file_name(old.number));
        }
        Ok(())
    }

    /// Saves the manifest.
    ///
    /// # Errors
    /// Those of the storage. The dictionary is unusable afterwards.
    pub(super) fn save(&mut self) -> Result<()> {
        self.broken = true;
        self.manifest.save(&*self.storage)?;
        (self.saved, self.broken) = (true, false);
        Ok(())
    }

    /// Checks that no write has failed, because the state of the storage would then be unknown.
    ///
    /// # Errors
    /// [`StoreProblem::Failed`] if an earlier write failed.
    pub(super) fn check_usable(&self) -> Result<()> {
        if self.broken {
            return Err(Error::store(self.storage.path(MANIFEST), StoreProblem::Failed));
        }
        Ok(())
    }
}
