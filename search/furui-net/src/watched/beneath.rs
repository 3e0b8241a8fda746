use std::fs::File;
use std::io;
use std::path::Path;

/// Opens the regular file at `below` in the directory `root`. Directory by directory, no symbolic link is followed
/// below `root`, whatever others do in it at the same time; and a pipe is not waited for.
#[cfg(unix)]
pub(super) fn open(root: &Path, below: &Path) -> io::Result<File> {
    use std::path::Component;

    use rustix::fs::{CWD, Mode, OFlags, openat};

    let directory = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut at = openat(CWD, root, directory, Mode::empty())?;
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidFilename.into()) };
        let flags = match parts.peek() {
            Some(_) => directory,
            None => OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::RDONLY,
        };
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    let file = File::from(at);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Opens the regular file at `below` in the directory `root`, if no symbolic link leads to it.
#[cfg(not(unix))]
pub(super) fn open(root: &Path, below: &Path) -> io::Result<File> {
    let path = root.join(below);
    if path.canonicalize()? != path || !path.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(path)
}
