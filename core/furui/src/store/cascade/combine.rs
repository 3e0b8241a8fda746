//! Unions, differences and intersections of sets, which become new stores.

use super::commit::check_keys;
use super::drain::Drain;
use super::room::reserve;
use super::{Cascade, Merge, RunWriter, SortedSource, WrittenRun};
use crate::error::{Error, Result, StoreProblem};
use crate::store::{MANIFEST, Manifest, RunEntry, Storage, StoreKind};

/// A rule by which the keys of a [combination](Cascade::combine) of several sets are chosen.
///
/// ```
/// use furui::store::Memory;
/// use furui::store::cascade::{Cascade, CascadeOptions, Combination};
/// use furui::{HashSpec, KeyHash};
///
/// let options = CascadeOptions { hash: Some(HashSpec::random()), ..CascadeOptions::default() };
/// let [mut a, mut b] = [Cascade::open(Memory::new(), options)?, Cascade::open(Memory::new(), options)?];
/// a.insert_all(&[1, 2, 3].map(KeyHash::new), &mut vec![])?;
/// b.insert_all(&[3, 4].map(KeyHash::new), &mut vec![])?;
/// for (how, keys) in [(Combination::Union, 4), (Combination::Difference, 2), (Combination::Intersection, 1)] {
///     let storage = Memory::new();
///     assert_eq!(a.combine(how, &[&b], &storage)?, keys);
///     assert_eq!(Cascade::open(storage, options)?.len(), keys);
/// }
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// The combination has the keys that at least one of the sets has.
    Union,
    /// The combination has the keys of the first set that no other set has.
    Difference,
    /// The combination has the keys that all sets have.
    Intersection,
}

impl<S: Storage> Cascade<S> {
    /// Writes the combination of this set with `others` as a new store of one run, with the hash and the form of this
    /// set. Returns the number of its keys. `storage` must hold no store. The manifest is written last: after a crash,
    /// `storage` has the whole result, or has no manifest and cannot be opened as a store.
    ///
    /// Cost: two sequential passes over all runs, one to count the keys and one to write them. Memory: 100 KiB for each
    /// run, whatever its length.
    ///
    /// # Errors
    /// [`Error::Format`] if a set was hashed by another spec than this one, or is damaged; [`Error::Store`] if the keys
    /// of a set have another form, if a set is part of a [`CascadeFilter`](super::CascadeFilter), has a window or lacks
    /// its journal, or if `storage` holds a store; [`Error::Io`].
    pub fn combine<T: Storage>(&self, how: Combination, others: &[&Self], storage: &T) -> Result<u64> {
        self.check_combinable(self)?;
        others.iter().try_for_each(|other| self.check_combinable(other))?;
        if Manifest::load(storage)?.is_some() {
            return Err(Error::store(storage.path(MANIFEST), StoreProblem::Occupied));
        }
        let mut count = 0;
        let mut combined = Combined::new(how, self, others);
        while let keys @ [_, ..] = combined.next_keys()? {
            count += keys.len() as u64;
        }
        let mut manifest = Manifest::new(StoreKind::Seen, self.manifest.hash);
        manifest.form = self.manifest.form;
        if count == 0 {
            return manifest.save(storage).map(|()| 0);
        }
        let number = manifest.take_number()?;
        let name = manifest.store.file_name(number);
        let path = storage.path(&name);
        let written = storage.publish(&name, |out| {
            let mut writer = RunWriter::new(out, &path, manifest.hash, count)?;
            let mut combined = Combined::new(how, self, others);
            while let keys @ [_, ..] = combined.next_keys()? {
                writer.push(keys)?;
            }
            writer.finish()
        });
        let saved = written.and_then(|WrittenRun { keys, seal }| {
            manifest.runs.push(RunEntry { number, keys, seal, slice: 0 });
            manifest.save(storage)
        });
        if saved.is_err() && storage.open(MANIFEST).is_err_and(|error| error.is_not_found()) {
            // Without its manifest the run is of no use. If the run cannot be removed either, that error is ignored: it
            // would explain less than the first error.
            let _ = storage.remove(&name);
        }
        saved.map(|()| count)
    }

    /// Returns an error if the keys of `other` cannot be compared with those of this set.
    ///
    /// # Errors
    /// [`Error::Store`] if `other` has failed, is a filter or has a window, or if its keys have another form;
    /// [`Error::Format`] if they have another hash.
    pub(super) fn check_combinable<T: Storage>(&self, other: &Cascade<T>) -> Result<()> {
        other.check_usable()?;
        let file = other.storage.path(MANIFEST);
        let (found, expected) = (&other.manifest, &self.manifest);
        if found.store != StoreKind::Seen {
            let problem = StoreProblem::OtherKind { found: found.store.what(), expected: StoreKind::Seen.what() };
            return Err(Error::store(file, problem));
        }
        other.check_whole()?;
        check_keys(&file, (found.hash, found.form), (expected.hash, expected.form))
    }

