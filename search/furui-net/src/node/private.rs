//! Makes the directory of a node accessible only to its owner.

use std::path::Path;
use std::{fs, io};

use furui::format::create_directory;

use super::membership::NETWORK;
use super::{IDENTITY, NodeError};
use crate::net::is_open_to_others;

/// Creates a directory that only its owner may enter. If the directory exists and is empty or belongs to a node, access
/// by other users is removed from it and everything in it; any other directory is not changed.
///
/// # Errors
/// If other users may enter a directory that contains files not of a node, or the system refuses.
pub(super) fn make(directory: &Path) -> Result<(), NodeError> {
    let failed = |source| NodeError::Directory { file: directory.to_owned(), source };
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(directory).map_err(failed)?,
        Err(error) => return Err(failed(error)),
        Ok(mut entries) => {
            let is_open = is_open_to_others(&directory.metadata().map_err(failed)?);
            if is_open && !directory.join(IDENTITY).exists() && entries.next().is_some() {
                return Err(NodeError::Exposed { directory: directory.to_owned() });
            }
            if is_open {
                close(directory).map_err(failed)?;
            }
        }
    }
    // If a process was killed after it had created the directory, the directory entry may not be durable yet, so it is
    // synced.
    create_directory(directory).map_err(|error| failed(error.source))
}

fn create(directory: &Path) -> io::Result<()> {
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_directory(parent).map_err(|error| error.source)?;
    }
    let builder = &mut fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
    builder.create(directory)
}

/// Removes the permissions of other users from a file, or from a directory and everything in it.
#[cfg(unix)]
fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = path.metadata()?.permissions();
    permissions.set_mode(permissions.mode() & 0o700);
    fs::set_permissions(path, permissions)?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // The target of a symbolic link is elsewhere and does not belong to the node. The permissions of the secret
            // keys' files are not changed: if other users could read a key, the start is to fail with an error.
            if !entry.file_type()?.is_symlink() && entry.file_name() != IDENTITY && entry.file_name() != NETWORK {
                close(&entry.path())?;
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn close(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_is_made_its_owners_alone_or_refused() {
        let above = std::env::temp_dir().join(format!("furui-private-{}", std::process::id()));
        let (new, words) = (above.join("node"), above.join("node/words"));
        make(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        // The directory is readable by other users, and belongs to a node.
        fs::create_dir(&words).unwrap();
        let files = [new.join(IDENTITY), words.join("MANIFEST")];
        for file in &files {
            fs::write(file, "").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        make(&new).unwrap();
        assert_eq!([&new, &words].map(|path| mode(path)), [0o700; 2]);
        assert_eq!(
            files.each_ref().map(|file| mode(file)),
            [0o644, 0o600],
            "the user is told of a key that others could read"
        );
        // The directory contains files that do not belong to a node.
        fs::remove_file(&files[0]).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        let refused = make(&new).unwrap_err().to_string();
        assert!(refused.contains("chmod 700") && mode(&new) == 0o755, "{refused}");
        fs::remove_dir_all(above).unwrap();
    }
}
