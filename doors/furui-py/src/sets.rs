//! Operations on whole sets in directories, as the commands `furui union`, `subtract`, `intersect`, `export` and
//! `import` do them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use furui::Error;
use furui::format::{Access, publish};
use furui::store::cascade::{Cascade, CascadeOptions, Combination, ExpectedNote};
use furui::store::{Directory, Overlay, Scratch};
use pyo3::prelude::*;

use crate::errors::{OrRaise, config};
use crate::files::Files;
use crate::seen::Seen;

/// The memory of a set that is read, for the keys of its journal.
const MEMORY: u64 = 64 << 20;

const OPTIONS: CascadeOptions = CascadeOptions { memory: MEMORY, hash: None, form: None, journal: false };

/// A set in a directory: its path, or a `Seen` that has it open.
#[derive(FromPyObject)]
pub enum Source<'py> {
    Open(Bound<'py, Seen>),
    Path(PathBuf),
}

impl Source<'_> {
    /// The directory of the set. The keys of an open set are made durable first.
    fn directory(&self, py: Python<'_>) -> PyResult<PathBuf> {
        match self {
            Self::Path(path) => Ok(path.clone()),
            Self::Open(seen) => {
                let Some(path) = seen.get().directory() else {
                    return Err(config(py, "a set without a path has no files: open it with a path"));
                };
                seen.call_method0("sync")?;
                Ok(path)
            }
        }
    }
}

/// Opens a set to read it. Nothing in its directory is locked or changed.
fn open(path: &Path) -> furui::Result<Cascade<Files>> {
    let directory = Directory::open_read_only(path)?;
    // A directory without a manifest is an error, and not an empty set.
    directory.manifest()?;
    Cascade::open(Files::Lent(Overlay::new(directory, Scratch::new(std::env::temp_dir()))), OPTIONS)
}

fn combine(py: Python<'_>, how: Combination, output: PathBuf, sets: &[Source<'_>]) -> PyResult<u64> {
    let paths = sets.iter().map(|set| set.directory(py)).collect::<PyResult<Vec<_>>>()?;
    if paths.is_empty() {
        return Err(config(py, "there is no set to combine: give at least one"));
    }
    let combined = py.detach(|| {
        let sets = paths.iter().map(|path| open(path)).collect::<furui::Result<Vec<_>>>()?;
        let others: Vec<_> = sets[1..].iter().collect();
        sets[0].combine(how, &others, &Files::Stored(Directory::open(output)?))
    });
    combined.or_raise(py)
}

/// Write the keys that are in any of the sets to a new set. Return their number.
///
/// output: the directory of the new set, which must not exist or be empty. It is written whole or not at all.
/// sets: sets in directories: their paths, or Seen objects. Their keys must be hashed alike (see like in Seen) and made
///     in one form, and none may have a window.
#[pyfunction]
#[pyo3(signature = (output, *sets))]
pub fn union(py: Python<'_>, output: PathBuf, sets: Vec<Source<'_>>) -> PyResult<u64> {
    combine(py, Combination::Union, output, &sets)
}

/// Write the keys of the first set that are in none of the others to a new set. Return their number. The arguments are
/// those of union().
#[pyfunction]
#[pyo3(signature = (output, *sets))]
pub fn subtract(py: Python<'_>, output: PathBuf, sets: Vec<Source<'_>>) -> PyResult<u64> {
    combine(py, Combination::Difference, output, &sets)
}

/// Write the keys that are in all of the sets to a new set. Return their number. The arguments are those of union().
#[pyfunction]
#[pyo3(signature = (output, *sets))]
pub fn intersect(py: Python<'_>, output: PathBuf, sets: Vec<Source<'_>>) -> PyResult<u64> {
    combine(py, Combination::Intersection, output, &sets)
}

/// Write the hashes of all keys of a set to a file, in ascending order, each in 8 bytes, the least significant first.
/// Return their number.
///
/// set: the path of a set, or a Seen that has it open.
/// file: the file, which is written whole or not at all. numpy.fromfile(file, "<u8") reads it.
#[pyfunction]
pub fn export_hashes(py: Python<'_>, set: Source<'_>, file: PathBuf) -> PyResult<u64> {
    let path = set.directory(py)?;
    let written = py.detach(|| {
        let set = open(&path)?;
        let name = file.display().to_string();
        publish(&file, Access::Default, |out: &mut dyn Write| {
            let failed = |source| Error::io("cannot write", name.as_str(), source);
            let (mut keys, mut count, mut out) = (set.sorted()?, 0, BufWriter::new(out));
            while let some @ [_, ..] = keys.next_keys()? {
                count += some.len() as u64;
                some.iter().try_for_each(|key| out.write_all(&key.to_le_bytes())).map_err(failed)?;
            }
            out.flush().map_err(failed)?;
            Ok::<u64, Error>(count)
        })
    });
    written.or_raise(py)
}

/// Insert the hashes in a file into a set, in one change. Return how many of them are new.
///
/// set: the path of a set that no object has open for writing.
/// file: a file of hashes as export_hashes() writes it, in any order, which were made by the hash of the set.
#[pyfunction]
pub fn import_hashes(py: Python<'_>, set: PathBuf, file: PathBuf) -> PyResult<u64> {
    py.detach(|| import(&set, &file)).or_raise(py)
}

fn import(set: &Path, path: &Path) -> furui::Result<u64> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| Error::io("cannot open", name.as_str(), source))?;
    let base = Files::Stored(Directory::open_read_only(set)?);
    let mut run = Cascade::open_over(&base, Files::temporary(), OPTIONS)?;
    run.insert_from(file, &name)?;
    let count = run.len();
    let mut set = Cascade::open(Files::Stored(Directory::open(set)?), OPTIONS)?;
    let known = set.commit(run.new_keys()?, None, ExpectedNote::Any)?;
    Ok(count - known)
}
