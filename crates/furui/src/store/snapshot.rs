use std::fs;
use std::io::Write;
use std::path::Path;

use super::{Directory, JOURNAL, MANIFEST, Published, ReadAt, Storage};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{WRITE_BUFFER, sync_directory};

/// Makes a copy of the store or dictionary in a directory: what was published last, whole, also while another process
/// writes to it. The copy is a store of its own, in a new or an empty directory.
///
/// Files are linked where the file system can do that, which takes no time and no space, because no file of a store is ever
/// written to again; else they are copied, as the journal is, which grows. The manifest comes last and all is forced to the device, so that a copy that was
/// cut short is never taken for a store.
///
/// # Errors
/// [`Error::Store`] if `from` holds no store, or `to` is not empty or another process writes to it; [`Error::Format`] if a file is missing or shorter than it
/// should be; [`Error::Io`].
pub fn snapshot(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let source = Directory::open_read_only(from)?.mapped(false);
    let store = source.manifest()?.store;
    let target = Directory::open(to)?;
    if target.list()?.iter().any(|name| name == MANIFEST || store.number_of(name).is_some()) {
        return Err(Error::store(to.display().to_string(), StoreProblem::Occupied));
    }
    let Published { manifest, files, journal, .. } =
        Published::open(&source, store)?.ok_or_else(|| source.has_no_manifest())?;
    for (entry, file) in manifest.runs.iter().zip(&files) {
        let name = store.file_name(entry.number);
        // A link also fails where the writer has removed the file meanwhile, which is open.
        if fs::hard_link(from.join(&name), to.join(&name)).is_err() {
            target.publish(&name, |out| copy(file, &source.path(&name), out, &target.path(&name)))?;
        }
    }
    if let Some(journal) = journal {
        // The writer appends to it: a link would grow with it.
        target.publish(JOURNAL, |out| copy(&journal, &source.path(JOURNAL), out, &target.path(JOURNAL)))?;
    }
    sync_directory(to)?;
    target.publish(MANIFEST, |out| {
        manifest.encode(out).map(drop).map_err(|source| Error::io("cannot write", target.path(MANIFEST), source))
    })
}

fn copy(file: &impl ReadAt, name: &str, out: &mut dyn Write, new_name: &str) -> Result<()> {
    let mut bytes = vec![0; WRITE_BUFFER];
    let mut offset = 0;
    while offset < file.len() {
        let count = (file.len() - offset).min(WRITE_BUFFER as u64) as usize;
        let bytes = &mut bytes[..count];
        file.read_at(offset, bytes).map_err(|source| Error::io("cannot read", name, source))?;
        out.write_all(bytes).map_err(|source| Error::io("cannot write", new_name, source))?;
        offset += count as u64;
    }
    Ok(())
}
