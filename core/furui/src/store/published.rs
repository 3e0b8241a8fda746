use super::manifest::Manifest;
use super::{JOURNAL, RunEntry, Storage, StoreKind};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{FormatError, Problem};

/// The maximum number of times that opening a store starts again because a writer has replaced the manifest meanwhile.
/// More are unlikely: a replacement takes a writer two syncs, but opening the files takes a reader only a few system
/// calls.
const MAX_TRIES: u32 = 1000;

/// The last published state of a store: its manifest, and all files that it names, open.
///
/// A reader takes no lock. While it opens the files, a writer may replace the manifest, and remove the files of the old
/// manifest or end its journal. Then the reader reads the new manifest and tries again, until all files of one manifest
/// are open. Open files stay readable, even if they are removed.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::{Memory, Published, StoreKind};
///
/// let storage = Memory::new();
/// assert!(Published::open(&storage, &[StoreKind::Seen])?.is_none());
/// let mut seen = Seen::open_with(storage.clone(), SeenOptions::default())?;
/// seen.insert("a")?;
/// seen.publish()?;
/// let published = Published::open(&storage, &[StoreKind::Seen])?.expect("a set was published");
/// assert_eq!(published.manifest.keys(), 1);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Published<F> {
    /// The manifest that was published last, which names all other files of the store.
    pub manifest: Manifest,
    /// The files of the manifest's [`runs`](Manifest::runs), in their order.
    pub files: Vec<F>,
    /// The journal of a set, if it has one. [`Journal::of`](super::cascade::Journal::of) finds out whether it belongs
    /// to this manifest.
    pub journal: Option<F>,
    /// The names of the run files that the manifest does not name: a crash left them, or they are being written.
    orphans: Vec<String>,
}

impl<F> Published<F> {
    /// Opens the published state of a store of one of these kinds. `None` if there is no store yet.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged or missing; [`Error::Store`] if the store is of another kind (the error
    /// names the first of `stores`), or if its manifest was replaced during each of many attempts; [`Error::Io`].
    pub fn open<S: Storage<File = F>>(storage: &S, stores: &[StoreKind]) -> Result<Option<Self>> {
        let Some(mut manifest) = Manifest::load_kind(storage, stores)? else { return Ok(None) };
        for _ in 0..MAX_TRIES {
            let opened = open_files(storage, &manifest);
            // The files belong together only if the manifest is still the same after all are open: a writer first
            // replaces the manifest, and then removes the files that the new one does not need.
            match Manifest::load_kind(storage, stores)? {
                Some(newer) if newer != manifest => manifest = newer,
                _ => return opened.map(|(files, journal, orphans)| Some(Self { manifest, files, journal, orphans })),
            }
        }
        Err(Error::store(storage.path(super::MANIFEST), StoreProblem::Unsettled { tries: MAX_TRIES }))
    }

    /// Removes the run files that a crash left. The caller must know that the store is complete. If the storage is
    /// read-only, the files are kept, and do no harm.
    pub(crate) fn remove_orphans(&mut self, storage: &impl Storage) {
        for orphan in self.orphans.drain(..) {
            let _ = storage.remove(&orphan);
        }
    }
}

/// Three results of opening the files of a manifest: the files of the runs, the journal if there is one, and the names
/// of the run files that the manifest does not name.
type Opened<F> = (Vec<F>, Option<F>, Vec<String>);

fn open_files<S: Storage>(storage: &S, manifest: &Manifest) -> Result<Opened<S::File>> {
    let open = |entry: &RunEntry| entry.open(storage, manifest.store);
    let files = manifest.runs.iter().map(open).collect::<Result<_>>()?;
    let journal = match storage.open(JOURNAL) {
        Err(error) if error.is_not_found() => match manifest.journal_bytes {
            0 => None,
            _ => return Err(FormatError { file: storage.path(JOURNAL), offset: 0, problem: Problem::Missing }.into()),
        },
        opened => Some(opened?),
    };
    Ok((files, journal, manifest.orphans(storage)?))
}
