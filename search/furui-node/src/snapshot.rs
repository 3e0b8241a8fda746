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
/// If the node, the copy or standard output fails. Then there is no directory at the place of the copy.
pub fn snapshot(
    url: &str,
    token: Option<&Path>,
    directory: &Path,
    keys: Option<&Path>,
    program: &dyn Program,
) -> Result<ExitCode, Error> {
    let url = crate::options::node::http(url).map_err(Error::Message)?;
    let node = NodeAddress { url, token: token.map(Path::to_owned) };
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        let why = "it is not empty; name a new directory for the copy";
        return Err(Error::io("cannot write to", directory.display().to_string(), io::Error::other(why)));
    }
    let client = Client::of(&node)?;
    // Under this name, what an interruption leaves is not taken for a copy.
    let mut name = directory.as_os_str().to_owned();
    name.push(".incomplete");
    let incomplete = Path::new(&name);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| Error::io("cannot write", path, source)
    };
    match fs::remove_dir_all(incomplete) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(incomplete)(error)),
        _ => make(incomplete).map_err(failed(incomplete))?,
    }
    let mut lines = client.post("/snapshot", b"")?;
    let mut sum = 0;
    while let SnapshotLine::File { file, bytes } = lines.read()? {
        // A node that is not one could name a file outside of the directory.
        let below = Path::new(&file);
        if file.is_empty() || !below.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Error::Message(format!("the node sends a file with the name {file:?}: is it a node?")));
        }
        let path = incomplete.join(below);
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            make(parent).map_err(failed(parent))?;
        }
        let mut out = create(&path).map_err(failed(&path))?;
        lines.copy(bytes, &mut out).map_err(failed(&path))?;
        out.sync_all().map_err(failed(&path))?;
        sync_name(&path).map_err(|error| failed(&path)(error.source))?;
        sum += bytes;
    }
    if let Some(keys) = keys {
        for name in KEYS {
            let (from, to) = (keys.join(name), incomplete.join(name));
            match fs::read(&from) {
                Ok(key) => create(&to).and_then(|mut out| out.write_all(&key)).map_err(failed(&to))?,
                Err(error) if error.kind() == io::ErrorKind::NotFound && name != KEYS[0] => {}
                Err(error) => return Err(Error::io("cannot read", from.display().to_string(), error)),
            }
        }
    }
    fs::rename(incomplete, directory).map_err(failed(directory))?;
    sync_name(directory).map_err(|error| failed(directory)(error.source))?;
    program.print(format!("{} bytes copied\n", HumanCount(sum)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Creates a directory, and those around it, that only its owner may enter.
fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Creates a file that only its owner may read.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
