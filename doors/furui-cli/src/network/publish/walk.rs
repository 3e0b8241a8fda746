use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Something under a path.
pub(super) enum Found {
    File(PathBuf),
    /// Neither a file nor a directory.
    Other(PathBuf),
}

/// The files at and under `path`, in the order of their names. In directories, hidden files are left out, and symbolic links are
/// not followed.
pub(super) fn walk(path: &Path) -> impl Iterator<Item = Result<Found, (PathBuf, io::Error)>> {
    let mut left = vec![path.to_owned()];
    let mut is_first = true;
    std::iter::from_fn(move || {
        while let Some(path) = left.pop() {
            let is_named = std::mem::take(&mut is_first);
            let data = if is_named { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
            let kind = match data {
                Ok(data) => data.file_type(),
                Err(error) => return Some(Err((path, error))),
            };
            if kind.is_dir() {
                match children(&path) {
                    Ok(children) => left.extend(children),
                    Err(error) => return Some(Err((path, error))),
                }
            } else if kind.is_file() || is_named {
                return Some(Ok(Found::File(path)));
            } else if !kind.is_symlink() {
                return Some(Ok(Found::Other(path)));
            }
        }
        None
    })
}

/// The entries of a directory that are not hidden, the last name first.
fn children(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}
