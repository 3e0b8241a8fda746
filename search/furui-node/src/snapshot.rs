//! The copy of a running node: `furui snapshot --node`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path};
use std::process::ExitCode;

use furui::format::sync_name;
use furui_net::http::SnapshotLine;
use indicatif::HumanCount;

use crate::Error;
use crate::client::Client;
use crate::options::node::NodeAddress;
use crate::program::Program;

/// The files with secret keys in the directory of a node, which its HTTP interface does not give.
const KEYS: [&str; 2] = ["identity", "network"];

/// Copies the files of the node at an HTTP address into a new directory. Without a file with its token, the token is
/// that in the environment variable `FURUI_TOKEN`. `keys` is the directory of the node, if the copy is to have its
/// secret keys.
///
/// # Errors
/// If the node, the copy or standard output fails. Then nothing is left at the place of the copy.
pub fn snapshot(
    url: &str,
    token: Option<&Path>,
    directory: &Path,
    keys: Option<&Path>,
    program: &dyn Program,
) -> Result<ExitCode, Error> {
    let url = crate::options::node::http(url).map_err(Error::Message)?;
    let node = NodeAddress { url, token: token.map(Path::to_owned) };
    let is_free = match fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(io::Error::other("it is not empty; name a new directory for the copy")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    is_free.map_err(|source| Error::io("cannot write to", directory.display().to_string(), source))?;
    let keys = keys.map(read_keys).transpose()?.unwrap_or_default();
    let client = Client::of(&node)?;
    // Under this name, what an interruption leaves is not taken for a copy.
    let mut name = directory.as_os_str().to_owned();
    name.push(".incomplete");
    let incomplete = Path::new(&name);
    match fs::remove_dir_all(incomplete) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(incomplete)(error)),
        _ => make(incomplete).map_err(failed(incomplete))?,
    }
    let copied = copy(&client, incomplete, &keys).and_then(|sum| {
        fs::rename(incomplete, directory).map_err(failed(directory))?;
        Ok(sum)
    });
    if copied.is_err() {
        // This fails if the disk does, which is the error already.
        let _ = fs::remove_dir_all(incomplete);
    }
    let sum = copied?;
    sync_name(directory).map_err(|error| failed(directory)(error.source))?;
    program.print(format!("{} bytes copied\n", HumanCount(sum)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the secret keys in the directory of a node: the names and contents of their files.
fn read_keys(directory: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, Error> {
    let mut keys = Vec::new();
    for name in KEYS {
        let file = directory.join(name);
        match fs::read(&file) {
            Ok(key) => keys.push((name, key)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && name != KEYS[0] => {}
            Err(error) => return Err(Error::io("cannot read", file.display().to_string(), error)),
        }
    }
    Ok(keys)
}

/// Copies the files of a node, and these keys, into a directory. Returns the number of bytes without the keys.
fn copy(client: &Client, directory: &Path, keys: &[(&str, Vec<u8>)]) -> Result<u64, Error> {
    let mut lines = client.post("/snapshot", b"")?;
    let mut sum = 0;
    while let SnapshotLine::File { file, bytes } = lines.read()? {
        // A node that is not one could name a file outside of the directory.
        let below = Path::new(&file);
        if file.is_empty() || !below.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Error::Message(format!("the node sends a file with the name {file:?}: is it a node?")));
        }
        let path = directory.join(below);
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            make(parent).map_err(failed(parent))?;
        }
        let mut out = create(&path).map_err(failed(&path))?;
        lines.copy(bytes, &mut out).map_err(failed(&path))?;
        out.sync_all().map_err(failed(&path))?;
        sync_name(&path).map_err(|error| failed(&path)(error.source))?;
        sum += bytes;
    }
    for (name, key) in keys {
        let path = directory.join(name);
        create(&path).and_then(|mut out| out.write_all(key)).map_err(failed(&path))?;
    }
    Ok(sum)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::io("cannot write", path, source)
}

/// Creates a directory, and those around it, that only its owner may enter.
fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Creates a file that only its owner may read.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
