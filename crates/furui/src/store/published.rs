use super::manifest::Manifest;
use super::{JOURNAL, RunEntry, Storage, StoreKind};
use crate::error::{Error, Result, StoreProblem};

/// How often a manifest may be replaced while the files it names are opened, which takes a writer two syncs each time and a
/// reader a few system calls.
const MAX_TRIES: u32 = 1000;

/// What a store has published last: its manifest, and all files that it names, open.
///
/// A reader needs no lock for it. If a writer replaces the manifest while files are being opened, and removes what the old
/// one named or ends its journal, the new manifest is read, until all files of one are open. Then they stay readable,
/// whatever becomes of their names.
#[derive(Debug)]
pub struct Published<F> {
    /// The manifest.
    pub manifest: Manifest,
    /// The files of its [`runs`](Manifest::runs), in their order.
    pub files: Vec<F>,
    /// The journal of a set, if there is one. Whether it is this manifest's,
    /// [`Journal::of`](super::cascade::Journal::of) finds out.
    pub journal: Option<F>,
    /// What is there beside them: left by a crash, or by a writer that is at work.
    orphans: Vec<String>,
}

impl<F> Published<F> {
    /// Opens what storage has published of a store of this kind, or finds that there is none yet.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged or missing; [`Error::Store`] if the store is of another kind, or was replaced
    /// over and over again; [`Error::Io`].
    pub fn open<S: Storage<File = F>>(storage: &S, store: StoreKind) -> Result<Option<Self>> {
        let Some(mut manifest) = Manifest::load_kind(storage, store)? else { return Ok(None) };
        for _ in 0..MAX_TRIES {
            let opened = open_files(storage, &manifest);
            // Only if the manifest is the same after all is open does it belong together: a writer removes what another
            // manifest does not need after that is in its place.
            match Manifest::load_kind(storage, store)? {
                Some(newer) if newer != manifest => manifest = newer,
                _ => return opened.map(|(files, journal, orphans)| Some(Self { manifest, files, journal, orphans })),
            }
        }
        Err(Error::store(storage.path(super::MANIFEST), StoreProblem::Unsettled { tries: MAX_TRIES }))
    }

    /// Removes what a crash left, once the caller knows that the store is whole. Where it may not be
    /// removed, on a storage that is only read, it harms nobody.
    pub fn remove_orphans(&mut self, storage: &impl Storage) {
        for orphan in self.orphans.drain(..) {
            let _ = storage.remove(&orphan);
        }
    }
}

/// The files of the runs, the journal, and the names of what is there beside them.
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
