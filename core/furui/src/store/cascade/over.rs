//! A set over another one, its base: it is empty at first, and takes only keys that the base does not have.

use std::sync::Arc;

use super::room::reserve;
use super::{Cascade, CascadeOptions, Journal, Run, commit, open_run};
use crate::error::{Error, Result, StoreProblem};
use crate::store::{JOURNAL, MANIFEST, Note, Published, Storage, StoreKind};

impl<S: Storage> Cascade<S> {
    /// Opens an empty set in `storage` over the published set and the journal in `base`, which is read and neither
    /// locked nor changed. A key of the base is not new to this set, and is not inserted. Later changes of the base are
    /// not seen.
    ///
    /// The runs of the base stay where they are, apart from those of this set, so that they are never merged with them.
    /// The keys of its journal become a run in `storage`.
    ///
    /// ```
    /// use furui::KeyHash;
    /// use furui::store::Memory;
    /// use furui::store::cascade::{Cascade, CascadeOptions, ExpectedNote};
    ///
    /// let store = Memory::new();
    /// let mut set = Cascade::open(store.clone(), CascadeOptions::default())?;
    /// set.insert_all(&[KeyHash::new(5)], &mut vec![])?;
    /// set.sync()?;
    /// let mut run = Cascade::open_over(&store, Memory::new(), CascadeOptions::default())?;
    /// let mut new = vec![];
    /// run.insert_all(&[5, 7].map(KeyHash::new), &mut new)?;
    /// assert_eq!((new, run.len(), set.len()), (vec![1], 1, 1));
    /// set.commit(run.new_keys()?, None, ExpectedNote::Any)?;
    /// assert_eq!(set.len(), 2);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`open`](Self::open); [`StoreProblem::NoStore`] if the base holds no set, and
    /// [`StoreProblem::HasWindow`] if it forgets keys.
    pub fn open_over<B: Storage>(base: &B, storage: S, options: CascadeOptions) -> Result<Self>
    where
        S::File: From<B::File>,
    {
        let path = base.path(MANIFEST);
        let published = Published::open(base, &[StoreKind::Seen])?;
        let Some(Published { manifest, files, journal, .. }) = published else {
            return Err(Error::store(path, StoreProblem::NoStore));
        };
        if let Some(window) = manifest.window {
            return Err(Error::store(path, StoreProblem::HasWindow { window }));
        }
        let expected = (options.hash.unwrap_or(manifest.hash), options.form.unwrap_or(manifest.form));
        commit::check_keys(&path, (manifest.hash, manifest.form), expected)?;
        let options =
            CascadeOptions { hash: Some(manifest.hash), form: Some(manifest.form), journal: false, ..options };
        let mut set = Self::open(storage, options)?;
        let journal = journal.map(|file| Journal::of(file, &base.path(JOURNAL), &manifest)).transpose()?;
        if let Some(journal) = journal.flatten() {
            let mut new = vec![];
            journal.for_each(|_, keys| {
                set.make_room(&[keys.len()])?;
                set.hashes.clear();
                reserve(&mut set.hashes, keys.len())?;
                set.hashes.extend(keys.iter().map(|&key| manifest.fingerprints.place(key)));
                new.clear();
                set.insert_hashes(0, &mut new)
            })?;
        }
        let open = |(entry, file)| open_run(base, entry, file, &manifest);
        let mut runs = manifest.runs.iter().zip(files).map(open).collect::<Result<Vec<Run<S::File>>>>()?;
        set.end_base(manifest.note)?;
        runs.append(set.change_runs()?);
        set.base = runs.len();
        set.runs = Arc::new(runs);
        Ok(set)
    }

    /// Opens an empty set in `storage` over these runs, of a set with this note. The options name the hash and the form
    /// of their keys.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub(crate) fn open_over_runs(
        runs: Vec<Run<S::File>>,
        note: Option<Note>,
        storage: S,
        options: CascadeOptions,
    ) -> Result<Self> {
        let mut set = Self::open(storage, CascadeOptions { journal: false, ..options })?;
        set.end_base(note)?;
        (set.base, set.runs) = (runs.len(), Arc::new(runs));
        Ok(set)
    }

    /// Makes all keys of this set a part of its base, which now has this note: the set is empty again, and none of
    /// these keys is new.
    ///
    /// # Errors
    /// Those of [`publish`](Self::publish).
    pub(crate) fn end_base(&mut self, note: Option<Note>) -> Result<()> {
        self.publish()?;
        self.manifest.note = note;
        self.base = self.runs.len();
        self.manifest.runs.clear();
        Ok(())
    }
}
