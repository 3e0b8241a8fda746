use super::{PackRun, SharedManifest};
use crate::error::Result;
use crate::format::{FormatError, Problem};
use crate::store::cascade::{Cascade, CascadeOptions, Run, check_keys};
use crate::store::{MANIFEST, Note, Storage};

impl<S: Storage> Cascade<S> {
    /// Opens an empty set in `storage` over runs of a shared set: the files of runs that were fetched from its packs,
    /// each with its name for errors and its entry in the table of its pack. The files are compared with their entries.
    /// A key of the runs is not new to this set, and is not inserted.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if a file is damaged, is another one, is cut short, or was hashed by
    /// another spec than that of the options; [`Error::Store`](crate::Error::Store) if the options name another form of
    /// keys; [`Error::NoMemory`](crate::Error::NoMemory); [`Error::Io`](crate::Error::Io).
    pub fn open_over_packs(
        shared: &SharedManifest,
        files: impl IntoIterator<Item = (String, S::File, PackRun)>,
        storage: S,
        options: CascadeOptions,
    ) -> Result<Self> {
        let expected = (options.hash.unwrap_or(shared.hash), options.form.unwrap_or(shared.form));
        check_keys(MANIFEST, (shared.hash, shared.form), expected)?;
        let open = |(name, file, entry): (String, S::File, PackRun)| {
            let run = Run::open(file, &name, shared.hash)?;
            match run.seal() == entry.seal && run.len() == entry.keys && run.fingerprints().is_exact() {
                true => Ok(run),
                false => Err(FormatError { file: name, offset: 0, problem: Problem::OtherFile }.into()),
            }
        };
        let runs = files.into_iter().map(open).collect::<Result<Vec<Run<S::File>>>>()?;
        let options = CascadeOptions { hash: Some(shared.hash), form: Some(shared.form), ..options };
        Self::open_over_runs(runs, shared.note.as_deref().and_then(Note::new), storage, options)
    }
}
