use super::manifest::Manifest;
use super::{JOURNAL, RunEntry, Storage, StoreKind};
use crate::error::{Error, Result, StoreProblem};

/// The maximum number of times that a manifest may be replaced while the files it names are opened. Replacing it takes
/// a writer two syncs, and opening the files takes a reader a few system calls.
const MAX_TRIES: u32 = 1000;

/// The last published state of a store: its manifest, and all files that it names, open.
///
/// A reader takes no lock for it. A writer may replace the manifest while the files are being opened, and remove the
/// files of the old one or end its journal. Then the new manifest is read, until all files of one manifest are open.
/// They stay readable after that, even if they are removed.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::{Memory, Published, StoreKind};
///
/// let storage = Memory::new();
/// assert!(Published::open(&storage, StoreKind::Seen)?.is_none());
/// let mut seen = Seen::open_with(storage.clone(), SeenOptions::default())?;
/// seen.insert("a")?;
/// seen.publish()?;
/// let published = Published::open(&storage, StoreKind::Seen)?.expect("a set was published");
/// assert_eq!(published.manifest.keys(), 1);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Published<F> {
    /// The manifest.
    pub manifest: Manifest,
    /// The files of its [`runs`](Manifest::runs), in their order.
    pub files: Vec<F>,
    /// The journal of a set, if it has one. [`Journal::of`](super::cascade::Journal::of) finds out whether it belongs
    /// to this manifest.
    pub journal: Option<F>,
    /// Other files of a store, left by a crash or being written.
    orphans: Vec<String>,
}

impl<F> Published<F> {
    /// Opens the published state of a store of this kind. `None` if there is no store yet.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged or missing; [`Error::Store`] if the store is of another kind, or was replaced
    /// over and over again; [`Error::Io`].
    pub fn open<S: Storage<File = F>>(storage: &S, store: StoreKind) -> Result<Option<Self>> {
        let Some(mut manifest) = Manifest::load_kind(storage, store)? else { return Ok(None) };
        for _ in 0..MAX_TRIES {
            let opened = open_files(storage, &manifest);
            // The files belong together only if the manifest is still the same after all are open: a writer removes the
            // files that a new manifest does not need after it has replaced the old one.
            match Manifest::load_kind(storage, store)? {
                Some(newer) if newer != manifest => manifest = newer,
                _ => return opened.map(|(files, journal, orphans)| Some(Self { manifest, files, journal, orphans })),
            }
        }
        Err(Error::store(storage.path(super::MANIFEST), StoreProblem::Unsettled { tries: MAX_TRIES }))
    }

    /// Removes the files that a crash left. The caller must know that the store is whole. On a storage that is only
    /// read they are not removed, and do no harm.
    pub(crate) fn remove_orphans(&mut self, storage: &impl Storage) {
        for orphan in self.orphans.drain(..) {
            let _ = storage.remove(&orphan);
        }
    }
}

/// The files of the runs, the journal, and the names of other files of a store.
type Opened<F> = (Vec<F>, Option<F>, Vec<String>);

fn open_files<S: Storage>(storage: &S, manifest: &Manifest) -> Result<Opened<S::File>> {
    let open = |entry: &RunEntry| entry.open(storage, manifest.store);
    let files = manifest.runs.iter().map(open).collect::<Result<_>>()?;
    let journal = match storage.open(JOURNAL) {
        Err(error) if error.is_not_found() => None,
        opened => Some(opened?),
    };
    Ok((files, journal, manifest.orphans(storage)?))
}