    /// Returns an error if the set has a window: a set with a window forgets keys, and may hold a key more than once.
    pub(super) fn check_whole(&self) -> Result<()> {
        match self.manifest.window {
            Some(window) => Err(Error::store(self.storage.path(MANIFEST), StoreProblem::HasWindow { window })),
            None => Ok(()),
        }
    }

    /// Appends sorted sources of all keys: one for the tables and one for each run, without the runs of the base.
    pub(super) fn push_sources<'a>(&'a self, sources: &mut Vec<Box<dyn SortedSource + 'a>>) {
        sources.push(Box::new(Drain::new(self.shares.iter().map(|share| &share.table))));
        sources.extend(self.runs[self.base..].iter().map(|run| Box::new(run.reader()) as Box<dyn SortedSource>));
    }

    /// A merge that returns all keys of the set, in RAM and on storage, ascending. Cost: a sequential pass. Memory: 100
    /// KiB for each run.
    ///
    /// ```
    /// use furui::KeyHash;
    /// use furui::store::Memory;
    /// use furui::store::cascade::{Cascade, CascadeOptions};
    ///
    /// let mut set = Cascade::open(Memory::new(), CascadeOptions::default())?;
    /// set.insert_all(&[7, 5].map(KeyHash::new), &mut vec![])?;
    /// assert_eq!(set.sorted()?.next_keys()?, [5, 7]);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Store`] if the set has a window or lacks its journal, or if a change failed.
    pub fn sorted(&self) -> Result<Merge<Box<dyn SortedSource + '_>>> {
        self.check_usable()?;
        self.check_whole()?;
        Ok(self.merged())
    }

    pub(super) fn merged(&self) -> Sources<'_> {
        let mut sources = vec![];
        self.push_sources(&mut sources);
        Merge::new(sources)
    }
}

pub(super) type Sources<'a> = Merge<Box<dyn SortedSource + 'a>>;

/// A sorted source of the keys of a combination of sets.
struct Combined<'a> {
    /// The sorted keys from which those of the combination are chosen.
    keys: Sources<'a>,
    /// A cursor in each of the sets that decide which keys are chosen.
    others: Vec<KeyCursor<'a>>,
    /// True to choose the keys that all of `others` have; false to choose those that none of them has.
    wanted: bool,
    piece: Vec<u64>,
}

impl<'a> Combined<'a> {
    fn new<S: Storage>(how: Combination, first: &'a Cascade<S>, others: &[&'a Cascade<S>]) -> Self {
        let mut sources = vec![];
        first.push_sources(&mut sources);
        let cursors = match how {
            Combination::Union => {
                others.iter().for_each(|other| other.push_sources(&mut sources));
                vec![]
            }
            Combination::Difference | Combination::Intersection => {
                others.iter().map(|&other| KeyCursor::of(other)).collect()
            }
        };
        Self { keys: Merge::new(sources), others: cursors, wanted: how == Combination::Intersection, piece: vec![] }
    }

    /// The next keys of the combination, ascending; empty at the end.
    fn next_keys(&mut self) -> Result<&[u64]> {
        self.piece.clear();
        while self.piece.is_empty() {
            let keys = self.keys.next_keys()?;
            if keys.is_empty() {
                break;
            }
            reserve(&mut self.piece, keys.len())?;
            self.piece.extend_from_slice(keys);
            for other in &mut self.others {
                other.retain(&mut self.piece, self.wanted)?;
            }
        }
        Ok(&self.piece)
    }
}

/// A cursor in the sorted keys of a set, which moves only forward.
pub(super) struct KeyCursor<'a> {
    keys: Sources<'a>,
    /// The keys that were read from the set last; the position is among them.
    piece: Vec<u64>,
    /// The index in `piece` of the first key at or after the position.
    next: usize,
}

impl<'a> KeyCursor<'a> {
    /// A cursor before the first key of a set.
    pub(super) fn of<S: Storage>(set: &'a Cascade<S>) -> Self {
        Self { keys: set.merged(), piece: vec![], next: 0 }
    }

    /// Keeps only those of `keys` that the set has or, if `wanted` is false, those that it does not have. `keys`
    /// ascend, and are not less than the keys of earlier calls.
    ///
    /// # Errors
    /// Those of reading the runs of the set.
    pub(super) fn retain(&mut self, keys: &mut Vec<u64>, wanted: bool) -> Result<()> {
        let mut kept = 0;
        for i in 0..keys.len() {
            let key = keys[i];
            keys[kept] = key;
            kept += usize::from((self.at_or_after(key)? == Some(key)) == wanted);
        }
        keys.truncate(kept);
        Ok(())
    }

    /// Advances to the least key of the set that is not less than `key`, and returns it; `None` if there is none.
    fn at_or_after(&mut self, key: u64) -> Result<Option<u64>> {
        loop {
            while let Some(&found) = self.piece.get(self.next) {
                if found >= key {
                    return Ok(Some(found));
                }
                self.next += 1;
            }
            let piece = self.keys.next_keys()?;
            if piece.is_empty() {
                return Ok(None);
            }
            self.piece.clear();
            reserve(&mut self.piece, piece.len())?;
            self.piece.extend_from_slice(piece);
            self.next = 0;
        }
    }
}
