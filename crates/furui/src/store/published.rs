use super::manifest::Manifest;
use super::{Storage, StoreKind};
use crate::error::{Error, Result};

/// How often a manifest may be replaced while the files it names are opened, which takes a writer two syncs each time and a
/// reader a few system calls.
const MAX_TRIES: u32 = 1000;

/// What a store has published last: its manifest, and all files that it names, open.
///
/// A reader needs no lock for it. If a writer replaces the manifest and removes what the old one named while files are
/// being opened, the new manifest is read, until all files of one are open. Then they stay readable, whatever becomes of
/// their names.
#[derive(Debug)]
pub struct Published<F> {
    /// The manifest.
    pub manifest: Manifest,
    /// The files of its [`runs`](Manifest::runs), in their order.
    pub files: Vec<F>,
    /// What is there beside them: left by a crash, or by a writer that is at work.
    orphans: Vec<String>,
}

impl<F> Published<F> {
    /// Opens what storage has published of a store of this kind, or finds that there is none yet.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged or missing; [`Error::Config`] if the store is of another kind, or was replaced
    /// over and over again; [`Error::Io`].
    pub fn open<S: Storage<File = F>>(storage: &S, store: StoreKind) -> Result<Option<Self>> {
        let Some(mut manifest) = Manifest::load_kind(storage, store)? else { return Ok(None) };
        for _ in 0..MAX_TRIES {
            let error = match open_files(storage, &manifest) {
                Ok((files, orphans)) => return Ok(Some(Self { manifest, files, orphans })),
                Err(error) => error,
            };
            match Manifest::load_kind(storage, store)? {
                Some(newer) if newer != manifest => manifest = newer,
                _ => return Err(error),
            }
        }
        Err(Error::Config(format!(
            "{}: replaced {MAX_TRIES} times while the files it names were opened; try again",
            storage.path(super::MANIFEST)
        )))
    }

    /// Removes what a crash left, once the caller knows that the store is whole. Where it may not be
    /// removed, on a storage that is only read, it harms nobody.
    pub fn remove_orphans(&mut self, storage: &impl Storage) {
        for orphan in self.orphans.drain(..) {
            let _ = storage.remove(&orphan);
        }
    }
}

fn open_files<S: Storage>(storage: &S, manifest: &Manifest) -> Result<(Vec<S::File>, Vec<String>)> {
    let open = |entry: &super::RunEntry| entry.open(storage, manifest.store);
    Ok((manifest.runs.iter().map(open).collect::<Result<_>>()?, manifest.orphans(storage)?))
}
