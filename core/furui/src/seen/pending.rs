use std::fmt;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::format::{Access, DiskFile, publish};
use crate::hash::KeyForm;
use crate::store::cascade::{self, NewKeys};

/// The new keys of a [run](super::Run) in a file of their own, which wait for their commit: between the two, another
/// program brings the rows to their place.
///
/// The file is a run of docs/format.md that also states the form of its keys. It takes 5 to 7 bytes a key.
///
/// ```
/// use furui::seen::{Pending, Seen, SeenOptions};
/// use furui::store::cascade::ExpectedNote;
/// use furui::store::{Memory, Note};
///
/// # let path = std::env::temp_dir().join(format!("furui-doc-pending-{}", std::process::id()));
/// let store = Memory::new();
/// let mut seen = Seen::open_with(store.clone(), SeenOptions::default())?;
/// seen.sync()?;
/// let mut run = Seen::open_over(&store, Memory::new(), SeenOptions::default())?;
/// run.extend(["a", "b"])?;
/// Pending::save(run.set().new_keys()?, &path)?;
///
/// let pending = Pending::open(&path)?;
/// seen.commit(pending.keys(), Note::new("day 1"), ExpectedNote::Any)?;
/// assert_eq!((seen.note(), seen.contains("a")?), (Some("day 1"), true));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
pub struct Pending {
    run: cascade::Run<DiskFile>,
    form: KeyForm,
}

impl Pending {
    /// Writes keys to a file, which is there whole and durable afterwards, in place of an older file of that name.
    /// Returns the number of the keys.
    ///
    /// # Errors
    /// [`Error::Io`]: the name then stands for the old file or for the new one; [`Error::Format`] if a file of the keys
    /// is damaged.
    pub fn save(keys: NewKeys<'_>, path: impl AsRef<Path>) -> Result<u64> {
        let (path, name) = (path.as_ref(), path.as_ref().display().to_string());
        publish(path, Access::Default, |out: &mut dyn Write| keys.write(out, &name).map(|written| written.keys))
    }

    /// Opens a file of new keys. Its pages are checked when they are read.
    ///
    /// # Errors
    /// [`Error::Format`] if the file is not a run, or is damaged; [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (path, name) = (path.as_ref(), path.as_ref().display().to_string());
        let file = DiskFile::open(path).map_err(|source| Error::io("cannot open", name.as_str(), source))?;
        let run = cascade::Run::open_any(file, &name)?;
        Ok(Self { form: run.form()?, run })
    }

    /// The keys, for [`Seen::commit`](super::Seen::commit).
    pub fn keys(&self) -> NewKeys<'_> {
        NewKeys::of_run(&self.run, self.form)
    }
}

impl fmt::Debug for Pending {
    /// Shows the number of keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("len", &self.run.len()).finish_non_exhaustive()
    }
}
