use std::fs;
use std::io::Write;
use std::path::Path;

use super::{Directory, DiskFile, JOURNAL, MANIFEST, Published, ReadAt, Storage, TIERS};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{WRITE_BUFFER, sync_directory};

/// Copies the last published state of the set or dictionary in a directory, even while another process writes to it.
/// The copy is a store of its own, in a new or an empty directory.
///
/// Where the file system supports hard links, files are linked, which takes no time and no space. That is safe, because
/// a published file never changes. Elsewhere files are copied. The tiers (caches) that a set has saved are linked or
/// copied like other files. The journal grows, so it is always copied. The manifest comes last, and everything is
/// synced, so that an incomplete copy is never taken for a store.
///
/// # Errors
/// [`Error::Store`] if `from` holds no store, if `to` is not empty, or if another process writes to `to`;
/// [`Error::Format`] if a file is missing or shorter than it should be; [`Error::Io`].
pub fn snapshot(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let source = Directory::open_read_only(from)?.mapped(false);
    let store = source.manifest()?.store;
    let target = Directory::open(to)?;
    if target.list()?.iter().any(|name| name == MANIFEST || store.number_of(name).is_some()) {
        return Err(Error::store(to.display().to_string(), StoreProblem::Occupied));
    }
    let Published { manifest, files, journal, .. } =
        Published::open(&source, &[store])?.ok_or_else(|| source.has_no_manifest())?;
    let link_or_copy = |name: &str, file: &DiskFile| {
        // A link also fails if the writer has removed the file meanwhile. The file is then copied from its open handle.
        match fs::hard_link(from.join(name), to.join(name)) {
            Ok(()) => Ok(()),
            Err(_) => target.publish(name, |out| copy(file, &source.path(name), out, &target.path(name))),
        }
    };
    for (entry, file) in manifest.runs.iter().zip(&files) {
        link_or_copy(&store.file_name(entry.number), file)?;
    }
    // If a writer has replaced the tiers since the manifest was read, the mark in their head is not the manifest's.
    match source.open(TIERS) {
        Err(missing) if missing.is_not_found() => {}
        tiers => link_or_copy(TIERS, &tiers?)?,
    }
    if let Some(journal) = journal {
        // The journal is copied, because the writer appends to it: a link would grow with the journal.
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
